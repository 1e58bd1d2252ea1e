"""The tool that answers cards."""

from dataclasses import dataclass
from typing import Annotated, Any

from tools.anki.studying.answers import Answering
from tools.anki.studying.rows import BUTTONS
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Alias, Limits, Published
from tools.core.tool import Tool


@dataclass(frozen=True)
class Answer:
    """How well a card was known."""

    cardId: Annotated[int, Alias("card_id")]
    ease: Annotated[Any, Published({"type": "string", "enum": list(BUTTONS)})]


@Tool("anki.answer_cards", write=True, raw=True)
def answer_cards(answers: Annotated[list[Answer], Limits(min_length=1, max_length=200)]) -> JsonObject:
    """Record how well the person knew cards, by their own word: {answered, cards: [{cardId, ease, interval, due}],
    skipped}. Only cards that are due are answered.

    Source: AnkiConnect cardsInfo, getReviewsOfCards, answerCards; guiAnswerCard for the card on the screen.
    """
    eases = [_ease(answer.ease, f"answers.{index}.ease") for index, answer in enumerate(answers)]
    answering = Answering({})
    for answer, ease in zip(answers, eases, strict=True):
        if answer.cardId in answering.wanted:
            answering.skipped.append(
                {"cardId": answer.cardId, "reason": "twice", "error": "the first answer in this call counts"}
            )
        else:
            answering.wanted[answer.cardId] = ease
    return answering.run()


def _ease(value: object, place: str) -> int:
    """1 to 4, also from their names.

    Raises ToolError: AnkiConnect would answer the cards before it, and then refuse the call.
    """
    word = str(value).strip().lower()
    if word in BUTTONS:
        return BUTTONS.index(word) + 1
    if not isinstance(value, bool) and word in ("1", "2", "3", "4"):
        return int(word)
    raise ToolError(
        f"{place}: {str(value)[:80]!r} is not an ease. Nothing was answered",
        "Give again, hard, good or easy (1 to 4).",
        code="INVALID_ARGUMENTS",
    )
