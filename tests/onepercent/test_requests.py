"""What the requests that are dear of a person cost a conversation, and that they are met."""

import json
import re

import pytest

from tests.onepercent.person import call, history, items, snapshot
from tests.onepercent.person import do as done

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TITLES = (
    "Купить учебник",
    "Пройти пробный тест",
    "Слова: урок",
    "Эссе о городе",
    "Разговор с носителем",
)
LONG = "Сегодня проснулся в семь, хотя лёг в два. Сначала думал, что не встану, но встал. "


def act(action, **params):
    """An action as a model sends it: without an id."""
    return {"action": action, "params": params}


class Talk:
    """What a model calls for one request, counted in tokens."""

    cost = 0.0

    def call(self, name, **arguments):
        answer = call(name, **arguments)
        assert answer["success"], answer
        # As a tokenizer does: a Latin letter a quarter, a Cyrillic one two fifths, a UUID 20.
        text = json.dumps([arguments, answer], ensure_ascii=False, separators=(",", ":"))
        rest = UUID.sub("", text)
        cyrillic = len(re.findall("[а-яё]", rest, re.IGNORECASE))
        self.cost += 20 * len(UUID.findall(text)) + cyrillic / 2.5 + (len(rest) - cyrillic) / 4
        return answer

    def see(self, *include, **more):
        return self.call("get_user_snapshot", include=list(include) or None, **more)["data"]

    def find(self, words):
        return self.call("get_user_snapshot", find=words)["found"]["items"][0]["id"]

    def confirm(self, previewed):
        return self.call(
            "apply_actions", preview_id=previewed["preview_id"], user_confirmation="да"
        )

    def change(self, *actions):
        return self.confirm(self.call("preview_actions", actions=list(actions)))


@pytest.fixture
def life(clock):
    """Goals 1 and 2, steps 1 to 3, the habits Бег, Вода, Позвонить маме (weekly) and Чтение, marks of ten
    days."""
    clock.set("2026-11-01T09:00:00+00:00")
    dates = ("2026-11-16", "2026-11-20", "2026-12-05")
    steps = [{"title": title, "dt": dt} for title, dt in zip(TITLES, dates)]
    names = ("Бег", "Вода", "Чтение")
    done(
        act("goal.create", title="IELTS", steps=steps),
        act("goal.create", title="Письмо для IELTS"),
        *(act("habit.create", name=name) for name in names),
        act("habit.create", name="Позвонить маме", frequency_type="weekly"),
    )
    clock.set("2026-11-22T12:00:00+00:00")
    done(act("step.complete", step_id=2, date="2026-11-18"))
    done(act("habit.mark_completed", habit_ids=[1, 3], dates=["2026-11-08..2026-11-18"]))


def plan(title="Сдать IELTS на 7", number=20):
    steps = [
        {
            "title": f"{TITLES[at % 5]} {at + 1}",
            "dt": f"2026-{11 + at // 11:02}-{1 + at % 10 * 3:02}",
            "time_duration": "one",
        }
        for at in range(number)
    ]
    return act("goal.create", title=title, why_important="Учёба за границей", steps=steps)


def a_plan_of_twenty_steps(talk):
    talk.change(plan())


def all_steps_a_week_later(talk):
    done(plan())
    talk.change(act("step.shift", goal_id=3, days=7))


def the_marks_of_a_week(talk):
    talk.change(
        act("habit.mark_completed", habit_ids=[1, 3], dates=["2026-11-16..2026-11-22"]),
        act("habit.mark_completed", habit_id=2, dates=["2026-11-18", "2026-11-20"]),
        act("habit.mark_missed", habit_id=4, date="2026-11-16", excuse_reason="болел"),
    )
    marks = [habit["marks"] for habit in history(date_from="2026-11-16")["habits"]]
    assert marks == ["+++++++", "??+?+??", "+++++++", "e......"]


def a_long_entry_of_the_diary(talk):
    talk.change(act("diary.create_entry", what_done=LONG * 40))


def more_of_an_entry(talk):
    done(act("diary.create_entry", what_done=LONG * 15))
    line = "Вечером звонила Аня."
    found = talk.find("проснулся")
    talk.change(act("diary.update_entry", diary_id=found, append={"what_done": line}))
    [entry] = items("diary")
    assert entry["what_done"] == f"{LONG * 15}\n{line}"


def a_look_back_at_a_week_of_long_entries(talk):
    done(
        *[
            act("diary.create_entry", what_done=LONG * 10, date=f"2026-11-{day}")
            for day in range(16, 22)
        ]
    )
    talk.see("history")


def a_review_of_the_week(talk):
    talk.see("history")
    talk.see("goals", "schedule", date_to="2026-11-29")


def back_by_three_and_forth_again(talk):
    for title in ("Раз", "Два", "Три"):
        done(act("goal.create", title=title))
    before = snapshot()
    for redo in (False, True):
        for _ in range(3):
            talk.confirm(talk.call("undo_last", redo=redo))
    assert snapshot() == before


def ten_more_goals():
    done(*[plan(f"Цель номер {number}: большое дело", 11) for number in range(10)])


def a_mark_among_twelve_goals(talk):
    ten_more_goals()
    talk.change(act("habit.mark_completed", habit_id=talk.find("вода")))


def all_there_is(talk):
    ten_more_goals()
    assert talk.see()["goals"]["total_count"] == 12


def nine_goals_deleted_and_brought_back(talk):
    done(*[plan(f"Цель номер {number}", 13) for number in range(9)])
    before = snapshot("steps")
    talk.change(*[act("goal.delete", goal_id=number) for number in range(3, 12)])
    talk.confirm(talk.call("undo_last"))
    assert snapshot("steps") == before


def twelve_rows_of_a_schedule(talk):
    """27 tokens a row, the day, the user and the frame of the answer included."""
    days = [23, 23, 24, 24, 25, 25, 26, 26, 27, 28, 29]
    titles = ["Звонок", "Отчёт", "Письмо"]
    steps = [
        {"title": f"{titles[at % 3]} {at}", "dt": f"2026-11-{day}", "time_duration": "one"}
        for at, day in enumerate(days)
    ]
    done(act("step.create", goal_id=1, steps=steps))
    assert len(talk.see("schedule")["schedule"]["upcoming"]) == len(days)


MOST = {
    a_plan_of_twenty_steps: 1600,
    all_steps_a_week_later: 400,
    the_marks_of_a_week: 500,
    a_long_entry_of_the_diary: 1800,
    more_of_an_entry: 500,
    a_look_back_at_a_week_of_long_entries: 1500,
    a_review_of_the_week: 1500,
    back_by_three_and_forth_again: 3000,
    a_mark_among_twelve_goals: 1500,
    all_there_is: 900,
    nine_goals_deleted_and_brought_back: 1200,
    twelve_rows_of_a_schedule: 12 * 27,
}


@pytest.mark.parametrize(
    "request_of, most", MOST.items(), ids=lambda one: getattr(one, "__name__", "")
)
def test_a_request_is_met_within_its_tokens(request_of, most, life):
    talk = Talk()
    request_of(talk)
    assert talk.cost <= most
