"""What a press on a page proves, and who can make one: without a browser."""

import hmac
import multiprocessing
import os
import stat

import pytest

from tests.onepercent.person import call, items, new_goal, preview, rows, use
from tests.support.air import check_cap
from tests.support.client import ENVELOPE, PROJECT, Client
from tests.support.pages import CAPABLE, EXTENSION, MIME, capable
from tools.core.mcp_apps import document
from tools.core.presses import PRESS
from tools.onepercent.page import keys, person_pages

GOAL = new_goal("Python")
# Of a page as it is served.
MOST_BYTES = {"days": 24_000, "study": 24_000}
MOST_BYTES_OF_OTHERS = 20_000
LONGEST_LINE = 140


@pytest.fixture
def client(file):
    """A client that shows pages."""
    with capable() as session:
        yield session


@pytest.mark.slow
@pytest.mark.parametrize(
    "capabilities, setting, pages, presses",
    [
        ({}, "auto", 9, 0),
        ({"elicitation": {}}, "auto", 9, 0),
        ({"extensions": {EXTENSION: {}}}, "auto", 9, 3),
        ({"experimental": {EXTENSION: {"mimeTypes": [MIME]}}}, "auto", 9, 3),
        ({"extensions": {EXTENSION: {"mimeTypes": ["text/plain"]}}}, "auto", 9, 0),
        ({}, "on", 9, 3),
        (CAPABLE, "off", 0, 0),
    ],
)
def test_every_client_hears_of_pages_and_who_announces_them_of_the_buttons(
    file, capabilities, setting, pages, presses
):
    with capable(capabilities, MCP_PAGES=setting) as client:
        tools = client.request("tools/list")["result"]["tools"]
        uis = [tool["_meta"]["ui"] for tool in tools if "_meta" in tool]
        assert len([ui for ui in uis if "resourceUri" in ui]) == pages
        others = [ui for ui in uis if "resourceUri" not in ui]
        assert others == [{"visibility": ["app"]}] * presses
        for answer in (
            client.call("get_user_snapshot"),
            client.call("preview_actions", actions=[GOAL]),
        ):
            assert ("_meta" in answer) is bool(presses)
            assert ("on a page" in str(answer["content"])) is bool(presses)
        pressed = client.call("apply_by_press", press_key="x")["structuredContent"]
        assert (pressed["code"] != "UNKNOWN_TOOL") is bool(presses)


@pytest.mark.slow
def test_a_page_is_read_by_its_address_and_not_listed(client):
    resources = client.request("resources/list")["result"]["resources"]
    assert not [resource for resource in resources if resource["uri"].startswith("ui:")]
    page = client.request("resources/read", uri="ui://onepercent/preview")
    (content,) = page["result"]["contents"]
    assert content["mimeType"] == MIME
    assert content["text"].startswith("<!doctype html>")


@pytest.mark.slow
def test_in_the_2026_era_every_request_says_whether_the_client_shows_pages(file):
    with Client() as client:
        server = client.request("server/discover", _meta=ENVELOPE)["result"]
        assert server["capabilities"]["extensions"][EXTENSION] == {}
        announcing = ENVELOPE | {"io.modelcontextprotocol/clientCapabilities": CAPABLE}
        for meta, shows_pages in ((announcing, True), (ENVELOPE, False)):
            tools = client.request("tools/list", _meta=meta)["result"]["tools"]
            assert ("apply_by_press" in {tool["name"] for tool in tools}) is shows_pages


@pytest.mark.slow
def test_only_the_page_is_handed_the_key(client):
    result = client.call("preview_actions", actions=[GOAL])
    key = result["_meta"][PRESS]
    assert key not in str(result["content"]) + str(result["structuredContent"])
    refused = client.call("preview_actions", actions=[{}])
    assert PRESS not in refused["_meta"]
    assert "on a page" not in str(refused["content"])


def offered():
    """The id of a preview."""
    return preview(GOAL)["preview_id"]


def press(preview_id, key):
    return call("apply_by_press", preview_id=preview_id, press_key=key)


