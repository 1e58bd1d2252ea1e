"""Requests as people make them: which calls they take, and what these cost a conversation."""

import json
from typing import Any

import pytest

from tests.onepercent.person import Clock, act, call, ref
from tests.onepercent.person import do as done

MOST_TOKENS = 1500
CHARACTERS_A_TOKEN = 4


class Talk:
    """What a model calls for one request, counted."""

    def __init__(self) -> None:
        self.characters = 0

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer = call(name, **arguments)
        for text in (arguments, answer):
            self.characters += len(json.dumps(text, ensure_ascii=False, separators=(",", ":")))
        assert answer["success"], answer
        return answer

    def change(self, *actions: dict[str, Any]) -> dict[str, Any]:
        return self.confirm(self.call("preview_actions", actions=list(actions)))

    def confirm(self, previewed: dict[str, Any]) -> dict[str, Any]:
        key = "123e4567-e89b-42d3-a456-4266141740" + f"{self.characters % 100:02}"
        return self.call(
            "apply_actions", preview_id=previewed["preview_id"], idempotency_key=key, user_confirmation="да"
        )


@pytest.fixture
def talk() -> Any:
    talk = Talk()
    yield talk
    assert talk.characters / CHARACTERS_A_TOKEN <= MOST_TOKENS


@pytest.fixture(autouse=True)
def life(clock: Clock) -> dict[str, int]:
    """Two goals with steps, some late, two habits with marks, a diary."""
    clock.set("2026-03-16T09:00:00+00:00")
    goal, other = act("goal.create", title="Английский"), act("goal.create", title="Английский для работы")
    steps = [
        act("step.create", goal_id=ref(goal), title=title, dt=dt)
        for title, dt in (("Пройти тест", "2026-03-16"), ("Слова урока 7", "2026-03-17"), ("Бег 5 км", "2026-03-18"))
    ]
    run, sleep = act("habit.create", name="Бег", frequency_type="weekdays"), act("habit.create", name="Сон до 23")
    ids = done(goal, other, *steps, run, sleep, act("diary.create_entry", what_done="Начал неделю"))
    done(act("step.complete", step_id=ids[3]), act("habit.mark_completed", habit_id=ids[5]))
    clock.set("2026-03-18T20:00:00+00:00")
    return dict(zip(("goal", "other", "test", "words", "run", "habit", "sleep", "diary"), ids, strict=True))


def test_a_half_marathon_with_steps(talk: Talk):
    """Хочу пробежать полумарафон осенью, разбей на шаги."""
    goal = act("goal.create", title="Полумарафон", category="health_sport", why_important="Здоровье")
    titles = ("Купить кроссовки", "Бегать 3 км", "Бегать 5 км", "Бегать 10 км")
    answer = talk.change(goal, *[act("step.create", goal_id=ref(goal), title=title) for title in titles])
    assert answer["summary"]["successful"] == 5


def test_marks_of_yesterday_and_today_with_an_excuse(talk: Talk, life: dict):
    """Вчера бегал, сегодня нет: болел."""
    talk.call("get_user_snapshot", find="бег")
    answer = talk.change(
        act("habit.mark_completed", habit_id=life["habit"], date="2026-03-17"),
        act("habit.mark_missed", habit_id=life["habit"], excuse_reason="болел"),
    )
    assert answer["xp"]["delta"] == 10


def test_where_am_i_behind(talk: Talk):
    """Где я отстаю?"""
    data = talk.call("get_user_snapshot", include=["schedule", "history"])["data"]
    assert [step["title"] for step in data["schedule"]["overdue"]] == ["Пройти тест"]
    assert {habit["name"]: habit["rate"] for habit in data["history"]["habits"]}["Сон до 23"] == 0


def test_everything_undone_goes_to_tomorrow_and_back(talk: Talk):
    """Перенеси всё несделанное на завтра. Нет, верни как было."""
    found = talk.call("get_user_snapshot", include=["schedule"])["data"]["schedule"]
    late = [*found["overdue"], *found["today"]]
    answer = talk.change(*[act("step.update", step_id=step["id"], dt="2026-03-19") for step in late])
    assert len(answer["results"]) == 2
    talk.confirm(talk.call("undo_last"))
    again = call("get_user_snapshot", include=["schedule"])["data"]["schedule"]
    assert [*again["overdue"], *again["today"]] == late


def test_an_evening_review(talk: Talk, life: dict):
    """Подведём итоги дня."""
    talk.call("get_user_snapshot", include=["schedule", "habits", "diary"])
    answer = talk.change(
        act("step.complete", step_id=life["run"]),
        act("habit.mark_completed", habit_id=life["habit"]),
        act("diary.create_entry", what_done="Пробежал пять километров", plans="Пройти тест"),
    )
    assert answer["xp"]["delta"] == 45


def test_the_dynamics_of_a_month(talk: Talk):
    """Покажи динамику за месяц."""
    found = talk.call("get_user_snapshot", include=["history"], date_from="2026-02-19")["data"]["history"]
    assert found["total"]["steps"] == 1 and found["total"]["xp"] == 45 and found["previous"]["steps"] == 0


def test_one_of_two_similar_goals_goes(talk: Talk, life: dict):
    """Удали цель про английский для работы."""
    items = talk.call("get_user_snapshot", find="английский")["found"]["items"]
    assert [one["id"] for one in items] == [life["goal"], life["other"]]
    previewed = talk.call("preview_actions", actions=[act("goal.delete", goal_id=life["other"])])
    assert "Удалить цель „Английский для работы“" in previewed["message"]
    talk.confirm(previewed)


def test_a_run_is_closed(talk: Talk, life: dict):
    """Закрой бег."""
    items = talk.call("get_user_snapshot", find="бег")["found"]["items"]
    assert {one["kind"] for one in items} == {"step", "habit"}
    talk.change(act("step.complete", step_id=life["run"]))


def test_which_steps_were_closed_this_week(talk: Talk):
    """Что я закрыл за неделю?"""
    found = talk.call("get_user_snapshot", include=["history"])["data"]["history"]
    assert [title for day in found["days"] for title in day.get("steps", [])] == ["Слова урока 7"]


def test_a_step_closed_by_mistake_is_open_again(talk: Talk, life: dict):
    """Слова я всё-таки не выучил."""
    talk.call("get_user_snapshot", find="слова")
    assert talk.change(act("step.reopen", step_id=life["words"]))["xp"]["delta"] == -25


def test_a_step_goes_to_the_other_goal(talk: Talk, life: dict):
    """Тест это для работы."""
    previewed = talk.call("preview_actions", actions=[act("step.update", step_id=life["test"], goal_id=life["other"])])
    assert "из цели „Английский“ в цель „Английский для работы“" in previewed["message"]
    talk.confirm(previewed)


def test_work_is_a_seven(talk: Talk):
    """Работой доволен на 7."""
    talk.change(act("ssp.rate", category="work", score=7))
    assert call("get_user_snapshot", include=["ssp"])["data"]["ssp"]["average_score"] == 7
