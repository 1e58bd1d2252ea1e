"""Random lives against the simple model: several users, days and sessions, with undo in between."""

import json
import os
import uuid
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tests.onepercent.person as person
from tests.onepercent.model import Life, Refused, whole
from tests.onepercent.person import Clock, act, apply, call, snapshot
from tools.onepercent.database import derived, store
from tools.onepercent.habits.histories import is_misfolded
from tools.onepercent.transfer.backup import backup, export, import_, restore
from tools.onepercent.transfer.backup import database as health

# The days of a test lead over New Year, into ISO week 53.
FIRST_DAY = date(2026, 12, 24)

TITLES = st.sampled_from(["Читать", "Бегать", "'; DROP TABLE goals; --", "🎯 שלום"])
IDS = {"goal_id": "goals", "step_id": "steps", "habit_id": "habits", "diary_id": "diary"}
CREATES = {
    "goal.create": "goal_id",
    "step.create": "step_id",
    "habit.create": "habit_id",
    "diary.create_entry": "diary_id",
}

# Stands for one of what there is.
ID = st.none()
# Days are drawn as days before today.
DAYS_AGO = st.sampled_from([-1, 0, 0, 1, 2, 3, 5, 8, 20, 30, 31])
SCHEDULES = [
    *({"frequency_type": each} for each in ("daily", "weekdays", "weekends", "weekly")),
    {"frequency_type": "times_per_week", "times": 2}, {"frequency_type": "every_n_days", "n": 3},
    {"frequency_type": "monthly", "month_days": [1, 31]}, {"frequency_type": "custom", "schedule_days": [2, 5]},
]  # fmt: skip
PAUSES = [
    {},
    {},
    {"from": 2},
    {"from": -2},
    {"from": 3, "to": -3},
    {"to": -1},
    {"from": 0, "to": 2},
]
EXCUSE = st.sampled_from([None, "болезнь"])
LIMITS = [{"at_most": 0}, {"at_most": 2, "unit": "ч"}]
TARGET = st.sampled_from([None, None, {"amount": 2, "unit": "л"}, *LIMITS])
SUM = st.sampled_from([None, {"amount": 10, "unit": "л"}])
MOVED = [{"order": 1}, {"order": 2}, {"order": 9}]
ENDS = [{"until": -4}, {"until": 3}, {"until": 0}]

PARAMS: dict[str, dict[str, st.SearchStrategy]] = {
    "goal.create": {"title": TITLES, "target": SUM},
    "goal.update": {"goal_id": ID, "more": st.sampled_from([{"title": "Бегать"}, {"title": "Читать"}, *MOVED])},
    "goal.add": {"goal_id": ID, "amount": st.sampled_from([5, -3, 0.5])},
    **{f"goal.{verb}": {"goal_id": ID} for verb in ("complete", "reopen", "archive", "unarchive", "delete")},
    "step.create": {"goal_id": ID, "title": TITLES, "dt": DAYS_AGO},
    "step.update": {"step_id": ID, "title": TITLES, "goal_id": ID},
    "step.shift": {"goal_id": ID, "more": st.sampled_from([{"days": -7}, {"days": 0}, {"days": 7}, {"dt": 0}, {"dt": -9}])},
    **{f"step.{verb}": {"step_id": ID} for verb in ("complete", "reopen", "delete")},
    "habit.create": {"name": TITLES, "xp_reward": st.integers(1, 100), "xp_penalty": st.integers(0, 100), "target": TARGET, "goal_id": ID, "until": st.sampled_from([None, None, -6])},
    "habit.update": {"habit_id": ID, "more": st.sampled_from([*SCHEDULES, *MOVED, *ENDS])},
    "habit.pause": {"habit_id": ID, "more": st.sampled_from(PAUSES)},
    **{f"habit.{verb}": {"habit_id": ID} for verb in ("resume", "archive", "unarchive", "delete")},
    "habit.mark_completed": {"habit_id": ID, "date": DAYS_AGO, "amount": st.sampled_from([None, None, 1, 1.5])},
    "habit.mark_missed": {"habit_id": ID, "date": DAYS_AGO, "excuse_reason": EXCUSE},
    "habit.unmark": {"habit_id": ID, "date": DAYS_AGO},
    "diary.create_entry": {"what_done": TITLES},
    "diary.update_entry": {"diary_id": ID, "what_done": TITLES},
    "diary.delete_entry": {"diary_id": ID},
    "ssp.rate": {"category": st.sampled_from(["work", "family"]), "score": st.integers(1, 3)},
}  # fmt: skip
OFTEN = ["habit.mark_missed", "habit.create", "goal.create", "step.create"]
NAMES = [*sorted(PARAMS), *OFTEN, *["habit.mark_completed"] * 4]
MOVES = [
    "preview",
    "preview",
    "apply",
    "apply",
    "undo",
    "undo",
    "redo",
    "switch",
    "look",
    "imported",
    "restored",
]
WORLDS = int(os.environ.get("RANDOM_WORLDS", "30"))


