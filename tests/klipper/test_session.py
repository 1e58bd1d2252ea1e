"""The documentation as a client's session meets it: behind, told, brought up to date, told again."""

from contextlib import suppress
from pathlib import Path

import pytest

from tests.klipper.upstreams import Stalled
from tests.support.client import Client
from tests.support.services import alive, children
from tests.support.web import listening
from tools.klipper.checkout.freshness import STALE_NOTE
from tools.klipper.sync_docs import sync_docs

pytestmark = pytest.mark.slow

LIST_CHANGED = "notifications/tools/list_changed"


def description(client, **meta):
    listed = {
        tool["name"]: tool for tool in client.request("tools/list", **meta)["result"]["tools"]
    }
    return listed["sync_docs"]["description"]


@pytest.fixture
def behind(upstream, docs, env):
    """A checkout one commit behind its upstream, which no session has looked at since."""
    sync_docs()
    upstream.publish("New")
    env(KLIPPER_DOCS_CHECK_INTERVAL=0)
    return upstream


@pytest.fixture
def stalling_http():
    """The address of an upstream that accepts and then says nothing."""
    with listening(Stalled) as url:
        yield f"{url}/klipper.git"


def test_a_session_is_told_that_the_docs_are_behind_and_again_when_they_are_not(behind, docs):
    with Client() as client:
        client.initialize()
        client.call(
            "read_doc", path="Bed_Mesh.md"
        )  # jobs of the start wait for the first request of this kind
        while not description(client).endswith(STALE_NOTE):
            client.notification(LIST_CHANGED)
            client.notifications.clear()

        answer = client.request(
            "tools/call", name="sync_docs", arguments={}, _meta={"progressToken": "p"}
        )["result"]
        while STALE_NOTE in description(client):
            client.notification(LIST_CHANGED)

        assert answer["structuredContent"]["added"] == ["New.md"]
        assert any(one["method"] == "notifications/progress" for one in client.notifications)
        client.end()
    assert "The Klipper docs are behind their upstream" in b"".join(client.errors).decode()


def test_an_upstream_that_does_not_answer_delays_neither_initialize_nor_a_call(
    behind, stalling_http, env
):
    env(KLIPPER_DOCS_URL=stalling_http)
    with Client() as client:
        client.initialize()
        assert client.call("read_doc", path="Bed_Mesh.md")["isError"] is False
        assert client.end() == 0


def is_git(pid):
    with suppress(OSError):  # it has just ended
        return b"git" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]


def test_the_server_leaves_no_git_behind_when_it_is_ended_in_a_sync(behind, stalling_http, env):
    env(KLIPPER_DOCS_URL=stalling_http)
    with Client() as client:
        client.initialize()
        client.begin(9, "sync_docs")
        while not (gits := [pid for pid in children(client.process.pid) if is_git(pid)]):
            client.request("ping")
        client.process.terminate()
        assert client.process.wait(30) == 0
    assert not [pid for pid in gits if alive(pid)]
