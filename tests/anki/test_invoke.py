"""anki.invoke: what other tools do with consent, and what reaches files of Anki's host, is refused at any
depth."""

import base64

import pytest

from tests.anki.anki_helpers import add_many, add_notes, call, png
from tools.__main__ import main
from tools.anki.client import READING
from tools.core import calls

NOTE = {"deckName": "Default", "modelName": "Basic", "fields": {"Front": "q"}}
# AnkiConnect follows redirects: a public page leads into the network of Anki's host.
PUBLIC = "http://93.184.215.14/pic.png"


@pytest.fixture
def read_only(anki, env):
    env(MCP_READ_ONLY="1")
    return anki


def at_any_depth(action, params):
    """The arguments that send an action by itself, in a multi, and in a multi in a multi."""
    sent = {"action": action, "params": params}
    for _ in range(3):
        yield sent
        sent = {"action": "multi", "params": {"actions": [sent]}}


FIELD = {"modelName": "Basic", "fieldName": "Back"}


@pytest.mark.parametrize(
    ("action", "params", "hint"),
    [
        ("deleteNotes", {"notes": [1]}, "anki_delete_notes"),
        ("deleteDecks", {}, "anki_delete_decks"),
        ("updateNoteFields", {"note": {"id": 1, "fields": {}}}, "anki_update_notes"),
        ("replaceTagsInAllNotes", {}, "anki_change_cards"),
        ("setDueDate", {}, "anki_change_cards"),
        ("setSpecificValueOfCard", {"card": 1, "keys": ["due"]}, "Cards, Reposition"),
        ("exportPackage", {"deck": "Default", "path": "x.apkg"}, "File, Export"),
        ("importPackage", {"path": "x.apkg"}, "File, Import"),
        ("guiImportFile", {}, "File, Import"),
        ("removeEmptyNotes", {}, "Anki itself"),
        ("modelFieldRemove", FIELD, "Manage Note Types, Fields"),
        ("modelFieldAdd", FIELD, "after syncing every device"),
        ("modelFieldReposition", FIELD, "after syncing"),
        ("modelTemplateAdd", {"modelName": "Basic", "template": {}}, "Manage Note Types, Cards"),
        ("modelTemplateReposition", {"templateName": "Card 1"}, "after syncing"),
        ("insertReviews", {"reviews": []}, "Anki itself"),
        ("updateNoteModel", {"note": {"id": 1, "modelName": "Cloze"}}, "Change Note Type"),
        ("loadProfile", {"name": "Two"}, "Anki itself"),
        ("guiExitAnki", {}, "Anki itself"),
        ("storeMediaFile", {"filename": "n.txt", "path": "/etc/hostname"}, "anki_store_media"),
        ("storeMediaFile", {"filename": "n.txt", "url": PUBLIC}, "anki_store_media"),
        ("addNote", {"note": {**NOTE, "picture": {"path": "/etc/x"}}}, "anki_store_media"),
        ("addNote", {"note": {**NOTE, "audio": [{"url": PUBLIC}]}}, "anki_store_media"),
        ("getMediaFilesNames", {"pattern": "/etc/host*"}, "*.mp3"),
        ("getMediaFilesNames", {"pattern": "a/../../*"}, "*.mp3"),
        ("getMediaFilesNames", {"pattern": "..\\*"}, "*.mp3"),
    ],
)
@pytest.mark.parametrize("confirm", ["off", "elicit"])
def test_what_others_do_or_reaches_anki_s_host_is_refused_unsent(
    anki, env, action, params, hint, confirm
):
    env(ANKI_CONFIRM=confirm)
    for sent in at_any_depth(action, params):
        answer = call("anki.invoke", **sent)
        assert answer["code"] == "ANKI_INVOKE"
        assert hint in answer["hint"] and "ANKI_INVOKE=all" in answer["hint"]
    assert anki.requests == []


@pytest.mark.parametrize("name", ["", " ", ".", "..", "folder/", "a\\", "../.."])
@pytest.mark.parametrize("action", ["deleteMediaFile", "retrieveMediaFile"])
def test_no_file_name_is_sent_that_would_take_the_media_folder_along(anki, env, action, name):
    env(ANKI_INVOKE="all")
    for sent in at_any_depth(action, {"filename": name}):
        assert call("anki.invoke", **sent)["code"] == "INVALID_FILENAME"
    assert anki.requests == []


def test_the_owner_can_allow_everything(anki, env, tmp_path):
    env(ANKI_INVOKE="all")
    file = tmp_path / "n.txt"
    file.write_text("mine")
    params = {"filename": "n.txt", "path": str(file)}

    assert call("anki.invoke", action="storeMediaFile", params=params) == "n.txt"


def test_what_harms_nothing_is_sent_as_it_is(anki):
    """Media as data, fields that are called as parameters of media are, any version."""
    model = {"modelName": "Files", "inOrderFields": ["path", "url"]}
    template = {"name": "c", "front": "{{path}}", "back": "{{url}}"}
    call("anki.create_model", **model, cardTemplates=[template])
    fields = {"path": "/etc", "url": "http://127.0.0.1"}
    params = {"note": {**NOTE, "modelName": "Files", "fields": fields}}
    media = {"filename": "b.png", "data": "eA=="}

    assert call("anki.invoke", action="addNote", params=params)
    assert call("anki.invoke", action="storeMediaFile", params=media) == "b.png"
    assert call("anki.invoke", action=" version ", version=5) == 6
    assert anki.requests[-1] == {"action": "version", "version": 5, "params": {}}


