"""Days: zones, daylight saving, midnight between preview and apply, schedules, ISO weeks."""

from pathlib import Path

import pytest

import tests.onepercent.person as person
from tests.onepercent.person import Clock, act, apply, do, items, preview, refused, snapshot
from tools.core import settings
from tools.onepercent.settings import OnePercentSettings


@pytest.mark.parametrize(
    ("zone", "moment", "day"),
    [
        ("Europe/Moscow", "2026-03-18T21:00:00+00:00", "2026-03-19"),
        ("Pacific/Pago_Pago", "2026-03-18T10:59:59+00:00", "2026-03-17"),
        # Berlin springs forward on 29 March 2026 and falls back on 25 October.
        ("Europe/Berlin", "2026-03-28T22:59:59+00:00", "2026-03-28"),
        ("Europe/Berlin", "2026-03-28T23:00:00+00:00", "2026-03-29"),
        ("Europe/Berlin", "2026-10-25T22:59:59+00:00", "2026-10-25"),
        # Midnight itself is skipped or comes twice here.
        ("America/Santiago", "2026-09-06T03:59:59+00:00", "2026-09-05"),
        ("America/Santiago", "2026-09-06T04:00:00+00:00", "2026-09-06"),
        ("Asia/Kathmandu", "2026-03-18T18:15:00+00:00", "2026-03-19"),
    ],
)
def test_today_is_the_persons_local_date(file: Path, clock: Clock, zone: str, moment: str, day: str):
    person.use(file, ONEPERCENT_TZ=zone)
    clock.set(moment)
    do(act("diary.create_entry", plans="план"))
    assert items("diary")[0]["date"] == day


def test_a_zone_that_is_none_is_an_error_that_names_the_variable(file: Path):
    for name in ("Mars/Olympus", "../../etc/passwd"):
        with pytest.raises(settings.SettingsError, match="ONEPERCENT_TZ"):
            settings.load({"ONEPERCENT_TZ": name}, OnePercentSettings)


def test_midnight_between_preview_and_apply_changes_no_date(clock: Clock):
    habit = do(act("habit.create", name="Бег"))[0]
    clock.set("2026-03-18T23:58:00+00:00")
    previewed = preview(
        act("habit.mark_completed", habit_id=habit),
        act("habit.mark_completed", habit_id=habit, date="2026-03-11"),
        act("diary.create_entry", plans="план"),
    )
    assert previewed["diff"]["completions"][0]["date"] == "2026-03-18"
    clock.set("2026-03-19T00:01:00+00:00")
    assert apply(previewed)["success"]
    data = snapshot("habits", "diary", date_from="2026-03-01", date_to="2026-03-31")
    assert data["diary"]["items"][0]["date"] == "2026-03-18"
    assert data["habits"]["items"][0]["today_status"] == "pending"
    assert data["habits"]["items"][0]["current_streak"] == 1
    assert refused(act("habit.mark_completed", habit_id=habit, date="2026-02-16"))["code"] == "INVALID_DATE"


def mark(habit: int, *dates: str, missed: bool = False, excuse: str | None = None) -> None:
    for day in dates:
        if missed:
            do(act("habit.mark_missed", habit_id=habit, date=day, excuse_reason=excuse))
        else:
            do(act("habit.mark_completed", habit_id=habit, date=day))


def shown(habit: int) -> tuple[int, int, str]:
    found = next(one for one in items("habits") if one["id"] == habit)
    return found["current_streak"], found["best_streak"], found["today_status"]


def test_weekly_and_custom_schedules(clock: Clock):
    weekly, custom, weekends = do(
        act("habit.create", name="Баня", frequency_type="weekly"),
        act("habit.create", name="Зал", frequency_type="custom", schedule_days=[1, 3]),
        act("habit.create", name="Лес", frequency_type="weekends"),
    )
    assert [shown(habit)[2] for habit in (weekly, custom, weekends)] == ["pending", "pending", "not_scheduled"]
    mark(weekly, "2026-03-12", "2026-03-16")
    mark(custom, "2026-03-11", "2026-03-16")
    mark(weekends, "2026-03-14", "2026-03-15")
    assert shown(weekly) == (2, 2, "completed")
    assert shown(custom) == (2, 2, "pending")
    assert shown(weekends) == (2, 2, "not_scheduled")
    clock.set("2026-03-19T12:00:00+00:00")
    assert shown(custom) == (0, 2, "not_scheduled")
    clock.set("2026-03-30T12:00:00+00:00")
    assert shown(weekly) == (0, 2, "pending")


def test_a_clock_that_was_ahead_does_not_spoil_streaks(clock: Clock):
    habit = do(act("habit.create", name="Бег"))[0]
    mark(habit, "2026-03-17", "2026-03-18")
    clock.set("2031-01-01T12:00:00+00:00")
    mark(habit, "2031-01-01")
    clock.set("2026-03-18T13:00:00+00:00")
    assert shown(habit) == (2, 2, "completed")
    mark(habit, "2026-03-16")
    assert shown(habit) == (3, 3, "completed")


def test_the_weekly_rate_leaves_out_what_was_not_due():
    def rate() -> int:
        return snapshot("habits")["habits"]["weekly_completion_rate"]

    habit = do(act("habit.create", name="Бег"))[0]
    assert rate() == 0
    mark(habit, "2026-03-18")
    assert rate() == 100
    mark(habit, "2026-03-15")
    assert rate() == 50
    mark(habit, "2026-03-16", missed=True, excuse="болезнь")
    assert rate() == round(100 * 2 / 3)
