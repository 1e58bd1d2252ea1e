"""A browser for the whole run; a session of a client with pages, and a host in front of it, for each test."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.onepercent.page import browser as chromium
from tests.onepercent.page.browser import Browser, Tab
from tests.onepercent.page.hosting import CAPABLE, Host
from tests.support.client import HANDSHAKE, Client

if chromium.program() is None:
    # A single test says so, that of the report; each of thirty need not.
    collect_ignore = [
        "test_accessible.py",
        "test_app_bridge.py",
        "test_days_page.py",
        "test_preview_page.py",
        "test_screenshots.py",
    ]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Headless Chromium; the tests of the pages skip if it is not installed."""
    if chromium.program() is None:
        pytest.skip("Chromium is not installed (apt-get install chromium); no page is looked at")
    running = Browser(tmp_path_factory.mktemp("chromium"))
    yield running
    running.close()


class Person:
    """Whoever sits in front of the client: sees a page, presses, and may look into the database."""

    def __init__(self, browser: Browser, client: Client, file: Path, host: Host):
        self.browser, self.client, self.file, self.host = browser, client, file, host
        self.tabs: list[Tab] = []

    def ask(self, name: str, **arguments: Any) -> dict[str, Any]:
        """A tool's answer, as the model gets it."""
        return self.client.call(name, **arguments)["structuredContent"]

    def see(self, tool: str, width: int = 720, **how: str) -> Tab:
        """A tab in which the model's call of `tool` (its arguments: `how["arguments"]`) shows its page."""
        arguments = json.dumps(how.pop("arguments", {}))
        tab = self.browser.open(f"{self.host.url}?{urlencode(how)}", width)
        self.tabs.append(tab)
        tab.wait("document.readyState === 'complete' && typeof show === 'function'", host=True)
        tab.run(f"show({json.dumps(tool)}, {arguments})", host=True)
        tab.wait("document.querySelector('h1').textContent && !/Loading|Загрузка/.test(document.body.innerText)")
        return tab

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """What the database says."""
        with closing(sqlite3.connect(self.file)) as db:
            return db.execute(statement).fetchall()


@pytest.fixture(scope="session")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Path, Host]]:
    """A server with settings of its own that the tests share, each with a new database."""
    folder = tmp_path_factory.mktemp("standing")
    file = folder / "life.sqlite3"
    settings = {"ONEPERCENT_DB": file, "MCP_STATE_DIR": folder, "HOME": folder, "ONEPERCENT_RATE_LIMIT": "off"}
    client = started({name: str(value) for name, value in settings.items()})
    host = Host(client)
    yield client, file, host
    host.close()
    client.__exit__()


def started(settings: dict[str, str], capabilities: dict[str, Any] = CAPABLE) -> Client:
    """A session of a client that shows pages, and says so unless its `capabilities` are others."""
    client = Client(**settings)
    client.request("initialize", **HANDSHAKE | {"capabilities": capabilities})
    client.send(method="notifications/initialized")
    return client


@pytest.fixture
def sit(browser: Browser, file: Path, standing: tuple[Client, Path, Host]) -> Iterator[Callable[..., Person]]:
    """Sit down at a client with pages, whose server has these settings. What a page says to the console, and any
    request that leaves it, fails the test."""
    people: list[Person] = []
    own: list[Person] = []

    def start(script: str = "", silent: bool = False, **settings: str) -> Person:
        if script or settings or silent:
            client = started(settings, {} if silent else CAPABLE)
            person = Person(browser, client, file, Host(client, script))
            own.append(person)
        else:
            client, shared, host = standing
            person = Person(browser, client, shared, host)
        people.append(person)
        return person

    for old in standing[1].parent.glob("life.sqlite3*"):
        old.unlink()
    standing[2].private = True
    yield start
    tabs = []
    for person in people:
        for tab in person.tabs:
            tabs.append((tab.console, [url for url in tab.requests if not url.startswith(person.host.url)]))
            tab.close()
    for person in own:
        person.host.close()
        person.client.__exit__()
    assert tabs == [([], [])] * len(tabs)
