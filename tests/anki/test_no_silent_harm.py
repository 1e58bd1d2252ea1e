"""Nothing is lost in silence: dry runs, the owner's consent, the journal and putting back."""

import base64
import json
from pathlib import Path

import pytest

from tests.anki.anki_helpers import add_notes, both_versions, snapshot
from tests.anki.anki_standin import names
from tools.anki.journal import entries
from tools.core import calls, registry, settings


@pytest.fixture
def geo(anki):
    """Three notes with tags in Geo, one in a subdeck."""
    anki.ids = add_notes(anki.collection, "Geo", *"abc") + add_notes(anki.collection, "Geo::Sub", "d")
    anki.collection.tags.bulk_add(anki.ids, "one two::three")
    return anki


def content(collection):
    """Every note with its fields, tags and the decks of its cards."""
    notes = [collection.get_note(note) for note in sorted(collection.find_notes(""))]
    return sorted(
        (tuple(note.fields), tuple(note.tags), tuple(collection.decks.name(card.did) for card in note.cards()))
        for note in notes
    )


def destructive(anki):
    (one, two, *_) = anki.ids
    return {
        "anki.delete_notes": {"noteIds": [one, two]},
        "anki.delete_decks": {"decks": ["Geo"], "cardsToo": True},
        "anki.update_notes": {
            "notes": [
                {"noteId": one, "fields": {"Back": "new"}, "removeTags": ["two"], "deckName": "B"},
                {"noteId": two, "addTags": ["x"]},
            ]
        },
        "anki.delete_media": {"filename": "a.mp3"},
        "anki.change_cards": {"noteIds": [one, two], "addTags": ["x"], "removeTags": ["one"], "deck": "Geo::Sub"},
    }


TOOLS = ["anki.delete_notes", "anki.delete_decks", "anki.update_notes", "anki.delete_media", "anki.change_cards"]


@both_versions
@pytest.mark.parametrize("tool", TOOLS)
def test_a_dry_run_says_what_would_happen_and_changes_nothing(geo, call, tool):
    geo.collection.media.write_data("a.mp3", b"ID3")
    before = content(geo.collection)

    answer = call(tool, **destructive(geo)[tool], dryRun=True)

    assert answer["dryRun"] is True
    assert content(geo.collection) == before
    assert call("anki.get_media", filename="a.mp3")["sizeBytes"] == 3
    assert "addTags" not in geo.actions()


def test_a_dry_run_of_decks_tells_where_the_cards_would_go(geo, call):
    moved = call("anki.delete_decks", decks=["Geo"], dryRun=True)
    deleted = call("anki.delete_decks", decks=["Geo"], cardsToo=True, dryRun=True)

    assert moved["decks"] == {"Geo": 3, "Geo::Sub": 1}
    assert (moved["cards"], moved["cardsGoTo"], deleted["cardsGoTo"]) == (4, "Default", None)
    assert moved["examples"][0]["text"] == "a"


@pytest.mark.parametrize("tool", ["anki.delete_notes", "anki.delete_decks", "anki.update_notes"])
def test_the_owner_can_demand_the_true_count(geo, call, env, tool):
    env(ANKI_CONFIRM="count")
    before = content(geo.collection)
    count = {"anki.delete_notes": 2, "anki.delete_decks": 4, "anki.update_notes": 2}[tool]

    for more in ({}, {"expected": count + 1}):
        answer = call(tool, **destructive(geo)[tool], **more)
        assert (answer["code"], answer["count"]) == ("EXPECTED_COUNT", count)
    assert content(geo.collection) == before

    answer = call(tool, **destructive(geo)[tool], expected=count)
    assert answer is None or answer.get("success") is not False
    assert content(geo.collection) != before


