"""Requests of three weeks, in a person's words: those that were met by half before, and twenty new ones.

`pytest -s` prints the calls and the tokens of each. Not met: a reminder at an hour of the day, for which the hint
says what there is.
"""

from collections.abc import Callable

import pytest

from tests.onepercent.person import Clock, call
from tests.onepercent.person import do as done
from tests.onepercent.test_requests import Talk, act, life  # noqa: F401

WEEK = [
    {"title": f"{what} {number}", "dt": f"2026-11-{day}", "time_duration": "one"}
    for number, (day, what) in enumerate(zip([23, 23, 24, 24, 25, 25, 26, 26, 27, 28, 29], ["Звонок", "Отчёт", "Письмо"] * 4, strict=False), 1)
]  # fmt: skip


def message(talk: Talk, *actions: dict) -> str:
    """The message of a preview that is confirmed."""
    previewed = talk.preview(*actions)
    talk.confirm(previewed)
    return previewed["message"]


def half_8(talk: Talk, clock: Clock) -> None:
    """Запиши: лампочки, спросить Олега в среду."""
    errands = [
        act("step.create", inbox=True, title="Лампочки"),
        act("step.create", inbox=True, title="Спросить Олега", dt="2026-11-25"),
    ]
    assert "• «Входящие»: новый список для мелких дел" in message(talk, *errands)


def half_10(talk: Talk, clock: Clock) -> None:
    """Распиши неделю, три дела критичные."""
    steps = [step | ({"priority": "critical"} if at < 3 else {}) for at, step in enumerate(WEEK)]
    assert message(talk, act("step.create", goal_id=1, steps=steps)).count("срочный") == 3


def half_11(talk: Talk, clock: Clock) -> None:
    """Как выглядит моя неделя?"""
    done(act("step.create", goal_id=1, steps=WEEK))
    before = talk.cost
    schedule = talk.see("schedule")["schedule"]
    rows = sum(len(part) for name, part in schedule.items() if name not in ("usual", "goals"))
    assert (
        rows >= 12 and (talk.cost - before) / rows <= 27
    )  # the day, the user and the frame of the answer included


def half_13(talk: Talk, clock: Clock) -> None:
    """Верни тот сдвиг."""
    done(act("step.shift", goal_id=1, days=2))
    done(act("goal.create", title="Другая"))
    changes = talk.call("undo_last", list=True)["changes"]
    number = next(change["number"] for change in changes if "вперёд" in change["change"])
    assert "→" in talk.call("undo_last", number=number)["message"]


def half_15(talk: Talk, clock: Clock) -> None:
    """Уезжаю 30.11–06.12, всё на паузу, кроме чтения."""
    text = message(
        talk, act("habit.pause", all=True, **{"except": [4], "from": "2026-11-30", "to": "2026-12-06"})
    )
    assert text.count("пауза 30.11–06.12") == 3 and "серия не прервётся" in text


def half_17(talk: Talk, clock: Clock) -> None:
    """Выпил литр, ещё пол-литра."""
    done(act("habit.update", habit_id=2, target={"amount": 2, "unit": "л"}))
    message(talk, act("habit.mark_completed", habit_id=2, amount=1))
    assert "1,5 из 2 л; +0,5" in message(talk, act("habit.mark_completed", habit_id=2, amount=0.5))


def half_22(talk: Talk, clock: Clock) -> None:
    """Допиши в среду: вернул битые коробки."""
    text = message(
        talk, act("diary.update_entry", date="2026-11-18", append={"what_done": "Вернул коробки."})
    )
    assert "Дневник за 18.11" in text and "Вернул коробки" in text


def half_25(talk: Talk, clock: Clock) -> None:
    """IELTS сдан! (два шага открыты)"""
    assert "уходит 2 несделанных шага" in message(talk, act("goal.complete", goal_id=1))
    assert talk.see("schedule")["schedule"]["overdue"] == []


def half_26(talk: Talk, clock: Clock) -> None:
    """Напомни завтра в 9."""
    answer = call("preview_actions", actions=[act("step.create", inbox=True, title="x", dt="завтра в 9")])
    assert "no reminders" in answer["errors"][0]["hint"]


def half_27(talk: Talk, clock: Clock) -> None:
    """Каждый вторник созвон с Леной."""
    rule = {"every": "week", "on": ["tue"]}
    text = message(talk, act("step.create", inbox=True, title="Созвон с Леной", repeat=rule))
    assert "24.11; каждую неделю: вт" in text and "!" not in text


