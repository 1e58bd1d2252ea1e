"""Several users over HTTP at once: nothing of the one reaches the other, and what was acknowledged is there
once. `MIX_HTTP=500` makes that many calls of each."""

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

pytestmark = pytest.mark.slow

CALLS = int(os.environ.get("MIX_HTTP", "60"))


class Person:
    """A user all of whose texts contain the user's name, and the titles that were applied."""

    def __init__(self, server, name, other):
        self.server = server
        self.name = name
        self.other = other
        self.token = server.token(user=name, scope="onepercent", jti=f"token-of-{name}")
        self.chance = random.Random(name)
        self.writes = 0
        self.titles = set()

    def call(self, tool, **arguments):
        self.writes += tool != "get_user_snapshot"
        return self.server.content(tool, token=self.token, **arguments)

    def step(self):
        """One of the things that people do, most of which change something."""
        self.chance.choice([self.look, self.preview, self.create, self.create])()

    def look(self):
        snapshot = self.call("get_user_snapshot")
        assert self.other not in json.dumps(snapshot), snapshot

    def preview(self):
        title = f"{self.name} {uuid.uuid4().hex[:8]}"
        answer = self.call("preview_actions", actions=[act("goal.create", title=title)])
        assert title in json.dumps(answer), answer
        return answer["preview_id"], title

    def create(self):
        preview_id, title = self.preview()
        keys = {"idempotency_key": str(uuid.uuid4()), "user_confirmation": f"yes {self.name}"}
        answer = self.call("apply_actions", preview_id=preview_id, **keys)
        if answer["success"]:
            self.titles.add(title)
        else:  # another thread of the same person was faster with one of these
            assert answer["code"] in ("PREVIEW_STALE", "PREVIEW_CANCELLED"), answer

    def goals(self):
        snapshot = self.call("get_user_snapshot", include=["goals"])
        return Counter(goal["title"] for goal in snapshot["data"]["goals"]["items"])


def test_two_users_at_once_mix_nothing_up():
    with HttpServer(ONEPERCENT_RATE_LIMIT="off", ONEPERCENT_TZ="UTC") as server:
        carl = Person(server, "carl", "dora")
        dora = Person(server, "dora", "carl")
        people = [carl, dora]
        with ThreadPoolExecutor(24) as callers:
            list(callers.map(lambda number: people[number % 2].step(), range(CALLS * 2)))
        for person in people:
            assert person.titles, "nothing was written"
            assert person.goals() == Counter(person.titles)
        log = server.log()
        with closing(sqlite3.connect(server.state / "onepercent.sqlite3")) as db:
            db.row_factory = sqlite3.Row
            rows = []
            for table in ("goals", "previews", "audit"):
                rows += map(dict, db.execute(f"SELECT * FROM {table}"))
            [audited] = db.execute("SELECT count(*) FROM audit").fetchone()
        for row in rows:
            other = "dora" if row["user"] == "carl" else "carl"
            assert other not in json.dumps(row), row
        # Of a failed call, while others kept the database busy, there may be a line in its place.
        assert carl.writes + dora.writes == audited + log.count("no audit row")
        for word in ("carl", "dora", carl.token, dora.token):
            assert word not in log
