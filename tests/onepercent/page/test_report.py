"""The report: a period as a file for any browser, and on paper."""

import base64
from datetime import date

import pytest

from tests.onepercent.page.test_preview_page import HOSTILE
from tests.onepercent.person import (
    act,
    complete,
    do,
    history,
    mark,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    run,
    use,
)
from tests.support.client import cases
from tools.onepercent import shell
from tools.onepercent.base import days
from tools.onepercent.database import store
from tools.onepercent.snapshot.history import past_between

SCRIPT = "Бег</script><script>document.title='run'</script>"


def lived():
    habits = do(new_habit(SCRIPT), new_habit(HOSTILE[:200]))
    do(*[mark(habit, dates=["2026-03-01..2026-03-17"]) for habit in habits])
    do(mark(habits[0], date="2026-03-17", note="в парке"))
    goal, step = do(new_goal("Марафон"), new_step("Купить обувь"))
    do(complete(step), act("goal.complete", goal))
    long_day = "Длинный день. " * 40
    do(*[new_entry(date=f"2026-03-{day:02}", what_done=long_day) for day in range(1, 18)])


@pytest.mark.slow
def test_a_browser_shows_and_prints_the_period_without_a_server(browser, tmp_path, file):
    use(file, MCP_LANGUAGE="ru")
    lived()
    assert run("report", tmp_path / "r.html", "--from", "2026-03-01").text == (
        f"Записано: {tmp_path / 'r.html'}. Откройте в браузере."
    )
    tab = browser.open((tmp_path / "r.html").as_uri(), 320)
    tab.wait("document.querySelector('.habit')", host=True)
    assert tab.run("document.documentElement.scrollWidth", host=True) <= 320
    assert tab.run("document.title", host=True) == "OnePercent, 1–18 марта 2026 г."
    text = tab.run("document.body.innerText", host=True)
    for words in (
        SCRIPT,
        "Март 2026",
        "в парке",
        "ЦЕЛИ",
        "Марафон",
        "Купить обувь · Марафон",
        "воскресенье, 1 марта",
        "100 %, серия: 17",
    ):
        assert words.casefold() in text.casefold().replace("\xa0", " "), words
    assert tab.requests == [(tmp_path / "r.html").as_uri()] and tab.console == []
    # Browsers print no backgrounds by default, unless a page asks for them: the marks are backgrounds.
    style = "getComputedStyle(document.querySelector('.habit .s1'))"
    assert tab.run(f"{style}.printColorAdjust", host=True) == "exact"
    assert tab.run(f"{style}.backgroundColor", host=True) == "rgb(31, 95, 166)"
    printed = base64.b64decode(tab.send("Page.printToPDF", printBackground=False)["data"])
    assert 2 <= printed.count(b"/Type /Page\n") <= 5
    tab.close()


@pytest.mark.slow
def test_a_report_of_nothing_says_so(browser, tmp_path, file):
    use(file, MCP_LANGUAGE="en")
    assert "Open it in a browser" in run("report", tmp_path / "r.html").text
    tab = browser.open((tmp_path / "r.html").as_uri(), 320)
    tab.wait("document.querySelector('h1')", host=True)
    blocks = tab.run("document.body.innerText", host=True).split("\n\n")
    assert blocks[-2:] == ["February 19 – March 18, 2026", "Nothing is recorded for this time."]
    tab.close()


NOT_REPORTED = """
no/r.html | cannot be written
r.html --from вчера | --from is not a date
r.html --from 2025-03-17 | not a period
r.html --from 2026-03-10 --to 2026-03-09 | not a period
"""


@pytest.mark.parametrize("words, error", cases(NOT_REPORTED))
def test_what_cannot_be_reported_is_a_clear_error_and_makes_nothing(words, error, tmp_path):
    file, *options = words.split()
    answer = run("report", tmp_path / file, *options)
    assert answer.status == 1 and error in answer.text
    assert not (tmp_path / "no").exists() and not (tmp_path / "r.html").exists()


def test_wrong_words_show_how_it_is_said_and_the_file_is_the_owners(tmp_path):
    file = tmp_path / "r.html"
    for wrong in (["--from"], ["--since", "x"]):
        assert run("report", file, *wrong).status == 2
    run("report", file)
    assert file.stat().st_mode & 0o777 == 0o600


def test_one_month_has_one_rate_on_paper_and_in_the_chat(clock):
    """A month that begins within an ISO week: the marks of that week before it count for its days."""
    clock.set("2026-10-29T12:00:00+00:00")
    (habit,) = do(new_habit("Бассейн", frequency_type="times_per_week", times=1))
    marks = ["2026-09-30", "2026-10-06", "2026-10-13", "2026-10-20", "2026-10-27"]
    do(mark(habit, dates=marks))
    first = date(2026, 10, 1)
    last = date(2026, 10, 31)

    with store.reading() as db:
        period = past_between(db, first, last, days.today(clock()))
        [on_paper] = shell._report_content(period)["habits"]
    [in_chat] = history(date_from=f"{first}", date_to=f"{last}")["habits"]

    assert on_paper["rate"] == in_chat["rate"] == 100
    assert on_paper["signs"] == in_chat["marks"]
    assert on_paper["signs"].startswith("....."), "the week of 1 October was kept on 30 September"
