"""One person of OnePercent beside the model of the tests: what was applied, and calls that are checked against it."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

import tests.onepercent.model as model
from tests.onepercent.model import Life, Refused, whole
from tests.onepercent.person import ref
from tests.soak.actions import Actions
from tests.soak.record import Answer, Lost, Record, Request, expect

Flow = Iterator[Any]


@dataclass
class Open:
    """A preview that is being applied: `after` gives the person's life once the created ids are known."""

    preview: dict[str, Any]
    key: str
    after: Callable[[list[int | None]], Life]
    lost: bool = False
    undoes: bool = False

    def request(self, key: str = "", expects: tuple[str, ...] = ()) -> Request:
        arguments = {"preview_id": self.preview["preview_id"], "idempotency_key": key or self.key}
        return Request("apply_actions", {**arguments, "user_confirmation": "да"}, expects)


class Person:
    """A user that nobody else is; a flow yields requests, or several at once, and is sent their answers."""

    def __init__(self, user: str, chance: random.Random, record: Record):
        self.user, self.chance, self.record = user, chance, record
        self.life = Life()
        self.before: Life | None = None
        self.open: Open | None = None
        self.last: tuple[Open, Any] | None = None
        self.actions = Actions(user, chance)
        self.applied = 0

    def flow(self) -> Flow:
        if self.open:
            return self.settle()
        flows = (self.change, self.change, self.change, self.stale, self.race, self.undo, self.again, self.look)
        return self.chance.choice(flows)()

    def single(self) -> Flow:
        """A flow of one call, for a session that pipes its calls and leaves."""
        return self.settle() if self.open else self.look()

    def _tried(self, actions: list[dict], ids: list[int | None] | None = None) -> tuple[list, int, Life]:
        """The errors and XP of actions by the model, and the life after them."""
        life, errors, xp, known = self.life.copy(), [], 0, {}
        for index, action in enumerate(actions):
            new = ids[index] if ids else -1 - index
            params = {name: known.get(value, value) for name, value in action["params"].items() if value is not None}
            try:
                xp += model.do(life, action["action"], params, date.today(), new)
                known[ref(action)] = new
            except Refused as refused:
                errors.append((index, str(refused)))
        return errors, xp, life

    def change(self) -> Flow:
        """Preview, and then apply, cancel or forget it."""
        opened = yield from self._previewed(self.actions.some(self.life))
        if not opened:
            return
        if self.chance.random() < 0.1:
            yield from self._cancel(opened)
        elif self.chance.random() < 0.9:
            self.open = opened
            yield from self.settle()

    def _previewed(self, actions: list[dict]) -> Iterator[Any]:
        answer = yield Request("preview_actions", {"actions": actions}, ("ALL_FAILED",))
        if answer.code not in ("", "ALL_FAILED"):
            return None
        errors, xp, _ = self._tried(actions)
        refusals = answer.value["errors"] if answer.code else answer.value["diff"]["errors"]
        expect(
            [(refusal["index"], refusal["code"]) for refusal in refusals] == errors, f"errors {refusals}, not {errors}"
        )
        if answer.code:
            expect(len(errors) == len(actions), f"all failed of {actions}")
            return None
        expect(answer.value["xp_total"] == xp, f"{answer.value['xp_total']} XP previewed, not {xp}")
        valid = [action for index, action in enumerate(actions) if index not in dict(errors)]
        return Open(answer.value, self.actions.identifier(), self._after(valid))

    def _after(self, valid: list[dict]) -> Callable[[list[int | None]], Life]:
        def after(ids: list[int | None]) -> Life:
            errors, _, life = self._tried(valid, ids)
            expect(not errors, f"applied what the model refuses: {errors}")
            return life

        return after

    def _cancel(self, opened: Open) -> Flow:
        preview = opened.preview["preview_id"]
        answer = yield Request("cancel_preview", {"preview_id": preview})
        if not answer.code:
            answer = yield opened.request(expects=("PREVIEW_CANCELLED",))
            expect(answer.code, "a cancelled preview was applied")

    def settle(self) -> Flow:
        """Apply what is open, with the key it had before."""
        opened = self.open
        try:
            answer = yield opened.request()
        except Lost:
            if not opened.lost:
                self.record.count(self.record.uncertain, ("onepercent", "left open"))
            opened.lost = True
            raise
        if not answer.code:
            self._done(opened, answer)
        elif not opened.lost and self.chance.random() < 0.5:
            self.open = None  # an error says that nothing was changed

    def _done(self, opened: Open, answer: Answer) -> None:
        value = answer.value
        ids = [result.get("created_id") for result in value["results"]]
        after = opened.after(ids)
        expect(value["xp"]["delta"] == opened.preview["xp_total"], f"{value['xp']}, not as previewed")
        expect(value["xp"]["balance"] == after.balance, f"{value['xp']}, not {after.balance}")
        # One more `undo_last` would take back what came before that.
        self.before, self.life = None if opened.undoes else self.life, after
        self.open, self.last, self.applied = None, (opened, value), self.applied + 1
        if opened.lost:
            self.record.count(self.record.uncertain, ("onepercent", "done once by repeating"))

    def stale(self) -> Flow:
        """Two previews change one thing: once one is applied the other must not be."""
        both = []
        for act in self.actions.twice(self.life):
            both.append((yield from self._previewed([act])))
        if not (both and all(both)):
            return
        first, second = both
        self.open = first
        yield from self.settle()
        if self.last and self.last[0] is first:
            answer = yield second.request(expects=("PREVIEW_STALE",))
            expect(answer.code, f"a stale preview was applied: {answer.value}")
            self.record.count(self.record.checks, "stale previews")

    def race(self) -> Flow:
        """Two sessions apply one preview at once, with one key or with two."""
        opened = yield from self._previewed(self.actions.some(self.life))
        if not opened:
            return
        other = opened.key if self.chance.random() < 0.5 else self.actions.identifier()
        self.open = opened
        answers = yield [opened.request(expects=("PREVIEW_APPLIED",)), opened.request(other, ("PREVIEW_APPLIED",))]
        done = [answer for answer in answers if not answer.code]
        if not done:
            self.open = None
            expect(all(answer.code != "PREVIEW_APPLIED" for answer in answers), f"applied by nobody: {answers}")
            return
        expect(len(done) == 1 or (opened.key == other and done[0] == done[1]), f"applied twice: {answers}")
        self.record.count(self.record.checks, "races for a preview")
        opened.key = opened.key if answers[0] is done[0] else other
        self._done(opened, done[0])

    def undo(self) -> Flow:
        """What was applied last is taken back."""
        if not self.before:
            return
        before = self.before
        answer = yield Request("undo_last")
        if answer.code:
            return
        delta = before.balance - self.life.balance
        expect(answer.value["xp_total"] == delta, f"{answer.value['xp_total']} XP taken back, not {delta}")
        key = self.actions.identifier()
        self.open = Open(answer.value, key, lambda ids: before, undoes=True)
        yield from self.settle()

    def again(self) -> Flow:
        """A repeated apply gives the answer it gave; with another key it is refused."""
        if not self.last:
            return
        opened, value = self.last
        if self.chance.random() < 0.5:
            answer = yield opened.request()
            expect(answer.code or answer.value == value, f"repeated: {answer.value}, not {value}")
            self.record.count(self.record.checks, "repeated applies")
            return
        key = self.actions.identifier()
        answer = yield opened.request(key, ("PREVIEW_APPLIED",))
        expect(answer.code, "applied twice")

    def look(self) -> Flow:
        """The snapshot is what the model shows."""
        if self.open:
            return
        today = date.today()
        include = ["goals", "habits", "diary", "xp", "ssp"]
        days = {"date_from": today.isoformat(), "date_to": today.isoformat()}
        answer = yield Request("get_user_snapshot", {"include": include, "goals_status": "all", **days})
        if not answer.code:
            expect(shown(answer.value["data"]) == self.life.shown(today), f"{answer.value['data']}, not {self.life}")
            self.record.count(self.record.checks, "snapshots of a person")


def shown(data: dict[str, Any]) -> dict[str, Any]:
    """A snapshot, in which empty sections are left out, as the model shows it."""
    goals = ("id", "title", "status", "steps_count", "steps_completed")
    habits = ("id", "name", "current_streak", "best_streak")
    none: dict[str, Any] = {"items": []}
    xp = {"balance": 0, "lifetime": 0, **data.get("xp", {})}
    return {
        "goals": [tuple(goal[name] for name in goals) for goal in whole(data.get("goals", none))],
        "habits": [tuple(habit[name] for name in habits) for habit in whole(data.get("habits", none))],
        "diary": {entry["id"]: entry["what_done"] for entry in data.get("diary", none)["items"]},
        "ssp": {
            sphere["category"]: sphere["score"] for sphere in data.get("ssp", {}).get("spheres", ()) if sphere["score"]
        },
        "xp": (xp["balance"], xp["lifetime"]),
    }
