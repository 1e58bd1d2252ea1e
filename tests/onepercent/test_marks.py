"""The marks of habits, a sign a day."""

import random
from datetime import date, timedelta

from tests.onepercent.person import act, do
from tools.onepercent import days
from tools.onepercent.database import store
from tools.onepercent.habits import marks

TODAY = date(2026, 3, 18)
"""A Wednesday: the noon of which the clock of these tests shows."""


def signs(first, last=TODAY, today=TODAY):
    with store.reading() as db:
        return {habit.name: habit.signs for habit in marks.signs(db, "local", first, last, today)}


def test_every_sign_of_the_legend(clock):
    clock.set("2026-03-12T12:00:00+00:00")
    do(act("habit.create", name="Бег"))
    for day, action, more in (
        ("13", "mark_completed", {}),
        ("14", "mark_missed", {}),
        ("15", "mark_missed", {"excuse_reason": "болел"}),
    ):
        clock.set(f"2026-03-{day}T12:00:00+00:00")
        do(act(f"habit.{action}", habit_id=1, date=f"2026-03-{day}", **more))
    assert signs(date(2026, 3, 11), date(2026, 3, 20)) == {"Бег": ".?+-e???.."}
    assert set(marks.LEGEND) == set(".?+-e")


def test_days_that_are_not_scheduled_have_nothing_due():
    do(act("habit.create", name="Зал", frequency_type="custom", schedule_days=[1, 3]))
    assert signs(TODAY, date(2026, 3, 31), date(2026, 3, 31)) == {"Зал": "?....?.?....?."}


def test_a_weekly_habit_is_due_at_the_end_of_a_week_without_a_mark(clock):
    do(act("habit.create", name="Баня", frequency_type="weekly"))
    sunday = date(2026, 3, 22)
    assert signs(TODAY, sunday) == {"Баня": "?...."}
    assert signs(TODAY, sunday, sunday) == {"Баня": "....?"}
    do(act("habit.mark_completed", habit_id=1))
    assert signs(TODAY, sunday, sunday) == {"Баня": "+...."}
    assert signs(date(2026, 3, 19), sunday, sunday) == {"Баня": "...."}


def test_the_signs_follow_every_mark_that_is_made_changed_or_taken_off():
    chance = random.Random(3)
    do(act("habit.create", name="a"), act("habit.create", name="b"))
    marks: dict[tuple[int, date], tuple[str, str | None]] = {}
    with store.writing() as db:
        db.execute("UPDATE habits SET created_on = '2024-02-01'")
        for _ in range(2000):
            habit_id, day = chance.choice([1, 2]), TODAY - timedelta(days=chance.randrange(400))
            if (habit_id, day) not in marks:
                statement = "INSERT INTO habit_marks VALUES (:habit, :day, 'local', :status, :reason, 0, '', '')"
            elif chance.random() < 0.3:
                db.execute("DELETE FROM habit_marks WHERE habit_id = ? AND date = ?", (habit_id, day.isoformat()))
                del marks[habit_id, day]
                continue
            else:
                statement = (
                    "UPDATE habit_marks SET status = :status, excuse_reason = :reason"
                    " WHERE habit_id = :habit AND date = :day"
                )
            status, reason = chance.choice([("completed", None), ("missed", None), ("missed", "болел")])
            db.execute(statement, {"habit": habit_id, "day": day.isoformat(), "status": status, "reason": reason})
            marks[habit_id, day] = status, reason
    legend = {("completed", None): "+", ("missed", None): "-", ("missed", "болел"): "e"}
    for first, last in ((400, 0), (45, 3), (0, 0), (28, 28)):
        span = [TODAY - timedelta(days=ago) for ago in range(first, last - 1, -1)]
        for habit_id, name in ((1, "a"), (2, "b")):
            expected = "".join(legend.get(marks.get((habit_id, day), ("", None)), "?") for day in span)
            assert signs(span[0], span[-1])[name] == expected


def test_deleted_habits_and_those_of_others_are_left_out(clock):
    do(act("habit.create", name="a"), act("habit.create", name="b"))
    do(act("habit.delete", habit_id=1))
    assert list(signs(days.today(clock()))) == ["b"]
