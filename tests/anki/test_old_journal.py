"""Entries of the journal before it kept steps can still be put back, under the same numbers."""

import json
import sqlite3

import pytest

from tests.anki.test_no_silent_harm import content
from tools.core import settings

SCHEMA = """
create table journal (
    id integer primary key autoincrement, at integer not null, tool text not null, summary text not null,
    data blob not null, media text
)"""
NO_STATES = {"suspended": [], "awake": [], "by_flag": {}, "schedules": []}


@pytest.fixture
def keep(env):
    """Writes an entry as that version did."""
    folder = settings.current().state_dir
    (folder / "anki-journal").mkdir(parents=True)
    path = folder / "anki-journal.sqlite3"

    def write(number, tool, notes=(), homes=None, states=None, filename="", media=b""):
        before = {"notes": list(notes), "cards_by_deck": homes or {}, "cards": states or NO_STATES}
        data = json.dumps({**before, "filename": filename, "profile": None}).encode()
        with sqlite3.connect(path) as db:
            if number == 7:
                db.execute(SCHEMA)
            row = (number, 1_790_000_000, tool, "1 note", data, filename or None)
            db.execute("insert into journal values (?, ?, ?, ?, ?, ?)", row)
        db.close()
        if media:
            (folder / "anki-journal" / f"{number}.media").write_bytes(media)

    return write


def cards_of(collection, note_id):
    return list(collection.card_ids_of_note(note_id))


def kept(collection, note_id, deleted=False, **changes):
    note = collection.get_note(note_id)
    deck = collection.decks.name(note.cards()[0].did)
    model = note.note_type()["name"]
    fields = dict(note.items())
    entry = {"id": note_id, "model": model, "deck": deck, "fields": fields, "tags": list(note.tags)}
    return {**entry, "deleted": deleted, "cards": [], **changes}


def test_a_change_and_a_deletion_of_before_are_put_back(geo, call, keep):
    collection = geo.collection
    collection.tags.bulk_add(geo.ids, "kept")
    card = collection.get_note(geo.ids[1]).cards()[0]
    collection.sched.set_due_date([card.id], "5!")
    card.load()
    schedule = [card.type, card.queue, card.due, card.ivl, card.factor, card.reps, card.lapses, card.left, 2]
    before = content(collection)
    studied = kept(collection, geo.ids[1], deleted=True, cards=[[0, *schedule]])
    keep(7, "update_notes", [kept(collection, geo.ids[0])], {"Geo": cards_of(collection, geo.ids[0])})
    keep(8, "delete_notes", [studied])
    note = collection.get_note(geo.ids[0])
    note["Back"] = "changed"
    collection.update_note(note)
    collection.set_deck(cards_of(collection, geo.ids[0]), collection.decks.id("Elsewhere"))
    collection.remove_notes([geo.ids[1]])

    assert [entry[0] for entry in call("anki.restore")["entries"]] == [8, 7]
    changed = call("anki.restore", entry=7)
    deleted = call("anki.restore", entry=8)

    assert "failed" not in changed and "stay" in changed["warnings"][0]
    assert deleted["addedAgain"] == deleted["cardsScheduled"] == 1
    assert content(collection) == before
    (again,) = collection.find_cards("prop:due=5")
    assert collection.get_card(again).user_flag() == 2


def test_states_of_cards_and_a_file_of_before_are_put_back(geo, call, keep):
    collection = geo.collection
    cards = [card for note in geo.ids for card in cards_of(collection, note)]
    states = {"suspended": cards[:1], "awake": cards[1:], "by_flag": {"3": cards[:2]}, "schedules": []}
    keep(7, "change_cards", states=states)
    keep(8, "delete_media", filename="a.mp3", media=b"ID3")
    collection.sched.suspend_cards(cards[1:])

    assert "failed" not in call("anki.restore", entry=7)
    assert call("anki.restore", entry=8)["media"]

    assert collection.find_cards("is:suspended") == cards[:1]
    assert sorted(collection.find_cards("flag:3")) == cards[:2]
    entries = call("anki.restore")["entries"]
    assert [entry[0] for entry in entries] == [8, 7]


def test_new_entries_go_on_behind_those_of_before(geo, call, keep):
    keep(7, "delete_notes", [kept(geo.collection, geo.ids[0], deleted=True)])
    call("anki.delete_notes", noteIds=geo.ids[1:])
    assert [entry[0] for entry in call("anki.restore")["entries"]] == [8, 7]
