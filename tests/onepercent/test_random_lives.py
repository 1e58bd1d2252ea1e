"""Random lives of all that actions take: a preview is what is applied, an undo is whole, a look changes nothing.

What each action does is judged in test_model.py, by a model that knows less of them.
"""

import json
import os
from datetime import date, timedelta
from pathlib import Path
from random import Random

import pytest

import tests.onepercent.person as person
from tests.onepercent.person import Clock, act, apply, call
from tools.onepercent.database import derived, store
from tools.onepercent.habits.histories import is_misfolded
from tools.onepercent.transfer.backup import export, import_

LIVES = int(os.environ.get("RANDOM_LIVES", "2"))
# What no sentence for a person has in it.
UNSAID = ("None", "{", "$", "nan")
REPEATS = [
    {"every": "day"}, {"every": "day", "interval": 3}, {"every": "day", "interval": 3, "after": "done"},
    {"every": "week", "on": ["mon", "thu"]}, {"every": "week", "interval": 2, "on": ["sun"]}, {"every": "week", "after": "done"},
    {"every": "month", "on": [31]}, {"every": "month", "on": [1, 15]}, {"every": "month", "interval": 2, "on": [30]},
    {"every": "year"}, {"every": "day", "until": "2027-01-10"},
]  # fmt: skip
SCHEDULES = [
    {}, {"frequency_type": "daily"}, {"frequency_type": "weekends"}, {"frequency_type": "times_per_week", "times": 3},
    {"frequency_type": "every_n_days", "n": 2}, {"frequency_type": "monthly", "month_days": [31]}, {"schedule_days": [1, 7]},
]  # fmt: skip
TARGETS = [
    {"amount": 2, "unit": "л"},
    {"at_most": 0},
    {"at_most": 2, "unit": "ч"},
    {"amount": 0.5, "unit": "km"},
]
SUM = {"amount": 10, "unit": "км"}
STEPS = [{"title": "a", "dt": "2026-12-25"}, {"title": "b"}]
TITLES = ["Читать", "Run", "שלום", "= 2"]
ZONES = ["Asia/Tokyo", "UTC", "America/New_York"]
DAYS = [-31, -8, -3, -2, -1, 0, 0, 0, 1, 4, 30]
IDS = [1, 1, 2, 2, 3, 3, 4, 5, 6, 7]
# What an action needs, and what it may have: values, of which one is drawn. `id` and `day` stand for one of theirs.
ACTIONS: dict[str, tuple[dict, dict]] = {
    "goal.create": ({"title": TITLES}, {"target": [SUM], "due": "day", "amount": [3], "steps": [STEPS]}),
    "goal.update": ({"goal_id": "id"}, {"title": TITLES, "due": "day", "target": [SUM, None], "order": IDS}),
    "goal.add": ({"goal_id": "id", "amount": [1, 2.5, -1]}, {}),
    **{f"goal.{verb}": ({"goal_id": "id"}, {}) for verb in ("complete", "reopen", "archive", "unarchive", "delete")},
    "step.create": (
        {"title": TITLES, "goal_id": "id"},
        {"dt": "day", "time_duration": ["30"], "priority": ["critical"], "repeat": REPEATS, "description": ["x"]},
    ),
    "step.update": (
        {"step_id": "id"},
        {"title": TITLES, "dt": "day", "repeat": [*REPEATS, None], "priority": [None], "goal_id": "id", "order": IDS, "progress": [40]},
    ),
    "step.shift": ({"goal_id": "id", "days": [3, -2]}, {}),
    "step.complete": ({"step_id": "id"}, {"date": "day"}),
    **{f"step.{verb}": ({"step_id": "id"}, {}) for verb in ("reopen", "delete")},
    "habit.create": ({"name": TITLES, "more": SCHEDULES}, {"target": TARGETS, "until": "day", "goal_id": "id"}),
    "habit.update": (
        {"habit_id": "id", "more": SCHEDULES},
        {"name": TITLES, "target": [*TARGETS, None], "until": "day", "goal_id": "id", "order": IDS, "xp_reward": [7]},
    ),
    "habit.mark_completed": ({"habit_id": "id"}, {"note": ["z"], "amount": [1.5], "date": "day"}),
    "habit.mark_missed": ({"habit_id": "id"}, {"excuse_reason": ["ill"], "date": "day"}),
    "habit.unmark": ({"habit_id": "id", "date": "day"}, {}),
    "habit.pause": ({"habit_id": "id"}, {"from": "day", "to": "day", "reason": ["sea"]}),
    **{f"habit.{verb}": ({"habit_id": "id"}, {}) for verb in ("resume", "archive", "unarchive", "delete")},
    "diary.create_entry": ({"what_done": TITLES}, {"date": "day", "plans": ["p"]}),
    "diary.update_entry": ({"diary_id": "id"}, {"plans": ["q"], "append": [{"what_done": "more"}]}),
    "ssp.rate": ({"category": ["work"], "score": IDS}, {}),
    "person.update": ({}, {"time_zone": ZONES, "day_start_hour": [0, 4]}),
}  # fmt: skip
OFTEN = ["step.create", "habit.create", "goal.create", "step.complete", "habit.mark_completed"]
SECTIONS = ["goals", "steps", "habits", "schedule", "history", "diary", "xp", "ssp"]


