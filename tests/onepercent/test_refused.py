"""Why a change is refused, in the person's words: what it was about, and how it would fit."""

import pytest

from tests.onepercent.person import (
    accepted,
    act,
    apply,
    balance,
    complete,
    do,
    errand,
    first_habit,
    items,
    mark,
    miss,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    pause,
    preview,
    propose,
    refused,
    said,
    use,
)
from tests.support.client import cases
from tools.onepercent.page import person_pages

FITS = new_goal("Сад")


@pytest.fixture(autouse=True)
def life():
    step = new_step("Купить", dt="2026-03-20")
    do(new_goal("Дом"), step, new_habit("Зарядка"), new_entry(plans="x"))


@pytest.mark.parametrize(
    "action, russian, english",
    [
        (mark(1, date="2026-01-01"),
         "Привычка «Зарядка»: отметить можно только дни по расписанию за последние 30 дней",
         "Habit “Зарядка”: only due days of the last 30 days can be marked"),
        (mark(1, date="2026-13-01"),
         "Привычка «Зарядка»: отметить можно только дни по расписанию за последние 30 дней",
         "Habit “Зарядка”: only due days of the last 30 days can be marked"),
        (act("habit.unmark", 1), "Привычка «Зарядка»: за этот день отметки нет",
         "Habit “Зарядка”: there is no mark on that day"),
        (act("habit.resume", 1), "Привычка «Зарядка»: и так не на паузе", "Habit “Зарядка”: not paused"),
        (mark(1, amount=2),
         "Привычка «Зарядка»: количество — число больше нуля, если у привычки есть цель на день",
         "Habit “Зарядка”: the amount is a number above 0, if the habit has a target"),
        (new_habit("Бег", frequency_type="custom"), "Привычка «Бег»: не сказано, в какие дни",
         "Habit “Бег”: which days?"),
        (new_habit("Бег", frequency_type="times_per_week"),
         "Привычка «Бег»: не сказано, сколько раз в неделю", "Habit “Бег”: how many times a week?"),
        (new_habit("Бег", end_date="2026-05-01"),
         "Привычка «Бег»: не всё из этого здесь возможно", "Habit “Бег”: not all of this is possible here"),
        (errand("Вечер", dt="2026-03-20 19:00"), "Шаг «Вечер»: день назван непонятно",
         "Step “Вечер”: the day is not clear"),
        (errand("Хлеб", time_duration=999),
         "Шаг «Хлеб»: длительность — от 1 минуты до 8 часов",
         "Step “Хлеб”: the duration is 1 minute to 8 hours"),
        (new_goal("Ещё", steps=["Раз", {"title": "Два", "dt": "завтра"}]),
         "Шаг «Два»: день назван непонятно", "Step “Два”: the day is not clear"),
        (act("goal.update", 1, title="Дом"), "Цель «Дом»: менять нечего", "Goal “Дом”: nothing would change"),
        (new_goal(""), "Цель: нет названия", "Goal: the title is missing"),
        (act("goal.update", 99, title=[1]), "Цель: название: так нельзя",
         "Goal: title: not possible like this"),
        (act("goal.reopen", 1), "Цель «Дом»: и так в работе", "Goal “Дом”: open already"),
        (act("step.create", title="Ничей"), "Шаг «Ничей»: не сказано, какая цель",
         "Step “Ничей”: which goal?"),
        (act("step.update", 1, goal_id=777), "Шаг «Купить»: такой цели нет (777)",
         "Step “Купить”: there is no such goal (777)"),
        (act("step.update", 99, title="x"), "Шаг «x»: такого шага нет (99)",
         "Step “x”: there is no such step (99)"),
        (act("step.shift", overdue=True, days=1),
         "Шаг: переносить нечего: открытых шагов с датой здесь нет",
         "Step: nothing to move: there is no open step with a day here"),
        (act("step.update", 1, order=-1), "Шаг «Купить»: порядок: так нельзя",
         "Step “Купить”: order: not possible like this"),
        (new_entry(what_done=" "), "Запись: в ней ничего нет", "Entry: it is empty"),
        (act("ssp.rate", category="luck", score=7),
         "Сфера: есть работа, здоровье и спорт, благосостояние, семья, окружение, хобби",
         "Life area: there are work, health and sports, prosperity, family, social circle, hobbies"),
        (act("person.update", time_zone="Луна"), "Настройки: такого часового пояса нет",
         "Settings: there is no such time zone"),
        (act("goal.fly", title="x"), "Одно изменение непонятно", "One change is not understood"),
        (act("step.shift", overdue=True), "Шаг: days: не сказано", "Step: days: missing"),
        ({"params": {}}, "Action: не сказано", "Action: missing"),
    ],
)  # fmt: skip
def test_a_refusal_names_what_and_how_it_would_fit(action, russian, english, file):
    answer = propose(action, FITS)
    assert answer["message"].splitlines()[1] == f"✗ {russian}"
    texts = person_pages.PREVIEW.private(answer)["pi-mcp/preview"]
    assert (texts["ru"]["errors"], texts["en"]["errors"]) == ([russian], [english])
    use(file, MCP_LANGUAGE="en")
    assert propose(action, FITS)["message"].splitlines()[1] == f"✗ {english}"


