"""The tools that answer cards, and take an answer back."""

# The contract of an AnswerBatch:
# - Every card is checked before an answer is sent. A learning card whose time has not come is not due
#   (`early` takes it, and Anki's window may show it), nor is one that got the same answer within a minute: a
#   repeated call writes nothing twice.
# - AnkiConnect's reply is no proof: the review log is, before and after, and after a lost reply before
#   anything is repeated. Answers with an unknown outcome stay on record for an hour.
# - The card on Anki's screen is answered by the window's own buttons: behind its back the answer would end in
#   an error box when the person gives theirs.
# - An answer is taken back only if nothing was changed since: the request that answers also reads the state
#   that any later step of Undo would change, and studying/answer_undo.py compares it before Anki's Undo.
# - The person's undo list survives. Once Anki has lined up a review it takes answers for the next card only,
#   and one that it refuses empties that list. Suspending a card and waking it makes Anki forget the line, and
#   loses nothing.

import math
import time
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any

from tools.core import presses
from tools.toolkit import JsonObject, Limits, Tool, ToolError, filled

from . import client, due, state
from .card_text import BUTTONS, DAY_S, LEARNING, OCCLUSION, span
from .client import NO_ANSWER, Action, Ids, Unanswered, action, card_search
from .studying.answer_undo import (
    ANSWERS_TODAY,
    LOG_PAUSE_S,
    LOG_READS,
    NAME_READS,
    UNDOABLE_KEY,
    remember_undoable,
    state_reads,
    take_back,
)
from .studying.review_log import LogRow, ReviewLog, newest_answers

# Key under which `state` keeps answers with an unknown outcome: per card its ease and the newest row of its
# log before.
PENDING_KEY = "answers pending"
# Key of the date of Anki's day, kept for an hour: finding it reads the whole log.
ANKI_DAY = "day of answers"
# Each ease in words and as a number, in the same order.
EASES = {"again": 1, "1": 1, "hard": 2, "2": 2, "good": 3, "3": 3, "easy": 4, "4": 4}
REPEAT_S = 60
# A queue of cards.
SUSPENDED = -1


@dataclass(frozen=True)
class CardAnswer:
    """An answer to a card."""

    cardId: int
    ease: Annotated[Any, {"type": "string", "enum": list(BUTTONS)}]


@Tool("anki.answer_cards", write=True)
def answer_cards(
    answers: Annotated[list[CardAnswer] | None, Limits(max_length=200)] = None,
    early: Annotated[bool, "also learning cards whose time has not come"] = False,
    undo: Annotated[bool, "take back the last answer"] = False,
) -> JsonObject:
    """Record how well the person knew cards, by their own word, if they are due.

    Source: AnkiConnect cardsInfo, getReviewsOfCards, answerCards; guiAnswerCard for the card on the screen;
    guiUndo. {answered, cards: [{cardId, ease, interval, due}], skipped}.
    """
    if undo:
        return take_back()
    if not answers:
        raise ToolError(
            "There is nothing to answer",
            "Give answers: [{cardId, ease}].",
            "INVALID_ARGUMENTS",
        )
    batch = AnswerBatch({}, early)
    for answer in answers:
        ease = EASES.get(str(answer.ease).lower())
        # AnkiConnect would answer the cards before it, and then refuse the call.
        if ease is None:
            raise ToolError(
                f"{str(answer.ease)[:80]!r} is not an ease. Nothing was answered",
                "Give again, hard, good or easy (1 to 4).",
                "INVALID_ARGUMENTS",
            )
        if answer.cardId in batch.wanted:
            batch.skip(answer.cardId, "twice", "the first answer in this call counts")
        else:
            batch.wanted[answer.cardId] = ease
    return batch.run()


@Tool("anki.answer_by_press", write=True, page=due.STUDY_PAGE, app_only=True)
def answer_by_press(
    press_key: str,
    cardId: int,
    ease: Annotated[int, Limits(ge=1, le=4)] = 3,
    seen: Annotated[int, "the newest row of its log when it was shown"] = 0,
    undo: bool = False,
) -> JsonObject:
    """Rate a card, or take back its rating if that was the last: a press that came twice, or whose reply was
    lost, is known by the review log.

    Source: docs/pages.md
    """
    presses.check_key(
        due.press_key(), press_key, "Use anki_due, ask for a rating, then anki_answer_cards."
    )
    if undo:
        return take_back(cardId)
    return AnswerBatch({cardId: ease}, early=True, seen=seen).run()


