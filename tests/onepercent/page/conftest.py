"""A session of a client with pages, and a host in front of it, for each test."""

import sqlite3
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.support.browser import Browser, program
from tests.support.client import PYTHON, SUPPORT, Client
from tests.support.pages import CAPABLE, MONDAY, Host, capable, shown

HERE = Path(__file__).parent
# What the host pages of other makers say themselves.
OF_HOSTS = ("/host.js", "can escape its sandboxing")

if program() is None:
    # A single test says so, that of the report; each of thirty need not.
    collect_ignore = [
        f"test_{name}.py"
        for name in "accessible app_bridge days_page preview_page screenshots".split()
    ]


@dataclass
class Person:
    """Whoever sits in front of the client: sees a page, presses, and may look into the database."""

    browser: Browser
    client: Client
    file: Path
    host: Host
    tabs: list = field(default_factory=list)

    def ask(self, name, **arguments):
        """A tool's answer, as the model gets it."""
        return self.client.call(name, **arguments)["structuredContent"]

    def see(self, tool, width=720, arguments=None, **how):
        """A tab in which the model's call of `tool` shows its page."""
        tab = shown(self.browser, self.host.url, tool, arguments or {}, width, **how)
        self.tabs.append(tab)
        tab.wait(
            "document.querySelector('h1').textContent && !/Loading|Загрузка/.test(document.body.innerText)"
        )
        return tab

    def days(self, locale="ru-RU", **how):
        """A tab with the page of the days."""
        return self.see("get_user_snapshot", locale=locale, **how)

    def offer(self, *actions, locale="ru-RU", **how):
        """A tab with the page of a preview of these actions."""
        arguments = {"actions": list(actions)}
        return self.see("preview_actions", arguments=arguments, locale=locale, **how)

    def do(self, *actions):
        """Preview and apply as the model does."""
        preview = self.ask("preview_actions", actions=list(actions))
        self.apply(preview["preview_id"])

    def apply(self, preview_id):
        self.ask("apply_actions", preview_id=preview_id, user_confirmation="да")

    def rows(self, statement):
        """What the database says."""
        with closing(sqlite3.connect(self.file)) as db:
            return db.execute(statement).fetchall()


@pytest.fixture(scope="session")
def standing(browser, tmp_path_factory):
    """Somebody at a server that the tests share, each with a new database."""
    folder = tmp_path_factory.mktemp("standing")
    file = folder / "life.sqlite3"
    settings = {
        "ONEPERCENT_DB": file,
        "MCP_STATE_DIR": folder,
        "HOME": folder,
        "ONEPERCENT_RATE_LIMIT": "off",
    }
    client = capable(**{name: str(value) for name, value in settings.items()})
    with client, closing(Host(client)) as host:
        yield Person(browser, client, file, host)


@pytest.fixture
def sit(browser, file, standing):
    """Sit down at a client with pages, whose server has these settings, and do these actions. What a page says
    to the console, and any request that leaves it, fails the test."""
    people = []
    servers = ExitStack()

    def start(*actions, script="", silent=False, clock=None, **settings):
        if script or settings or silent or clock:
            command = [PYTHON, str(SUPPORT / "serve_at.py"), str(clock)] if clock else None
            client = servers.enter_context(capable({} if silent else CAPABLE, command, **settings))
            host = servers.enter_context(closing(Host(client, script)))
            host.files["/sandbox.html"] = (HERE / "sandbox.html").read_text("utf-8")
            person = Person(browser, client, file, host)
        else:
            person = replace(standing, tabs=[])
        people.append(person)
        if actions:
            person.do(*actions)
        return person

    for database in standing.file.parent.glob("life.sqlite3*"):
        database.unlink()
    standing.host.private = True
    with servers:
        yield start
        wrong = []
        for person in people:
            for tab in person.tabs:
                wrong += [
                    line for line in tab.console if not any(part in line for part in OF_HOSTS)
                ]
                wrong += [url for url in tab.requests if not url.startswith(person.host.url)]
                tab.close()
    assert not wrong


@pytest.fixture
def on(sit, tmp_path):
    """Sit down at a server whose clock is turned by calling `turn` with a date."""
    clock = tmp_path / "clock"

    def turn(day):
        clock.write_text(f"{day}T09:00:00+00:00", "utf-8")

    turn(MONDAY)
    return sit(clock=clock), turn
