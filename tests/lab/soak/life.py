"""One person of OnePercent beside the goals that were confirmed to them, and calls that are checked against
those."""

import uuid
from dataclasses import dataclass, field

from tests.lab.soak.record import expect
from tests.onepercent.person import act


@dataclass
class Open:
    """A preview that is being applied: `after` gives the person's goals, given the results."""

    preview: dict
    after: object
    undoes: bool = False
    key: str = field(default_factory=lambda: str(uuid.uuid4()))


class Person:
    """A user that nobody else is, whose `goals` are titles by their ids; a flow calls tools by `ask`."""

    def __init__(self, user, chance):
        self.user = user
        self.chance = chance
        self.goals = {}
        self.before = self.open = None
        self.applied = self.made = self.xp = 0

    def flow(self, ask):
        flows = (self.change, self.change, self.change, self.undo, self.look)
        (self.settle if self.open else self.chance.choice(flows))(ask)

    def _actions(self):
        """Goals to make, and of those there are one with another title and one to delete."""
        actions = [
            act("goal.create", title=self._title()) for _ in range(self.chance.randint(1, 4))
        ]
        if len(self.goals) > 1:
            changed, deleted = self.chance.sample(sorted(self.goals), 2)
            actions.append(act("goal.update", goal_id=changed, title=self._title()))
            actions.append(act("goal.delete", goal_id=deleted))
        return actions

    def _title(self):
        self.made += 1
        return f"{self.user} № {self.made}"

    def change(self, ask):
        """Preview, and then apply or forget it."""
        actions = self._actions()
        answer = ask("preview_actions", actions=actions)
        if answer.code:
            return
        expect(not answer.value["diff"]["errors"], f"refused: {answer.value['diff']['errors']}")

        def after(results):
            goals = dict(self.goals)
            for action, result in zip(actions, results, strict=True):
                params = action["params"]
                if action["action"] == "goal.delete":
                    del goals[params["goal_id"]]
                else:
                    goals[params.get("goal_id") or result["created_id"]] = params["title"]
            return goals

        if self.chance.random() < 0.9:
            self.open = Open(answer.value, after)
            self.settle(ask)

    def undo(self, ask):
        """Take back what was applied last."""
        if (before := self.before) is None:
            return
        answer = ask("undo_last")
        if not answer.code:
            self.open = Open(answer.value, lambda _: before, undoes=True)
            self.settle(ask)

    def settle(self, ask):
        """Apply what is open, with the key it had before; without an answer it stays open."""
        opened = self.open
        keys = {"preview_id": opened.preview["preview_id"], "idempotency_key": opened.key}
        answer = ask("apply_actions", **keys, user_confirmation="да")
        if answer.code:
            return
        xp = answer.value["xp"]
        expect(xp["delta"] == opened.preview["xp_total"], f"{xp}, not as previewed")
        expect(xp["balance"] == self.xp + xp["delta"], f"{xp}, not {self.xp + xp['delta']}")
        after = opened.after(answer.value["results"])
        # One more `undo_last` would take back what came before that.
        self.before = None if opened.undoes else self.goals
        self.goals = after
        self.xp = xp["balance"]
        self.open, self.applied = None, self.applied + 1

    def look(self, ask):
        """Check that the snapshot has the goals that were confirmed."""
        answer = ask("get_user_snapshot", include=["goals", "xp"], goals_status="all")
        if not answer.code:
            empty = {"goals": {"items": [], "total_count": 0}, "xp": {"balance": 0}}
            data = empty | answer.value["data"]
            titles = {goal["id"]: goal["title"] for goal in data["goals"]["items"]}
            counts = (data["goals"]["total_count"], data["xp"]["balance"])
            expected = (len(self.goals), self.xp)
            expect(counts == expected, f"{counts} goals and XP, not {expected}")
            expect(titles.items() <= self.goals.items(), f"{titles}, not {self.goals}")
