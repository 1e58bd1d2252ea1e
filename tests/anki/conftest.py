"""Fixtures: Anki as the server meets it, and calls as clients make them."""

import shutil
from pathlib import Path

import pytest

from tools import registry, settings, validation
from tools.settings import current


@pytest.fixture(scope="session")
def fresh_collection(tmp_path_factory) -> Path:
    """The folder of a new collection, to be copied."""
    collection = pytest.importorskip("anki.collection", reason="the PyPI package `anki` is not installed")
    folder = tmp_path_factory.mktemp("fresh")
    collection.Collection(str(folder / "collection.anki2")).close()
    return folder


@pytest.fixture
def collection_in(fresh_collection):
    """Opens a new collection in a folder."""
    from anki.collection import Collection

    opened = []

    def open_in(folder: Path) -> Collection:
        shutil.copytree(fresh_collection, folder)
        opened.append(Collection(str(folder / "collection.anki2")))
        return opened[-1]

    yield open_in
    for one in opened:
        one.close()


@pytest.fixture
def collection(collection_in, tmp_path):
    return collection_in(tmp_path / "User 1")


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """Sets environment variables for the call; the state directory is the test's own."""

    def put(**values):
        for name, value in values.items():
            monkeypatch.setenv(name, str(value))
        current.cache_clear()

    put(MCP_STATE_DIR=tmp_path / "state", XDG_CONFIG_HOME=tmp_path / "config")
    yield put
    monkeypatch.undo()
    current.cache_clear()


@pytest.fixture(params=["2025-11"])
def anki(request, collection, environment):
    """A running Anki with AnkiConnect, which the server is set to use."""
    from anki_standin import StandIn

    standin = StandIn(collection, request.param)
    environment(ANKI_CONNECT_URL=standin.url, ANKI_DEFAULT_MODEL="Basic")
    yield standin
    standin.close()


both_versions = pytest.mark.parametrize("anki", ["2025-11", "2023-10"], indirect=True)


@pytest.fixture
def call(environment):
    """Calls a tool as a client does: by name and JSON arguments."""

    def run(name, **arguments):
        return registry.find(name, registry.listed(settings.current()).values()).call(arguments, validation.validate)

    return run


def add_notes(collection, deck, *fronts):
    """Notes of the Basic type, put into a deck without the server; their ids."""
    ids = []
    for front in fronts:
        note = collection.new_note(collection.models.by_name("Basic"))
        note["Front"], note["Back"] = front, "answer"
        collection.add_note(note, collection.decks.id(deck))
        ids.append(note.id)
    return ids


def snapshot(collection):
    """By deck: its cards with all that must survive a move, and the name of its preset."""
    found = {}
    for one in collection.decks.all_names_and_ids():
        cards = [collection.get_card(card) for card in sorted(collection.find_cards(f"did:{one.id}"))]
        config = collection.decks.config_dict_for_deck_id(one.id)
        found[one.name] = ([_kept(card) for card in cards], config["name"])
    return found


def _kept(card):
    kept = {name: getattr(card, name) for name in ("id", "nid", "type", "queue", "due", "ivl", "reps", "factor")}
    return {**kept, "front": card.note()["Front"]}


def fronts(collection, deck):
    """The first fields of the notes in a deck, in the order of their adding."""
    return [collection.get_note(one).fields[0] for one in sorted(collection.find_notes(f'"deck:{deck}"'))]