class Life:
    """What one person does and sees."""

    def __init__(self, random: Random, clock: Clock, file: Path):
        self.random, self.clock, self.file = random, clock, file
        self.today = date(2026, 12, 24)

    def action(self) -> dict:
        name = self.random.choice([*ACTIONS, *OFTEN * 3])
        needed, possible = ACTIONS[name]
        chosen = {field: values for field, values in possible.items() if self.random.random() < 0.4}
        named = {
            "id": IDS,
            "day": [f"{self.today + timedelta(days)}" for days in DAYS],
        }
        params = {
            field: self.random.choice(
                named.get(values, values) if isinstance(values, str) else values
            )
            for field, values in {**needed, **chosen}.items()
        }
        return act(name, **params.pop("more", {}), **params)

    def rows(self) -> str:
        export(str(self.file.with_suffix(".json")))
        return json.dumps(
            json.loads(self.file.with_suffix(".json").read_text(encoding="utf-8"))["state"]
        )

    def look(self) -> str:
        before = self.rows()
        period = {"date_from": "2026-11-01", "date_to": "2027-03-01"}
        seen = call("get_user_snapshot", include=SECTIONS, goals_status="all", **period)
        assert seen["success"] and self.rows() == before
        return json.dumps(seen["data"])

    def walk(self, previewed: dict) -> tuple[str, str]:
        """Apply what was previewed; the rows after it, and what is seen."""
        assert previewed["success"] and not any(sign in previewed["message"] for sign in UNSAID), (
            previewed
        )
        answer = apply(previewed)
        assert answer["success"] and answer["xp"]["delta"] == previewed["xp_total"], answer
        with store.reading() as db:
            assert derived.differing(db) == [] and not is_misfolded(db, self.today)
        return self.rows(), self.look()

    def live(self) -> None:
        """A few actions, taken back and done again."""
        before = self.rows(), self.look()
        previewed = call(
            "preview_actions", actions=[self.action() for _ in range(self.random.randint(1, 5))]
        )
        assert (self.rows(), self.look()) == before
        if previewed["success"]:
            after = self.walk(previewed)
            assert self.walk(call("undo_last")) == before
            assert self.walk(call("undo_last", redo=True)) == after


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(LIVES))
def test_a_preview_is_what_is_applied_and_an_undo_is_whole(seed: int, clock: Clock, tmp_path: Path):
    life = Life(Random(seed), clock, tmp_path / "life.sqlite3")
    person.use(life.file, ONEPERCENT_PREVIEW_TTL="10000000")
    person.do(
        *(act("goal.create", title=title, steps=STEPS) for title in TITLES),
        act("habit.create", name="x"),
    )
    for _ in range(20):
        clock.set(f"{life.today}T12:00:00+00:00")
        life.live()
        life.today += timedelta(life.random.choice([0, 0, 1, 1, 3, 20]))
    seen = life.look()
    import_(str(life.file.with_suffix(".json")))
    assert life.look() == seen
    store.release()
