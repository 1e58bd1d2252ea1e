"""One person of OnePercent beside the goals that were confirmed to them, and calls that are checked against those."""

import random
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.lab.soak.record import Answer, Lost, Record, Request, expect
from tests.onepercent.person import act

Flow = Iterator[Any]
Goals = dict[int, str]
"""Titles by id."""


@dataclass
class Open:
    """A preview that is being applied: `after` gives the person's goals, given the results."""

    preview: dict[str, Any]
    key: str
    after: Callable[[list[dict[str, Any]]], Goals]
    lost: bool = False
    undoes: bool = False

    def request(self) -> Request:
        arguments = {"preview_id": self.preview["preview_id"], "idempotency_key": self.key}
        return Request("apply_actions", {**arguments, "user_confirmation": "да"})


class Person:
    """A user that nobody else is; a flow yields requests and is sent their answers."""

    def __init__(self, user: str, chance: random.Random, record: Record):
        self.user, self.chance, self.record = user, chance, record
        self.goals: Goals = {}
        self.before: Goals | None = None
        self.open: Open | None = None
        self.applied = self.made = self.xp = 0

    def flow(self) -> Flow:
        if self.open:
            return self.settle()
        return self.chance.choice((self.change, self.change, self.change, self.undo, self.look))()

    def _actions(self) -> list[dict[str, Any]]:
        """Goals to make, and of those there are one with another title and one to delete."""
        there = self.chance.sample(sorted(self.goals), min(2, len(self.goals)))
        texts = [{"title": f"{self.user} № {self.made + number}"} for number in range(self.chance.randint(1, 4))]
        self.made += len(texts) + 1
        actions = [("goal.create", text) for text in texts]
        actions += [("goal.update", {"goal_id": goal, "title": f"{self.user} № {self.made}"}) for goal in there[:1]]
        actions += [("goal.delete", {"goal_id": goal}) for goal in there[1:]]
        return [act(name, **params) for name, params in actions]

    def _previewed(self) -> Iterator[Any]:
        actions = self._actions()
        answer = yield Request("preview_actions", {"actions": actions})
        if answer.code:
            return None
        expect(not answer.value["diff"]["errors"], f"refused: {answer.value['diff']['errors']}")

        def after(results: list[dict[str, Any]]) -> Goals:
            goals = dict(self.goals)
            for action, result in zip(actions, results, strict=True):
                params = action["params"]
                if action["action"] == "goal.delete":
                    del goals[params["goal_id"]]
                else:
                    goals[params.get("goal_id") or result["created_id"]] = params["title"]
            return goals

        return Open(answer.value, str(uuid.uuid4()), after)

    def change(self) -> Flow:
        """Preview, and then apply or forget it."""
        opened = yield from self._previewed()
        if opened and self.chance.random() < 0.9:
            self.open = opened
            yield from self.settle()

    def settle(self) -> Flow:
        """Apply what is open, with the key it had before."""
        opened = self.open
        try:
            answer = yield opened.request()
        except Lost:
            if not opened.lost:
                self.record.count("uncertain", "onepercent left open")
            opened.lost = True
            raise
        if not answer.code:
            self._done(opened, answer)
        elif not opened.lost and self.chance.random() < 0.5:
            self.open = None  # an error says that nothing was changed

    def _done(self, opened: Open, answer: Answer) -> None:
        xp = answer.value["xp"]
        expect(xp["delta"] == opened.preview["xp_total"], f"{xp}, not as previewed")
        expect(xp["balance"] == self.xp + xp["delta"], f"{xp}, not {self.xp + xp['delta']}")
        after = opened.after(answer.value["results"])
        # One more `undo_last` would take back what came before that.
        self.before, self.goals, self.xp = None if opened.undoes else self.goals, after, xp["balance"]
        self.open, self.applied = None, self.applied + 1
        if opened.lost:
            self.record.count("uncertain", "onepercent done once by repeating")

    def undo(self) -> Flow:
        """What was applied last is taken back."""
        if self.before is None:
            return
        before = self.before
        answer = yield Request("undo_last")
        if not answer.code:
            self.open = Open(answer.value, str(uuid.uuid4()), lambda _: before, undoes=True)
            yield from self.settle()

    def look(self) -> Flow:
        """The snapshot has the goals that were confirmed."""
        if self.open:
            return
        answer = yield Request("get_user_snapshot", {"include": ["goals", "xp"], "goals_status": "all"})
        if not answer.code:
            data = answer.value["data"]
            goals, xp = data.get("goals", {"items": [], "total_count": 0}), data.get("xp", {"balance": 0})
            shown = {goal["id"]: goal["title"] for goal in goals["items"]}
            expect(goals["total_count"] == len(self.goals), f"{goals['total_count']} goals, not {len(self.goals)}")
            expect(shown.items() <= self.goals.items(), f"{shown}, not {self.goals}")
            expect(xp["balance"] == self.xp, f"{xp}, not {self.xp}")
            self.record.count("compared", "snapshots of a person")
