"""anki.invoke in read-only mode: what reads is let through, what writes is not."""

import pytest

from tools.anki.action_names import READING


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
        [{"action": ["deckNames"]}],
        [{"action": {}}],
        None,
    ],
)
def test_a_multi_is_let_through_when_every_entry_reads(read_only, call, entries):
    assert call("anki.invoke", action="multi", params={"actions": entries})["code"] == "READ_ONLY"
    reading = [{"action": "multi", "params": {"actions": [{"action": "deckNames"}]}}]
    assert call("anki.invoke", action="multi", params={"actions": reading}) == [[["Default"]]]
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


@pytest.mark.parametrize("media", ["picture", "audio", "video"])
@pytest.mark.parametrize("source", ["path", "url", "data"])
def test_a_reading_action_that_would_store_a_file_is_refused(read_only, call, media, source):
    given = {source: "/etc/hostname", "filename": "s.txt", "fields": []}
    note = {"deckName": "Default", "modelName": "Basic", "fields": {"Front": "q"}, media: given}

    for params in ({"notes": [note]}, {"notes": [{**note, media: [given]}]}, {"note": note}):
        for action in ("canAddNotes", "canAddNote", "canAddNotesWithErrorDetail"):
            assert call("anki.invoke", action=action, params=params)["code"] == "READ_ONLY"
    assert read_only.requests == []
    assert call("anki.get_media", filename="s.txt")["code"] == "MEDIA_NOT_FOUND"


@pytest.mark.parametrize(
    ("action", "params"),
    [
        ("getDeckStats", {"decks": ["Default", "Typo"]}),
        ("getDeckStats", {"decks": "Typo"}),
        ("getDeckStats", {"decks": [["Typo"]]}),
        ("cardReviews", {"deck": "Typo", "startID": 0}),
        ("cardReviews", {"deck": ["Typo"], "startID": 0}),
        ("getLatestReviewID", {"deck": "default"}),
    ],
)
def test_a_reading_action_makes_no_deck(read_only, call, action, params):
    nested = {"actions": [{"action": "multi", "params": {"actions": [{"action": action, "params": params}]}}]}

    assert call("anki.invoke", action=action, params=params)["code"] in ("DECK_NOT_FOUND", "READ_ONLY")
    assert call("anki.invoke", action="multi", params=nested)["code"] in ("DECK_NOT_FOUND", "READ_ONLY")
    assert set(read_only.actions()) <= {"deckNamesAndIds"}
    assert read_only.collection.decks.all_names() == ["Default"]


def test_the_numbers_of_a_known_deck_are_read(read_only, call):
    assert list(call("anki.invoke", action="getDeckStats", params={"decks": ["Default"]})) == ["1"]


def test_a_file_outside_the_media_folder_is_not_read(read_only, call):
    answer = call("anki.invoke", action="retrieveMediaFile", params={"filename": "../collection.anki2"})

    assert answer["code"] == "INVALID_FILENAME"
