"""Answers to cards: which can be given, and what became of them."""

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from tools.anki import client, unfinished, window
from tools.anki.client import Action
from tools.anki.replies import Refused, Unanswered, Unreachable, hangs
from tools.anki.studying import spans
from tools.anki.studying.rows import BUTTONS
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject

CALL = {"tool": "anki.answer_cards"}
"""How unfinished knows answers whose outcome is not known: the newest row of each card's log before they were sent."""
DAY_STARTS_H = 4
"""The hour at which Anki's day begins, unless the person chose another."""
SUSPENDED = -1
BY_HAND = 4
"""Kinds of rows in the log: those from 4 on are not answers."""

QUEUE = "not at top of queue"
"""What Anki says to an answer for another card than the next one, once it has lined up cards for a review."""
LOOKS, PAUSE_S = 3, 0.5
"""The window's own buttons answer in the background: how often, and after how long, the log is looked at again."""

AGAIN = "Call anki_answer_cards again with the same answers: what is in the log is not answered twice."


class LogRow(NamedTuple):
    """The newest answer to a card in the review log. `interval`: days, or seconds if negative."""

    id: int
    ease: int
    interval: int


Log = dict[int, LogRow]
"""By card, as far as it was ever answered."""


@dataclass
class Answering:
    """One call: the ease of each card that is to be answered, and the cards that are not, with the reason."""

    wanted: dict[int, int]
    skipped: list[JsonObject] = field(default_factory=list)
    done: list[JsonObject] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    on_screen: int | None = field(default=None, init=False)
    before: Log = field(default_factory=dict, init=False)

    def run(self) -> JsonObject:
        asked = set(self.wanted)
        begun = unfinished.find(CALL) or {}
        self.on_screen, self.before = self._look()
        self._settle(begun)
        others = {card: last for card, last in begun.items() if int(card) not in asked}
        if self.wanted:
            self._answer(others)
        elif begun:
            _keep(others)
        more = {"skipped": self.skipped, "warnings": self.warnings}
        return {
            "answered": len(self.done),
            "cards": self.done,
            **{name: texts for name, texts in more.items() if texts},
        }

    def skip(self, card: int, reason: str, error: str) -> None:
        self.wanted.pop(card, None)
        self.skipped.append({"cardId": card, "reason": reason, "error": error})

    def _look(self) -> tuple[int | None, Log]:
        """The card on Anki's screen, and what the log has of each card; what cannot be answered is skipped."""
        ids = list(self.wanted)
        search = f"cid:{','.join(map(str, ids))}"
        infos, due, log, current = client.multi(
            ("cardsInfo", {"cards": ids}),
            ("findCards", {"query": f"{search} (is:due or is:new) -is:suspended -is:buried"}),
            ("getReviewsOfCards", {"cards": ids}),
            ("guiCurrentCard", {}),
        )
        for result in (infos, due, log):
            if isinstance(result, Refused):
                raise result
        infos_by_card = {info["cardId"]: info for info in infos if info}
        for card in ids:
            if card not in infos_by_card:
                self.skip(card, "missing", "there is no such card; anki_due shows those to study")
            elif infos_by_card[card]["queue"] == SUSPENDED:
                self.skip(card, "suspended", "answering would wake it; anki_change_cards with unsuspend does")
            elif card not in due:
                self.skip(card, "not_due", "it is not due now")
        return _card_of(current), newest(log)

    def _settle(self, begun: JsonObject) -> None:
        """Cards whose answer was lost in an earlier call, and is in the log: they are not answered twice."""
        for key, last in begun.items():
            card = int(key)
            if card in self.before and self.before[card].id > last:
                self.skipped = [skip for skip in self.skipped if skip["cardId"] != card]
                self.wanted.pop(card, None)
                self.done.append({**outcome(card, self.before[card]), "answeredBefore": True})

    def _answer(self, others: JsonObject) -> None:
        last = {str(card): self.before[card].id if card in self.before else 0 for card in self.wanted}
        unfinished.note(CALL, {**others, **last})
        try:
            self._press()
            self._send()
        except Unreachable as error:
            if not self.done:
                _keep(others)
                raise
            self._skip_rest("not_sent", error.message)
        except Unanswered as error:
            self._look_up(error)
        self._skip_rest("not_answered", "Anki did not take the answer; anki_due shows what is due")
        _keep(others)

    def _skip_rest(self, reason: str, error: str) -> None:
        for card in list(self.wanted):
            self.skip(card, reason, error)

    def _press(self) -> None:
        """Answer the card on the screen by the window's own buttons: behind its back the answer would end in an error
        box when the person gives theirs. The buttons answer in the background. One request, or more until they have."""
        card = self.on_screen
        if card is None or card not in self.wanted:
            return
        ease = BUTTONS[self.wanted[card] - 1]
        try:
            current, _, _, log = client.multi(
                ("guiCurrentCard", {}),
                ("guiShowAnswer", {}),
                ("guiAnswerCard", {"ease": self.wanted[card]}),
                ("getReviewsOfCards", {"cards": [card]}),
            )
        except Unanswered as error:
            self._look_up(error)
        else:
            if (shown := _card_of(current)) not in (card, None):
                self.warnings.append(
                    f"Anki's window had moved on to card {shown}, which got the answer {ease}: tell the person; "
                    "Undo in Anki takes it back"
                )
            self._take(log)
            if card in self.wanted and shown == card:
                self._wait_for(card)
        if card in self.wanted:
            self.skip(card, "not_answered", "Anki's window did not take the answer; anki_due shows what is due")

    def _send(self) -> None:
        """Answer the other cards. One request, or two if Anki had lined up cards for a review of its own."""
        reviewing = self.on_screen is not None
        for lined_up in (True,) if reviewing else (False, True):
            if not self.wanted:
                return
            *results, log = client.multi(*self._actions(lined_up=lined_up))
            if isinstance(log, Refused):
                raise log
            self._take(log)
            if not any(isinstance(result, Refused) and QUEUE in result.text for result in results):
                return

    def _actions(self, *, lined_up: bool) -> list[Action]:
        """The answers. A card that is written anew, as it is, makes Anki forget what it has `lined_up`: else it takes
        answers only for the next card of that."""
        answers = [{"cardId": card, "ease": ease} for card, ease in self.wanted.items()]
        card_as_it_is = {"card": answers[0]["cardId"], "keys": [], "newValues": []}
        return [
            *([("setSpecificValueOfCard", card_as_it_is)] if lined_up else []),
            ("answerCards", {"answers": answers}),
            window.REDRAW,
            ("getReviewsOfCards", {"cards": list(self.wanted)}),
        ]

    def _take(self, answer: object) -> None:
        """Those cards are done that have a newer row in the log than before."""
        log = newest(answer)
        for card in list(self.wanted):
            if card in log and log[card].id > (self.before[card].id if card in self.before else 0):
                self.done.append(outcome(card, log[card]))
                del self.wanted[card]

    def _wait_for(self, card: int) -> None:
        """Look at the log until it has the card, or long enough."""
        for _ in range(LOOKS):
            if card not in self.wanted:
                return
            time.sleep(PAUSE_S)
            self._take(client.call("getReviewsOfCards", cards=[card]))

    def _look_up(self, error: Unanswered) -> None:
        """AnkiConnect's answer was lost: the review log tells which cards were answered.

        Raises Unanswered if it cannot be read either.
        """
        try:
            if hangs(error):
                raise error
            self._take(client.call("getReviewsOfCards", cards=list(self.wanted)))
            if self.on_screen is not None:
                self._wait_for(self.on_screen)
        except ToolError:
            error.hint += f" {AGAIN}"
            raise error from None
        self.warnings.append("Anki's own answer was lost; this is what its review log tells")


