"""Random lives against the simple model: several users, days and sessions, with undo in between."""

import uuid
from datetime import date, timedelta
from operator import itemgetter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.onepercent.examples import DATES, EXAMPLES, SCHEDULES, TITLES, VALUES
from tests.onepercent.model import Refused, RulesModel, whole
from tests.onepercent.person import (
    act,
    apply,
    call,
    mark,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    propose,
    ref,
    rows,
    snapshot,
    state,
    use,
)
from tools.onepercent.database import derived, store
from tools.onepercent.habits.histories import is_misfolded
from tools.onepercent.transfer.backup import check_database as health

# The days of a test lead over New Year, into ISO week 53.
FIRST_DAY = date(2026, 12, 24)

IDS = {"goal_id", "step_id", "habit_id", "diary_id"}
# Days are drawn as days before today.
DAYS_AGO = [-1, 0, 0, 1, 2, 3, 5, 8, 20, 30, 31]
MOVED = [{"order": 1}, {"order": 2}, {"order": 9}]
ENDS = [{"until": -4}, {"until": 3}, {"until": 0}]

# What is drawn beside the ids that the example of an action has; `more` is several at once.
PARAMS = {
    "goal.create": {"title": TITLES, "target": VALUES["goal.target"], "due": [None, -20, 5]},
    "goal.update": {"more": [{"title": "Run"}, {"due": -20}, {"due": 5}, *MOVED]},
    "goal.add": {"amount": [5, -3, 0.5]},
    "step.create": {"title": TITLES, "dt": DAYS_AGO},
    "step.update": {"title": TITLES},
    "step.shift": {"more": [{"days": -7}, {"days": 0}, {"days": 7}, {"dt": 0}, {"dt": -9}]},
    "habit.create": {"name": TITLES, "xp_reward": range(1, 101), "xp_penalty": range(101), "target": VALUES["habit.target"], "until": [None, None, -6]},
    "habit.update": {"more": [*SCHEDULES, *MOVED, *ENDS]},
    "habit.pause": {"from": [None, None, 0, 2, 3, -2], "to": [None, None, -1, -3, 2]},
    "habit.mark_completed": {"date": DAYS_AGO, "amount": [None, None, 1, 1.5]},
    "habit.mark_missed": {"date": DAYS_AGO, "excuse_reason": [None, "болезнь"]},
    "habit.unmark": {"date": DAYS_AGO},
    "diary.create_entry": {"what_done": TITLES},
    "diary.update_entry": {"what_done": TITLES},
    "ssp.rate": {"category": ["work", "family"], "score": [1, 2, 3]},
}  # fmt: skip
OFTEN = ["habit.mark_missed", "habit.create", "goal.create", "step.create"]
# The model knows no zones.
NAMES = [*sorted(EXAMPLES.keys() - {"person.update"}), *OFTEN, *["habit.mark_completed"] * 4]
MOVES = ["preview", "preview", "apply", "apply", "undo", "undo", "redo", "switch"]


class User:
    """What the model knows of one user: what there is, what undo and redo lead to, how much was applied."""

    def __init__(self):
        self.life = RulesModel()
        self.done = []
        self.undone = []
        self.applied = 0


