"""The tools that answer cards, and change many at once."""

from dataclasses import dataclass
from typing import Annotated, Any

from tools.anki.studying.answer_batch import AnswerBatch, take_back
from tools.anki.studying.bulk_change import BulkChange, CardChange
from tools.anki.studying.card_rows import BUTTONS
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Alias, Limits, Published
from tools.core.tool import Tool


@dataclass(frozen=True)
class Answer:
    """An answer to a card."""

    cardId: Annotated[int, Alias("card_id")]
    ease: Annotated[Any, Published({"type": "string", "enum": list(BUTTONS)})]


@Tool("anki.answer_cards", write=True)
def answer_cards(
    answers: Annotated[list[Answer] | None, Limits(min_length=1, max_length=200)] = None,
    early: Annotated[bool | None, "also learning cards whose time has not come"] = None,
    undo: Annotated[bool | None, "take back the last answer"] = None,
) -> JsonObject:
    """Record how well the person knew cards, by their own word: {answered, cards: [{cardId, ease, interval, due}],
    skipped}, if they are due.

    Source: AnkiConnect cardsInfo, getReviewsOfCards, answerCards; guiAnswerCard for the card on the screen; guiUndo.
    """
    if undo:
        return take_back()
    if not answers:
        raise ToolError("There is nothing to answer", "Give answers: [{cardId, ease}].", code="INVALID_ARGUMENTS")
    batch = AnswerBatch({}, early=bool(early))
    for index, answer in enumerate(answers):
        word = str(answer.ease).strip().lower()
        ease = BUTTONS.index(word) + 1 if word in BUTTONS else int(word) if word in ("1", "2", "3", "4") else 0
        if not ease:  # AnkiConnect would answer the cards before it, and then refuse the call
            problem = f"answers.{index}.ease: {word[:80]!r} is not an ease. Nothing was answered"
            hint = "Give again, hard, good or easy (1 to 4)."
            raise ToolError(problem, hint, code="INVALID_ARGUMENTS")
        if answer.cardId in batch.wanted:
            batch.skipped.append(
                {"cardId": answer.cardId, "reason": "twice", "error": "the first answer in this call counts"}
            )
        else:
            batch.wanted[answer.cardId] = ease
    return batch.run()


@Tool("anki.change_cards", write=True, destructive=True, lock=False)
def change_cards(
    query: Annotated[str, "or cardIds or noteIds"] = "",
    cardIds: list[int] | None = None,
    noteIds: list[int] | None = None,
    suspend: bool | None = None,
    unsuspend: bool | None = None,
    due: Annotated[str, "in days: 0, 3-7; 3! sets the interval"] = "",
    forget: bool | None = None,
    deck: str = "",
    flag: Annotated[int | None, Limits(ge=0, le=7)] = None,
    addTags: list[str] | None = None,
    removeTags: list[str] | None = None,
    renameTag: Annotated[list[str] | None, "[old, new]"] = None,
    dryRun: bool = True,
    expected: Annotated[int | None, "the dry run's count"] = None,
) -> JsonObject:
    """Change many cards, or tags of their notes. First dry: {count, of, before, examples}; then, if the person agrees,
    with dryRun false and expected = count: {changed, of, before, after}.

    Source: AnkiConnect suspend, unsuspend, setDueDate, forgetCards, changeDeck, setSpecificValueOfCard, addTags,
    removeTags, replaceTags.
    """
    ways = [
        f"({query.strip()})" if query.strip() else "",
        f"cid:{','.join(map(str, cardIds))}" if cardIds else "",
        f"nid:{','.join(map(str, noteIds))}" if noteIds else "",
    ]
    if len(chosen := [way for way in ways if way]) != 1:
        problem = "Say in one way which cards: query, cardIds or noteIds. Nothing was changed"
        hint = "Every card has the query deck:*."
        raise ToolError(problem, hint, code="INVALID_ARGUMENTS")
    tags = (addTags or [], removeTags or [], renameTag or [])
    change = CardChange(suspend, unsuspend, due.strip(), forget, deck.strip(), flag, *tags)
    change.check()
    bulk_change = BulkChange(change, chosen[0])
    return bulk_change.dry_run() if dryRun else bulk_change.run(expected)
