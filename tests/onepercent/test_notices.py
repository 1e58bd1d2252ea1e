"""Notices of the day: what they say, that they say it once, and what they do without a network."""

import json
import os
import socket
import sys
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.onepercent.person import (
    act,
    complete,
    do,
    mark,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    use,
)
from tests.support.client import PROJECT, finished
from tests.support.web import serving
from tools.core.settings import SettingsError, check_all
from tools.onepercent import notices

MORNING = "2026-03-18T08:00:00+00:00"
EVENING = "2026-03-18T21:00:00+00:00"


@pytest.fixture
def phone(file):
    """A service that takes notices."""
    with serving() as web:
        web.otherwise = 200
        use(file, NOTIFY_URL=web.url("/topic"))
        yield web


@pytest.fixture
def life(clock):
    """Two steps today, one of them done, one overdue, two habits, one of them marked."""
    clock.set(MORNING)
    do(
        new_goal("IELTS"),
        new_step("Пройти тест", dt="2026-03-18"),
        new_step("Слова", dt="2026-03-18"),
        new_step("Письмо", dt="2026-03-10"),
        new_habit("Бег"),
        new_habit("Сон"),
    )
    do(complete(2), mark(2))


def notify(*options, cards=0):
    return notices.main(list(options), lambda: cards)


def test_the_morning_says_what_the_day_holds_in_private_by_counts_alone(phone, life, file):
    assert notify(cards=14) == 0
    use(file, NOTIFY_PRIVATE="1")
    notify("--now")
    [(path, headers, body), (_, _, private)] = phone.seen
    url = urlsplit(path)
    assert url.path == "/topic" and parse_qs(url.query) == {"title": ["Сегодня, 18.03"]}
    assert headers["Content-Type"].startswith("text/plain")
    titles = "1 шаг: Пройти тест\n1 привычка: Бег"
    assert body == f"{titles}\nПросрочено: 1 шаг\nК повторению: 14 карточек"
    assert private == "1 шаг\n1 привычка\nПросрочено: 1 шаг"


def test_the_evening_says_what_is_left_and_asks_for_the_diary(phone, life, clock):
    clock.set(EVENING)
    notify(cards=14)
    do(new_entry(what_done="x"))
    notify("--now")
    before, after = (body for _, _, body in phone.seen)
    assert before.startswith("1 шаг: Пройти тест\n1 привычка: Бег\n")
    assert "дневник" in before and "дневник" not in after


def test_each_morning_and_evening_has_one_notice(phone, life, clock):
    for moment in ("18T08", "18T09", "18T21", "18T22", "19T08"):
        clock.set(f"2026-03-{moment}:00:00+00:00")
        assert notify() == 0
    assert len(phone.seen) == 3


def test_a_notice_that_was_asked_for_stands_for_none_of_the_day(phone, life):
    assert notify("--now") == notify() == 0
    assert len(phone.seen) == 2


def test_nothing_to_say_is_no_notice(phone, life, clock):
    deletions = [act("goal.delete", 1), act("habit.delete", 1), act("habit.delete", 2)]
    do(*deletions, new_entry(what_done="x"))
    for moment in (MORNING, EVENING):
        clock.set(moment)
        assert notify() == 0
    assert phone.seen == []


def test_by_default_nothing_leaves_and_now_shows_it(life, capsys):
    assert notify() == 0 and notify("--now") == 0
    lines = "1 шаг: Пройти тест\n1 привычка: Бег\nПросрочено: 1 шаг"
    assert capsys.readouterr().out == f"Сегодня, 18.03\n{lines}\n"


def test_a_long_day_names_ten_titles_and_counts_the_rest(phone, life):
    do(*[new_step(f"Шаг {number}", 1, dt="2026-03-18") for number in range(14)])
    notify()
    line, *_ = phone.seen[0][2].splitlines()
    assert line.startswith("15 шагов: Пройти тест; Шаг 0") and line.endswith("Шаг 8; ещё 5")


