"""Nothing is lost in silence: dry runs, the owner's consent, the journal and putting back."""

from types import SimpleNamespace

import pytest

from tests.anki.anki_helpers import (
    REVERSED,
    add_note,
    add_notes,
    both_versions,
    call,
    change_cards,
    content,
    delete_notes,
    each_kind_of_harm,
    entries,
    harm,
    restore,
    update_note,
)
from tools.anki import journal, state
from tools.core import settings

# What sqlite calls it: after a commit the folder is synced, too.
EXTRA = 3


@both_versions
@each_kind_of_harm
def test_a_dry_run_says_what_would_happen_and_changes_nothing(geo, collection, kind):
    tool, arguments, count, _ = harm(geo)[kind]
    before = content(collection)

    answer = call(tool, **{**arguments, "dryRun": True})

    assert answer["dryRun"] is True
    assert count in answer.values()
    assert content(collection) == before
    assert call("anki.get_media", filename="a.mp3")["sizeBytes"] == 3
    assert "addTags" not in geo.actions()


@both_versions
@each_kind_of_harm
def test_what_was_changed_or_deleted_can_be_put_back(geo, collection, kind):
    tool, arguments, *_ = harm(geo)[kind]
    before = content(collection)
    call(tool, **arguments)
    assert content(collection) != before or kind == "media"

    ((entry, at, name, summary),) = entries()
    answer = restore(entry)

    assert name == tool.removeprefix("anki.")
    assert at and summary
    assert "failed" not in answer
    assert content(collection) == before
    assert call("anki.get_media", filename="a.mp3")["dataBase64"] == "SUQz"
    if kind in ("notes", "decks"):
        assert "review log" in answer["warnings"][0]
        assert "addedAgain" not in restore(entry)
        assert content(collection) == before


@both_versions
@pytest.mark.parametrize("kind", ["notes", "decks"])
@pytest.mark.parametrize("way", ["the request was lost", "the person took it back"])
def test_what_is_there_with_its_old_id_is_not_added_again(geo, collection, kind, way):
    tool, arguments, *_ = harm(geo)[kind]
    before = content(collection)
    if way == "the request was lost":
        geo.addon.deleteNotes = geo.addon.deleteDecks = lambda **params: None
    call(tool, **arguments)
    if way == "the person took it back":
        assert content(collection) != before
        collection.undo()

    answer = restore()

    assert answer["alreadyThere"] == (2 if kind == "notes" else 4)
    assert "addedAgain" not in answer and "warnings" not in answer
    assert content(collection) == before


@pytest.mark.parametrize("fault", ["", "cut_after"])
def test_twins_come_back_each_once(geo, collection, fault):
    """Notes with the first field of one that stays, one of them the same throughout."""
    twins = add_notes(collection, "Geo", "a")
    twins.append(add_note(collection, "Geo", "Basic", "a", "another"))
    before = content(collection)
    delete_notes([*geo.ids[1:], *twins])

    geo.requests.clear()
    geo.faults = {3: fault} if fault else {}  # the request that adds the notes
    broken = restore()
    geo.faults = {}

    assert (broken.get("code") == "ANKI_CUT") == bool(fault)
    assert restore()["alreadyThere"] == 5
    assert content(collection) == before


def test_an_updated_note_that_was_deleted_since_is_not_made_up(geo):
    update_note(geo.ids[0], fields={"Back": "new"})
    delete_notes([geo.ids[0]])

    answer = restore()

    assert answer["failed"] == [{"noteId": geo.ids[0], "error": "the note is gone"}]
    assert geo.collection.note_count() == 3


@both_versions
def test_a_note_that_anki_refuses_has_failed_and_the_others_are_added_again(geo):
    delete_notes(geo.ids)
    add = geo.addon.addNote

    def refuse_one(note):
        if note["fields"]["Front"] == "b":
            raise Exception("cannot create note")
        return add(note)

    geo.addon.addNote = refuse_one
    answer = restore()

    assert answer["addedAgain"] == len(geo.ids) - 1
    assert answer["failed"] == [{"noteId": geo.ids[1], "error": "RuntimeError: cannot create note"}]


def test_an_entry_of_another_profile_is_not_put_back(geo, collection):
    collection.media.write_data("a.mp3", b"sound")
    change_cards(4, noteIds=geo.ids, addTags=["x"])
    update_note(geo.ids[0], fields={"Back": "new"})
    call("anki.delete_media", filename="a.mp3")
    delete_notes(geo.ids[:1])
    call("anki.delete_decks", decks=["Geo"])
    geo.addon.getActiveProfile = lambda: "Two"
    before = content(collection)

    answers = [restore(entry) for entry, *_ in entries()]

    assert [answer["code"] for answer in answers] == ["OTHER_PROFILE"] * 5
    assert "'User 1'" in answers[0]["error"] and "'Two'" in answers[0]["error"]
    assert content(collection) == before


