"""A goal that is a sum: added to, fed by habits, reached."""

import pytest

from tests.onepercent.person import act, apply, call, do, items, preview, ref, refused

CAR = {"amount": 300_000, "unit": "₽"}


@pytest.fixture
def car():
    do(act("goal.create", title="Машина", target=CAR, amount=95_000))


def total() -> float:
    return items("goals")[0]["sum"]


def test_a_new_goal_says_what_it_wants_and_what_is_there():
    message = preview(act("goal.create", title="Машина", target=CAR, amount=95_000))["message"]
    assert "Цель «Машина»: новая; работа; нужно 300 000 ₽; уже есть 95 000" in message.replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_what_is_added_is_said_summed_up_shown_and_undone(car):
    previewed = preview(act("goal.add", goal_id=1, amount=25_000))
    message = previewed["message"].replace("\N{NO-BREAK SPACE}", " ")
    assert "Цель «Машина»: собрано: 95 000 → 120 000 из 300 000 ₽" in message
    apply(previewed)
    [goal] = items("goals")
    assert (goal["sum"], goal["target"]) == (120_000, CAR)
    do(act("goal.add", goal_id=1, amount=-20_000))
    assert total() == 100_000
    apply(call("undo_last"))
    assert total() == 120_000


def test_the_amounts_of_a_habit_add_to_its_goal_and_leave_it_with_their_marks(car):
    habit = act("habit.create", name="Копилка", goal_id=1, target={"amount": 500, "unit": "₽"})
    apply(preview(habit, act("habit.mark_completed", habit_id=ref(habit), amount=700)))
    assert total() == 95_700
    do(act("habit.unmark", habit_id=1))
    assert total() == 95_000


def test_a_goal_that_has_what_it_wants_is_said_to_be_reached_and_stays_open(car):
    message = preview(act("goal.add", goal_id=1, amount=205_000))["message"]
    assert "! Цель «Машина» достигнута" in message
    do(act("goal.add", goal_id=1, amount=205_000))
    assert items("goals")[0]["status"] == "work"


def test_amounts_need_a_target():
    do(act("goal.create", title="Дом"))
    assert "no target" in refused(act("goal.add", goal_id=1, amount=1))["error"]
    assert "no target" in refused(act("goal.create", title="x", amount=1))["error"]
    assert "no target" in refused(act("goal.update", goal_id=1, amount=1))["error"]


def test_goals_and_habits_stand_in_the_persons_order():
    for name in "abc":
        do(act("goal.create", title=name), act("habit.create", name=name))
    do(act("goal.update", goal_id=3, before=1), act("habit.update", habit_id=1, before=None))
    assert [goal["title"] for goal in items("goals")] == ["c", "a", "b"]
    assert [habit["name"] for habit in items("habits")] == ["b", "c", "a"]
    do(act("goal.update", goal_id=2, before=1))
    assert [goal["title"] for goal in items("goals")] == ["c", "b", "a"]
    apply(call("undo_last"))
    assert [goal["title"] for goal in items("goals")] == ["c", "a", "b"]
