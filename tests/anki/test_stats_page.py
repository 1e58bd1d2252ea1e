"""The page of anki.stats, in a real browser, over a real collection."""

import os

import pytest

from tests.anki.anki_helpers import add_notes
from tests.onepercent.page import npm
from tests.onepercent.page.browser import Browser, program
from tests.onepercent.page.hosting import CAPABLE, Host
from tests.support.client import HANDSHAKE, Client

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=\"parent.seen.push('run')\">"
AXE = "axe-core@4.14.1"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if program() is None:
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    running = Browser(tmp_path_factory.mktemp("chromium"))
    yield running
    running.close()


@pytest.fixture
def host(anki):
    """A client with pages, whose server reaches this Anki: cards of two decks, some answered, one hard to learn."""
    add_notes(anki.collection, "Geo", *(f"question {number}" for number in range(9)), HOSTILE)
    add_notes(anki.collection, f"Geo::{HOSTILE}", "deep")
    for card in anki.collection.find_cards("deck:Geo")[:4]:
        one = anki.collection.get_card(card)
        one.start_timer()
        anki.collection.sched.answerCard(one, 3)
    anki.collection.tags.bulk_add([anki.collection.find_notes(f'"{HOSTILE}"')[0]], "leech")
    client = Client(ANKI_CONNECT_URL=os.environ["ANKI_CONNECT_URL"])
    client.request("initialize", **HANDSHAKE | {"capabilities": CAPABLE})
    client.send(method="notifications/initialized")
    host = Host(client)
    yield host
    host.close()
    client.__exit__()


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    folder = npm.install(tmp_path_factory.mktemp("axe"), AXE)
    return (folder / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def see(browser, host, width, **how):
    tab = browser.open(f"{host.url}?{'&'.join(f'{name}={value}' for name, value in how.items())}", width)
    tab.wait("document.readyState === 'complete' && typeof show === 'function'", host=True)
    tab.run("show('anki_stats', {})", host=True)
    tab.wait("document.querySelector('.bars')")
    return tab


LOOKS = {"light": (320, "en-GB", "answers today"), "dark": (720, "ru-RU", "ответов сегодня")}


def test_how_studying_goes_can_be_looked_at(browser, host, axe, tmp_path):
    for theme in LOOKS:
        look(browser, host, axe, tmp_path, theme)


def look(browser, host, axe, tmp_path, theme):
    width, locale, words = LOOKS[theme]
    tab = see(browser, host, width, theme=theme, locale=locale)
    text = tab.text()
    assert words in text.lower()
    assert HOSTILE in text
    assert tab.run("document.querySelectorAll('.bars i').length") == 30
    assert tab.run("document.querySelectorAll('img, main script').length") == 0
    assert tab.run("document.documentElement.scrollWidth") <= width
    tab.run(f"(() => {{ {axe} }})()")
    tab.run("axe.run(document).then(found => { window.found = found.violations })")
    assert tab.run("found.map(one => [one.id, one.nodes.map(node => node.html)])") == []
    tab.picture(tmp_path / f"stats-{theme}-{width}.png")
    assert tab.run("seen.includes('run')", host=True) is False
    assert [url for url in tab.requests if not url.startswith(host.url)] == []
    tab.run("(answer.perDay.fill(0), draw())")
    assert ("No answers in 30 days" if locale == "en-GB" else "За 30 дней ответов нет") in tab.text()
    assert tab.console == []
    tab.close()
