"""A card as a study session needs it: who it is, what is on it, when it comes again."""

from tools.anki.studying.card_text import ISOLATES, cut, question_and_answer
from tools.core.json_types import JsonObject

STATES = {0: "new", 1: "learning", 2: "review", 3: "relearning"}
BUTTONS = ("again", "hard", "good", "easy")
"""What the eases 1 to 4 are called."""
LONGEST = 600
"""Characters of a side in a list of cards."""


def row(info: JsonObject, longest: int = LONGEST) -> JsonObject:
    """A card of cardsInfo as a row. `interval` is in days; `next` what each button brings, if AnkiConnect tells."""
    values = [field["value"] for field in info["fields"].values()]
    question, answer = question_and_answer(info["question"], info["answer"], values)
    return {
        "cardId": info["cardId"],
        "noteId": info["note"],
        "deck": info["deckName"],
        "question": cut(question, longest),
        "answer": cut(answer, longest),
        "state": STATES.get(info["type"], "review"),
        "interval": info["interval"],
        **after_each_button(info),
    }


def after_each_button(info: JsonObject) -> dict[str, dict[str, str]]:
    """{"next": {again, hard, good, easy}}; empty with the add-on of 2023, which does not tell."""
    spans = [str(span).translate(ISOLATES) for span in info.get("nextReviews") or []]
    return {"next": dict(zip(BUTTONS, spans, strict=True))} if len(spans) == len(BUTTONS) else {}
