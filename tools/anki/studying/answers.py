"""Answers to cards: which can be given, and what became of them."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

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

Log = dict[int, JsonObject]
"""The newest row of the review log, by card."""


@dataclass
class Answering:
    """One call: the ease of each card that is to be answered, and the cards that are not, with the reason."""

    wanted: dict[int, int]
    skipped: list[JsonObject] = field(default_factory=list)
    done: list[JsonObject] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def run(self) -> JsonObject:
        looked_at = set(self.wanted)
        kept = unfinished.find(CALL) or {}
        on_screen, before = self._look()
        self._settle(kept, before)
        others = {key: last for key, last in kept.items() if int(key) not in looked_at}
        if self.wanted:
            self._answer(on_screen, before, others)
        elif kept:
            _keep(others)
        more = {"skipped": self.skipped, "warnings": self.warnings}
        return {"answered": len(self.done), "cards": self.done, **{name: told for name, told in more.items() if told}}

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
        there = {info["cardId"]: info for info in infos if info}
        for card in ids:
            if card not in there:
                self.skip(card, "missing", "there is no such card; anki_due shows those to study")
            elif there[card]["queue"] == -1:
                self.skip(card, "suspended", "answering would wake it; anki_change_cards with unsuspend does")
            elif card not in due:
                self.skip(card, "not_due", "it is not due now")
        return (None if isinstance(current, Refused) or not current else current.get("cardId")), newest(log)

    def _settle(self, kept: JsonObject, log: Log) -> None:
        """Cards whose answer was lost in an earlier call, and is in the log: they are not answered twice."""
        for key, last in kept.items():
            card = int(key)
            if card in log and log[card]["id"] > last:
                self.skipped = [one for one in self.skipped if one["cardId"] != card]
                self.wanted.pop(card, None)
                self.done.append({**_told(card, log[card]), "answeredBefore": True})

    def _answer(self, on_screen: int | None, before: Log, others: JsonObject) -> None:
        started = {str(card): before[card]["id"] if card in before else 0 for card in self.wanted}
        unfinished.note(CALL, {**others, **started})
        try:
            results = client.multi(*self._actions(on_screen))
        except Unreachable:
            _keep(others)
            raise
        except Unanswered as error:
            self._look_up(error, before)
        else:
            self._tell(newest(results[-1]), before)
        _keep(others)

    def _actions(self, on_screen: int | None) -> list[Action]:
        """The answers in one request. The card on the screen gets its answer by the window's own buttons: behind the
        window's back it would end in an error box when the person answers it."""
        others = [{"cardId": card, "ease": ease} for card, ease in self.wanted.items() if card != on_screen]
        actions: list[Action] = []
        if on_screen in self.wanted:
            actions += [("guiShowAnswer", {}), ("guiAnswerCard", {"ease": self.wanted[on_screen]})]
        if others:
            actions += [("answerCards", {"answers": others}), window.REDRAW]
        return [*actions, ("getReviewsOfCards", {"cards": list(self.wanted)})]

    def _tell(self, after: Log, before: Log) -> None:
        for card in list(self.wanted):
            if card in after and after[card]["id"] > before.get(card, {"id": 0})["id"]:
                self.done.append(_told(card, after[card]))
            else:
                self.skip(card, "not_answered", "Anki did not take the answer; anki_due shows what is due")

    def _look_up(self, error: Unanswered, before: Log) -> None:
        """AnkiConnect's answer was lost: the review log tells which cards were answered.

        Raises Unanswered if it cannot be read either.
        """
        try:
            if hangs(error):
                raise error
            log = client.call("getReviewsOfCards", cards=list(self.wanted))
        except ToolError:
            error.hint += (
                " Call anki_answer_cards again with the same answers: what is in the log is not answered twice."
            )
            raise error from None
        self.warnings.append("Anki's own answer was lost; this is what its review log tells")
        self._tell(newest(log), before)


def newest(log: Any) -> Log:
    """An answer of getReviewsOfCards: the newest answer of each card, without rows that were made by hand."""
    rows = {int(card): [row for row in rows if row["type"] < 4] for card, rows in (log or {}).items()}
    return {card: max(found, key=lambda row: row["id"]) for card, found in rows.items() if found}


def _told(card: int, row: JsonObject) -> JsonObject:
    """What became of the card: the interval as Anki writes it, and when it comes again."""
    ease = BUTTONS[row["ease"] - 1] if 1 <= row["ease"] <= len(BUTTONS) else row["ease"]
    answered = datetime.fromtimestamp(row["id"] / 1000)
    if row["ivl"] < 0:
        due = (answered + timedelta(seconds=-row["ivl"])).strftime("%Y-%m-%d %H:%M")
    else:
        due = (answered - timedelta(hours=DAY_STARTS_H) + timedelta(days=row["ivl"])).strftime("%Y-%m-%d")
    return {"cardId": card, "ease": ease, "interval": spans.of_log(row["ivl"]), "due": due}


def _keep(entries: JsonObject) -> None:
    if entries:
        unfinished.note(CALL, entries)
    else:
        unfinished.forget(CALL)