def test_gotify_and_any_webhook_get_what_they_take(phone, life, file):
    use(file, NOTIFY_URL=f"{phone.url()}/message?token=SECRET")
    notify("--now")
    [(path, headers, body)] = phone.seen
    assert headers["Content-Type"] == "application/json"
    assert path == "/message?token=SECRET" and json.loads(body).keys() == {"title", "message"}
    do(act("step.update", 1, title='Сказать "да"'))
    body = '{"content": "{title}\\n{text}", "flags": 4}'
    use(file, NOTIFY_URL=f"{phone.url()}/hook", NOTIFY_BODY=body)
    notify("--now")
    message = json.loads(phone.seen[1][2])
    assert message["flags"] == 4
    assert message["content"].startswith('Сегодня, 18.03\n1 шаг: Сказать "да"')


def test_without_a_network_it_comes_later_the_same_day(phone, life, file, clock, capsys):
    with socket.socket() as gone:
        gone.bind(("127.0.0.1", 0))
        use(file, NOTIFY_URL=f"http://127.0.0.1:{gone.getsockname()[1]}/?token=SECRET")
        assert notify() == os.EX_TEMPFAIL
    errors = capsys.readouterr().err
    assert "cannot be reached" in errors and "SECRET" not in errors
    use(file, NOTIFY_URL=f"{phone.url()}/topic")
    for status in (429, 503):
        phone.otherwise = status
        assert notify() == os.EX_TEMPFAIL
    phone.otherwise = 200
    clock.set("2026-03-18T11:00:00+00:00")
    assert notify() == 0 and notify() == 0
    assert len(phone.seen) == 3


def test_a_refusal_is_an_error_and_not_tried_again(phone, life, capsys):
    phone.otherwise = 403
    assert notify() == 1
    errors = capsys.readouterr().err
    assert "answered 403" in errors and "NOTIFY_URL" in errors


def test_what_may_have_arrived_is_not_sent_again(phone, life, monkeypatch, capsys):
    monkeypatch.setattr(notices, "DEADLINE_S", 0.3)
    phone.otherwise = lambda handler: handler.server.closing.wait(1)
    assert notify() == 0 and notify() == 0
    assert len(phone.seen) == 1 and "did not answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name, value",
    [("NOTIFY_URL", "ntfy.sh/topic"), ("NOTIFY_MORNING", "25:00"), ("NOTIFY_PRIVATE", "x")],
)
def test_a_wrong_setting_is_named(name, value, file):
    use(file, **{name: value})
    with pytest.raises(SettingsError, match=name):
        check_all()


@pytest.mark.slow
def test_a_timer_with_nothing_to_send_loads_nothing_to_send_it_with(file):
    """On a small Pi memory is short: OpenSSL alone is 3.5 MiB."""
    for url in ("", "http://127.0.0.1:9/topic"):
        # After nine in the evening there is always something: the question about the diary.
        own = {"NOTIFY_EVENING": "23:59", "ANKI_CONNECT_URL": "http://127.0.0.1:9"}
        environ = {**os.environ, **own, "NOTIFY_URL": url}
        words = [sys.executable, "-I", "-S", "-X", "importtime", str(PROJECT / "tools"), "notify"]
        done = finished(words, env=environ, check=True)
        assert "tools.onepercent.notices" in done.stderr
        assert not {"_hashlib", "_ssl", "http.client"} & set(done.stderr.split())


def test_a_habit_to_avoid_and_one_that_has_ended_are_not_asked_for(phone, clock):
    clock.set("2026-03-17T08:00:00+00:00")
    smoking = new_habit("Сигареты", target={"at_most": 0})
    do(smoking, new_habit("Курс", until="2026-03-17"), new_habit("Бег"))
    clock.set(MORNING)
    notify("--now")
    assert phone.seen[0][2].splitlines() == ["1 привычка: Бег"]
