"""Random actions on what a person of OnePercent has."""

import random
import uuid
from datetime import date, timedelta
from typing import Any

from tests.onepercent.model import Life
from tests.onepercent.person import ref

IDS = {"goal_id": "goals", "step_id": "steps", "habit_id": "habits", "diary_id": "diary"}
CREATING = {"goal_id": "goal.create", "step_id": "step.create", "habit_id": "habit.create"}
NEEDS = {"goal": "goal_id", "step": "step_id", "habit": "habit_id", "diary": "diary_id"}
NAMES = (
    "goal.create", "goal.update", "goal.complete", "goal.delete", "goal.delete",
    "step.create", "step.create", "step.update", "step.complete", "step.delete",
    "habit.create", "habit.update", "habit.delete", "diary.create_entry", "diary.update_entry",
    *["habit.mark_completed"] * 4, *["habit.mark_missed"] * 2,
)  # fmt: skip
FREQUENCIES = ("daily", "weekdays", "weekends", "weekly")
NO_SUCH = 9_999_999


class Actions:
    """Texts are numbered, so that no two are alike."""

    def __init__(self, user: str, chance: random.Random):
        self.user, self.chance = user, chance
        self.made = 0

    def some(self, life: Life) -> list[dict[str, Any]]:
        """A few actions on what there is, what there never was, and what those before them create."""
        actions: list[dict[str, Any]] = []
        for name in self.chance.choices(NAMES, k=self.chance.randint(1, 5)):
            targets = {name: self._target(name, life, actions) for name in _targets(name)}
            actions.append(self.act(name, targets | self._content(name)))
        return actions

    def act(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"action": name, "client_action_id": self.identifier(), "params": params}

    def twice(self, life: Life) -> list[dict[str, Any]]:
        """Two different updates of one thing; none where there is no goal, step or habit."""
        there = [(field, key) for field in CREATING for key in alive(life, IDS[field])]
        if not there:
            return []
        field, key = self.chance.choice(there)
        name = f"{field.removesuffix('_id')}.update"
        contents = [{"frequency_type": content} for content in self.chance.sample(FREQUENCIES, 2)]
        if field != "habit_id":
            contents = [{"title": self._text()}, {"title": self._text()}]
        return [self.act(name, {field: key, **content}) for content in contents]

    def identifier(self) -> str:
        """A UUID that the seed decides."""
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))

    def _target(self, field: str, life: Life, made: list[dict[str, Any]]) -> int | str:
        pool: list[int | str] = [*alive(life, IDS[field])] or [NO_SUCH]
        pool += [ref(action) for action in made if action["action"] == CREATING.get(field)]
        return NO_SUCH if self.chance.random() < 0.05 else self.chance.choice(pool)

    def _text(self) -> str:
        self.made += 1
        return f"{self.user} № {self.made}"

    def _content(self, name: str) -> dict[str, Any]:
        if name in ("goal.create", "goal.update", "step.create", "step.update"):
            return {"title": self._text()}
        if name.startswith("diary"):
            return {"what_done": self._text()}
        if name == "habit.create":
            return {"name": self._text(), "xp_reward": self.chance.randint(1, 50)}
        if name == "habit.update":
            return {"frequency_type": self.chance.choice(FREQUENCIES)}
        if not name.startswith("habit.mark"):
            return {}
        day = date.today() - timedelta(days=self.chance.randint(0, 7))
        excuse = {"excuse_reason": "болезнь"} if name.endswith("missed") and self.chance.random() < 0.3 else {}
        return {"date": day.isoformat(), **excuse}


def alive(life: Life, kind: str) -> list[int]:
    """The ids of what is not deleted."""
    return [key for key, row in getattr(life, kind).items() if not row.get("deleted")]


def _targets(name: str) -> list[str]:
    """The fields of an action that name something."""
    if name == "step.create":
        return ["goal_id"]
    return [] if name.endswith(("create", "create_entry")) else [NEEDS[name.partition(".")[0]]]
