"""The documentation as a client's session meets it: behind, told, brought up to date, told again."""

from contextlib import suppress
from pathlib import Path

import pytest

from tests.klipper.upstreams import Stalled
from tests.support.client import Client
from tests.support.services import alive, children
from tests.support.web import listening
from tools.klipper.checkout.freshness import STALE_NOTE

pytestmark = pytest.mark.slow

LIST_CHANGED = "notifications/tools/list_changed"


def description(client):
    """That of sync_docs."""
    tools = client.request("tools/list")["result"]["tools"]
    return next(tool["description"] for tool in tools if tool["name"] == "sync_docs")


@pytest.fixture
def stalled(behind, env):
    """The upstream is one that accepts and then says nothing."""
    with listening(Stalled) as url:
        env(KLIPPER_DOCS_URL=f"{url}/klipper.git")
        yield


def test_a_session_is_told_that_the_docs_are_behind_and_again_when_they_are_not(behind, docs):
    with Client() as client:
        client.initialize()
        client.call(
            "read_doc", path="Bed_Mesh.md"
        )  # jobs of the start wait for the first request of this kind
        while not description(client).endswith(STALE_NOTE):
            client.notification(LIST_CHANGED)
            client.notifications.clear()

        client.begin("sync", "sync_docs", {"progressToken": "p"})
        answer = client.answer("sync")["result"]
        while STALE_NOTE in description(client):
            client.notification(LIST_CHANGED)

        assert answer["structuredContent"]["added"] == ["New.md"]
        client.notification("notifications/progress")
        client.end()
    assert "The Klipper docs are behind their upstream" in client.log()


def test_an_upstream_that_does_not_answer_delays_neither_initialize_nor_a_call(stalled):
    with Client() as client:
        client.initialize()
        assert client.call("read_doc", path="Bed_Mesh.md")["isError"] is False
        assert client.end() == 0


def is_git(pid):
    with suppress(OSError):  # it has just ended
        return b"git" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]


def test_the_server_leaves_no_git_behind_when_it_is_ended_in_a_sync(stalled):
    with Client() as client:
        client.initialize()
        client.begin(9, "sync_docs")
        while not (gits := [pid for pid in children(client.process.pid) if is_git(pid)]):
            client.request("ping")
        client.process.terminate()
        assert client.process.wait(30) == 0
    assert not [pid for pid in gits if alive(pid)]