@pytest.mark.parametrize(
    ("action", "way"),
    [
        ("createFilteredDeck", "Create Filtered Deck"),
        ("buryCards", "Toggle Bury"),
        ("undo", "guiUndo"),
        ("changeNoteModel", "Basic (and reversed card)"),
        ("optimizeFsrsParameters", "FSRS, Optimize"),
        ("createBackup", "Create Backup"),
        ("repositionCards", "Reposition"),
    ],
)
def test_what_ankiconnect_cannot_do_names_the_way_in_anki(anki, action, way):
    answer = call("anki.invoke", action=action)
    assert answer["error"] == "RuntimeError: unsupported action"
    assert way in answer["hint"] and "update the add-on" not in answer["hint"]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("sync: auth not configured", "logs in once in Anki"),
        (
            "Sync status 2 not one of [0, 1] - see https://github.com/",
            "which side has the newest reviews",
        ),
        ("'NoneType' object has no attribute 'all'", "as during a full sync"),
    ],
)
def test_an_error_of_sync_says_what_the_person_can_do(anki, text, hint):
    def fail():
        raise Exception(text)

    anki.addon.sync = fail

    assert hint in call("anki.invoke", action="sync")["hint"]


def test_new_cards_a_day_are_set_in_anki(anki):
    params = {"config": {"new": {"perDay": 10}}}
    assert "Daily Limits" in call("anki.invoke", action="saveDeckConfig", params=params)["hint"]


def test_read_only_sends_what_reads_in_one_request(read_only):
    reading = [{"action": "multi", "params": {"actions": [{"action": "deckNames"}]}}]

    assert call("anki.invoke", action="deckNames") == ["Default"]
    assert call("anki.invoke", action="multi", params={"actions": reading}) == [[["Default"]]]
    assert len(read_only.requests) == 2


# Asked whether it can be added, the add-on stores it.
WITH_A_FILE = {"notes": [{**NOTE, "audio": [{"path": "/etc/hostname", "filename": "s.txt"}]}]}


@pytest.mark.parametrize(
    ("action", "params"),
    [
        ("createDeck", {"deck": "New"}),
        ("deleteNotes", {}),
        ("sync", {}),
        ("guiBrowse", {}),
        ("DECKNAMES", {}),
        ("no", {}),
        ("canAddNotes", WITH_A_FILE),
        ("canAddNotesWithErrorDetail", WITH_A_FILE),
        ("multi", {"actions": ["createDeck"]}),
        ("multi", {"actions": [{"action": ["deckNames"]}]}),
        ("multi", {"actions": None}),
    ],
)
def test_read_only_refuses_any_other_action_before_it_is_sent(read_only, action, params):
    for sent in at_any_depth(action, params):
        assert call("anki.invoke", **sent)["code"] == "READ_ONLY"
    assert read_only.requests == []


def test_no_action_that_sounds_like_writing_is_called_reading():
    writing = "add change clear create delete import remove rename set store sync update".split()
    assert not [name for name in READING if name.startswith(tuple(writing))]


@pytest.mark.parametrize(
    ("action", "params"),
    [
        ("getDeckStats", {"decks": ["Default", "Typo"]}),
        ("cardReviews", {"deck": ["Typo"], "startID": 0}),
        ("getLatestReviewID", {"deck": "default"}),
    ],
)
def test_a_reading_action_makes_no_deck(read_only, action, params):
    for sent in at_any_depth(action, params):
        assert "anki_due" in call("anki.invoke", **sent)["hint"]
    assert read_only.requests == []
    assert read_only.collection.decks.all_names() == ["Default"]


def test_a_person_at_the_shell_may_call_what_a_client_may_not(anki, collection):
    note = {"id": add_notes(collection, "Geo", "a")[0], "fields": {"Back": "new"}}
    wanted = {"action": "updateNoteFields", "params": {"note": note}}

    assert call("anki.invoke", **wanted)["code"] == "ANKI_INVOKE"
    with calls.calling(lambda *_: None, lambda: False, by_person=True):
        assert call("anki.invoke", **wanted) is None
    assert collection.get_note(note["id"])["Back"] == "new"


def test_a_person_at_the_shell_finds_all_notes(anki):
    add_many(anki.collection, "Geo", 60)

    with calls.calling(lambda *_: None, lambda: False, by_person=True):
        answer = call("anki.find_notes", query="deck:Geo")
        few = call("anki.find_notes", query="deck:Geo", limit=5)

    assert len(answer["noteIds"]) == len(answer["notes"]) == 60 and "nextOffset" not in answer
    assert len(few["noteIds"]) == 5


def test_the_shell_is_a_person(anki, collection, capsys):
    add_many(collection, "Geo", 60, "word")
    collection.media.write_data("a.png", png())

    assert main(["call", "anki_find_notes", '{"query": "deck:Geo", "brief": true}']) == 0
    assert capsys.readouterr().out.count("word ") == 60
    assert main(["call", "anki_invoke", '{"action": "getTags"}']) == 0
    assert main(["call", "anki_get_media", '{"filename": "a.png"}']) == 0
    assert base64.b64encode(png()).decode() in capsys.readouterr().out
