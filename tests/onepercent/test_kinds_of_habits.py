"""Habits that end, that are to be avoided, that stay below a limit, that count from the last time; notes at marks."""

import pytest

from tests.onepercent.person import (
    accepted,
    act,
    balance,
    call,
    do,
    first_habit,
    mark,
    marks,
    miss,
    new_habit,
    past,
    pause,
    refused,
    rows,
    said,
    snapshot,
    undo,
)

NO_SMOKING = {"at_most": 0, "unit": "сигарет"}


def habit(**params):
    """What is shown of the only habit."""
    if params:
        do(new_habit("Бег", **params))
    return first_habit()


def test_every_n_days_begins_anew_with_the_day_on_which_it_is_done(clock):
    habit(n=3)
    do(mark(1))  # the 18th: due again on the 21st
    for day, status in ((20, "not_scheduled"), (21, "pending"), (22, "pending")):
        clock.set(f"2026-03-{day}T12:00:00+00:00")
        assert habit()["today_status"] == status
    assert "не по расписанию" not in accepted(mark(1))
    clock.set("2026-03-25T12:00:00+00:00")
    shown = habit()
    assert (shown["today_status"], shown["current_streak"]) == ("pending", 2)
    assert marks("2026-03-18") == "+...+..?"


def test_the_last_schedule_of_a_day_counts(clock):
    habit(n=4)
    do(act("habit.update", 1, n=3))
    assert rows("SELECT * FROM habit_schedules") == []
    clock.set("2026-03-20T12:00:00+00:00")
    for schedule in ({"n": 2}, {"schedule_days": [6]}):
        do(act("habit.update", 1, **schedule))
    clock.set("2026-03-22T12:00:00+00:00")
    assert marks("2026-03-18") == "...?."


def test_a_range_of_every_n_days_marks_each_due_day_once(clock):
    habit(n=3)
    clock.set("2026-03-27T12:00:00+00:00")
    do(mark(1, dates=["2026-03-18..2026-03-27"]))
    assert marks("2026-03-18") == "+..+..+..+"


def test_a_habit_ends_by_itself_and_its_past_stays(clock):
    assert "до 19.03 включительно" in said(new_habit("Таблетки", until="2026-03-19"))
    assert habit(until="2026-03-19")["until"] == "2026-03-19"
    do(mark(1))
    clock.set("2026-03-21T12:00:00+00:00")
    section = snapshot("habits")["habits"]
    assert section["items"] == []
    assert section["archived"] == [{"id": 1, "name": "Бег", "until": "2026-03-19"}]
    assert marks("2026-03-17") == ".+?.."
    assert "не по расписанию" in said(mark(1))
    do(act("habit.update", 1, until=None))
    assert habit()["today_status"] == "pending"
    undo()
    assert snapshot("habits")["habits"]["items"] == []


def test_days_without_count_by_themselves_once_they_are_over_and_a_slip_is_what_is_marked(clock):
    assert "не больше 0 сигарет" in said(new_habit("Не курить", target=NO_SMOKING))
    assert habit(target=NO_SMOKING)["today_status"] == "not_scheduled"
    clock.set("2026-03-22T12:00:00+00:00")
    assert (marks("2026-03-18"), habit()["current_streak"]) == ("++++.", 4)
    message = accepted(mark(1, amount=2, note="на свадьбе"))
    assert "2 сигарет, не больше 0; «на свадьбе»" in message and "серия 4 дня → 0" in message
    # Nothing is there to take.
    assert "−10 XP" not in message and balance() == 0
    broken = {"today_status": "missed", "current_streak": 0, "best_streak": 4}
    assert broken.items() <= habit().items()
    since = past(date_from="2026-03-18")
    assert (since["marks"], since["notes"]) == ("++++-", {"2026-03-22": "на свадьбе"})
    do(act("habit.unmark", 1))
    clock.set("2026-03-23T12:00:00+00:00")
    assert habit()["current_streak"] == 5


@pytest.mark.parametrize("limit", ["abc", [1], -1])
def test_a_limit_that_is_no_number_is_refused(limit):
    error = refused(new_habit("Кофе", target={"at_most": limit}))
    assert (error["code"], error["field"]) == ("FIELD_INVALID", "target.at_most")


