"""anki.invoke: what other tools do with consent, and what reaches files of Anki's host, is refused at any
depth."""

import json

import pytest

from tests.anki.anki_helpers import add_many, call, in_base64, png
from tests.support.client import cases
from tools.__main__ import main
from tools.anki.client import READING


def invoke(action, params=None, **more):
    return call("anki.invoke", action=action, params=params or {}, **more)


@pytest.fixture
def read_only(anki, env):
    env(MCP_READ_ONLY="1")
    return anki


def at_any_depth(action, params):
    """The answers to an action by itself, in a multi, and in a multi in a multi."""
    sent = {"action": action, "params": params}
    for _ in range(3):
        yield call("anki.invoke", **sent)
        sent = {"action": "multi", "params": {"actions": [sent]}}


# AnkiConnect follows redirects: a public page leads into the network of Anki's host.
REFUSED = r"""
deleteNotes | {"notes": [1]} | anki_delete_notes
deleteDecks | {} | anki_delete_decks
updateNoteFields | {"note": {"id": 1, "fields": {}}} | anki_update_notes
replaceTagsInAllNotes | {} | anki_change_cards
setDueDate | {} | anki_change_cards
setSpecificValueOfCard | {"card": 1, "keys": ["due"]} | Cards, Reposition
exportPackage | {"deck": "Default", "path": "x.apkg"} | File, Export
importPackage | {"path": "x.apkg"} | File, Import
guiImportFile | {} | File, Import
removeEmptyNotes | {} | Anki itself
modelFieldRemove | {"modelName": "Basic", "fieldName": "Back"} | Manage Note Types, Fields
modelFieldAdd | {"modelName": "Basic", "fieldName": "Back"} | after syncing every device
modelFieldReposition | {"modelName": "Basic", "fieldName": "Back"} | after syncing
modelTemplateAdd | {"modelName": "Basic", "template": {}} | Manage Note Types, Cards
modelTemplateReposition | {"templateName": "Card 1"} | after syncing
insertReviews | {"reviews": []} | Anki itself
updateNoteModel | {"note": {"id": 1, "modelName": "Cloze"}} | Change Note Type
loadProfile | {"name": "Two"} | Anki itself
guiExitAnki | {} | Anki itself
storeMediaFile | {"filename": "n.txt", "path": "/etc/hostname"} | anki_store_media
storeMediaFile | {"filename": "n.txt", "url": "http://93.184.215.14/pic.png"} | anki_store_media
addNote | {"note": {"fields": {"Front": "q"}, "picture": {"path": "/etc/x"}}} | anki_store_media
addNote | {"note": {"fields": {}, "audio": [{"url": "http://93.184.215.14/pic.png"}]}} | anki_store_media
addNote | {"note": {"fields": {"Front": {"path": "/etc/x"}}}} | anki_store_media
getMediaFilesNames | {"pattern": "/etc/host*"} | *.mp3
getMediaFilesNames | {"pattern": "a/../../*"} | *.mp3
getMediaFilesNames | {"pattern": "..\\*"} | *.mp3
"""


@pytest.mark.parametrize("action, params, hint", cases(REFUSED))
@pytest.mark.parametrize("confirm", ["off", "elicit"])
def test_what_others_do_or_reaches_anki_s_host_is_refused_unsent(
    anki, env, action, params, hint, confirm
):
    env(ANKI_CONFIRM=confirm)
    for answer in at_any_depth(action, json.loads(params)):
        assert answer["code"] == "ANKI_INVOKE"
        assert hint in answer["hint"] and "ANKI_INVOKE=all" in answer["hint"]
    assert anki.requests == []


@pytest.mark.parametrize("name", ["", " ", ".", "..", "folder/", "a\\", "../.."])
@pytest.mark.parametrize("action", ["deleteMediaFile", "retrieveMediaFile"])
def test_no_file_name_is_sent_that_would_take_the_media_folder_along(anki, env, action, name):
    env(ANKI_INVOKE="all")
    for answer in at_any_depth(action, {"filename": name}):
        assert answer["code"] == "INVALID_FILENAME"
    assert anki.requests == []


def test_the_owner_can_allow_everything(anki, env, tmp_path):
    env(ANKI_INVOKE="all")
    file = tmp_path / "n.txt"
    file.write_text("mine")
    params = {"filename": "n.txt", "path": str(file)}

    assert invoke("storeMediaFile", params) == "n.txt"


