"""Every example request of the requirement gives its example answer, over stdio."""

import json
import re
from pathlib import Path

import pytest

from tests.anki.anki_helpers import add_many, add_note, in_base64, png
from tests.conftest import SHARED
from tests.support.client import Client
from tests.support.services import free_port

pytestmark = pytest.mark.slow

pytest.importorskip("mcp", reason="the server needs the PyPI package `mcp`")

REQUIREMENT = SHARED.parent / "requirements" / "anki_tools.ru.md"
NOTE = 1700000000000
FIELDS = [
    "Расскажи коротко про столицу Франции",
    "Столица Франции — Париж.",
    "Основные факты",
    "https://ru.wikipedia.org/wiki/Париж",
]


def examples():
    """By tool: its example requests, each with its example answer, null if there is none."""
    file = Path(__file__).with_name("requirement_examples.json")
    return json.loads(file.read_text("utf-8"))


def example_of(tool):
    """The only example of a tool: a request and its answer."""
    (example,) = examples()[tool]
    return example


@pytest.fixture(scope="module")
def port():
    return free_port()


@pytest.fixture(scope="module")
def client(port, tmp_path_factory):
    """One session with the real server, which is set to a port that every test puts its own Anki on."""
    home = tmp_path_factory.mktemp("home")
    names = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "MCP_STATE_DIR")
    url = f"http://127.0.0.1:{port}"
    with Client(
        ANKI_CONNECT_URL=url, ANKI_DEFAULT_MODEL="", **dict.fromkeys(names, home)
    ) as client:
        client.initialize()
        yield client


@pytest.fixture
def anki(collection, port):
    from tests.anki.anki_standin import StandIn

    standin = StandIn(collection, port=port)
    yield standin
    standin.close()


@pytest.fixture
def call(client):
    """Calls a tool over stdio; its answer is the first text block, JSON."""

    def run(name, **arguments):
        # Behind it may stand how to put things back.
        block = client.call(name, **arguments)["content"][0]
        return json.loads(block["text"])

    return run


@pytest.fixture
def prepared(anki, call):
    """The default note type as the requirement has it, with its voice, the decks, and the note that the
    examples speak of."""
    _, model = example_of("anki.model_info")
    making = call("anki.model_info")["create_model"]
    making["card_templates"][0]["front"] = model["templates"]["Card 1"]["Front"]
    call("anki.create_model", **making)
    for deck in ("Inbox", "Archive::Temp", "Custom::Deck"):
        anki.collection.decks.id(deck)
    with_id(anki.collection, "Поля для ChatGPT", *FIELDS)
    anki.collection.tags.bulk_add([NOTE], "geo")
    return anki


def with_id(collection, model, *fields):
    """The note that the examples speak of."""
    note = add_note(collection, "Default", model, *fields)
    collection.db.execute("update notes set id = ? where id = ?", NOTE, note)
    collection.db.execute("update cards set nid = ?, id = ? where nid = ?", NOTE, NOTE + 100, note)


@pytest.mark.skipif(
    not REQUIREMENT.is_file(), reason="the requirement is not in a clone (../shared)"
)
def test_the_examples_are_those_of_the_requirement():
    examples_by_tool = {}
    for section in re.split(r"^### ", REQUIREMENT.read_text("utf-8"), flags=re.MULTILINE):
        for text in re.findall(r"```json\n(.*?)```", section, flags=re.DOTALL):
            block = json.loads(text)
            if isinstance(block, dict) and block.get("name", "").startswith("anki."):
                examples_by_tool.setdefault(block["name"], []).append(
                    [block.get("arguments", {}), None]
                )
                tool = block["name"]
            elif section.startswith("`anki."):
                examples_by_tool[tool][-1][1] = block
    assert examples() == examples_by_tool and len(examples_by_tool) == 14


@pytest.mark.parametrize(
    "tools", ["model_info", "delete_notes", "note_info", "delete_decks rename_deck"]
)
def test_an_answer_is_the_example_s(prepared, call, tools):
    for tool in tools.split():
        arguments, example = example_of(f"anki.{tool}")

        assert call(f"anki.{tool}", **arguments) == example


def test_what_answers_in_its_own_shape(prepared, call):
    _, decks = example_of("anki.list_decks")
    assert decks[0] in call("anki.list_decks")
    (alone, _), (in_multi, _) = examples()["anki.invoke"]
    assert "Default" in call("anki.invoke", **alone)
    assert "Default" in call("anki.invoke", **in_multi)[0]
    arguments, example = example_of("anki.create_model")
    assert call("anki.create_model", **arguments).items() >= example.items()


@pytest.mark.parametrize("tool", ["anki.add_from_model", "anki.add_notes"])
def test_notes_are_added(prepared, call, tool):
    arguments, example = example_of(tool)
    prepared.collection.remove_notes([NOTE])

    answer = call(tool, **arguments)

    added = len(arguments.get("items", arguments.get("notes")))
    assert (answer["added"], answer["skipped"]) == (added, 0)
    detail = answer["details"][0]
    expected = example["details"][0]
    assert {**detail, "noteId": expected["noteId"]} == expected


def test_update_notes(prepared, call):
    arguments, example = example_of("anki.update_notes")
    prepared.collection.remove_notes([NOTE])
    with_id(prepared.collection, "Basic", "Вопрос", "Ответ")
    prepared.collection.tags.bulk_add([NOTE], "obsolete")
    picture = "data:image/png;base64," + in_base64(png())
    arguments["notes"][0]["images"][0]["image_base64"] = picture

    answer = call("anki.update_notes", **arguments)

    assert answer["details"][0].pop("images")[0]["field"] == "Back"
    answer["details"][0].pop("warnings", None)  # where Pillow is not installed, it says so
    assert answer == example


@pytest.mark.parametrize("tool", ["anki.get_media", "anki.delete_media"])
def test_media_of_a_flat_folder(prepared, call, tool):
    arguments, example = example_of(tool)
    prepared.collection.media.write_data("hello.mp3", b"ID3")

    assert "flat" in call(tool, **arguments)["error"]
    assert list(call(tool, filename="hello.mp3")) == list(example)


def test_find_notes(prepared, call):
    arguments, example = example_of("anki.find_notes")
    ids = add_many(prepared.collection, "Default", 30)
    prepared.collection.tags.bulk_add(ids, "geo")

    answer = call("anki.find_notes", **arguments)

    assert list(answer) == [*example, "total", "nextOffset"]
    assert answer["noteIds"] == sorted([NOTE, *ids])[20:30]
    assert set(answer["notes"][0]) == set(example["notes"][0])
