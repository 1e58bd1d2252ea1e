"""anki.invoke in read-only mode: what reads is let through, what writes is not."""

import pytest

from tools.anki.invoke_reading import READING


@pytest.fixture
def read_only(anki, env):
    env(MCP_READ_ONLY="1")
    return anki


def test_a_reading_action_is_let_through(read_only, call):
    assert call("anki.invoke", action="deckNames") == ["Default"]


@pytest.mark.parametrize(
    "action", ["createDeck", "deleteNotes", "sync", "exportPackage", "guiBrowse", "DECKNAMES", "no"]
)
def test_any_other_action_is_refused_before_it_is_sent(read_only, call, action):
    answer = call("anki.invoke", action=action, params={"deck": "New"})
    assert answer["code"] == "READ_ONLY"
    assert call("anki.invoke", action="deckNames") == ["Default"]


@pytest.mark.parametrize(
    "entries",
    [
        [{"action": "deckNames"}, {"action": "createDeck", "params": {"deck": "New"}}],
        [{"action": "multi", "params": {"actions": [{"action": "createDeck", "params": {"deck": "New"}}]}}],
        ["createDeck"],
        [{}],
        None,
    ],
)
def test_a_multi_is_let_through_when_every_entry_reads(read_only, call, entries):
    assert call("anki.invoke", action="multi", params={"actions": entries})["code"] == "READ_ONLY"
    reading = [{"action": "multi", "params": {"actions": [{"action": "deckNames"}]}}]
    assert call("anki.invoke", action="multi", params={"actions": reading})
    assert call("anki.invoke", action="deckNames") == ["Default"]


def test_without_read_only_it_writes(anki, call):
    call("anki.invoke", action="createDeck", params={"deck": "New"})
    assert "New" in call("anki.list_decks")[1]["name"]


def test_no_action_that_sounds_like_writing_is_called_reading():
    writing = (
        "add",
        "change",
        "clear",
        "create",
        "delete",
        "import",
        "remove",
        "rename",
        "set",
        "store",
        "sync",
        "update",
    )
    assert not [name for name in READING if name.startswith(writing)]
