"""A goal that is a sum: added to, fed by habits, reached."""

import pytest

from tests.onepercent.person import (
    accepted,
    act,
    apply,
    do,
    first_goal,
    first_habit,
    items,
    mark,
    new_goal,
    new_habit,
    preview,
    ref,
    refused,
    said,
    snapshot,
    titles,
    undo,
)
from tools.onepercent.transfer.backup import import_export, write_export

CAR = {"amount": 300_000, "unit": "₽"}
BANK = new_habit("Копилка", goal_id=1, target="500 ₽")


@pytest.fixture
def car():
    do(new_goal("Машина", target=CAR, amount=95_000))


def total():
    return first_goal()["sum"]


def test_a_new_goal_says_what_it_wants_and_what_is_there():
    assert "Цель «Машина»: новая; работа; нужно 300\xa0000 ₽; уже есть 95\xa0000" in said(
        new_goal("Машина", target=CAR, amount=95_000)
    )


def test_what_is_added_is_said_summed_up_shown_and_undone(car):
    previewed = preview(act("goal.add", 1, amount=25_000))
    sums = "собрано: 95\xa0000 → 120\xa0000 из 300\xa0000 ₽"
    assert f"Цель «Машина»: {sums}" in previewed["message"]
    apply(previewed)
    [goal] = items("goals")
    assert (goal["sum"], goal["target"]) == (120_000, CAR)
    do(act("goal.add", 1, amount=-20_000))
    assert total() == 100_000
    undo()
    assert total() == 120_000


def test_a_goal_that_has_what_it_wants_is_said_to_be_reached_and_stays_open(car):
    assert "! Цель «Машина» достигнута" in said(act("goal.add", 1, amount=205_000))
    do(act("goal.add", 1, amount=205_000))
    assert first_goal()["status"] == "work"
    do(BANK)
    assert "достигнута" not in said(mark(1)), "no amount is named"


def test_amounts_need_a_target():
    do(new_goal("Дом"))
    change = {"goal_id": 1, "amount": 1}
    actions = [act("goal.add", **change), act("goal.update", **change), new_goal("x", amount=1)]
    for action in actions:
        assert "no target" in refused(action)["error"]


def test_goals_and_habits_stand_in_the_persons_order():
    for name in "abc":
        do(new_goal(name), new_habit(name))
    do(act("goal.update", 3, before=1), act("habit.update", 3, order=1))
    assert titles() == ["c", "a", "b"]
    assert [habit["name"] for habit in items("habits")] == ["c", "a", "b"]
    do(act("goal.update", 1, before=None))
    assert titles() == ["c", "b", "a"]
    undo()
    assert titles() == ["c", "a", "b"]


def test_a_sum_that_is_set_is_said_with_what_habits_bring(car):
    do(BANK, mark(ref(BANK), amount=500))
    sums = "собрано: 95\xa0500 → 10\xa0500 из 300\xa0000 ₽"
    assert sums in said(act("goal.update", 1, amount=10_000))


def test_amounts_in_another_unit_are_warned_of(car):
    habit = new_habit("Бег", goal_id=1, target="5 км")
    assert "! «Бег» считает в «км», а цель «Машина» — в «₽»" in said(habit)
    do(habit)
    dollars = act("goal.update", 1, target="300 $")
    assert "«Бег» считает в «км»" in said(dollars)
    same = act("habit.update", 1, target="5 ₽")
    assert "считает" not in said(same)
    without = new_habit("Пост", goal_id=1)
    assert "ничего не добавит к цели «Машина»" in said(without)


def test_the_goal_of_a_habit_that_is_deleted_leaves_it_and_comes_back_with_an_undo(car, tmp_path):
    do(BANK)
    assert "Привычка «Копилка» остаётся" in accepted(act("goal.delete", 1))
    assert "goal_id" not in first_habit()
    do(mark(1, amount=700))
    undo()
    assert "Привычка «Копилка»: цель: — → «Машина»" in undo()["message"]
    assert first_habit()["goal_id"] == 1
    undo(redo=True)
    write_export(str(tmp_path / "e.json"))
    before = snapshot("habits")
    import_export(str(tmp_path / "e.json"))
    assert snapshot("habits") == before


def test_another_goal_of_a_habit_is_taken_back(car):
    do(BANK)
    do(new_goal("Дом", target=CAR), act("habit.update", 1, goal_id=None))
    assert first_habit()["goal_id"] == 2
    assert "цель: «Дом» → «Машина»" in undo()["message"]
    assert first_habit()["goal_id"] == 1


def test_an_archived_goal_is_added_to_but_is_not_said_to_be_reached(car):
    do(BANK)
    do(act("goal.archive", 1))
    assert "достигнута" not in said(mark(1, amount=400_000))


def test_to_stay_at_its_place_is_nothing_to_update():
    do(*map(new_goal, "abc"))
    do(act("goal.archive", 1))
    for same in ({"order": 1}, {"before": 3}):
        error = refused(act("goal.update", 2, **same))
        assert (error["code"], error["title"]) == ("NOTHING_TO_UPDATE", "b")


def test_a_place_is_said_and_counted_in_the_list_that_is_seen():
    do(*map(new_goal, "abcd"))
    do(act("goal.archive", 1), act("goal.complete", 2))
    assert "место в списке: 2 → 1" in accepted(act("goal.update", 4, order=1))
    assert titles() == ["d", "c"]
    assert "место в списке: 1 → 2" in undo()["message"]
    undo(redo=True)
    assert titles() == ["d", "c"]


def test_a_habit_that_has_ended_has_no_place_in_the_list(clock):
    do(new_habit("a", until="2026-03-18"), *[new_habit(name) for name in "bcd"])
    clock.set("2026-03-20T12:00:00+00:00")
    assert "место в списке: 3 → 2" in accepted(act("habit.update", 4, order=2))
    assert [habit["name"] for habit in items("habits")] == ["b", "d", "c"]
    assert "уже есть" not in said(new_habit("a"))
