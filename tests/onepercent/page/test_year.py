"""A period of more than two months, drawn by its months."""

import datetime

import pytest

from tests.onepercent.page.test_details import lines
from tests.onepercent.page.test_screenshots import shot
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
YEAR = {"date_from": "2025-11-24", "date_to": MONDAY, "include": ["history"]}


def live(person, turn):
    """A year with five habits, of which two begin in March, and a goal of nine steps that is reached in May."""
    turn("2025-11-25")
    person.do(
        new_goal("Полумарафон"),
        new_goal("Собрать Voron 2.4"),
        *(new_step(f"{place} км", 1) for place in range(9)),
        *(new_step(f"{place}", 2) for place in range(18)),
        *(new_habit(name) for name in NAMES[:3]),
        new_habit(NAMES[4], frequency_type="weekly"),
    )
    day = datetime.date(2025, 11, 25)
    last = datetime.date.fromisoformat(MONDAY)
    while day <= last:
        end = min(day + datetime.timedelta(27), last)
        turn(f"{end}")
        if day.month == 3 and day.year == 2026:
            person.do(new_habit(NAMES[3]))
        span = [day + datetime.timedelta(place) for place in range((end - day).days + 1)]
        for habit, rest in ((1, 13), (2, 5), (3, 3), (4, 7)):
            kept = [f"{on}" for on in span if (on.toordinal() * (habit + 2) + on.month) % rest]
            kept = [on for on in kept if not "2026-07-05" <= on <= "2026-07-14"]
            if kept:
                person.do(mark(habit, dates=kept))
        if (steps := (end.month * 2) % 5) and end.year == 2026 and end.month < 11:
            open_steps = person.rows("SELECT id FROM steps WHERE is_complete = 0 ORDER BY id")
            person.do(*(complete(step) for (step,) in open_steps[:steps]))
        day = end + datetime.timedelta(1)


def test_a_year_has_its_months_its_habits_and_its_goals(on, tmp_path):
    person, turn = on
    live(person, turn)
    for theme, width, font in [
        ("light", 320, 16),
        ("light", 390, 16),
        ("dark", 390, 16),
        ("light", 720, 16),
        ("light", 320, 32),
    ]:
        tab = person.days(width=width, theme=theme, arguments=YEAR)
        height = shot(tab, tmp_path / f"year-{theme}-{width}-{font}.png", font)
        assert tab.run("document.documentElement.scrollWidth") <= width
        if (width, font) == (390, 16):
            assert height <= 1400
    months = [line.partition("\n")[0] for line in lines(tab, ".months > div")]
    assert len(months) == 13 and all("%" in month for month in months)
    assert tab.run("document.querySelectorAll('.months u').length") == 365
    text = tab.text()
    assert all(name in text for name in NAMES) and "лучшая серия" in text
    assert "Собрать Voron" in text and "/18" in text
    assert lines(tab, "#ring")[0].endswith("%")

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
