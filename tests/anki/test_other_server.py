"""The requirement's requests on another server that speaks AnkiConnect: anki-connect-server of PyPI, what a
Pi without a screen runs.

It needs Python 3.12 and a place of its own: put its command on PATH, or name it in ANKI_CONNECT_SERVER.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.anki.anki_helpers import in_base64, png
from tests.klipper import asking
from tests.support.client import cases
from tests.support.services import free_port, is_listening, wait_until

pytestmark = pytest.mark.slow

COMMAND = os.environ.get("ANKI_CONNECT_SERVER") or shutil.which("anki-connect-server")
EXAMPLES = json.loads(Path(__file__).with_name("requirement_examples.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a running anki-connect-server with a new collection."""
    if not COMMAND:
        pytest.skip(
            "anki-connect-server (pip install anki-connect-server httpx, Python 3.12) is not on PATH"
        )
    port = free_port()
    folder = tmp_path_factory.mktemp("collection")
    environ = {**os.environ, "ANKICONNECT_PORT": str(port)}
    environ["ANKICONNECT_COLLECTION_PATH"] = str(folder / "collection.anki2")
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [COMMAND, "api"], env=environ, stdout=output, stderr=output, cwd=folder
        )
    wait_until(lambda: is_listening(port) or process.poll() is not None)
    assert process.poll() is None, log.read_text()
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait()


@pytest.fixture
def call(server, env):
    """A call that never ends in an internal error."""
    env(ANKI_CONNECT_URL=server, ANKI_DEFAULT_MODEL="")

    def run(name, **arguments):
        answer = asking.call(name, **arguments)
        assert not (isinstance(answer, dict) and answer.get("code") == "INTERNAL_ERROR"), answer
        return answer

    return run


def failed(answer):
    return isinstance(answer, dict) and answer.get("success") is False


def failing_examples(call):
    """The tools whose examples in the requirement fail, with error and hint."""
    making = call("anki.model_info")["create_model"]
    assert not failed(call("anki.create_model", **making))
    for deck in ("Inbox", "Archive::Temp", "Custom::Deck"):
        assert call("anki.invoke", action="createDeck", params={"deck": deck})
    item = {"Prompt": "q", "Response": "a", "tags": ["geo"]}
    (first,) = call("anki.add_from_model", items=[item])["details"]
    wrong = {}
    # To the name of a deck that another deletes.
    for tool in sorted(EXAMPLES, key="anki.rename_deck".__eq__):
        for example, _ in EXAMPLES[tool]:
            text = json.dumps(example).replace("1700000000000", str(first["noteId"]))
            arguments = json.loads(text)
            for note in arguments.get("notes", []):
                for image in note.get("images", []):
                    image["image_base64"] = in_base64(png())
            answer = call(tool, **arguments)
            if failed(answer):
                wrong[tool] = (answer["error"], answer["hint"])
    return wrong


def test_every_example_of_the_requirement_is_answered_or_says_what_the_server_lacks(call):
    wrong = failing_examples(call)
    assert all(hint for _, hint in wrong.values())
    # `audio/hello.mp3`: Anki's media folder is flat, as everywhere.
    assert set(wrong) <= {"anki.get_media", "anki.delete_media"}, wrong


def test_notes_are_found_changed_deleted_and_put_back(call):
    rows = [["cat", "кот"], ["dog", "пёс"]]
    arguments = {"deck": "Geo", "model": "Basic", "fieldNames": ["Front", "Back"]}
    assert call("anki.add_from_model", **arguments, rows=rows)["added"] == 2
    matches = call("anki.find_notes", query="deck:Geo")
    one, two = matches["noteIds"]
    assert matches["notes"][0]["deckName"] == "Geo" and len(matches["notes"][0]["cards"]) == 1
    update = {"noteId": one, "fields": {"Back": "кошка"}, "addTags": ["x"]}

    updated = call("anki.update_notes", notes=[update])
    deleted = call("anki.delete_notes", noteIds=[two])
    entries = call("anki.restore")["entries"]
    restored = call("anki.restore", entry=entries[0][0])

    assert updated["updated"] == deleted["deleted"] == restored["addedAgain"] == 1
    (note,) = call("anki.find_notes", query="deck:Geo tag:x")["notes"]
    assert note["fields"]["Back"] == "кошка"
    assert call("anki.find_notes", query="deck:Geo", duplicates="Front")["groups"] == []


def test_media_are_stored_read_and_deleted(call):
    name = call("anki.store_media", filename="a.mp3", data="SUQz")["filename"]

    assert call("anki.get_media", filename=name)["dataBase64"] == "SUQz"
    assert call("anki.delete_media", filename=name)["deleted"] is True


STUDYING = """
anki.due | {}
anki.due | {"current": true}
anki.stats | {}
anki.stats | {"days": 365}
anki.answer_cards | {"answers": [{"cardId": 1, "ease": "good"}]}
anki.answer_cards | {"undo": true}
anki.change_cards | {"query": "deck:*", "flag": 1}
anki.change_cards | {"query": "deck:*", "suspend": true, "dryRun": false}
anki.invoke | {"action": "guiBrowse"}
anki.list_decks | {}
"""


@pytest.mark.parametrize("tool, arguments", cases(STUDYING))
def test_studying_works_or_says_what_the_server_lacks(call, tool, arguments):
    call("anki.add_from_model", deck="Study", model="Basic", items=[{"Front": "f", "Back": "b"}])

    answer = call(tool, **json.loads(arguments))

    assert not failed(answer) or answer["hint"]


def test_a_card_is_answered(call):
    items = [{"Front": "to be answered", "Back": "b"}]
    call("anki.add_from_model", deck="Answers", model="Basic", items=items)
    (card,) = call("anki.due", deck="Answers")["cards"]

    answer = call("anki.answer_cards", answers=[{"cardId": card["cardId"], "ease": "easy"}])

    assert answer["answered"] == 1 and answer["cards"][0]["interval"].endswith("d")