@pytest.mark.parametrize("content, mode", [(b"", 0o600), (b"x", 0o600), (b"x" * 32, 0o666)])
def test_a_key_file_that_somebody_could_guess_or_read_is_good_for_nothing(content, mode, file):
    preview_id = offered()
    keys.of_preview(preview_id)
    secret = file.with_name(file.name + ".key")
    secret.write_bytes(content)
    secret.chmod(mode)
    forged = hmac.new(content, f"local\npreview {preview_id}".encode(), "sha256").hexdigest()
    answer = press(preview_id, forged)
    assert answer["code"] == "NOT_PRESSED" and str(secret) in answer["error"]
    answer = {"success": True, "preview_id": preview_id}
    assert PRESS not in person_pages.PREVIEW.private(answer)
    secret.unlink()
    assert press(preview_id, keys.of_preview(preview_id))["success"]


@pytest.mark.parametrize("key", ["", "é" * 64, "\ud800"])
def test_without_the_key_nothing_is_applied(key):
    answer = press(offered(), key)
    assert answer["code"] == "NOT_PRESSED"
    assert "apply_actions" in answer["hint"]
    assert items("goals") == []


def test_the_audit_of_a_press_has_no_key():
    preview_id = offered()
    key = keys.of_preview(preview_id)
    assert press(preview_id, key)["success"]
    audit = str(rows("SELECT * FROM audit"))
    assert "apply_by_press" in audit
    assert key not in audit and "press_key" not in audit


def test_a_key_is_good_for_one_preview_or_day_of_one_person(file, clock):
    preview_id = offered()
    key = keys.of_preview(preview_id)
    assert press(offered(), key)["code"] == "NOT_PRESSED"
    use(file, ONEPERCENT_USER="anna")
    assert keys.of_preview(preview_id) != key
    key = keys.of_day()
    clock.set("2026-03-19T12:00:00+00:00")
    assert keys.of_day() != key
    assert len({keys.of_question("x"), keys.of_question("y"), keys.of_preview("x")}) == 3


def test_a_second_press_gets_the_answer_of_the_first():
    preview_id = offered()
    key = keys.of_preview(preview_id)
    assert press(preview_id, key) == press(preview_id, key)
    assert len(items("goals")) == 1


def test_the_secret_is_the_owners_and_survives(file):
    key = keys.of_preview("x")
    secret = file.with_name(file.name + ".key")
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert keys.of_preview("x") == key
    assert [name for name in os.listdir(file.parent) if ".key" in name] == [secret.name]


@pytest.mark.slow
def test_processes_that_start_together_make_one_secret(file):
    with multiprocessing.get_context("fork").Pool(4) as pool:
        assert len(set(pool.map(keys.of_preview, ["x"] * 32))) == 1


def test_a_folder_that_cannot_be_written_costs_the_press_and_not_the_answer(
    file, monkeypatch, caplog
):
    def denied(*_):
        raise PermissionError(13, "denied")

    monkeypatch.setattr(keys.presses, "make_key", denied)
    assert PRESS not in person_pages.PREVIEW.private({"success": True, "preview_id": "x"})
    assert "no key for a page" in caplog.text


def test_the_pages_are_small_and_whole_with_their_policy_in_the_head():
    pages = (PROJECT / "tools").rglob("*.html")
    pages = [page for page in pages if "shared.js" in page.read_text("utf-8")]
    assert len(pages) == 6
    for page in pages:
        text = document(page)
        most = MOST_BYTES.get(page.stem, MOST_BYTES_OF_OTHERS)
        check_cap(page.name, len(text.encode()), most)
        assert "/* " not in text
        head = text.partition("<head>")[2].partition("</head>")[0]
        assert "<meta http-equiv" in head and "<style>" in head and text.count("<head>") == 1
        for word in "innerHTML insertAdjacent document.write eval( fetch( XMLHttp import(".split():
            assert word not in text
        for word in "https:// @import url( animation transition @keyframes".split():
            assert word not in text


def test_no_line_of_a_page_is_longer_than_a_screen():
    for kind in ("html", "css", "js"):
        for file in (PROJECT / "tools").rglob(f"*.{kind}"):
            for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
                assert len(line) <= LONGEST_LINE, f"{file.name}:{number}"
