"""Habits as people have them: frequencies, amounts, days and ranges, pauses, the archive."""

import pytest

from tests.onepercent.person import (
    accepted,
    act,
    apply,
    balance,
    call,
    do,
    errand,
    first_habit,
    found,
    items,
    mark,
    marks,
    miss,
    new_goal,
    new_habit,
    past,
    pause,
    preview,
    refused,
    rows,
    said,
    snapshot,
)
from tests.support.client import json_lines


def habit(**more):
    return do(new_habit("Бег", **more))[0]


def test_days_of_a_habit_are_shown_in_their_order():
    do(new_habit("Счета", month_days=[31, 1]), new_habit("Бег", schedule_days=[5, 1]))
    bills, run = items("habits")
    assert (bills["month_days"], run["schedule_days"]) == ([1, 31], [1, 5])


# Values as people say them, and what the preview makes of them.
@pytest.mark.parametrize(
    "action, expected",
    [
        (new_habit("x", target="50 раз"), "каждый день; 50 раз;"),
        (new_habit("x", target=20), "каждый день; 20 ×;"),
        (new_habit("x", target={"amount": 20}), "каждый день; 20 ×;"),
        (new_goal("x", target="300 000 руб."), "нужно 300\xa0000 руб."),
        (new_goal("x", target="2,5 км"), "нужно 2,5 км"),
        (new_goal("x", category="finance"), "благосостояние"),
        (
            new_goal("x", steps=["раз", {"title": "два", "priority": "high"}]),
            "«раз», «два» (важный)",
        ),
        (new_habit("x", schedule_days=["mon", "ср"]), "пн, ср;"),
        (new_habit("x", frequency_type="weekly", schedule_days=[1]), "пн;"),
        (new_habit("x", frequency_type="weekly", times=3), "3 раза в неделю;"),
        (new_habit("x", n=3), "раз в 3 дня;"),
        (errand("x", time_duration="2 часа"), "2 ч"),
        (errand("x", time_duration="1h30m"), "1 ч 30 мин"),
        (errand("x", time_duration="1,5 hours"), "1 ч 30 мин"),
        (errand("x", time_duration="90 minutes"), "1 ч 30 мин"),
        (errand("x", dt="2026-03-20", repeat="weekly"), "каждую неделю: пт"),
    ],
)
def test_what_is_meant_is_taken_as_people_say_it(action, expected):
    assert expected in said(action)


CONTRADICTIONS = json_lines("""
[{"frequency_type": "times_per_week"}, "SCHEDULE_REQUIRED"]
[{"frequency_type": "custom", "schedule_days": []}, "SCHEDULE_REQUIRED"]
[{"frequency_type": "times_per_week", "times": 8}, "FIELD_INVALID"]
[{"frequency_type": "daily", "schedule_days": [1]}, "FIELD_INVALID"]
[{"frequency_type": "monthly", "month_days": [1, 1]}, "FIELD_INVALID"]
[{"target": {"amount": "два", "unit": "л"}}, "FIELD_INVALID"]
[{"target": "два литра"}, "FIELD_INVALID"]
[{"frequency_type": "weekly", "n": 2}, "FIELD_INVALID"]
""")


@pytest.mark.parametrize("params, code", CONTRADICTIONS)
def test_what_does_not_go_together_is_a_clear_error(params, code):
    for action in (new_habit("x", **params), act("habit.update", habit(), **params)):
        error = refused(action)
        assert error["code"] == code and error["hint"]


def test_amounts_of_a_day_add_up_until_it_is_done():
    habit(target="2 л")
    previewed = preview(*[mark(1, amount=0.5) for _ in range(3)])
    assert "«Бег», 18.03: 1,5 из 2 л" in previewed["message"] and previewed["xp_total"] == 0
    apply(previewed)
    assert (first_habit()["today_amount"], first_habit()["today_status"]) == (1.5, "pending")
    assert marks()[-1] == "~"
    do(mark(1, amount=0.75))
    assert (first_habit()["today_amount"], first_habit()["today_status"]) == (2.25, "completed")
    assert balance() == 10
    do(mark(1, date="2026-03-17"))
    assert {"amount": 4.25, "unit": "л", "streak": 2}.items() <= past().items()
    for wrong in (-1, "два", 2e9):
        assert refused(mark(1, amount=wrong))["code"] == "FIELD_INVALID"
    assert "target" in refused(mark(habit(), amount=1))["hint"]


def test_an_entry_of_several_days_says_of_the_last_what_was_added():
    do(new_habit("Вода", target="5 л"), mark(1, date="2026-03-17", amount=2))
    answer = preview(mark(1, dates=["2026-03-17", "2026-03-18"], amount=3))
    [entry] = answer["diff"]["completions"]
    assert (entry["amount"], "added" in entry) == (3, False)
    apply(answer)
    [entry] = preview(mark(1, amount=1))["diff"]["completions"]
    assert (entry["amount"], entry["added"], "replaces" in entry) == (4, 1, False)
    [entry] = preview(miss(1))["diff"]["completions"]
    assert entry["replaces"] == "partial"
    [entry] = preview(miss(1, dates=["2026-03-17", "2026-03-18"]))["diff"]["completions"]
    assert entry["replaces"] == {"2026-03-17": "completed", "2026-03-18": "partial"}


