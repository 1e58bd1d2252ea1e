"""Every example request of the requirement gives its example answer, over stdio."""

import base64
import json
import re
from pathlib import Path

import pytest

from tests.anki.anki_helpers import add_notes, png
from tests.conftest import SHARED
from tests.support.client import Client
from tests.support.services import free_port

pytestmark = pytest.mark.slow

pytest.importorskip("mcp", reason="the server needs the PyPI package `mcp`")

# By tool: its example requests, each with its example answer, null if there is none.
EXAMPLES = Path(__file__).with_name("requirement_examples.json")
REQUIREMENT = SHARED.parent / "requirements" / "anki_tools.ru.md"
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
    return free_port()


@pytest.fixture(scope="module")
def client(port, tmp_path_factory):
    """One session with the real server, which is set to a port that every test puts its own Anki on."""
    home = tmp_path_factory.mktemp("home")
    folders = {
        name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "MCP_STATE_DIR")
    }
    with Client(
        ANKI_CONNECT_URL=f"http://127.0.0.1:{port}", ANKI_DEFAULT_MODEL="", **folders
    ) as one:
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
    """Calls a tool over stdio; its answer is the first text block, JSON, and structuredContent an object in
    any case."""

    def run(name, **arguments):
        result = client.call(name, **arguments)
        block = result["content"][0]  # behind it may stand how to put things back
        answer = json.loads(block["text"])
        failed = isinstance(answer, dict) and answer.get("success") is False
        assert result.get("structuredContent") == (
            answer if isinstance(answer, dict) else {"result": answer}
        )
        assert result.get("isError", False) == failed
        return answer

    return run


@pytest.fixture
def prepared(anki, call, examples):
    """The default note type as the requirement has it, with its voice, the decks, and the note that the
    examples speak of."""
    ((_, model),) = examples["anki.model_info"]
    making = call("anki.model_info")["create_model"]
    making["card_templates"][0]["front"] = model["templates"]["Card 1"]["Front"]
    call("anki.create_model", **making)
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
    collection.db.execute(
        "update cards set nid = ?, id = ? where nid = ?", wanted, wanted + 100, note.id
    )


@pytest.mark.skipif(
    not REQUIREMENT.is_file(), reason="the requirement is not in a clone (../shared)"
)
def test_the_examples_are_those_of_the_requirement(examples):
    found = {}
    for section in re.split(r"^### ", REQUIREMENT.read_text(encoding="utf-8"), flags=re.MULTILINE):
        for text in re.findall(r"```json\n(.*?)```", section, flags=re.DOTALL):
            block = json.loads(text)
            if isinstance(block, dict) and block.get("name", "").startswith("anki."):
                found.setdefault(block["name"], []).append([block.get("arguments", {}), None])
                last = block["name"]
            elif section.startswith("`anki."):
                found[last][-1][1] = block
    assert examples == found and len(examples) == 14


@pytest.mark.parametrize("tool", ["anki.model_info", "anki.delete_notes", "anki.note_info"])
def test_an_answer_is_the_example_s(prepared, call, examples, tool):
    ((arguments, example),) = examples[tool]

    assert call(tool, **arguments) == example


def test_what_answers_in_its_own_shape(prepared, call, examples):
    ((_, decks),) = examples["anki.list_decks"]
    assert decks[0] in call("anki.list_decks")
    for at, (arguments, _) in enumerate(examples["anki.invoke"]):
        answer = call("anki.invoke", **arguments)
        assert "Default" in (answer if at == 0 else answer[0])
    ((arguments, example),) = examples["anki.create_model"]
    answer = call("anki.create_model", **arguments)
    assert {name: answer[name] for name in example} == example


def test_decks_are_deleted_and_renamed(prepared, call, examples):
    ((deleting, _),), ((renaming, _),) = examples["anki.delete_decks"], examples["anki.rename_deck"]

    assert call("anki.delete_decks", **deleting) is None
    assert prepared.collection.decks.all_names() == ["Archive", "Custom", "Custom::Deck", "Default"]
    assert call("anki.rename_deck", **renaming) is None
    assert prepared.collection.find_notes("deck:Inbox") == [NOTE]


def test_notes_are_added(prepared, call, examples):
    ((items, of_items),), ((notes, of_notes),) = (
        examples["anki.add_from_model"],
        examples["anki.add_notes"],
    )
    prepared.collection.remove_notes([NOTE])

    answer = call("anki.add_from_model", **items)
    assert (answer["added"], answer["skipped"]) == (2, 0)
    assert {**answer["details"][0], "noteId": NOTE} == of_items["details"][0]
    answer = call("anki.add_notes", **notes)
    assert {**answer, "details": [{**answer["details"][0], "noteId": NOTE + 1}]} == of_notes


def test_update_notes(prepared, call, examples):
    ((arguments, example),) = examples["anki.update_notes"]
    prepared.collection.remove_notes([NOTE])
    with_id(prepared.collection, NOTE, "Basic", {"Front": "Вопрос", "Back": "Ответ"}, ["obsolete"])
    picture = "data:image/png;base64," + base64.b64encode(png()).decode()
    arguments["notes"][0]["images"][0]["image_base64"] = picture

    answer = call("anki.update_notes", **arguments)

    assert answer["details"][0].pop("images")[0]["field"] == "Back"
    answer["details"][0].pop("warnings", None)  # where Pillow is not installed, it says so
    assert answer == example


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

    assert list(answer) == [*example, "total", "nextOffset"]
    assert answer["noteIds"] == sorted([NOTE, *ids])[20:30]
    assert set(answer["notes"][0]) == set(example["notes"][0])
