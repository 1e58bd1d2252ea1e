"""Every example request of the requirement gives its example answer, over stdio."""

import base64
import json
import socket
from pathlib import Path

import pytest

from tests.anki.anki_helpers import add_notes
from tests.anki.anki_images import png
from tests.support.client import Client

pytest.importorskip("mcp", reason="the server needs the PyPI package `mcp`")

EXAMPLES = Path(__file__).with_name("requirement_examples.json")
"""By tool: its example requests, each with its example answer, null if there is none."""
NOTE = 1700000000000
FIELDS = {
    "Prompt": "Расскажи коротко про столицу Франции",
    "Response": "Столица Франции — Париж.",
    "Context": "Основные факты",
    "Sources": "https://ru.wikipedia.org/wiki/Париж",
}


@pytest.fixture
def examples():
    return json.loads(EXAMPLES.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@pytest.fixture(scope="module")
def client(port, tmp_path_factory):
    """One session with the real server, which is set to a port that every test puts its own Anki on."""
    home = tmp_path_factory.mktemp("home")
    folders = {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "MCP_STATE_DIR")}
    with Client(ANKI_CONNECT_URL=f"http://127.0.0.1:{port}", ANKI_DEFAULT_MODEL="", **folders) as one:
        one.initialize()
        yield one


@pytest.fixture
def anki(collection, port):
    from tests.anki.anki_standin import StandIn

    standin = StandIn(collection, port=port)
    yield standin
    standin.close()


@pytest.fixture
def call(client):
    """Calls a tool over stdio; its answer is the one JSON text block, and structuredContent an object in any case."""

    def run(name, **arguments):
        result = client.call(name, **arguments)
        (block,) = result["content"]
        answer = json.loads(block["text"])
        failed = isinstance(answer, dict) and answer.get("success") is False
        assert result.get("structuredContent") == (answer if isinstance(answer, dict) else {"result": answer})
        assert result.get("isError", False) == failed
        return answer

    return run


@pytest.fixture
def prepared(anki, call):
    """The default note type, the decks, and the note that the examples speak of."""
    call("anki.create_model", **call("anki.model_info")["create_model"])
    for deck in ("Inbox", "Archive::Temp", "Custom::Deck"):
        anki.collection.decks.id(deck)
    with_id(anki.collection, NOTE, "Поля для ChatGPT", FIELDS, ["geo"])
    return anki


def with_id(collection, wanted, model, fields, tags):
    note = collection.new_note(collection.models.by_name(model))
    for name, value in fields.items():
        note[name] = value
    note.tags = tags
    collection.add_note(note, 1)
    collection.db.execute("update notes set id = ? where id = ?", wanted, note.id)
    collection.db.execute("update cards set nid = ?, id = ? where nid = ?", wanted, wanted + 100, note.id)


def test_the_requirement_has_examples_of_all_fourteen_tools(examples):
    assert len(examples) == 14


@pytest.mark.parametrize("at", [0, 1])
def test_invoke(prepared, call, examples, at):
    arguments, _ = examples["anki.invoke"][at]

    answer = call("anki.invoke", **arguments)

    assert "Default" in (answer if at == 0 else answer[0])


def test_list_decks(prepared, call, examples):
    ((arguments, example),) = examples["anki.list_decks"]

    answer = call("anki.list_decks", **arguments)

    assert example[0] in answer
    assert all(list(one) == list(example[0]) for one in answer)


def test_rename_deck(prepared, call, examples):
    ((arguments, _),) = examples["anki.rename_deck"]
    prepared.collection.decks.remove([prepared.collection.decks.id("Inbox")])

    assert call("anki.rename_deck", **arguments) is None
    assert prepared.collection.find_notes("deck:Inbox") == [NOTE]


def test_delete_decks(prepared, call, examples):
    ((arguments, _),) = examples["anki.delete_decks"]

    assert call("anki.delete_decks", **arguments) is None
    assert prepared.collection.decks.all_names() == ["Archive", "Custom", "Custom::Deck", "Default"]


def test_model_info(prepared, call, examples):
    ((arguments, example),) = examples["anki.model_info"]

    assert call("anki.model_info", **arguments) == example


def test_create_model(prepared, call, examples):
    ((arguments, example),) = examples["anki.create_model"]

    answer = call("anki.create_model", **arguments)

    assert {name: answer[name] for name in example} == example


def test_add_from_model(prepared, call, examples):
    ((arguments, example),) = examples["anki.add_from_model"]
    prepared.collection.remove_notes([NOTE])

    answer = call("anki.add_from_model", **arguments)

    first, second = answer["details"]
    assert (answer["added"], answer["skipped"]) == (2, 0)
    assert {**first, "noteId": NOTE} == example["details"][0]
    assert "dedup_key" not in second


def test_add_notes(prepared, call, examples):
    ((arguments, example),) = examples["anki.add_notes"]

    answer = call("anki.add_notes", **arguments)

    assert {**answer, "details": [{**answer["details"][0], "noteId": NOTE + 1}]} == example


def test_update_notes(prepared, call, examples):
    ((arguments, example),) = examples["anki.update_notes"]
    prepared.collection.remove_notes([NOTE])
    with_id(prepared.collection, NOTE, "Basic", {"Front": "Вопрос", "Back": "Ответ"}, ["obsolete"])
    picture = "data:image/png;base64," + base64.b64encode(png()).decode()
    arguments["notes"][0]["images"][0]["image_base64"] = picture

    answer = call("anki.update_notes", **arguments)

    assert answer["details"][0].pop("images")[0]["field"] == "Back"
    assert answer == example


def test_delete_notes(prepared, call, examples):
    ((arguments, example),) = examples["anki.delete_notes"]

    assert call("anki.delete_notes", **arguments) == example


@pytest.mark.parametrize("tool", ["anki.get_media", "anki.delete_media"])
def test_media_of_a_flat_folder(prepared, call, examples, tool):
    ((arguments, example),) = examples[tool]
    prepared.collection.media.write_data("hello.mp3", b"ID3")

    assert "flat" in call(tool, **arguments)["error"]
    assert list(call(tool, filename="hello.mp3")) == list(example)


def test_find_notes(prepared, call, examples):
    ((arguments, example),) = examples["anki.find_notes"]
    ids = add_notes(prepared.collection, "Default", *(str(number) for number in range(30)))
    prepared.collection.tags.bulk_add(ids, "geo")

    answer = call("anki.find_notes", **arguments)

    assert list(answer) == [*example, "total"]
    assert answer["noteIds"] == sorted([NOTE, *ids])[20:30]
    assert set(answer["notes"][0]) == set(example["notes"][0])


def test_note_info(prepared, call, examples):
    ((arguments, example),) = examples["anki.note_info"]

    assert call("anki.note_info", **arguments) == example


def test_a_long_batch_reports_its_progress(prepared, client):
    items = [{"Prompt": f"{number}"} for number in range(120)]
    arguments = {"deck": "Inbox", "items": items}

    client.request("tools/call", name="anki.add_from_model", arguments=arguments, _meta={"progressToken": "p"})

    told = [one["params"] for one in client.notifications if one["method"] == "notifications/progress"]
    assert (told[0]["progress"], told[-1]["progress"], told[-1]["total"]) == (30, 120, 120)