def test_a_range_marks_the_due_days_that_have_no_such_mark_yet():
    habit(frequency_type="weekdays")
    do(mark(1, date="2026-03-12"))
    previewed = preview(mark(1, dates=["2026-03-12..2026-03-18"]))
    (entry,) = previewed["diff"]["completions"]
    assert (entry["dates"], entry["count"]) == (["2026-03-13", "2026-03-16..2026-03-18"], 4)
    assert "«Бег», 13.03, 16.03–18.03: сделано (+40 XP)" in previewed["message"]
    apply(previewed)
    assert "Отмечено" not in apply(preview(miss(1)))["message"]
    error = refused(mark(1, dates=["2026-03-13", "2026-03-16"]))
    assert error["code"] == "ALREADY_COMPLETED"


# The last ones are a weekend.
NOT_TO_MARK = json_lines("""
[["2025-01-01..2026-03-18"], "FIELD_INVALID"]
[["2026-03-18..2026-03-17"], "FIELD_INVALID"]
[["2026-03-18..2026-03-19"], "INVALID_DATE"]
[["вчера"], "INVALID_DATE"]
[["2026-03-14..2026-03-15"], "INVALID_DATE"]
""")


@pytest.mark.parametrize("dates, code", NOT_TO_MARK)
def test_dates_that_cannot_be_marked_are_a_clear_error(dates, code):
    habit(frequency_type="weekdays")
    assert refused(mark(1, dates=dates))["code"] == code


def test_a_pause_ahead_or_behind_keeps_the_streak_and_costs_nothing(clock):
    habit()
    do(mark(1, dates=["2026-03-16..2026-03-18"]))
    holiday = pause(1, "2026-03-19", "2026-03-25", reason="отпуск")
    words = "пауза 19.03–25.03; «отпуск»; серия не прервётся, XP не снимутся\nXP не изменятся"
    assert f"• Привычка «Бег»: {words}" in said(holiday)
    do(holiday)
    clock.set("2026-03-25T12:00:00+00:00")
    assert (first_habit()["current_streak"], first_habit()["today_status"]) == (3, "not_scheduled")
    assert first_habit()["paused_until"] == "2026-03-25" and marks("2026-03-16") == "+++ppppppp"
    error = refused(pause(1, "2026-03-24", "2026-03-30"))
    assert error["code"] == "FIELD_INVALID" and "2026-03-19 until 2026-03-25" in error["error"]
    clock.set("2026-03-27T12:00:00+00:00")
    do(pause(1, "2026-03-26"))
    assert (first_habit()["current_streak"], first_habit()["paused_until"]) == (3, "resumed")
    do(act("habit.resume", 1))
    assert "paused_until" not in first_habit() and first_habit()["current_streak"] == 3
    before = marks("2026-03-16")
    do(pause(1, last="2026-03-27"))
    do(act("habit.resume", 1))
    assert "paused_until" not in first_habit() and marks("2026-03-16") == before
    assert rows("SELECT max(first_day) FROM habit_pauses") == [("2026-03-26",)], "it is gone"
    assert refused(pause(1, "2026-04-02", "2026-04-01"))["code"] == "INVALID_DATE"


def test_several_habits_are_paused_in_one_action():
    do(*(new_habit(name) for name in ("Бег", "Чтение", "Сон", "Старая")))
    do(act("habit.archive", 4))
    trip = {"from": "2026-03-20", "to": "2026-03-25"}
    previewed = preview(act("habit.pause", all=True, **{"except": [2]}, **trip))
    assert [entry["name"] for entry in previewed["diff"]["updates"]] == ["Бег", "Сон"]
    apply(previewed)
    error = refused(act("habit.pause", habit_ids=[3, 2], **trip))
    assert error["title"] == "Сон" and error["error"].startswith("Habit Сон is already paused")
    assert accepted(act("habit.resume", all=True)).count("пауза окончена, снова по расписанию") == 2
    assert refused(act("habit.resume", all=True))["code"] == "NOT_COMPLETED"
    assert refused(act("habit.pause", **trip))["error"] == "habit_id is required"
    for few in ({"habit_id": 1}, {"habit_ids": [1]}):
        assert refused(act("habit.pause", all=True, **few))["code"] == "FIELD_INVALID"
        assert len(preview(act("habit.pause", all=False, **few))["diff"]["updates"]) == 1


def test_an_undone_archive_says_nothing_of_the_pause_before_it():
    habit()
    do(pause(1))
    do(act("habit.archive", 1))
    message = call("undo_last")["message"]
    assert "из архива" in message and "пауза" not in message


def test_an_archived_habit_is_out_of_sight_and_loses_nothing(clock):
    habit()
    do(mark(1, dates=["2026-03-15..2026-03-18"]))
    do(pause(1, last="2026-03-20"), act("habit.archive", 1))
    assert snapshot("habits")["habits"]["archived"] == [{"id": 1, "name": "Бег"}]
    assert items("habits") == [] and found("бег")[0]["id"] == 1
    assert refused(mark(1))["code"] == "HABIT_ARCHIVED"
    clock.set("2026-05-01T12:00:00+00:00")
    do(act("habit.unarchive", 1))
    assert (first_habit()["current_streak"], first_habit()["best_streak"]) == (4, 4)


def test_a_wrong_day_is_told_which_number_is_monday_and_which_the_last():
    assert "1 (Monday) to 7" in refused(new_habit("Run", schedule_days=[0, 2]))["hint"]
    assert "1 to 31 (the last)" in refused(new_habit("Run", month_days=[32]))["hint"]
