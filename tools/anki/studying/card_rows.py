"""A card as a study session needs it: its sides as text, its state, its intervals in Anki's words."""

import time

from tools.anki.card_text import ISOLATES, cut, question_and_answer
from tools.core.json_types import JsonObject

STATES = {0: "new", 1: "learning", 2: "review", 3: "relearning"}
BUTTONS = ("again", "hard", "good", "easy")
"""The names of the eases 1 to 4."""
LEARNING = 1
"""The queue of cards that come again today; their `due` is a second."""
LONGEST = 600
"""Characters of a side in a list of cards."""

MINUTE, HOUR, DAY = 60, 3600, 86400
MONTH, YEAR = 30 * DAY, 365 * DAY


def card_row(info: JsonObject, longest: int = LONGEST) -> JsonObject:
    """A card of cardsInfo. `interval` is in days; `next` has the interval after each button, which the add-on of 2023
    does not tell; `inMinutes` is there if a learning card is ahead of its time."""
    values = [field["value"] for field in info["fields"].values()]
    question, answer = question_and_answer(info["question"], info["answer"], values)
    ahead_s = info["due"] - time.time() if info["queue"] == LEARNING else 0
    spans = [str(text).translate(ISOLATES) for text in info.get("nextReviews") or []]
    return {
        "cardId": info["cardId"],
        "noteId": info["note"],
        "deck": info["deckName"],
        "question": cut(question, longest),
        "answer": cut(answer, longest),
        "state": STATES.get(info["type"], "review"),
        "interval": info["interval"],
        **({"inMinutes": round(ahead_s / 60)} if ahead_s > 0 else {}),
        **({"next": dict(zip(BUTTONS, spans, strict=True))} if len(spans) == len(BUTTONS) else {}),
    }


def span(seconds: float) -> str:
    """An interval as Anki writes it on its buttons: 30s, 10m, 1.5h, 12d, 1.2mo, 2y."""
    if seconds < MINUTE:
        return f"{round(seconds)}s"
    if seconds < HOUR:
        return f"{round(seconds / MINUTE)}m"
    if DAY <= seconds < MONTH:
        return f"{round(seconds / DAY)}d"
    unit, name = (HOUR, "h") if seconds < DAY else (MONTH, "mo") if seconds < YEAR else (YEAR, "y")
    return f"{seconds / unit:.1f}".removesuffix(".0") + name