class World:
    """The database under test and the model beside it."""

    def __init__(self, data, clock, file):
        self.data = data
        self.clock = clock
        self.file = file
        self.today = FIRST_DAY
        self.name = "anna"
        self.users = {"anna": User(), "boris": User()}
        self.pending = []

    @property
    def user(self):
        return self.users[self.name]

    def draw(self, values):
        return self.data.draw(st.sampled_from(values))

    def act_for(self, name):
        self.name = name
        use(self.file, ONEPERCENT_USER=name, ONEPERCENT_PREVIEW_TTL="10000000")

    def state(self):
        """What this user has; the name of a user is nowhere else."""
        return [[row for row in table if self.name in row] for table in state().values()]

    def switch(self):
        """Another user, another day."""
        self.act_for(self.draw(sorted(self.users)))
        self.today += timedelta(self.draw([0, 0, 1, 1, 2, 20]))
        self.clock.set(f"{self.today}T12:00:00+00:00")

    def settle_in(self):
        """A little of everything for each user, so that there is something to change."""
        for name in self.users:
            self.act_for(name)
            goal = new_goal("Цель")
            habit = new_habit("Бег")
            dates = [str(self.today - timedelta(ago)) for ago in range(7, 0, -1)]
            actions = [
                goal,
                *(new_step(title, ref(goal), dt="2026-12-24") for title in ("Раз", "Два")),
                habit,
                new_habit("Вода", target={"amount": 2, "unit": "л"}),
                *(mark(ref(habit), date=day) for day in dates),
                new_entry(what_done="Раз"),
            ]
            self.preview(actions)
            self.apply()

    def actions(self):
        """A few actions on what there is, was, never was, or is only created by those before them."""
        drawn = []
        for name in self.data.draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6)):
            params = {key: self.draw(values) for key, values in PARAMS.get(name, {}).items()}
            keys = {*EXAMPLES[name]} & IDS
            if name in ("step.update", "habit.create") and self.draw([True, False]):
                keys.add("goal_id")
            for key in sorted(keys):
                domain = key.removesuffix("_id")
                pool = [*self.user.life.rows[domain]] * 4 + [999]
                creations = [
                    each for each in drawn if each["action"].startswith(f"{domain}.create")
                ]
                pool += list(map(ref, creations)) * 3
                params[key] = self.draw(pool)
            params |= params.pop("more", {})
            for key in params.keys() & DATES:
                if params[key] is not None:
                    params[key] = (self.today - timedelta(params[key])).isoformat()
            drawn.append(act(name, **params))
        return drawn

    def preview(self, actions=None):
        """The diff's errors and XP are what the model says; nothing changes."""
        actions = actions or self.actions()
        answer = propose(*actions, partial=True)
        errors, xp, _ = self.tried(actions, self.today)
        answered = answer.get("diff", answer)["errors"]
        assert [(error["index"], error["code"]) for error in answered] == errors
        if not answer["success"]:
            assert len(errors) == len(actions)
            return
        assert answer["xp_total"] == xp
        valid = [action for index, action in enumerate(actions) if index not in dict(errors)]
        assert sum(map(len, answer["diff"].values())) == len(actions)
        self.pending.append((self.name, self.today, valid, answer, self.user.applied))

    def tried(self, actions, today, ids=()):
        """The model's errors and XP, and the life after; `ids` are what the database created, else ids are
        made up."""
        life = self.user.life.copy()
        errors = []
        xp = 0
        known = {}
        for index, action in enumerate(actions):
            new = ids[index] if ids else -1 - index
            params = {key: value for key, value in action["params"].items() if value is not None}
            for key in params.keys() & IDS:
                params[key] = known.get(params[key], params[key])
            try:
                xp += life.do(action["action"], params, today, new)
                known[ref(action)] = new
            except Refused as refused:
                errors.append((index, str(refused)))
        return errors, xp, life

    def apply(self):
        """A pending preview of some session does what it showed, or is stale and does nothing."""
        if not self.pending:
            return
        place = self.draw(range(len(self.pending)))
        name, today, valid, previewed, applied = self.pending.pop(place)
        self.act_for(name)
        user = self.user
        before = self.state()
        key = str(uuid.uuid4())
        answer = apply(previewed, key)
        if not answer["success"]:
            assert answer["code"] == "PREVIEW_STALE" and user.applied != applied
            assert self.state() == before
            return
        assert answer["xp"]["delta"] == previewed["xp_total"]
        ids = [result.get("created_id") for result in answer["results"]]
        errors, xp, after = self.tried(valid, today, ids)
        assert (errors, xp) == ([], previewed["xp_total"])
        user.done = [*user.done, (user.life, before)][-20:]
        user.undone = []
        user.life = after
        user.applied += 1
        assert apply(previewed, key) == answer

    def undo(self):
        """The state before the last apply; again and again, the one before that."""
        self.walk(self.user.done, self.user.undone, redo=False)

    def redo(self):
        """The state that was undone last."""
        self.walk(self.user.undone, self.user.done, redo=True)

    def walk(self, back, forth, redo):
        previewed = call("undo_last", redo=redo)
        if not back:
            assert previewed["code"] == "NOTHING_TO_UNDO"
            return
        assert previewed["success"], previewed
        user = self.user
        forth.append((user.life, self.state()))
        life, before = back.pop()
        answer = apply(previewed)
        assert answer["success"]
        assert answer["xp"]["delta"] == life.balance - user.life.balance
        assert self.state() == before
        user.life = life
        user.applied += 1

    def check(self):
        """The snapshot is what the model shows, XP is the sum of the ledger, and the file is sound."""
        sections = ("goals", "steps", "habits", "diary", "xp", "ssp")
        data = snapshot(*sections, goals_status="all", date_from="2026-01-01", date_to="2028-01-01")
        of_goal = itemgetter("id", "title", "status", "steps_count", "steps_completed")
        goals = []
        for goal in whole(data["goals"]):
            steps = sorted((step["id"], step.get("dt")) for step in goal.get("steps", ()))
            goals.append((*of_goal(goal), steps, goal.get("due"), goal.get("sum")))
        of_habit = itemgetter("id", "name", "current_streak", "best_streak")
        habits = list(map(of_habit, whole(data["habits"])))
        diary = {entry["id"]: entry["what_done"] for entry in data["diary"]["items"]}
        spheres = data["ssp"].get("spheres", ())
        ssp = {sphere["category"]: sphere["score"] for sphere in spheres if sphere["score"]}
        xp = itemgetter("balance", "lifetime")(data["xp"])
        assert (goals, habits, diary, ssp, xp) == self.user.life.shown(self.today)
        assert rows("SELECT total(xp) FROM xp_ledger WHERE user = ?", self.name) == [xp[:1]]
        with store.reading() as db:
            assert derived.differing(db) == [] and not is_misfolded(db, self.today)


def test_the_model_has_a_method_for_every_action():
    assert [name for name in NAMES if not hasattr(RulesModel, name.replace(".", "_"))] == []


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_random_life_is_what_the_model_says(data, clock, tmp_path):
    clock.set(f"{FIRST_DAY}T12:00:00+00:00")
    world = World(data, clock, tmp_path / f"{uuid.uuid4()}.sqlite3")
    world.settle_in()
    for move in data.draw(st.lists(st.sampled_from(MOVES), min_size=4, max_size=14)):
        getattr(world, move)()
        world.check()
    assert health().state == "ok"
    store.release()