@pytest.mark.parametrize(
    "target", [{"at_most": 2, "unit": "ч"}, {"amount": 2, "unit": "ч", "at_most": True}]
)
def test_a_limit_is_kept_up_to_it_and_passed_above_it(target):
    assert habit(target=target)["target"] == {"at_most": 2, "unit": "ч"}
    do(mark(1, amount=1.5))
    assert habit()["today_status"] == "completed"
    do(mark(1, amount=1))
    shown = habit()
    assert (shown["today_status"], shown["today_amount"]) == ("missed", 2.5)


def test_years_without_are_folded_like_marks(clock):
    habit(target=NO_SMOKING)
    clock.set("2027-03-18T12:00:00+00:00")
    do(new_habit("x"))  # any change folds
    [(until,)] = rows("SELECT until FROM habit_streaks WHERE habit_id = 1")
    assert until > "2027-02"
    assert habit()["current_streak"] == 365
    clock.set("2027-04-18T12:00:00+00:00")
    assert habit()["current_streak"] == 396
    do(miss(1))
    assert (habit()["current_streak"], habit()["best_streak"]) == (0, 396)


def test_a_limit_needs_days_that_are_due():
    error = refused(new_habit("x", frequency_type="weekly", target=NO_SMOKING))
    assert error["code"] == "FIELD_INVALID" and "daily" in error["hint"]


def test_a_note_at_a_mark_is_said_kept_with_further_amounts_and_shown_in_the_history():
    habit(target="10 км")
    noted = mark(1, amount=6, note="в парке")
    assert "«в парке»" in said(noted)
    do(noted)
    do(mark(1, amount=5))
    assert past()["notes"] == {"2026-03-18": "в парке"} and marks()[-1] == "+"


def test_a_slip_and_a_day_without_say_what_they_are(clock):
    habit(target={"at_most": 0})
    clock.set("2026-03-19T12:00:00+00:00")
    for change, words in ((mark, "удержались"), (miss, "срыв")):
        assert f"«Бег», 18.03: {words}" in said(change(1, date="2026-03-18"))
    do(miss(1))
    assert "срыв → нет отметки" in said(act("habit.unmark", 1))
    assert "срыв → нет отметки" in call("undo_last")["message"]


def test_a_changed_target_is_said_as_one_thing_also_when_it_is_undone():
    habit(target=NO_SMOKING)
    changed = act("habit.update", 1, target={"at_most": 3, "unit": "сигарет"})
    words = "нужно: не больше 0 сигарет → не больше 3 сигарет"
    assert said(changed).count(words) == 1
    do(changed)
    assert "нужно: не больше 3 сигарет → не больше 0 сигарет" in call("undo_last")["message"]
    assert "не больше 3 сигарет → —" in said(act("habit.update", 1, target=None))


def test_a_limit_in_a_pause_neither_counts_nor_breaks(clock):
    habit(target=NO_SMOKING)
    do(pause(1, "2026-03-20", "2026-03-21"))
    clock.set("2026-03-24T12:00:00+00:00")
    assert (marks("2026-03-18"), habit()["current_streak"]) == ("++pp++.", 4)
    clock.set("2026-03-25T12:00:00+00:00")
    do(act("habit.archive", 1))
    clock.set("2026-03-27T12:00:00+00:00")
    assert marks("2026-03-23") == "++ppp"


def test_an_end_that_is_over_is_warned_of():
    habit(until="2026-03-20")
    message = said(act("habit.update", 1, until="2026-03-17"))
    assert "последний день: 20.03 → 17.03" in message and "уже прошло" in message


def test_a_pause_of_all_leaves_out_what_has_ended(clock):
    habit(until="2026-03-18")
    do(new_habit("Вода"))
    clock.set("2026-03-20T12:00:00+00:00")
    message = said(act("habit.pause", all=True))
    assert "«Вода»" in message and "«Бег»" not in message


def test_of_several_habits_one_that_is_marked_already_is_named_though_nothing_of_the_other_is_due():
    do(new_habit("a"), new_habit("b", schedule_days=[1]))
    do(mark(1, dates=["2026-03-17", "2026-03-18"]))
    both = act("habit.mark_completed", habit_ids=[1, 2], dates=["2026-03-17..2026-03-18"])
    assert refused(both)["code"] == "ALREADY_COMPLETED"


def test_a_changed_note_is_taken_back_as_a_note():
    habit(description="утром")
    do(mark(1, note="в парке"))
    do(mark(1, note="в лесу"))
    assert "заметка: «в лесу» → «в парке»" in call("undo_last")["message"]
    do(miss(1))
    assert past()["notes"] == {"2026-03-18": "в лесу"}, "a text of the person stays with the day"