def test_a_card_studied_since_keeps_its_own_schedule(geo, collection):
    """The entry is put back a second time, a day later."""
    cards = sorted(collection.find_cards("deck:Geo"))
    collection.sched.set_due_date(cards, "5!")
    delete_notes(geo.ids)
    assert restore()["cardsScheduled"] == 4
    collection.sched.set_due_date(collection.find_cards("deck:Geo"), "9!")
    since = content(collection)

    restore()

    assert content(collection) == since


def test_cards_that_went_to_the_default_deck_come_back_and_no_note_was_lost(geo, collection):
    before = content(collection)
    call("anki.delete_decks", decks=["Geo"], expected=4)
    assert content(collection) != before

    answer = restore()

    assert not {"alreadyThere", "addedAgain", "failed"} & answer.keys()
    assert content(collection) == before


def two_sided(collection):
    """A note with a card in deck A and one in B, both studied; its cards."""
    note = add_note(collection, "A", REVERSED, "kot", "cat")
    cards = sorted(collection.card_ids_of_note(note))
    collection.set_deck(cards[1:], collection.decks.id("B"))
    collection.sched.set_due_date(cards, "5!")
    return cards


def homes(collection):
    """The deck of each card, by the cards' ids."""
    query = "select c.id, d.name from cards c join decks d on d.id = c.did order by c.id"
    return dict(collection.db.all(query))


@both_versions
def test_a_card_that_stayed_keeps_the_deck_and_the_schedule_it_got_since(anki, collection):
    stayed, _ = two_sided(collection)
    call("anki.delete_decks", decks=["B"], cardsToo=True, expected=1)
    assert collection.find_cards("") == [stayed]
    collection.set_deck([stayed], collection.decks.id("B"))
    collection.sched.schedule_cards_as_new([stayed])

    assert restore()["cardsScheduled"] == 1

    first, second = homes(collection).items()
    assert first == (stayed, "B") and second[1] == "B"
    assert collection.find_cards("is:new") == [stayed]


@both_versions
@pytest.mark.parametrize("is_new", [False, True])
def test_cards_come_back_into_their_own_decks_unless_the_person_moved_them(
    anki, collection, is_new
):
    two_sided(collection)
    delete_notes(list(collection.find_notes("")))
    restore()
    restored = homes(collection)
    assert list(restored.values()) == ["A", "B"]

    first = min(restored)
    collection.set_deck([first], collection.decks.id("C"))
    if is_new:
        collection.sched.schedule_cards_as_new([first])
    assert restore()["alreadyThere"] == 1

    assert homes(collection)[first] == "C"


def test_without_a_journal_nothing_is_deleted(geo, collection):
    call("anki.restore")
    (settings.current().state_dir / "anki-journal.sqlite3").write_bytes(b"not a database" * 100)
    before = content(collection)

    assert delete_notes(geo.ids)["code"] == "STATE_NOT_WRITABLE"
    assert content(collection) == before


def test_an_entry_of_before_has_one_deck_for_all_cards_of_a_note(env):
    note = {"id": 1, "model": "Basic", "deck": "Geo", "fields": {}, "tags": []}
    lost = [SimpleNamespace(**note, schedules=[], cards=2)]
    journal.write("x", "notes", "it", journal.JournalEntry("", lost=lost))
    assert journal.entry_of(1).lost[0].decks == ["Geo", "Geo"]


def test_what_anki_s_way_back_commits_is_on_the_disk_with_its_folder_and_for_the_owner_alone(env):
    with state.open_records("some.sqlite3", "create table if not exists a (b)") as db:
        assert db.execute("pragma synchronous").fetchone() == (EXTRA,)
    assert state.state_path("some.sqlite3").stat().st_mode & 0o077 == 0


def test_the_journal_forgets_the_oldest_beyond_its_limits(env, monkeypatch):
    monkeypatch.setattr(journal, "JOURNAL_MOST_BYTES", 1000)

    def write(summary, size_bytes):
        entry = journal.JournalEntry("", filename="a", content=b"x" * size_bytes)
        journal.write("x", summary, "it", entry)
        return [summary for *_, summary in journal.newest_entries()]

    assert [write(str(number), 600) for number in range(3)] == [["0"], ["1"], ["2"]]
    assert write("large", 1001) == ["large"]  # the newest stays, whatever its size
    assert write("small", 600) == ["small"]
    journal.write("x", "notes", "it", journal.JournalEntry(""))
    assert write("next", 600) == ["next", "notes"]  # media do not push out notes


@pytest.mark.parametrize("entry", [0, -1, 10**30, -(10**30)])
def test_an_entry_that_cannot_be_is_not_there(entry):
    assert restore(entry)["code"] == "NO_ENTRY"


@both_versions
def test_a_card_that_is_deleted_while_cards_are_read_is_left_out(geo, collection):
    first, *others = sorted(collection.find_cards(""))
    find = geo.addon.findCards

    def find_and_delete(query):
        cards = find(query)
        collection.remove_notes([collection.get_card(first).nid])
        return cards

    geo.addon.findCards = find_and_delete
    assert [card["cardId"] for card in journal.cards_in_own_deck("deck:*")] == others
