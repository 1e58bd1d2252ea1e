"""Two users over HTTP at once: nothing of the one reaches the other. `MIX_HTTP=500` makes that many calls of each."""

import json
import os
import random
import sqlite3
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from tests.onepercent.person import act
from tests.support.http_server import HttpServer
from tools.onepercent.database.limits import PER_MINUTE

CALLS = int(os.environ.get("MIX_HTTP", "60"))
AT_ONCE = 24
NAMES = ("carl", "dora")


@pytest.fixture
def server():
    with HttpServer(ONEPERCENT_RATE_LIMIT="off", ONEPERCENT_TZ="UTC") as running:
        yield running


class Person:
    """A user whose every text holds the own name; counts calls, and keeps what was applied."""

    def __init__(self, server, name, seed):
        self.server, self.name = server, name
        self.token_id = f"token-of-{name}"
        self.token = server.token(user=name, scope="onepercent", jti=self.token_id)
        self.chance = random.Random(seed)
        self.other = None
        self.calls = []
        self.pending, self.titles = [], set()

    def call(self, tool, **arguments):
        self.calls.append(tool)
        return self.server.call(tool, token=self.token, **arguments)["structuredContent"]

    def step(self, number):
        """One of what people do, most of it changes something."""
        self.chance.choice([self.look, self.preview, self.create, self.create, self.steal, self.cancel])(number)

    def look(self, number):
        snapshot = self.call("get_user_snapshot")
        assert self.other.name not in json.dumps(snapshot), snapshot

    def preview(self, number):
        title = f"{self.name} {number} {uuid.uuid4().hex[:8]}"
        answer = self.call("preview_actions", actions=[act("goal.create", title=title)])
        assert answer["success"], answer
        assert title in json.dumps(answer)
        assert self.other.name not in json.dumps(answer)
        self.pending.append(answer["preview_id"])
        return answer["preview_id"], title

    def create(self, number):
        preview_id, title = self.preview(number)
        answer = self.apply(preview_id)
        if answer["success"]:
            self.titles.add(title)
        else:  # another thread of the same person was faster with one of these
            assert answer["code"] in ("PREVIEW_STALE", "PREVIEW_CANCELLED"), answer

    def apply(self, preview_id):
        key = str(uuid.uuid4())
        return self.call(
            "apply_actions", preview_id=preview_id, idempotency_key=key, user_confirmation=f"yes {self.name}"
        )

    def steal(self, number):
        if self.other.pending:
            answer = self.apply(self.chance.choice(self.other.pending))
            assert answer["code"] == "PREVIEW_NOT_FOUND", answer

    def cancel(self, number):
        if self.pending:
            self.call("cancel_preview", preview_id=self.pending.pop(0))


def test_two_users_at_once_mix_nothing_up(server):
    carl, dora = people = [Person(server, name, seed) for seed, name in enumerate(NAMES)]
    carl.other, dora.other = dora, carl
    with ThreadPoolExecutor(AT_ONCE) as callers:
        list(callers.map(lambda number: people[number % 2].step(number), range(CALLS * 2)))
    for person in people:
        assert person.titles, "nothing was written"
        assert goals(person) == person.titles
    with closing(sqlite3.connect(server.state / "onepercent.sqlite3")) as db:
        for table in ("goals", "previews", "audit"):
            check_rows(db, table, people)
        missing = Counter({person.token_id: written(person) for person in people}) - audited(db)
    log = server.log()
    assert missing.total() == log.count("no audit row")  # of a failed call, while others kept the database busy
    assert not [name for name in (*NAMES, *(person.token for person in people)) if name in log], log[-2000:]
    print(
        {person.name: dict(Counter(person.calls)) for person in people},
        {person.name: len(person.titles) for person in people},
    )


def goals(person):
    found = person.call("get_user_snapshot", include=["goals"])["data"].get("goals", {}).get("items", ())
    return {goal["title"] for goal in found}


def check_rows(db, table, people):
    """No row of one user names the other."""
    columns = [column[1] for column in db.execute(f"PRAGMA table_info({table})")]
    for row in db.execute(f"SELECT * FROM {table}"):
        fields = dict(zip(columns, row, strict=True))
        [other] = [person.name for person in people if person.name != fields["user"]]
        stolen = "PREVIEW_NOT_FOUND" in str(fields.get("error"))
        assert other not in json.dumps(fields) or stolen, fields


def audited(db):
    for user, token in db.execute("SELECT DISTINCT user, token FROM audit"):
        assert token == f"token-of-{user}"
    return Counter(dict(db.execute("SELECT token, count(*) FROM audit GROUP BY token")))


def written(person):
    """Calls of writing tools."""
    return sum(tool != "get_user_snapshot" for tool in person.calls)


def test_the_limits_of_one_user_are_not_those_of_another():
    with HttpServer(ONEPERCENT_TZ="UTC") as server:
        most = PER_MINUTE["get_user_snapshot"]

        def look(name):
            token = server.token(user=name, scope="onepercent")
            answers = [server.call("get_user_snapshot", token=token)["structuredContent"] for _ in range(most + 3)]
            return [answer.get("code") for answer in answers]

        with ThreadPoolExecutor(2) as callers:
            assert list(callers.map(look, NAMES)) == 2 * [[None] * most + ["RATE_LIMITED"] * 3]


def test_a_preview_of_one_user_cannot_be_applied_by_another(server):
    anna, ben = Person(server, "anna", 1), Person(server, "ben", 2)
    anna.other, ben.other = ben, anna
    preview_id, title = anna.preview(1)
    assert ben.apply(preview_id)["code"] == "PREVIEW_NOT_FOUND"
    assert title not in goals(ben)
