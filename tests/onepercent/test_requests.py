"""Forty requests of a person: which calls they take, what they cost a conversation, and that they are met.

`pytest -s` prints the calls and the tokens (characters / 4) in and out of each. Not met: a step done by
halves, a reminder at an hour of the day, a link to share, another person's goals.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.onepercent.person import Clock, call
from tests.onepercent.person import do as done

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TITLES = ("Купить учебник", "Пройти пробный тест", "Слова: урок", "Эссе о городе", "Разговор с носителем")
LONG = "Сегодня проснулся в семь, хотя лёг в два. Сначала думал, что не встану, но встал. "


def act(action: str, **params: Any) -> dict[str, Any]:
    """An action as a model sends it: without an id."""
    return {"action": action, "params": params}


class Talk:
    """What a model calls for one request, counted."""

    def __init__(self) -> None:
        self.calls, self.sent, self.got, self.cost = 0, 0, 0, 0.0

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer = call(name, **arguments)
        assert answer["success"], answer
        sent, got = (
            json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in (arguments, answer)
        )
        self.calls, self.sent, self.got = self.calls + 1, self.sent + len(sent), self.got + len(got)
        for text in (
            sent,
            got,
        ):  # as a tokenizer does: a Latin letter a quarter, a Cyrillic one two fifths, a UUID 20
            rest = UUID.sub("", text)
            cyrillic = len(re.findall("[а-яё]", rest, re.IGNORECASE))
            self.cost += 20 * len(UUID.findall(text)) + cyrillic / 2.5 + (len(rest) - cyrillic) / 4
        return answer

    def see(self, *include: str, **more: Any) -> dict[str, Any]:
        return self.call("get_user_snapshot", **({"include": list(include)} if include else {}), **more)[
            "data"
        ]

    def find(self, words: str) -> list[dict[str, Any]]:
        return self.call("get_user_snapshot", find=words)["found"]["items"]

    def preview(self, *actions: dict[str, Any]) -> dict[str, Any]:
        return self.call("preview_actions", actions=list(actions))

    def confirm(self, previewed: dict[str, Any]) -> dict[str, Any]:
        return self.call("apply_actions", preview_id=previewed["preview_id"], user_confirmation="да")

    def change(self, *actions: dict[str, Any]) -> dict[str, Any]:
        return self.confirm(self.preview(*actions))


LIMITS = {"r03": 1600, "r04": 400, "r05": 500, "r09": 1800, "r10": 500, "r20b": 3000, "r33": 900, "r34": 1200}
"""Tokens that a request may cost; 1500 unless it is here."""


@pytest.fixture
def life(clock: Clock) -> Iterator[Clock]:
    """Goals 1 and 2, steps 1 to 3, the habits Бег, Вода, Позвонить маме (weekly) and Чтение, marks of ten
    days."""
    clock.set("2026-11-01T09:00:00+00:00")
    dates = ("2026-11-16", "2026-11-20", "2026-12-05")
    steps = [{"title": title, "dt": dt} for title, dt in zip(TITLES, dates, strict=False)]
    done(
        act("goal.create", title="IELTS", steps=steps),
        act("goal.create", title="Письмо для IELTS"),
        act("habit.create", name="Бег"),
        act("habit.create", name="Вода"),
        act("habit.create", name="Позвонить маме", frequency_type="weekly"),
        act("habit.create", name="Чтение"),
    )
    clock.set("2026-11-18T09:00:00+00:00")
    done(act("step.complete", step_id=2))
    done(act("habit.mark_completed", habit_ids=[1, 4], dates=["2026-11-08..2026-11-18"]))
    done(
        act("diary.create_entry", what_done="Аня звонила, бегал в парке"),
        act("ssp.rate", category="work", score=5),
    )
    clock.set("2026-11-22T12:00:00+00:00")
    yield clock


def marks(talk: Talk, first: str, name: str = "Бег") -> dict[str, Any]:
    habits = talk.see("history", date_from=first)["history"]["habits"]
    return next(habit for habit in habits if habit["name"] == name)


def plan(title: str = "Сдать IELTS на 7", number: int = 20) -> dict[str, Any]:
    dates = [f"2026-{11 + at // 11:02}-{1 + at % 10 * 3:02}" for at in range(number)]
    titles = [f"{TITLES[at % 5]} {at + 1}" for at in range(number)]
    steps = [
        {"title": text, "dt": dt, "time_duration": "one"} for text, dt in zip(titles, dates, strict=True)
    ]
    return act("goal.create", title=title, why_important="Учёба за границей", steps=steps)


def r01(talk: Talk, clock: Clock) -> None:
    """Хочу больше читать."""
    talk.see()
    talk.change(act("goal.create", title="Больше читать", steps=[{"title": "Выбрать книгу"}]))


def r02(talk: Talk, clock: Clock) -> None:
    """Бег три раза в неделю, цветы через день, первого числа квартира, два литра воды в день."""
    previewed = talk.preview(
        act("habit.create", name="Бег по вечерам", frequency_type="times_per_week", times=3),
        act("habit.create", name="Цветы", frequency_type="every_n_days", n=2),
        act("habit.create", name="Квартира", frequency_type="monthly", month_days=[1]),
        act("habit.create", name="Пить воду", target={"amount": 2, "unit": "л"}),
    )
    for words in ("3 раза в неделю", "раз в 2 дня", "1-го числа", "2 л"):
        assert words in previewed["message"]
    talk.confirm(previewed)


def r03(talk: Talk, clock: Clock) -> None:
    """Хочу сдать IELTS: составь план из двадцати шагов с датами."""
    (result,) = talk.change(plan())["results"]
    assert len(result["step_ids"]) == 20


def r04(talk: Talk, clock: Clock) -> None:
    """Я заболел, сдвинь все шаги на неделю."""
    done(plan())
    previewed = talk.preview(act("step.shift", goal_id=3, days=7))
    assert "20 шагов цели «Сдать IELTS на 7»: на 7 дней вперёд" in previewed["message"]
    talk.confirm(previewed)


def r05(talk: Talk, clock: Clock) -> None:
    """Отметь за неделю: бег и чтение каждый день, воду в среду и пятницу; маме в понедельник не звонил,
    болел."""
    talk.change(
        act("habit.mark_completed", habit_ids=[1, 4], dates=["2026-11-16..2026-11-22"]),
        act("habit.mark_completed", habit_id=2, dates=["2026-11-18", "2026-11-20"]),
        act("habit.mark_missed", habit_id=3, date="2026-11-16", excuse_reason="болел"),
    )
    assert marks(Talk(), "2026-11-16")["marks"] == "+++++++"


def r06(talk: Talk, clock: Clock) -> None:
    """Восемнадцатого я НЕ читал."""
    talk.find("читать")
    previewed = talk.preview(act("habit.mark_missed", habit_id=4, date="2026-11-18"))
    assert "«Чтение», 18.11: пропуск; было: сделано (−20 XP)" in previewed["message"]
    talk.confirm(previewed)


def r07(talk: Talk, clock: Clock) -> None:
    """Двадцать дней назад я бегал, а четырнадцать дней назад нет, сними."""
    previewed = talk.preview(
        act("habit.mark_completed", habit_id=1, date="2026-11-02"),
        act("habit.unmark", habit_id=1, date="2026-11-08"),
    )
    assert "02.11 — больше недели назад" in previewed["message"]
    talk.confirm(previewed)


def r08(talk: Talk, clock: Clock) -> None:
    """Что я делал восемнадцатого?"""
    data = talk.see("history", "diary", date_from="2026-11-18", date_to="2026-11-18")
    (day,) = data["history"]["days"]
    assert (
        (day["steps"], day["xp"]) == ([TITLES[1]], 55) and day["diary"] and len(data["diary"]["items"]) == 1
    )


def r09(talk: Talk, clock: Clock) -> None:
    """Запиши в дневник: … (3 300 знаков)."""
    answer = talk.change(act("diary.create_entry", what_done=LONG * 40))
    assert answer["xp"]["delta"] == 10


def r10(talk: Talk, clock: Clock) -> None:
    """Допиши: вечером звонила Аня."""
    done(act("diary.create_entry", what_done=LONG * 15))
    entry = talk.find("проснулся")[0]["id"]
    previewed = talk.preview(
        act("diary.update_entry", diary_id=entry, append={"what_done": "Вечером звонила Аня."})
    )
    assert "[+ Вечером звонила Аня.]" in previewed["message"]
    talk.confirm(previewed)
    assert call("get_user_snapshot", include=["diary"])["data"]["diary"]["items"][0]["what_done"].startswith(
        LONG * 15
    )


def r11(talk: Talk, clock: Clock) -> None:
    """Запиши ещё: сделал уборку."""
    done(act("diary.create_entry", what_done="Утро"))
    assert "уже есть" in talk.preview(act("diary.create_entry", what_done="Сделал уборку"))["message"]


def r12(talk: Talk, clock: Clock) -> None:
    """Найди IELTS, где я бегал, звонить маме, Anya, Аня."""
    found = {words: talk.find(words) for words in ("IELTS", "бегал", "звонить маме", "Anya", "Аня")}
    assert [each["id"] for each in found["IELTS"] if each["kind"] == "goal"] == [1, 2]
    assert {each["kind"] for each in found["бегал"]} == {"habit", "diary"}
    assert found["звонить маме"][0]["name"] == "Позвонить маме"
    assert found["Anya"] == found["Аня"] != []


def r13(talk: Talk, clock: Clock) -> None:
    """Убери письмо в архив и отключи воду на время."""
    answer = talk.change(act("goal.archive", goal_id=2), act("habit.pause", habit_id=2))
    assert answer["xp"]["delta"] == 0
    assert [goal["id"] for goal in call("get_user_snapshot")["data"]["goals"]["items"]] == [1]


def r14(talk: Talk, clock: Clock) -> None:
    """Заморозь серии, уезжаю с 24-го по 30-е."""
    talk.see("habits")
    days = {"from": "2026-11-24", "to": "2026-11-30"}
    talk.change(*[act("habit.pause", habit_id=each, **days) for each in (1, 2, 3, 4)])


def r15(talk: Talk, clock: Clock) -> None:
    """Подведём итоги недели."""
    history = talk.see("history")["history"]
    assert history["total"]["xp"] and history["previous"]
    talk.see("goals", "schedule", date_to="2026-11-29")


def r15b(talk: Talk, clock: Clock) -> None:
    """То же, с шестью длинными записями дневника."""
    done(*[act("diary.create_entry", what_done=LONG * 10, date=f"2026-11-{day}") for day in range(16, 22)])
    talk.see("history")


def r16(talk: Talk, clock: Clock) -> None:
    """Итоги месяца."""
    history = talk.see("history", date_from="2026-10-24")["history"]
    assert history["total"]["steps"] == 1 and history["previous"]["steps"] == 0


def r17(talk: Talk, clock: Clock) -> None:
    """В среду позвонил маме."""
    talk.find("маме")
    talk.change(act("habit.mark_completed", habit_id=3, date="2026-11-18"))
    mother = next(each for each in talk.see("habits")["habits"]["items"] if each["id"] == 3)
    assert mother["current_streak"] == 1


def r18(talk: Talk, clock: Clock) -> None:
    """Шаг про учебник я сделал вчера."""
    talk.change(act("step.complete", step_id=1, date="2026-11-21"))
    day = talk.see("history")["history"]["days"][-1]
    assert (day["date"], day["xp"], day["steps"]) == ("2026-11-21", 25, [TITLES[0]])


def r20(talk: Talk, clock: Clock) -> None:
    """Отмени третье с конца."""
    for title in ("Раз", "Два", "Три"):
        done(act("goal.create", title=title))
    assert talk.call("undo_last", list=True)["changes"][2]["change"] == "Цель «Раз»: новая"
    talk.confirm(talk.call("undo_last", number=3))
    goals = call("get_user_snapshot")["data"]["goals"]["items"]
    assert [goal["title"] for goal in goals] == ["IELTS", "Письмо для IELTS", "Два", "Три"]


def r20b(talk: Talk, clock: Clock) -> None:
    """Назад на три, нет, верни всё."""
    for title in ("Раз", "Два", "Три"):
        done(act("goal.create", title=title))
    before = call("get_user_snapshot")["data"]
    for redo in (False, True):
        for _ in range(3):
            talk.confirm(talk.call("undo_last", redo=redo))
    assert call("get_user_snapshot")["data"] == before


def r24(talk: Talk, clock: Clock) -> None:
    """Я во Владивостоке, тут уже 23-е: отметь бег."""
    clock.set("2026-11-22T21:00:00+00:00")
    talk.change(act("person.update", time_zone="Asia/Vladivostok"))
    talk.change(act("habit.mark_completed", habit_id=1, date="2026-11-23"))


def r24b(talk: Talk, clock: Clock) -> None:
    """Отметь бег (показано в 23:59, «да» в 00:00)."""
    clock.set("2026-11-22T23:59:00+00:00")
    previewed = talk.preview(act("habit.mark_completed", habit_id=1))
    clock.set("2026-11-23T00:00:30+00:00")
    assert "«Бег», 22.11" in previewed["message"]
    talk.confirm(previewed)


def r25(talk: Talk, clock: Clock) -> None:
    """Работой доволен на 7, здоровьем на 4."""
    talk.change(act("ssp.rate", category="work", score=7), act("ssp.rate", category="health_sport", score=4))
    assert call("get_user_snapshot", include=["ssp"])["data"]["ssp"]["average_score"] == 5.5


def r26(talk: Talk, clock: Clock) -> None:
    """Всё просроченное на завтра, а шаг 99 на пятницу."""
    previewed = talk.preview(
        act("step.shift", overdue=True, days=7), act("step.update", step_id=99, dt="2026-11-27")
    )
    assert "✗ Шаг: такого шага нет" in previewed["message"]
    assert talk.confirm(previewed)["dropped"]


def r27(talk: Talk, clock: Clock) -> None:
    """IELTS до 24 января."""
    assert "срок: — → 24.01.2027" in talk.preview(act("goal.update", goal_id=1, due="2027-01-24"))["message"]


def r28(talk: Talk, clock: Clock) -> None:
    """Какие шаги в декабре?"""
    schedule = talk.see("schedule", date_from="2026-12-01", date_to="2026-12-31")["schedule"]
    assert [step["title"] for step in schedule["upcoming"]] == [TITLES[2]]


def r29(talk: Talk, clock: Clock) -> None:
    """Сколько раз я бегал в ноябре?"""
    assert marks(talk, "2026-11-01")["marks"].count("+") == 11


def r30(talk: Talk, clock: Clock) -> None:
    """Сними отметку за 17-е; а за 16-е пропуск, болел."""
    missed = act("habit.mark_missed", habit_id=1, date="2026-11-16", excuse_reason="болел")
    talk.change(act("habit.unmark", habit_id=1, date="2026-11-17"), missed)
    assert marks(Talk(), "2026-11-16", "Бег")["marks"][:3] == "e?+"


def r31(talk: Talk, clock: Clock) -> None:
    """Бег теперь по понедельникам, средам и пятницам."""
    before = marks(Talk(), "2026-11-08")["marks"][:-1]
    talk.change(act("habit.update", habit_id=1, frequency_type="custom", schedule_days=[1, 3, 5]))
    assert marks(Talk(), "2026-11-08")["marks"][:-1] == before


def twelve_goals() -> None:
    done(*[plan(f"Цель номер {number}: большое дело", 11) for number in range(10)])


def r32(talk: Talk, clock: Clock) -> None:
    """Отметь воду."""
    twelve_goals()
    talk.change(act("habit.mark_completed", habit_id=talk.find("вода")[0]["id"]))


def r33(talk: Talk, clock: Clock) -> None:
    """Что у меня вообще есть?"""
    twelve_goals()
    assert talk.see()["goals"]["total_count"] == 12


def r34(talk: Talk, clock: Clock) -> None:
    """Удали девять целей. Нет, верни."""
    done(*[plan(f"Цель номер {number}", 13) for number in range(9)])
    before = call("get_user_snapshot", include=["steps"])["data"]
    talk.change(*[act("goal.delete", goal_id=number) for number in range(3, 12)])
    talk.confirm(talk.call("undo_last"))
    assert call("get_user_snapshot", include=["steps"])["data"] == before


def r35(talk: Talk, clock: Clock) -> None:
    """(Думал шесть минут; тем временем изменил с телефона.) Да."""
    late, stale = (talk.preview(act("goal.update", goal_id=goal, title="Экзамен")) for goal in (1, 2))
    done(act("goal.update", goal_id=2, title="С телефона"))
    for previewed, code in ((stale, "PREVIEW_STALE"), (late, "PREVIEW_EXPIRED")):
        answer = call("apply_actions", preview_id=previewed["preview_id"], user_confirmation="да")
        assert answer["code"] == code
        talk.confirm(answer)
        clock.set("2026-11-22T12:06:00+00:00")


def r36(talk: Talk, clock: Clock) -> None:
    """Перенеси шаги в другую цель и удали пустую."""
    talk.find("IELTS")
    actions = [act("step.update", step_id=step, goal_id=2) for step in (1, 3)]
    wrong = call(
        "preview_actions", actions=[act("step.update", step_id=1, goal_id=777), act("goal.delete", goal_id=1)]
    )
    assert wrong["code"] == "REFUSED_BESIDE_DELETION"
    talk.change(*actions, act("goal.delete", goal_id=1))
    assert len(call("get_user_snapshot", goal_id=2)["data"]["goals"]["items"][0]["steps"]) == 2


def r37(talk: Talk, clock: Clock) -> None:
    """Отметь всё сегодняшнее; какая серия самая длинная; сравни XP с прошлой неделей."""
    habits = talk.see("habits")["habits"]["items"]
    assert max(habit["best_streak"] for habit in habits) == 11
    talk.change(act("habit.mark_completed", habit_ids=[habit["id"] for habit in habits]))
    history = talk.see("history")["history"]
    assert history["total"]["xp"] != history["previous"]["xp"]


REQUESTS = [function for name, function in globals().items() if re.match("r[0-9]", name)]


def test_thirty_six_of_forty_are_here():
    assert len(REQUESTS) == 36


@pytest.mark.parametrize("request_of", REQUESTS, ids=lambda function: function.__name__)
def test_a_request_is_met_within_its_tokens(request_of: Callable[[Talk, Clock], None], life: Clock):
    talk, name = Talk(), request_of.__name__
    request_of(talk, life)
    print(f"{name} {talk.calls} calls, {talk.sent / 4:.0f} + {talk.got / 4:.0f}  {request_of.__doc__}")
    assert talk.cost <= LIMITS.get(name, 1500), f"{talk.cost:.0f} tokens"