def newest(answer: object) -> Log:
    """An answer of getReviewsOfCards: the newest answer of each card, without rows that were made by hand."""
    log: Log = {}
    for card, rows in answer.items() if isinstance(answer, dict) else ():
        answers = [LogRow(row["id"], row["ease"], row["ivl"]) for row in rows if row["type"] < BY_HAND]
        if answers:
            log[int(card)] = max(answers)
    return log


def _card_of(current: object) -> int | None:
    """The card in an answer of guiCurrentCard; None if Anki shows none."""
    return current.get("cardId") if isinstance(current, dict) else None


def outcome(card: int, answer: LogRow) -> JsonObject:
    """What became of the card: the interval as Anki writes it, and when it comes again."""
    ease = BUTTONS[answer.ease - 1] if 1 <= answer.ease <= len(BUTTONS) else answer.ease
    answered = datetime.fromtimestamp(answer.id / 1000)
    if answer.interval < 0:
        due = (answered + timedelta(seconds=-answer.interval)).strftime("%Y-%m-%d %H:%M")
    else:
        due = (answered - timedelta(hours=DAY_STARTS_H) + timedelta(days=answer.interval)).strftime("%Y-%m-%d")
    return {"cardId": card, "ease": ease, "interval": spans.of_log(answer.interval), "due": due}


def _keep(entries: JsonObject) -> None:
    if entries:
        unfinished.note(CALL, entries)
    else:
        unfinished.forget(CALL)
