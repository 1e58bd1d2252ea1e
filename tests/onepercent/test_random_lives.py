"""Random lives of all that actions take: a preview is what is applied, an undo is whole, a look changes nothing.

What each action does is judged in test_model.py, by a model that knows less of them.
"""

import os
from datetime import date, timedelta
from random import Random

import pytest

from tests.onepercent.examples import EXAMPLES, SCHEDULES, lived, values
from tests.onepercent.person import act, apply, call, propose, snapshot, state, use
from tools.onepercent.actions import ACTIONS
from tools.onepercent.database import derived, store
from tools.onepercent.habits.histories import is_misfolded
from tools.onepercent.transfer.backup import import_export, write_export

LIVES = int(os.environ.get("RANDOM_LIVES", "2"))
# What no sentence for a person has in it.
UNSAID = ("None", "{", "$", "nan")
OFTEN = ["step.create", "habit.create", "goal.create", "step.complete", "habit.mark_completed"]


class PersonPlayed:
    """The actions of one person, and their looks at the result."""

    def __init__(self, random):
        self.random = random
        self.today = date(2026, 12, 24)

    def action(self):
        """Its example with other values, some other fields, and a schedule where it takes one."""
        name = self.random.choice([*EXAMPLES, *OFTEN * 3])
        params = EXAMPLES[name].copy()
        for field in ACTIONS[name].fields:
            drawn = values(ACTIONS[name].domain, field, self.today)
            if drawn and (field in params or self.random.random() < 0.25):
                params[field] = self.random.choice(drawn)
        if "frequency_type" in ACTIONS[name].fields and self.random.random() < 0.5:
            params |= self.random.choice(SCHEDULES)
        return act(name, **params)

    def look(self):
        before = state()
        period = {"date_from": "2026-11-01", "date_to": "2027-03-01"}
        sections = "goals steps habits schedule history diary xp ssp".split()
        data = snapshot(*sections, goals_status="all", **period)
        assert state() == before
        return data

    def walk(self, previewed):
        """Apply what was previewed; the rows after it, and what is seen."""
        assert previewed["success"], previewed
        assert not any(sign in previewed["message"] for sign in UNSAID), previewed
        answer = apply(previewed)
        assert answer["success"] and answer["xp"]["delta"] == previewed["xp_total"], answer
        with store.reading() as db:
            assert derived.differing(db) == [] and not is_misfolded(db, self.today)
        return state(), self.look()

    def live(self):
        """A few actions, taken back and done again."""
        before = state(), self.look()
        previewed = propose(*[self.action() for _ in range(self.random.randint(1, 5))])
        assert (state(), self.look()) == before
        if previewed["success"]:
            after = self.walk(previewed)
            assert self.walk(call("undo_last")) == before
            assert self.walk(call("undo_last", redo=True)) == after


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(LIVES))
def test_a_preview_is_what_is_applied_and_an_undo_is_whole(seed, clock, file):
    life = PersonPlayed(Random(seed))
    use(file, ONEPERCENT_PREVIEW_TTL="10000000")
    lived()
    for _ in range(20):
        clock.set(f"{life.today}T12:00:00+00:00")
        life.live()
        life.today += timedelta(life.random.choice([0, 0, 1, 1, 3, 20]))
    seen = life.look()
    copy = str(file.with_name("export.json"))
    write_export(copy)
    import_export(copy)
    assert life.look() == seen
