"""What a snapshot says once: a dated step that stands among its goal's steps names that goal no second time."""

from tests.onepercent.person import act, do, snapshot


def test_the_schedule_names_the_goal_only_of_steps_that_the_goal_itself_does_not_show():
    steps = [act("step.create", goal_id=None, title=f"Шаг {at}", dt="2026-03-20", order=at) for at in range(7)]
    do(act("goal.create", title="Цель"), *steps)
    data = snapshot("goals", "schedule")
    shown = {step["id"] for step in data["goals"]["items"][0]["steps"]}
    dated = [step for part in data["schedule"].values() if isinstance(part, list) for step in part]
    assert (len(shown), len(dated)) == (5, 7)
    assert {step["id"] for step in dated if "goal_title" not in step} == shown
    assert [step["title"] for step in dated] == [f"Шаг {at}" for at in range(7)]
    assert all(step["goal_title"] == "Цель" for step in snapshot("schedule")["schedule"]["upcoming"])