def test_a_field_without_a_value_is_left_out_of_what_is_new():
    assert propose(new_habit("x", title=None, dt=None, icon=""))["success"]
    assert refused(act("person.update", day_start_hour=4, time_zon=None))["code"] == "FIELD_UNKNOWN"


NEAREST = """
step.uncomplete | There are: step.reopen.
habit.clear | There are: habit.unmark.
habit.done | There are: habit.mark_completed.
habit.skip | There are: habit.mark_missed, habit.pause.
step.move | There are: step.shift, step.update.
goal.creat | goal.create
diary.add | There are: diary.create_entry.
habit.remove | There are: habit.delete, habit.unmark.
goal.fly | goal.complete, goal.update
goal.finish | There are: goal.complete.
habit.finish | A habit takes until
reminder.create | no reminders at a time of day
"""


@pytest.mark.parametrize("action, nearest", cases(NEAREST))
def test_an_unknown_action_names_the_nearest_and_a_deletion_only_if_it_says_so(action, nearest):
    hint = refused(act(action))["hint"]
    assert nearest in hint and ("delete" in hint) == ("remove" in action)


@pytest.mark.parametrize(
    "action, way",
    [
        (new_habit("x", end_date="2026-04-01"), "Use until"),
        (new_habit("x", duration_days=30), "Use until"),
        (new_habit("x", frequency_type="yearly"), "a step repeat"),
        (errand("x", repeat={"every": "2 weeks"}), "interval"),
        (new_habit("x", reminder_time="22:00"), "no reminders at a time of day"),
        (errand("x", dt="2026-03-19 09:00"), "no reminders at a time of day"),
        (errand("x", dt="завтра в 9"), "with NOTIFY_URL set"),
        (errand("x", remind_me=True), "no reminders at a time of day"),
        (new_habit("x", limit=2), "at_most"),
        (new_habit("x", interval=3), "every_n_days with n"),
        (new_goal("x", progress=40), "goal.add"),
        (new_goal("x", parent=1), "no steps of its own"),
        (act("step.shift", overdue=True, days=1, **{"except": [3]}), "name those that are meant"),
        (act("step.complete", goal_id=1), "goal.complete closes a goal"),
        (errand("x", tags=["a"]), "There are no tags"),
        (errand("x", priorty="low"), "Use priority"),
        (act("person.update", time_zone="Europe/London", till="2026-03-20"), "changed back then"),
    ],
)
def test_an_unknown_field_or_value_gets_the_way_to_the_same_end(action, way):
    assert way in refused(action)["hint"]


def test_a_step_that_is_named_and_stays_is_named():
    steps = ["Без дня", {"title": "Сделан", "dt": "2026-03-20"}]
    do(act("step.create", goal_id=1, steps=steps))
    do(complete(3))
    message = said(act("step.shift", step_ids=[1, 2, 3], days=1))
    assert "• 1 шаг цели «Дом»: на 1 день вперёд; 20.03 → 21.03: «Купить»\n" in message
    assert "! «Без дня» остаётся: дня нет, или уже сделано\n! «Сделан» остаётся:" in message
    assert "остаётся" not in said(act("step.shift", goal_id=1, days=1))


def test_a_day_that_is_named_and_marked_already_is_named():
    do(mark(1, date="2026-03-17"), new_habit("Сон"))
    message = said(act("habit.mark_completed", habit_ids=[1, 2], dates=["2026-03-17"]))
    assert "• «Сон», 17.03: сделано" in message and "! «Зарядка»: уже отмечено: 17.03" in message


def test_a_habit_that_is_named_and_not_paused_is_named():
    do(new_habit("Сон"))
    do(pause(1))
    assert "! «Сон» и так не на паузе" in said(act("habit.resume", habit_ids=[1, 2]))


def test_an_excuse_may_follow_a_miss_and_gives_its_xp_back():
    do(mark(1, date="2026-03-17"))
    do(miss(1))
    assert balance() == 10
    excused = miss(1, excuse_reason="болел")
    assert "• «Зарядка», 18.03: пропуск; уважительная причина: «болел» (+10 XP)" in accepted(
        excused
    )
    assert (first_habit()["current_streak"], balance()) == (1, 20)
    for again in (excused, miss(1)):
        assert refused(again)["code"] == "ALREADY_COMPLETED"


def test_more_work_never_takes_a_done_day_back():
    do(new_habit("Отжимания", target="10 раз"))
    do(mark(2, amount=12))
    do(act("habit.update", 2, target="15 раз"))
    previewed = preview(mark(2, amount=1))
    assert previewed["xp_total"] == 0 and "13 из 15 раз; +1" in previewed["message"]
    apply(previewed)
    shown = items("habits")[1]
    assert (shown["today_amount"], shown["current_streak"]) == (13, 1)
    assert shown["today_status"] == "completed"


def test_who_takes_off_a_mark_that_is_not_there_is_told_where_the_last_one_is():
    assert refused(act("habit.unmark", 1))["hint"] == "It has no marks."
    do(mark(1, date="2026-03-17"))
    assert "2026-03-17" in refused(act("habit.unmark", 1))["hint"]