def half_29(talk: Talk, clock: Clock) -> None:
    """Две записи; удали вторую."""
    done(act("diary.create_entry", what_done="Утро"), act("diary.create_entry", what_done="Вечер у мамы"))
    assert "сделано: «Вечер у мамы»" in message(talk, act("diary.delete_entry", diary_id=3))


def half_30(talk: Talk, clock: Clock) -> None:
    """18-го я на самом деле не читал."""
    clock.set("2026-11-18T12:00:00+00:00")
    assert "! «Чтение»: серия 11 дней → 0" in message(talk, act("habit.mark_missed", habit_id=4))


def half_31(talk: Talk, clock: Clock) -> None:
    """Всё просроченное на завтра."""
    text = message(talk, act("step.shift", overdue=True, dt="2026-11-23"))
    assert "→ 23.11" in text and talk.see("schedule")["schedule"]["overdue"] == []


def half_32(talk: Talk, clock: Clock) -> None:
    """Половину эссе написал."""
    assert "готово: — → половина" in message(talk, act("step.update", step_id=1, progress=50))


def half_34(talk: Talk, clock: Clock) -> None:
    """Какие цели не двигались две недели?"""
    goals = talk.see()["goals"]["items"]
    assert [goal["title"] for goal in goals if goal["moved"] < "2026-11-08"] == ["Письмо для IELTS"]


def half_35(talk: Talk, clock: Clock) -> None:
    """Бег в архив… а как прошёл ноябрь?"""
    before = call("get_user_snapshot", include=["history"], date_from="2026-11-01")["data"]["history"][
        "total"
    ]
    assert "прошлое остаётся в истории" in message(talk, act("habit.archive", habit_id=1))
    history = talk.see("history", date_from="2026-11-01")["history"]
    kept = int(before["habits"].partition("/")[0])
    assert history["total"]["habits"].startswith(f"{kept}/") and history["habits"][0]["name"] == "Бег"


def half_37(talk: Talk, clock: Clock) -> None:
    """Удали «Позвонить маме»."""
    done(act("habit.mark_completed", habit_id=3))
    assert "1 отметка, лучшая серия 1 неделя" in message(talk, act("habit.delete", habit_id=3))


def half_38(talk: Talk, clock: Clock) -> None:
    """Где копия всего?"""
    status = talk.see("status")["status"]
    assert status["backup"]["newest"] is None and any("export" in command for command in status["commands"])


def new_1(talk: Talk, clock: Clock) -> None:
    """Что из целей уже достигнуто?"""
    done(act("goal.complete", goal_id=2))
    goals = talk.see("goals", goals_status="all")["goals"]["items"]
    assert [goal["title"] for goal in goals if goal.get("status") == "complete"] == ["Письмо для IELTS"]


def new_2(talk: Talk, clock: Clock) -> None:
    """Первого числа каждого месяца плати за квартиру, до июня."""
    rule = {"every": "month", "on": [1], "until": "2027-06-01"}
    text = message(talk, act("step.create", inbox=True, title="Квартира", repeat=rule))
    assert "01.12; 1-го числа, до 01.06.2027" in text


def new_3(talk: Talk, clock: Clock) -> None:
    """Созвон со вторника перенеси на среду, только этот."""
    done(act("step.create", inbox=True, title="Созвон", repeat={"every": "week", "on": ["tue"]}))
    message(talk, act("step.shift", step_ids=[4], days=1))
    assert "следующий 01.12" in message(talk, act("step.complete", step_id=4))


def new_4(talk: Talk, clock: Clock) -> None:
    """Теперь созвон по четвергам."""
    done(act("step.create", inbox=True, title="Созвон", repeat={"every": "week", "on": ["tue"]}))
    change = act("step.update", step_id=4, dt="2026-11-26", repeat={"every": "week", "on": ["thu"]})
    assert "каждую неделю: вт → каждую неделю: чт" in message(talk, change)


def new_5(talk: Talk, clock: Clock) -> None:
    """Созвон больше не нужен."""
    done(act("step.create", inbox=True, title="Созвон", repeat={"every": "week", "on": ["tue"]}))
    assert "больше не повторится" in message(talk, act("step.delete", step_id=4))


def new_6(talk: Talk, clock: Clock) -> None:
    """Вернулся раньше, снимай паузы."""
    done(act("habit.pause", all=True, to="2026-12-06"))
    clock.set("2026-11-25T12:00:00+00:00")
    assert message(talk, act("habit.resume", all=True)).count("пауза окончена") == 4