@dataclass
class AnswerBatch:
    """The answers of one call.

    - `wanted`: the ease of each card still to be answered; `cards`: the outcome of each answered one;
      `skipped`: the others, each with its reason.
    - `seen`: the newest row of the log when the page showed its card; a newer row is taken for this answer.
    - `undo_steps`: steps of Anki's Undo before the next answer.
    - Read before the first answer: `anki_day`, the date of Anki's day, if it is known; the `names` of decks
      and note types; the card that is `on_screen` in Anki; the cards that a filtered deck has `borrowed`; by
      card the `subjects` of Undo, as [card, note, deck], and the newest rows of the log, `rows_before`.
    """

    wanted: dict[int, int]
    early: bool
    seen: int | None = None
    undo_steps = 0

    def __post_init__(self) -> None:
        self.cards: list[JsonObject] = []
        self.skipped: list[JsonObject] = []
        self.warnings: list[str] = []
        self.anki_day = state.recall(ANKI_DAY)

    def run(self) -> JsonObject:
        pending = state.recall(PENDING_KEY) or {}
        self._check_cards(pending)
        if self.wanted:
            unconfirmed = {
                str(card): [ease, self.rows_before[card].id] for card, ease in self.wanted.items()
            }
            state.remember(PENDING_KEY, pending | unconfirmed)
            self._answer_wanted()
        state.remember(PENDING_KEY, pending)
        for card in self.wanted:
            self.skip(
                card, "not_answered", "Anki did not take the answer; anki_due shows what is due"
            )
        return {
            "answered": len(self.cards),
            "cards": self.cards,
            **filled(skipped=self.skipped, warnings=self.warnings),
        }

    def skip(self, card: int, reason: str, error: str) -> None:
        self.skipped.append({"cardId": card, "reason": reason, "error": error})

    def _check_cards(self, pending: JsonObject) -> None:
        """Sort out the cards that cannot be answered, and those whose pending answer the log already has. One
        request."""
        # Read the cards, their log and the card on the screen.
        cards = list(self.wanted)
        search = client.ids_query("cid", cards)
        *results, shown_card = client.multi(
            action("cardsInfo", cards=cards),
            card_search(f"{search} (is:due or is:new) -is:suspended -is:buried"),
            card_search(f"{search} deck:filtered"),
            action("getReviewsOfCards", cards=cards),
            *NAME_READS,
            action("guiCurrentCard"),
        )
        card_infos, due_now, self.borrowed, log, *self.names = client.unrefused(results)
        infos = {info["cardId"]: info for info in card_infos if info}
        self.subjects = {
            card: [card, info["note"], info["deckName"]] for card, info in infos.items()
        }
        self.rows_before = newest_answers(log)
        self.on_screen = shown_card["cardId"] if isinstance(shown_card, dict) else None
        # Sort out the answers that the log has, and the cards that cannot be answered.
        for card in cards:
            ease, newest_id = pending.pop(str(card), (0, 0))
            row = self.rows_before[card]
            was_answered_since_seen = self.seen is not None and row.id > self.seen
            if was_answered_since_seen or (row.id > newest_id and row.ease == ease):
                del self.wanted[card]
                self.cards.append({**self._outcome(card, row), "answeredBefore": True})
            elif problem := self._problem(card, infos.get(card), is_due=card in due_now):
                del self.wanted[card]
                self.skip(card, *problem)

    def _problem(
        self, card: int, info: JsonObject | None, *, is_due: bool
    ) -> tuple[str, str] | None:
        """Reason why a card cannot be answered, and the error; None if it can."""
        if info is None:
            return "missing", "there is no such card; anki_due shows those to study"
        if info["queue"] == SUSPENDED:
            return "suspended", "answering would wake it; anki_change_cards with unsuspend does"
        now = time.time()
        newest_row = self.rows_before[card]
        is_repeated = newest_row.ease == self.wanted[card] and newest_row.id / 1000 > now - REPEAT_S
        if is_repeated and self.seen is None:
            return "not_due", "it got this answer less than a minute ago"
        error = "it is not due now"
        if info["queue"] == LEARNING and info["due"] > now:
            is_due = self.early or card == self.on_screen
            error = f"it is due in {math.ceil((info['due'] - now) / 60)} min; early: true answers it now"
        if not is_due:
            return "not_due", error
        if OCCLUSION in info["question"] and card != self.on_screen:
            return "occlusion", "only Anki's window shows its masks: the person reviews it there"
        return None

    def _answer_wanted(self) -> None:
        others = [card for card in self.wanted if card != self.on_screen]
        try:
            if self.on_screen in self.wanted:
                self._answer_on_screen(self.on_screen)
            if others:
                self._answer_others(others)
        except Unanswered as error:  # the review log shows which cards were answered
            error.hint += " Call anki_answer_cards again: what is in the log is not answered twice."
            if error.code == NO_ANSWER:
                raise
            try:
                self._read_log(list(self.wanted))
            except ToolError:
                raise error from None
            self.warnings.append("Anki's own answer was lost; this is what its review log has")

    def _answer_on_screen(self, card: int) -> None:
        """Answer the card on Anki's screen."""
        screen, *_ = client.multi(
            action("guiCurrentCard"),
            action("guiShowAnswer"),
            action("guiAnswerCard", ease=self.wanted[card]),
        )
        if isinstance(screen, dict) and screen["cardId"] != card:
            self.warnings.append(
                "Anki's window had moved on to another card, which got the answer: tell the person; Undo in "
                "Anki takes it back"
            )
        self._read_log([card])

    def _answer_others(self, cards: Ids) -> None:
        """Answer these cards, once Anki has forgotten the review it lined up, and read their log."""
        unborrowed = [card for card in cards if card not in self.borrowed][:1]
        reset_queue = [action("suspend", cards=unborrowed), action("unsuspend", cards=unborrowed)]
        if unborrowed:
            self.undo_steps = len(reset_queue)
        else:  # suspending would send a borrowed card home; this empties the undo list
            reset_queue = [action("setSpecificValueOfCard", card=cards[0], keys=[], newValues=[])]
        answers = [{"cardId": card, "ease": self.wanted[card]} for card in cards]
        answering = [*reset_queue, action("answerCards", answers=answers), client.REDRAW]
        by_day, *results = client.multi(
            *answering,
            ANSWERS_TODAY if self.anki_day else action("getNumCardsReviewedByDay"),
            *self._reads(cards),
        )[len(answering) :]
        if isinstance(by_day, list) and by_day:
            self.anki_day = by_day[0][0]
            state.remember(ANKI_DAY, self.anki_day)
        self._count_answered(*results)

    def _reads(self, cards: Ids) -> list[Action]:
        """Build the actions that read the log of these cards, and Anki's state."""
        log = action("getReviewsOfCards", cards=cards)
        return [log, *state_reads(self.subjects[cards[-1]], self.names)]

    def _count_answered(self, log: ReviewLog, *state_answers: object) -> None:
        """Count a card as answered if the log has a newer row, and remember how to take its answer back.

        `state_answers`: the answers to `state_reads`.
        """
        rows = [
            (row, card)
            for card, row in newest_answers(log).items()
            if card in self.wanted and row.id > self.rows_before[card].id
        ]
        undoable = state.recall(UNDOABLE_KEY) or []
        for row, card in sorted(rows):
            del self.wanted[card]
            self.cards.append(self._outcome(card, row))
            undoable.append([self.subjects[card], row.id, self.undo_steps, None])
            self.undo_steps = 0
        if rows:
            remember_undoable(undoable, state_answers)

    def _outcome(self, card: int, answer: LogRow) -> JsonObject:
        """Show an answered card: its interval as Anki writes it, and when it is due again. The date counts
        from Anki's day: its host may be in another zone."""
        if answer.interval < 0:
            seconds = -answer.interval
            due_text = datetime.fromtimestamp(answer.id / 1000 + seconds).strftime("%Y-%m-%d %H:%M")
        else:
            seconds = answer.interval * DAY_S
            day = date.fromisoformat(self.anki_day) if self.anki_day else date.today()
            due_text = (day + timedelta(days=answer.interval)).isoformat()
        return {
            "cardId": card,
            "ease": BUTTONS[answer.ease - 1],
            "interval": span(seconds),
            "due": due_text,
        }

    def _read_log(self, cards: Ids) -> None:
        """Read the log until it has these cards, at most LOG_READS times."""
        for _ in range(LOG_READS):
            log, *state_answers = client.multi(*self._reads(cards))
            self._count_answered(*client.unrefused([log]), *state_answers)
            if self.wanted.keys().isdisjoint(cards):
                break
            time.sleep(LOG_PAUSE_S)
