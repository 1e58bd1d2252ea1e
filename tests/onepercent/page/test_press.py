"""What a press on a page proves, and who can make one: without a browser."""

import multiprocessing
import os
import stat
import uuid

import pytest

from tests.onepercent import person
from tests.onepercent.page.hosting import CAPABLE, EXTENSION, MIME
from tests.support.client import ENVELOPE, HANDSHAKE, Client
from tools.core.documents import document
from tools.onepercent.page import keys, pages

GOAL = {"action": "goal.create", "client_action_id": str(uuid.uuid4()), "params": {"title": "Python"}}
MOST_BYTES = 24_000


@pytest.fixture
def client(file):
    """A client that shows pages."""
    with Client() as one:
        one.request("initialize", **HANDSHAKE | {"capabilities": CAPABLE})
        one.send(method="notifications/initialized")
        yield one


@pytest.fixture
def plain(file):
    """A client without pages."""
    with Client() as one:
        one.initialize()
        yield one


def listed(client):
    return {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}


def test_a_client_with_pages_hears_of_them(client):
    tools = listed(client)
    assert tools["preview_actions"]["_meta"] == {"ui": {"resourceUri": "ui://onepercent/preview"}}
    assert tools["apply_by_press"]["_meta"]["ui"]["visibility"] == ["app"]
    resources = client.request("resources/list")["result"]["resources"]
    assert not [one for one in resources if one["uri"].startswith("ui:")]
    (content,) = client.request("resources/read", uri="ui://onepercent/preview")["result"]["contents"]
    assert content["mimeType"] == MIME
    assert content["text"].startswith("<!doctype html>")


def test_a_client_without_pages_gets_no_byte_of_them(plain):
    tools = listed(plain)
    assert not [name for name in tools if "press" in name]
    assert not [tool for tool in tools.values() if "_meta" in tool]
    result = plain.call("preview_actions", actions=[GOAL])
    assert "_meta" not in result
    refused = plain.call("apply_by_press", preview_id=result["structuredContent"]["preview_id"], press_key="x")
    assert refused["structuredContent"]["code"] == "UNKNOWN_TOOL"


def test_in_the_2026_era_every_request_says_whether_the_client_shows_pages(file):
    with Client() as one:
        server = one.request("server/discover", _meta=ENVELOPE)["result"]
        assert server["capabilities"]["extensions"] == {EXTENSION: {}}
        capable = ENVELOPE | {"io.modelcontextprotocol/clientCapabilities": CAPABLE}
        for meta, shown in ((capable, True), (ENVELOPE, False)):
            tools = one.request("tools/list", _meta=meta)["result"]["tools"]
            assert ("apply_by_press" in {tool["name"] for tool in tools}) is shown


def test_only_the_page_is_handed_the_key(client):
    result = client.call("preview_actions", actions=[GOAL])
    key = result["_meta"][pages.PRESS]
    assert key not in str(result["content"]) + str(result["structuredContent"])
    refused = client.call("preview_actions", actions=[{}])
    assert "_meta" not in refused


@pytest.mark.parametrize("key", ["", "x", "é" * 64, "\ud800"])
def test_without_the_key_nothing_is_applied(key):
    preview = person.preview(GOAL)
    answer = person.call("apply_by_press", preview_id=preview["preview_id"], press_key=key)
    assert answer["code"] == "NOT_PRESSED"
    assert "apply_actions" in answer["hint"]
    assert len(person.items("goals")) == 0


def test_a_key_is_good_for_one_preview_of_one_person():
    first, second = person.preview(GOAL), person.preview(GOAL)
    assert keys.of_preview(first["preview_id"]) != keys.of_preview(second["preview_id"])
    answer = person.call(
        "apply_by_press", preview_id=second["preview_id"], press_key=keys.of_preview(first["preview_id"])
    )
    assert answer["code"] == "NOT_PRESSED"
    mine = keys.of_preview(first["preview_id"])
    person.use(keys.store.path(), ONEPERCENT_USER="anna")
    assert keys.of_preview(first["preview_id"]) != mine


def test_a_second_press_gets_the_answer_of_the_first():
    preview = person.preview(GOAL)["preview_id"]
    first, second = (
        person.call("apply_by_press", preview_id=preview, press_key=keys.of_preview(preview)) for _ in "ab"
    )
    assert first == second
    assert len(person.items("goals")) == 1


def test_the_secret_is_the_owners_and_survives(file):
    key = keys.of_preview("x")
    secret = file.with_name(file.name + ".key")
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert keys.of_preview("x") == key
    assert [name for name in os.listdir(file.parent) if ".key" in name] == [secret.name]


def test_processes_that_start_together_make_one_secret(file):
    with multiprocessing.get_context("fork").Pool(4) as pool:
        assert len(set(pool.map(keys.of_preview, ["x"] * 32))) == 1


def test_a_folder_that_cannot_be_written_costs_the_press_and_not_the_answer(file, monkeypatch, caplog):
    monkeypatch.setattr(keys, "_secret", lambda file: (_ for _ in ()).throw(PermissionError(13, "denied")))
    assert pages.PREVIEW.private({"success": True, "preview_id": "x"}) == {}
    assert "no key for a page" in caplog.text


def test_the_pages_are_small_and_whole():
    texts = [document(path) for path in pages.HERE.glob("*.html")]
    assert sum(len(text.encode()) for text in texts) <= MOST_BYTES
    for text in texts:
        assert "/* shared" not in text
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "fetch(",
            "XMLHttp",
            "import(",
        ):
            assert word not in text
        for word in ("http://", "https://", "@import", "url(", "animation", "transition", "@keyframes"):
            assert word not in text
