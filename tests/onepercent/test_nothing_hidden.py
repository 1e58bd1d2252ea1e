"""What a person is told of the past, of late steps, of reached goals, and what counts as their yes."""

from tests.onepercent.person import (
    accepted,
    act,
    balance,
    call,
    complete,
    do,
    history,
    items,
    mark,
    new_entry,
    new_goal,
    new_habit,
    refused,
    said,
    schedule,
    snapshot,
)


def test_an_archived_habit_stays_in_the_days_when_it_was_kept():
    do(new_habit("Зарядка"), new_habit("Сон"))
    do(act("habit.mark_completed", habit_ids=[1, 2], dates=["2026-03-16..2026-03-17"]))
    before = history(date_from="2026-03-16", date_to="2026-03-17")
    do(act("habit.archive", 1))
    after = history(date_from="2026-03-16", date_to="2026-03-17")
    assert after["habits"][0].pop("archived") is True
    for part in ("days", "habits", "total"):
        assert after[part] == before[part]
    assert [habit["name"] for habit in history(date_from="2026-03-18")["habits"]] == ["Сон"]
    data = snapshot("habits")["habits"]
    assert [habit["name"] for habit in data["items"]] == ["Сон"]
    assert data["archived"][0]["name"] == "Зарядка"
    assert data["weekly_completion_rate"] == 100


def test_what_is_late_moves_to_one_day_and_what_stays_late_is_said():
    steps = [{"title": f"Шаг {day}", "dt": f"2026-03-{day}"} for day in (10, 12, 17)]
    do(new_goal("Кухня", steps=steps))
    assert "! Останется просроченным: 2 шага\nПрименить?" in said(
        act("step.shift", overdue=True, days=1)
    )
    moved = "• 3 шага цели «Кухня»: 10.03–17.03 → 19.03: «Шаг 10», «Шаг 12», «Шаг 17»"
    assert moved in accepted(act("step.shift", overdue=True, dt="2026-03-19"))
    assert schedule()["overdue"] == []
    assert refused(act("step.shift", goal_id=1, dt="2026-03-19"))["code"] == "NOTHING_TO_UPDATE"
    for params in ({}, {"days": 1, "dt": "2026-03-19"}):
        error = refused(act("step.shift", goal_id=1, **params))["error"]
        assert error == "One of days, dt is required"
    assert "• Шаг «Шаг 10»: 19.03 → 10.03" in call("undo_last")["message"]


def test_the_steps_of_a_reached_goal_leave_the_schedule_and_come_back_with_it():
    steps = [{"title": "Краска", "dt": "2026-03-18"}, {"title": "Валик", "dt": "2026-03-10"}]
    do(new_goal("Кухня", steps=steps), new_goal("Сад"))
    assert "! Вместе с целью «Кухня» из расписания уходит 2 несделанных шага" in accepted(
        act("goal.complete", 1)
    )
    assert schedule()["today"] == schedule()["overdue"] == []
    assert refused(act("goal.complete", 1))["code"] == "ALREADY_COMPLETED"
    assert refused(act("step.shift", overdue=True, days=1))["code"] == "STEP_NOT_FOUND"
    goals = snapshot("goals", goals_status="all")["goals"]["items"]
    assert [goal.get("status") for goal in goals] == ["complete", None]
    do(act("goal.reopen", 1))
    assert len(schedule()["overdue"]) == 1


def test_a_mark_made_while_the_clock_was_ahead_can_be_taken_off(clock):
    do(new_habit("Бег"))
    clock.set("2027-03-18T12:00:00+00:00")
    do(mark(1))
    clock.set("2026-03-18T12:00:00+00:00")
    assert balance() == 10
    do(act("habit.unmark", 1, date="2027-03-18"))
    assert balance() == 0
    clock.set("2026-06-18T12:00:00+00:00")
    assert refused(act("habit.unmark", 1, date="2027-03-18"))["code"] == "NOT_COMPLETED"


def test_a_streak_of_weeks_says_that_it_counts_weeks():
    do(new_habit("Бег", times=2), new_habit("Сон"))
    do(mark(1, dates=["2026-03-10", "2026-03-12"]))
    run, sleep = items("habits")
    assert (run["current_streak"], run["streak_in"], "streak_in" in sleep) == (1, "weeks", False)
    assert "2 отметки, лучшая серия 1 неделя" in said(act("habit.delete", 1))


def test_a_preview_shows_what_each_step_of_a_plan_has_and_the_day_of_a_completion():
    step = {"title": "Слайды", "dt": "2026-03-25", "time_duration": "two"}
    step |= {"priority": "critical", "description": "10 штук"}
    assert "1 шаг: «Слайды» (25.03, 2 ч, срочный, «10 штук»)" in accepted(
        new_goal("Доклад", steps=[step])
    )
    assert "Шаг «Слайды»: сделан 17.03" in said(complete(1, date="2026-03-17"))


def test_who_lacks_what_the_others_share_says_so():
    hour = {"title": "Час", "dt": "2026-03-19", "time_duration": 60}
    do(new_goal("Кухня", steps=[hour, hour, hour, {"title": "Без срока", "dt": "2026-03-22"}]))
    planned = schedule()
    assert planned["usual"]["time_duration"] == {"minutes": 60, "word": "one"}
    assert ["time_duration" in step for step in planned["upcoming"]] == [False, False, False, True]
    assert planned["upcoming"][3]["time_duration"] is None


def test_which_of_two_entries_of_a_day_is_deleted_and_brought_back_is_said_by_its_words():
    do(new_entry(what_done="Отчёт"), new_entry(what_done="Кино с Аней"))
    entry = ": запись в дневнике за 18.03: сделано: «Кино с Аней»"
    assert f"• Удалить{entry}" in accepted(act("diary.delete_entry", 2))
    assert f"• Вернуть{entry}" in call("undo_last")["message"]