def test_the_true_count_of_a_file_is_that_of_the_notes_that_use_it(geo, call, env):
    env(ANKI_CONFIRM="count")
    geo.collection.media.write_data("a.mp3", b"ID3")
    note = geo.collection.get_note(geo.ids[0])
    note["Back"] = "[sound:a.mp3]"
    geo.collection.update_note(note)

    dry = call("anki.delete_media", filename="a.mp3", dryRun=True)
    refused = [call("anki.delete_media", filename="a.mp3", **more) for more in ({}, {"expected": 0})]

    assert dry["notes"] == 1
    assert [(answer["code"], answer["count"]) for answer in refused] == [("EXPECTED_COUNT", 1)] * 2
    assert call("anki.get_media", filename="a.mp3")["sizeBytes"] == 3
    assert call("anki.delete_media", filename="a.mp3", expected=1)["deleted"] is True


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("yes", [False, True])
def test_the_owner_can_demand_to_be_asked(geo, env, tool, yes):
    env(ANKI_CONFIRM="elicit")
    geo.collection.media.write_data("a.mp3", b"ID3")
    before, asked = content(geo.collection), []
    arguments = destructive(geo)[tool]
    if tool == "anki.change_cards":
        arguments |= {"dryRun": False, "expected": 2}

    def ask(question):
        asked.append(question)
        return "accept" if yes else "decline"

    with calls.calling(lambda *report: None, lambda: False, ask):
        declared = registry.find(tool, registry.listed(settings.current()).values())
        answer = declared.call(arguments)

    assert len(asked) == 1
    if not yes:
        assert answer["code"] == "DECLINED"
        assert content(geo.collection) == before
    else:
        assert answer is None or answer.get("success") is not False


@both_versions
@pytest.mark.parametrize("tool", TOOLS)
def test_what_was_changed_or_deleted_can_be_put_back(geo, call, tool):
    geo.collection.media.write_data("a.mp3", b"ID3")
    before = content(geo.collection)
    arguments = destructive(geo)[tool]
    if tool == "anki.change_cards":
        arguments |= {"dryRun": False, "expected": 2}
    call(tool, **arguments)
    assert content(geo.collection) != before or tool == "anki.delete_media"

    ((entry, at, name, summary),) = call("anki.restore")["entries"]
    answer = call("anki.restore", entry=entry)

    assert name == tool.removeprefix("anki.")
    assert at and summary
    assert "failed" not in answer
    assert content(geo.collection) == before
    assert call("anki.get_media", filename="a.mp3")["dataBase64"] == base64.b64encode(b"ID3").decode()
    if tool in ("anki.delete_notes", "anki.delete_decks"):
        assert "scheduling of a deleted note is lost" in answer["warnings"][0]
        again = call("anki.restore", entry=entry)
        assert "addedAgain" not in again
        assert content(geo.collection) == before


@pytest.mark.parametrize("tool", ["anki.update_notes", "anki.change_cards"])
def test_putting_back_can_be_taken_back_too(geo, call, tool):
    more = {"suspend": True, "flag": 2, "dryRun": False, "expected": 2} if tool == "anki.change_cards" else {}
    call(tool, **destructive(geo)[tool], **more)
    changed = (content(geo.collection), geo.collection.find_cards("is:suspended flag:2"))

    call("anki.restore", entry=1)
    put_back = (content(geo.collection), geo.collection.find_cards("is:suspended flag:2"))
    (entry, _, name, summary) = call("anki.restore")["entries"][0]
    call("anki.restore", entry=entry)

    assert (name, summary) == ("restore", "entry 1 put back")
    assert put_back != changed
    assert (content(geo.collection), geo.collection.find_cards("is:suspended flag:2")) == changed


def test_many_notes_are_put_back_in_parts_that_fit_anki_s_pace(anki, call):
    ids = add_notes(anki.collection, "Geo", *(f"front {number}" for number in range(300)))
    before = content(anki.collection)
    call("anki.update_notes", notes=[{"noteId": note, "fields": {"Back": "new"}} for note in ids])
    call("anki.delete_notes", noteIds=ids)
    anki.requests.clear()

    assert call("anki.restore", entry=2)["addedAgain"] == 300

    sizes = [names(request).count("addNote") for request in anki.requests]
    assert [size for size in sizes if size] == [30, 240, 30]
    assert [back for (_, back), *_ in content(anki.collection)] == ["new"] * 300
    assert [front for (front, _), *_ in content(anki.collection)] == [front for (front, _), *_ in before]