def test_what_harms_nothing_is_sent_as_it_is(anki):
    """Media as data, fields that are called as parameters of media are, any version."""
    model = {"modelName": "Files", "inOrderFields": ["path", "url"]}
    template = {"name": "c", "front": "{{path}}", "back": "{{url}}"}
    call("anki.create_model", **model, cardTemplates=[template])
    fields = {"path": "/etc", "url": "http://127.0.0.1"}
    params = {"note": {"deckName": "Default", "modelName": "Files", "fields": fields}}
    media = {"filename": "b.png", "data": "eA=="}

    assert invoke("addNote", params)
    assert invoke("storeMediaFile", media) == "b.png"
    assert invoke(" version ", version=5) == 6
    assert anki.requests[-1] == {"action": "version", "version": 5, "params": {}}


UNSUPPORTED = """
createFilteredDeck | Create Filtered Deck
buryCards | Toggle Bury
undo | guiUndo
changeNoteModel | Basic (and reversed card)
optimizeFsrsParameters | FSRS, Optimize
createBackup | Create Backup
repositionCards | Reposition
saveDeckConfig | Daily Limits
"""


@pytest.mark.parametrize("action, way", cases(UNSUPPORTED))
def test_what_ankiconnect_cannot_do_names_the_way_in_anki(anki, action, way):
    answer = invoke(action)
    assert answer["error"] == "RuntimeError: unsupported action"
    assert way in answer["hint"] and "update the add-on" not in answer["hint"]


FAILED_SYNCS = """
sync: auth not configured | logs in once in Anki
Sync status 2 not one of [0, 1] - see https://github.com/ | which side has the newest reviews
'NoneType' object has no attribute 'all' | as during a full sync
"""


@pytest.mark.parametrize("text, hint", cases(FAILED_SYNCS))
def test_an_error_of_sync_says_what_the_person_can_do(anki, text, hint):
    def fail():
        raise Exception(text)

    anki.addon.sync = fail

    assert hint in invoke("sync")["hint"]


def test_read_only_sends_what_reads_in_one_request(read_only):
    reading = [{"action": "multi", "params": {"actions": [{"action": "deckNames"}]}}]

    assert invoke("deckNames") == ["Default"]
    assert invoke("multi", {"actions": reading}) == [[["Default"]]]
    assert len(read_only.requests) == 2


# Asked whether a note with a file can be added, the add-on stores it.
NOT_READING = """
createDeck | {"deck": "New"} | MCP_READ_ONLY
deleteNotes | {} | MCP_READ_ONLY
sync | {} | MCP_READ_ONLY
guiBrowse | {} | MCP_READ_ONLY
DECKNAMES | {} | MCP_READ_ONLY
no | {} | MCP_READ_ONLY
canAddNotes | {"notes": [{"audio": [{"path": "/etc/hostname"}]}]} | MCP_READ_ONLY
canAddNotesWithErrorDetail | {"notes": [{"audio": [{"path": "/etc/hosts"}]}]} | MCP_READ_ONLY
multi | {"actions": ["createDeck"]} | MCP_READ_ONLY
multi | {"actions": [{"action": ["deckNames"]}]} | MCP_READ_ONLY
multi | {"actions": null} | MCP_READ_ONLY
getDeckStats | {"decks": ["Default", "Typo"]} | makes a deck
cardReviews | {"deck": ["Typo"], "startID": 0} | makes a deck
getLatestReviewID | {"deck": "default"} | makes a deck
"""


@pytest.mark.parametrize("action, params, hint", cases(NOT_READING))
def test_read_only_refuses_any_other_action_before_it_is_sent(read_only, action, params, hint):
    for answer in at_any_depth(action, json.loads(params)):
        assert answer["code"] == "READ_ONLY" and hint in answer["hint"]
    assert read_only.requests == []


def test_no_action_that_sounds_like_writing_is_called_reading():
    writing = "add change clear create delete import remove rename set store sync update".split()
    assert not [name for name in READING if name.startswith(tuple(writing))]


def test_a_person_at_the_shell_may_call_what_a_client_may_not(anki, collection, capsys):
    (note, *_) = add_many(collection, "Geo", 60)
    collection.media.write_data("a.png", png())
    update = {"note": {"id": note, "fields": {"Back": "new"}}}

    def output(tool, **arguments):
        assert main(["call", tool, json.dumps(arguments)]) == 0
        return capsys.readouterr().out

    assert output("anki_find_notes", query="deck:Geo").count('noteId"') == 60
    assert output("anki_find_notes", query="deck:Geo", limit=5).count('noteId"') == 5
    output("anki_invoke", action="updateNoteFields", params=update)
    assert collection.get_note(note)["Back"] == "new"
    assert in_base64(png()) in output("anki_get_media", filename="a.png")
