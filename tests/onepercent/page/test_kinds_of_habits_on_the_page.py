"""Goals that are sums, habits that are limits, and notes, on the page of the days in a real browser."""

import pytest

from tests.onepercent.page.test_days_page import fill_in, saved, today
from tests.onepercent.person import mark, new_goal, new_habit

pytestmark = pytest.mark.slow


@pytest.fixture
def person(sit):
    """Somebody who saves, does not smoke, drinks at most two glasses, and runs with a note."""
    return sit(
        new_goal("Машина", target={"amount": 300_000, "unit": "₽"}, amount=120_000),
        new_habit("Бег"),
        new_habit("Без сигарет", target={"at_most": 0, "unit": "сигарет"}),
        new_habit("Вино", target={"at_most": 2, "unit": "бокала"}),
        new_habit("Таблетки", until=today(-1)),
        mark(1, note="в парке"),
    )


def test_sums_limits_and_notes_are_shown_and_what_has_ended_is_not(person):
    tab = person.days(width=390)
    text = tab.text().replace("\N{NO-BREAK SPACE}", " ")
    assert "120 000/300 000 ₽" in text
    assert tab.run("document.querySelector('.pie').style.getPropertyValue('--p')") == "40%"
    assert "в парке" in tab.text("#n1") and "не больше 2 бокала" in tab.text("#n3")
    assert "Таблетки" not in text and "NaN" not in text
    ticked = tab.run("[...document.querySelectorAll('button.tick')].map(it => it.ariaLabel)")
    assert ticked == ["Бег"]
    assert tab.run("document.documentElement.scrollWidth") <= 390


def test_a_slip_is_marked_by_its_name_and_taken_off_again(person):
    tab = person.days(width=390)
    tab.click("#n2")
    assert "Пропущено" not in tab.text("#panel")
    tab.press("Срыв")
    saved(tab)
    assert "Срыв" in tab.text("#n2")
    assert person.rows("SELECT status FROM habit_marks WHERE habit_id = 2") == [("missed",)]
    tab.click("#n2")
    tab.press("Снять отметку")
    saved(tab)
    assert person.rows("SELECT * FROM habit_marks WHERE habit_id = 2") == []


def test_amounts_up_to_a_limit_are_added(person):
    tab = person.days(width=390)
    tab.click("#n3")
    fill_in(tab, "Add", "1.5")
    saved(tab)
    assert "не больше 2 бокала: 1,5" in tab.text("#n3")
