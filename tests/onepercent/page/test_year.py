"""A period of more than two months, drawn by its months."""

import datetime
import re

import pytest

from tests.onepercent.page.test_details import lines
from tests.onepercent.page.test_screenshots import looks
from tests.onepercent.person import complete, mark, new_goal, new_habit, new_step
from tests.support.pages import MONDAY

pytestmark = pytest.mark.slow

NAMES = [
    "Прогулка с собакой",
    "Зарядка 10 минут",
    "Английский: 15 новых слов и упражнение",
    "Лечь до 23:30",
    "Разбор недели",
]
FIRST_DAY = datetime.date(2025, 11, 25)
YEAR = {"date_from": "2025-11-24", "date_to": MONDAY, "include": ["history"]}


def live(person, turn):
    """A year with five habits, of which one begins in March, and a goal whose nine steps are done by May."""
    turn(FIRST_DAY)
    person.do(
        new_goal("Полумарафон"),
        new_goal("Собрать Voron 2.4"),
        *(new_step(f"{place} км", 1) for place in range(9)),
        *(new_step(f"{place}", 2) for place in range(18)),
        *(new_habit(name) for name in NAMES[:3]),
        new_habit(NAMES[4], frequency_type="weekly"),
    )
    for number in range(13):
        span = [FIRST_DAY + datetime.timedelta(28 * number + ago) for ago in range(28)]
        turn(span[-1])
        if span[0].month == 3:
            person.do(new_habit(NAMES[3]))
        for habit, rest in ((1, 13), (2, 5), (3, 3), (4, 7)):
            kept = [day for day in span if (day.toordinal() * (habit + 2) + day.month) % rest]
            person.do(mark(habit, dates=list(map(str, kept))))
        if number < 10:
            open_steps = person.rows("SELECT id FROM steps WHERE is_complete = 0 ORDER BY id")
            person.do(*(complete(step) for (step,) in open_steps[:2]))


def test_a_year_has_its_months_its_habits_and_its_goals(on, tmp_path):
    person, turn = on
    live(person, turn)
    for _, width, font, height in looks(person, tmp_path, "get_user_snapshot", YEAR):
        assert height <= 1400 or (width, font) != (390, 16)
    tab = person.tabs[-1]
    months = [line.partition("\n")[0] for line in lines(tab, ".months > div")]
    assert len(months) == 13 and all("%" in month for month in months)
    assert tab.run("document.querySelectorAll('.months u').length") == 365
    text = tab.text()
    assert all(name in text for name in NAMES) and "лучшая серия" in text
    assert "Собрать Voron" in text and "/18" in text
    assert lines(tab, "#ring")[0].endswith("%")
    (weekly,) = [line for line in lines(tab, "li.row") if line.startswith(NAMES[4])]
    assert re.search(r"\d недел", weekly), weekly

    history = person.ask("get_user_snapshot", **YEAR)["data"]["history"]
    rates = {item["name"]: item["rate"] for item in history["habits"]}
    drawn = tab.run(
        "Object.fromEntries(data.year.Habits.map(it => [it.name, Math.round(it.rate * 100)]))"
    )
    assert drawn == rates, "one rate on the page and in the chat"


def test_two_months_are_a_calendar_and_one_day_more_has_months(on):
    person, _ = on
    person.do(new_habit("Зарядка"))
    person.do(mark(1))
    for first, months in (("2026-09-23", 0), ("2026-09-22", 3)):
        period = {"date_from": first, "date_to": MONDAY, "include": ["history"]}
        tab = person.days("en-GB", arguments=period)
        assert tab.run("document.querySelectorAll('.months > div').length") == months
        assert tab.run("document.querySelectorAll('.cal').length") == (months or 1)
    tab.click("#m1")
    assert "10 XP" in tab.text() or "10 in" in tab.text()
