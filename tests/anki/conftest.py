"""Fixtures: Anki as the server meets it."""

import shutil
import time

import pytest

from tests.anki.anki_helpers import add_many, add_note, add_notes
from tests.support.web import serving
from tools.anki import answers, batch


@pytest.fixture(scope="session")
def fresh_collection(tmp_path_factory):
    """The folder of a new collection, to be copied."""
    collection = pytest.importorskip(
        "anki.collection", reason="the PyPI package `anki` is not installed"
    )
    folder = tmp_path_factory.mktemp("fresh")
    collection.Collection(str(folder / "collection.anki2")).close()
    return folder


@pytest.fixture
def collection_in(fresh_collection):
    """Opens a new collection in a folder."""
    from anki.collection import Collection

    opened = []

    def open_in(folder):
        shutil.copytree(fresh_collection, folder)
        opened.append(Collection(str(folder / "collection.anki2")))
        # Anki's day ends half a day away: in the last hour before it, cards that come back after it are
        # tomorrow's.
        opened[-1].set_config("rollover", (time.localtime().tm_hour + 12) % 24)
        return opened[-1]

    yield open_in
    for collection in opened:
        collection.close()


@pytest.fixture
def collection(collection_in, tmp_path):
    return collection_in(tmp_path / "User 1")


@pytest.fixture(autouse=True)
def quick_anki(monkeypatch):
    """However busy this machine is, a batch goes in the same parts; its window answers at once."""
    monkeypatch.setattr(batch, "PART_S", 10_000)
    monkeypatch.setattr(answers, "LOG_PAUSE_S", 0)


@pytest.fixture(params=["2025-11"])
def anki(request, collection, env):
    """A running Anki with AnkiConnect, which the server is set to use."""
    from tests.anki.anki_standin import StandIn

    standin = StandIn(collection, request.param)
    env(ANKI_CONNECT_URL=standin.url, ANKI_DEFAULT_MODEL="Basic")
    yield standin
    standin.close()


@pytest.fixture
def impatient(anki, monkeypatch):
    """A clock that each stall of Anki puts forward by an hour, past every deadline."""
    monotonic = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + 3600 * anki.stalls)


@pytest.fixture
def note(anki):
    """The only note, in deck A."""
    (note,) = add_notes(anki.collection, "A", "a")
    return note


@pytest.fixture
def geo(anki):
    """Three notes with tags in Geo, one in a subdeck that plays a sound."""
    anki.ids = add_notes(anki.collection, "Geo", *"abc")
    anki.ids.append(add_note(anki.collection, "Geo::Sub", "Basic", "d", "[sound:a.mp3]"))
    anki.collection.tags.bulk_add(anki.ids, "one two::three")
    anki.collection.media.write_data("a.mp3", b"ID3")
    return anki


@pytest.fixture
def deck(anki):
    """Thirty new cards in two decks, made some seconds ago."""
    for name, count in (("Geo", 20), ("Geo::Cities", 10)):
        add_many(anki.collection, name, count, f"{name} question")
    anki.collection.db.execute("update notes set mod = mod - 9")
    return anki


@pytest.fixture
def web():
    with serving() as server:
        yield server


@pytest.fixture
def private_allowed(env):
    env(IMAGE_ALLOW_PRIVATE=1)
