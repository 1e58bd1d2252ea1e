"""What a model sends that there is not: the way to the same end is named."""

import pytest

from tests.onepercent.person import act, errand, new_goal, new_habit, refused


@pytest.mark.parametrize(
    "action, way",
    [
        (new_habit("x", end_date="2026-04-01"), "Use until"),
        (new_habit("x", reminder_time="22:00"), "no reminders at a time of day"),
        (errand("x", remind_me=True), "no reminders at a time of day"),
        (new_habit("x", limit=2), "at_most"),
        (new_habit("x", interval=3), "every_n_days with n"),
        (new_goal("x", progress=40), "goal.add"),
        (act("step.shift", overdue=True, days=1, **{"except": [3]}), "name those that are meant"),
        (act("step.complete", goal_id=1), "goal.complete closes a goal"),
        (errand("x", tags=["a"]), "There are no tags"),
        (errand("x", priorty="low"), "Use priority"),
        (act("person.update", time_zone="Europe/London", till="2026-03-20"), "changed back then"),
    ],
)
def test_an_unknown_field_gets_the_way_to_the_same_end(action, way):
    assert way in refused(action)["hint"]