@dataclass
class World:
    """The database under test and the model beside it."""

    data: st.DataObject
    clock: Clock
    file: Path
    today: date = FIRST_DAY
    user: str = "anna"
    lives: dict[str, Life] = field(default_factory=lambda: {"anna": Life(), "boris": Life()})
    undone: dict[str, list[tuple[Life, str]]] = field(
        default_factory=lambda: {"anna": [], "boris": []}
    )
    done: dict[str, list[tuple[Life, str]]] = field(
        default_factory=lambda: {"anna": [], "boris": []}
    )
    pending: list[tuple[str, date, list[dict], dict, int]] = field(default_factory=list)
    applied: dict[str, int] = field(default_factory=lambda: {"anna": 0, "boris": 0})

    @property
    def life(self) -> Life:
        return self.lives[self.user]

    def switch(self) -> None:
        """Another user, another day."""
        self.user = self.data.draw(st.sampled_from(sorted(self.lives)))
        self.today += timedelta(days=self.data.draw(st.sampled_from([0, 0, 1, 1, 2, 20])))
        self.clock.set(f"{self.today}T12:00:00+00:00")
        person.use(self.file, ONEPERCENT_USER=self.user, ONEPERCENT_PREVIEW_TTL="10000000")

    def settle_in(self) -> None:
        """A little of everything for each user, so that there is something to change."""
        for user in self.lives:
            self.user = user
            person.use(self.file, ONEPERCENT_USER=user, ONEPERCENT_PREVIEW_TTL="10000000")
            goal, habit = act("goal.create", title="Цель"), act("habit.create", name="Бег")
            week = act("habit.create", name="Вода", target={"amount": 2, "unit": "л"})
            steps = [
                act("step.create", goal_id=person.ref(goal), title=title, dt="2026-12-24")
                for title in ("Раз", "Два")
            ]
            dates = [str(self.today - timedelta(days=ago)) for ago in range(7, 0, -1)]
            marks = [
                act("habit.mark_completed", habit_id=person.ref(habit), date=day) for day in dates
            ]
            self.preview(
                [goal, *steps, habit, week, *marks, act("diary.create_entry", what_done="Раз")]
            )
            self.apply()

    def actions(self) -> list[dict]:
        """A few actions on what there is, was, never was, or is only created by those before them."""
        found: list[dict] = []
        for name in self.data.draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6)):
            params = {key: self.data.draw(kind) for key, kind in PARAMS[name].items()}
            if name in ("step.update", "habit.create") and self.data.draw(st.booleans()):
                del params["goal_id"]
            for key in params.keys() & IDS.keys():
                pool: list[Any] = [*getattr(self.life, IDS[key])] * 4 + [999]
                pool += [person.ref(one) for one in found if CREATES.get(one["action"]) == key] * 3
                params[key] = self.data.draw(st.sampled_from(pool))
            params |= params.pop("more", {})
            dates = {
                key for key in ("date", "dt", "from", "to", "until") if params.get(key) is not None
            }
            for key in dates:
                params[key] = (self.today - timedelta(days=params[key])).isoformat()
            found.append(act(name, **params))
        return found

    def preview(self, actions: list[dict] | None = None) -> None:
        """The diff's errors and XP are what the model says; nothing changes."""
        actions = actions or self.actions()
        answer = call("preview_actions", actions=actions, partial=True)
        errors, xp, _ = self.tried(self.life.copy(), actions, self.today)
        found = answer["diff"]["errors"] if answer["success"] else answer["errors"]
        assert [(one["index"], one["code"]) for one in found] == errors
        if answer["success"]:
            assert answer["xp_total"] == xp
            valid = [one for index, one in enumerate(actions) if index not in dict(errors)]
            assert sum(len(entries) for entries in answer["diff"].values()) - len(errors) == len(
                valid
            )
            self.pending.append((self.user, self.today, valid, answer, self.applied[self.user]))
        else:
            assert len(errors) == len(actions)

    def tried(
        self, life: Life, actions: list[dict], today: date, ids: list[int | None] = ()
    ) -> tuple[list, int, Life]:
        """The model's errors and XP; `ids` are what the database created, else ids are made up."""
        errors, xp, known = [], 0, {}
        for index, one in enumerate(actions):
            new = ids[index] if ids else -1 - index
            params = {key: value for key, value in one["params"].items() if value is not None}
            for key in params.keys() & IDS.keys():
                params[key] = known.get(params[key], params[key])
            try:
                xp += life.do(one["action"], params, today, new)
                known[person.ref(one)] = new
            except Refused as refused:
                errors.append((index, str(refused)))
        return errors, xp, life

    def apply(self) -> None:
        """A pending preview of some session does what it showed, or is stale and does nothing."""
        if not self.pending:
            return
        user, today, valid, previewed, applied = self.pending.pop(
            self.data.draw(st.integers(0, len(self.pending) - 1))
        )
        person.use(self.file, ONEPERCENT_USER=user, ONEPERCENT_PREVIEW_TTL="10000000")
        self.user = user
        before = self.state()
        key = str(uuid.uuid4())
        answer = apply(previewed, key)
        if not answer["success"]:
            assert answer["code"] == "PREVIEW_STALE" and self.applied[user] != applied
            assert self.state() == before
            return
        assert answer["xp"]["delta"] == previewed["xp_total"]
        ids = [result.get("created_id") for result in answer["results"]]
        errors, xp, after = self.tried(self.life.copy(), valid, today, ids)
        assert (errors, xp) == ([], previewed["xp_total"])
        self.done[user] = [*self.done[user], (self.life, before)][-20:]
        self.undone[user] = []
        self.lives[user] = after
        self.applied[user] += 1
        assert apply(previewed, key) == answer

    def undo(self) -> None:
        """The state before the last apply, byte for byte; again and again, the one before that."""
        self.walk(self.done[self.user], self.undone[self.user], redo=False)

    def redo(self) -> None:
        """The state that was undone last, byte for byte."""
        self.walk(self.undone[self.user], self.done[self.user], redo=True)

    def walk(self, back: list[tuple[Life, str]], forth: list[tuple[Life, str]], redo: bool) -> None:
        previewed = call("undo_last", redo=redo)
        if not back:
            assert previewed["code"] == "NOTHING_TO_UNDO"
            return
        assert previewed["success"], previewed
        forth.append((self.life, self.state()))
        life, state = back.pop()
        answer = apply(previewed)
        assert answer["success"] and answer["xp"]["delta"] == life.balance - self.life.balance
        assert self.state() == state
        self.lives[self.user] = life
        self.applied[self.user] += 1

    def look(self) -> None:
        """Looking changes nothing, also with a clock that runs ahead."""
        before = self.state()
        self.clock.set(
            f"{self.today + timedelta(self.data.draw(st.sampled_from([0, 1, 9, 366])))}T12:00:00+00:00"
        )
        snapshot("steps", "habits", "schedule", "history")
        self.clock.set(f"{self.today}T12:00:00+00:00")
        assert self.state() == before

    def imported(self) -> None:
        """An import of its own export changes nothing."""
        before = self.state()
        import_(str(self.file.with_suffix(".json")))
        assert self.state() == before

    def restored(self) -> None:
        before = self.state()
        backup(str(self.file.with_suffix(".copy")))
        restore(str(self.file.with_suffix(".copy")))
        assert self.state() == before

    def state(self) -> str:
        """What this user has, as an export writes it."""
        export(str(self.file.with_suffix(".json")))
        found = json.loads(self.file.with_suffix(".json").read_text(encoding="utf-8"))["state"]
        # The name of a user is nowhere else.
        return json.dumps(
            [[row for row in table["rows"] if self.user in row] for table in found.values()]
        )

    def check(self) -> None:
        """The snapshot is what the model shows, XP is the sum of the ledger, and the file is sound."""
        sections = ("goals", "steps", "habits", "diary", "xp", "ssp")
        data = snapshot(*sections, goals_status="all", date_from="2026-01-01", date_to="2028-01-01")
        goals = [
            (one["id"], one["title"], one["status"], one["steps_count"], one["steps_completed"],
             sorted((step["id"], step.get("dt")) for step in one.get("steps", ())), one.get("sum"))
            for one in whole(data["goals"])
        ]  # fmt: skip
        habits = [
            (one["id"], one["name"], one["current_streak"], one["best_streak"])
            for one in whole(data["habits"])
        ]
        diary = {one["id"]: one["what_done"] for one in data["diary"]["items"]}
        ssp = {
            one["category"]: one["score"] for one in data["ssp"].get("spheres", ()) if one["score"]
        }
        xp = (data["xp"]["balance"], data["xp"]["lifetime"])
        assert {
            "goals": goals,
            "habits": habits,
            "diary": diary,
            "ssp": ssp,
            "xp": xp,
        } == self.life.shown(self.today)
        with store.reading() as db:
            total = db.execute(
                "SELECT total(xp) FROM xp_ledger WHERE user = ?", (self.user,)
            ).fetchone()[0]
            assert derived.differing(db) == [] and not is_misfolded(db, self.today)
        assert total == data["xp"]["balance"]


@pytest.mark.slow
@settings(max_examples=WORLDS, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_random_life_is_what_the_model_says(data: st.DataObject, clock: Clock, tmp_path: Path):
    clock.set(f"{FIRST_DAY}T12:00:00+00:00")
    folder = tmp_path / f"{uuid.uuid4()}"  # of its own: each export looks through the whole folder
    folder.mkdir()
    world = World(data, clock, folder / "life.sqlite3")
    world.settle_in()
    for move in data.draw(st.lists(st.sampled_from(MOVES), min_size=4, max_size=14)):
        getattr(world, move)()
        world.check()
    assert health().state == "ok"
    store.release()
