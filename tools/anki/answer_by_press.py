"""The tool behind the buttons of the page to study on."""

from typing import Annotated

from tools.anki.studying import study_page
from tools.anki.studying.answer_batch import AnswerBatch, take_back
from tools.core import presses
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool


@Tool("anki.answer_by_press", write=True, page=study_page.STUDY, app_only=True)
def answer_by_press(
    press_key: str,
    cardId: int,
    ease: Annotated[int, Limits(ge=1, le=4)] = 3,
    seen: Annotated[int, "the newest row of its log when it was shown"] = 0,
    undo: bool = False,
) -> JsonObject:
    """Rate a card, or take back its rating if that was the last: a press that came twice, or whose reply was lost, is
    known by the review log.

    Source: docs/pages.md
    """
    presses.check(study_page.press_key(), press_key, "Use anki_due, ask for a rating, then anki_answer_cards.")
    return take_back(cardId) if undo else AnswerBatch({cardId: ease}, early=True, seen={cardId: seen}).run()