def new_7(talk: Talk, clock: Clock) -> None:
    """Нет, не надо (после предпросмотра)."""
    previewed = talk.preview(act("goal.delete", goal_id=1))
    answer = call("apply_actions", preview_id=previewed["preview_id"], user_confirmation="нет, не надо")
    assert answer["code"] == "NOT_CONFIRMED"
    talk.call("cancel_preview", preview_id=previewed["preview_id"])


def new_8(talk: Talk, clock: Clock) -> None:
    """Покажи только IELTS."""
    assert talk.see(goal_id=1).keys() == {"goals"} and talk.cost <= 300


def new_9(talk: Talk, clock: Clock) -> None:
    """Что я писал и делал за неделю?"""
    data = talk.see("history", "diary", date_from="2026-11-16", date_to="2026-11-22")
    assert str(data).count("Аня звонила") == 1


def new_10(talk: Talk, clock: Clock) -> None:
    """Перенеси всё с понедельника на вторник."""
    done(act("step.create", goal_id=1, steps=WEEK))
    monday = {"from": "2026-11-23", "to": "2026-11-23"}
    assert "2 шага цели «IELTS»: 23.11 → 24.11" in message(
        talk, act("step.shift", goal_id=1, dt="2026-11-24", **monday)
    )


def new_11(talk: Talk, clock: Clock) -> None:
    """Эссе уже на три четверти."""
    message(talk, act("step.update", step_id=1, progress=75))
    assert talk.see(goal_id=1)["goals"]["items"][0]["steps"][0]["progress"] == 75


def new_12(talk: Talk, clock: Clock) -> None:
    """Бег теперь четыре раза в неделю, а не три."""
    done(act("habit.update", habit_id=1, frequency_type="times_per_week", times=3))
    assert "раз в неделю: 3 → 4" in message(talk, act("habit.update", habit_id=1, times=4))


def new_13(talk: Talk, clock: Clock) -> None:
    """Я в Токио."""
    assert "часовой пояс: UTC → Asia/Tokyo" in message(talk, act("person.update", time_zone="Asia/Tokyo"))


def new_14(talk: Talk, clock: Clock) -> None:
    """Какая серия у звонков маме?"""
    mother = next(
        habit for habit in talk.see("habits")["habits"]["items"] if habit["name"] == "Позвонить маме"
    )
    assert mother["streak_in"] == "weeks"


def new_15(talk: Talk, clock: Clock) -> None:
    """Создай цель без шагов."""
    message(talk, act("goal.create", title="Отпуск", steps=[]))


def new_16(talk: Talk, clock: Clock) -> None:
    """Работает ли это без интернета?"""
    assert "without internet" in talk.see("status")["status"]["offline"]


def new_17(talk: Talk, clock: Clock) -> None:
    """Открой IELTS снова, я поторопился."""
    done(act("goal.complete", goal_id=1))
    assert "снова в работе" in message(talk, act("goal.reopen", goal_id=1))
    assert len(talk.see("schedule")["schedule"]["overdue"]) == 1


def new_18(talk: Talk, clock: Clock) -> None:
    """Отмени последние три изменения."""
    for title in ("Раз", "Два", "Три"):
        done(act("goal.create", title=title))
    for title in ("Три", "Два", "Раз"):
        previewed = talk.call("undo_last")
        assert f"• Удалить: цель «{title}»" in previewed["message"]
        talk.confirm(previewed)


def new_19(talk: Talk, clock: Clock) -> None:
    """Часы убежали на год; сними ту отметку."""
    clock.set("2027-11-22T12:00:00+00:00")
    done(act("habit.mark_completed", habit_id=2))
    clock.set("2026-11-22T12:00:00+00:00")
    assert "−10 XP" in message(talk, act("habit.unmark", habit_id=2, date="2027-11-22"))


def new_20(talk: Talk, clock: Clock) -> None:
    """Полей цветы каждый день, но удали повтор, когда цель закрою."""
    done(act("step.create", goal_id=2, title="Цветы", repeat={"every": "day"}))
    message(talk, act("step.complete", step_id=4), act("goal.complete", goal_id=2))
    clock.set("2026-11-30T12:00:00+00:00")
    assert "Цветы" not in str(talk.see("schedule"))


REQUESTS = [function for name, function in globals().items() if name.startswith(("half_", "new_"))]


@pytest.mark.parametrize("request_of", REQUESTS, ids=lambda function: function.__name__)
def test_a_request_of_the_weeks_is_met(request_of: Callable[[Talk, Clock], None], life: Clock):  # noqa: F811
    talk = Talk()
    request_of(talk, life)
    print(f"{request_of.__name__} {talk.calls} calls, {talk.cost:.0f} tokens  {request_of.__doc__}")
    assert talk.calls <= 6 and talk.cost <= 1100