def test_an_updated_note_that_was_deleted_since_is_not_made_up(geo, call):
    call("anki.update_notes", notes=[{"noteId": geo.ids[0], "fields": {"Back": "new"}}])
    call("anki.delete_notes", noteIds=[geo.ids[0]])

    answer = call("anki.restore", entry=1)

    assert answer["failed"] == [{"noteId": geo.ids[0], "error": "the note is gone"}]
    assert geo.collection.note_count() == 3


def test_deleted_duplicates_come_back_each_once(geo, call):
    """Two that are equal in every field, and one that shares its first field with a note that stays."""
    collection = geo.collection
    twins = [*add_notes(collection, "Geo", "twin", "twin"), *add_notes(collection, "Geo", "a")]
    note = collection.get_note(twins[2])
    note["Back"] = "another answer"
    collection.update_note(note)
    before = content(collection)
    call("anki.delete_notes", noteIds=twins)

    first = call("anki.restore", entry=1)
    again = call("anki.restore", entry=1)

    assert first["addedAgain"] == again["alreadyThere"] == 3
    assert "failed" not in first
    assert content(collection) == before


def test_cards_that_moved_to_default_go_back_to_their_decks(geo, call):
    before = snapshot(geo.collection)
    call("anki.delete_decks", decks=["Geo"])

    answer = call("anki.restore", entry=call("anki.restore")["entries"][0][0])

    assert answer["cards"] == 4
    assert {name: cards for name, (cards, _) in snapshot(geo.collection).items()} == {
        name: cards for name, (cards, _) in before.items()
    }


def test_an_entry_that_is_not_there_is_told(anki, call):
    assert call("anki.restore", entry=7)["code"] == "NO_ENTRY"


def test_without_a_journal_nothing_is_deleted(geo, call):
    call("anki.restore")
    (settings.current().state_dir / "anki-journal.sqlite3").write_bytes(b"not a database" * 100)
    before = content(geo.collection)

    assert call("anki.delete_notes", noteIds=geo.ids)["code"] == "STATE_NOT_WRITABLE"
    assert content(geo.collection) == before


def test_the_journal_forgets_the_oldest_beyond_its_limits(env, monkeypatch):
    monkeypatch.setattr(entries, "MOST_BYTES", 100)
    for number in range(4):
        entries.write("delete_media", f"{number}", entries.Before(filename="a", content=b"x" * 60))

    assert [entry.summary for entry in entries.newest(9)] == ["3"]
    folder = Path(settings.current().state_dir) / "anki-journal"
    assert len(list(folder.iterdir())) == 1


def test_a_large_file_is_answered_only_on_demand(anki, call):
    anki.collection.media.write_data("big.mp3", b"x" * 300_000)

    refused = call("anki.get_media", filename="big.mp3")
    answer = call("anki.get_media", filename="big.mp3", max_bytes=refused["sizeBytes"])

    assert refused["code"] == "MEDIA_TOO_LARGE"
    assert refused["sizeBytes"] == answer["sizeBytes"] == 300_000
    assert len(json.dumps(refused)) < 1000


@pytest.mark.parametrize("name", ["a?b.png", "*.png", "a:b.png"])
def test_a_name_that_anki_would_take_for_another_s_is_not_found(anki, call, name):
    anki.collection.media.write_data("ab.png", b"x")

    assert call("anki.get_media", filename=name)["code"] == "MEDIA_NOT_FOUND"


@pytest.mark.parametrize("entry", [0, -1, 10**30, -(10**30)])
def test_an_entry_that_cannot_be_is_not_there(call, entry):
    assert call("anki.restore", entry=entry)["code"] == "NO_ENTRY"
