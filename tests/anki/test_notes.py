"""Finding, showing and deleting notes."""

import base64

import pytest

from tests.anki.anki_helpers import add_notes, both_versions
from tests.anki.anki_images import png

GONE = 1234567890123


@both_versions
def test_find_notes_gives_sorted_ids_and_notes_in_at_most_three_requests(anki, call):
    ids = sorted(add_notes(anki.collection, "Geo", *"abcdef"))

    found = call("anki.find_notes", query=" deck:Geo ", limit=2, offset=3)

    assert found["noteIds"] == ids[3:5]
    assert found["notes"][0] == {
        "noteId": ids[3],
        "modelName": "Basic",
        "deckName": "Geo",
        "tags": [],
        "fields": {"Front": "d", "Back": "answer"},
        "cards": anki.collection.card_ids_of_note(ids[3]),
    }
    assert len(anki.requests) <= 3
    assert anki.requests[1]["params"]["notes"] == ids[3:5]


def test_find_notes_that_finds_none_asks_once(anki, call):
    assert call("anki.find_notes", query="tag:none") == {"noteIds": [], "notes": [], "total": 0}
    assert call("anki.find_notes", query="deck:*", offset=5) == {"noteIds": [], "notes": [], "total": 0}
    assert len(anki.requests) == 2


@pytest.mark.parametrize("query", ["(deck:A", "is:zzz", '"open', "rated:x"])
def test_a_wrong_query_is_a_clear_error(anki, call, query):
    answer = call("anki.find_notes", query=query)

    assert answer["error"].startswith("RuntimeError: Invalid search: ")
    assert "\u2068" not in answer["error"]
    assert answer["hint"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"query": "  "}, "query: String should have at least 1 character"),
        ({"query": "a", "limit": 0}, "limit: Input should be greater than or equal to 1"),
        ({"query": "a", "offset": -1}, "offset: Input should be greater than or equal to 0"),
    ],
)
def test_find_notes_checks_its_arguments(anki, call, arguments, text):
    assert text in call("anki.find_notes", **arguments)["error"]
    assert anki.requests == []


@both_versions
def test_note_info_is_aligned_with_the_ids_and_null_where_there_is_no_note(anki, call):
    one, two = add_notes(anki.collection, "Geo", "a", "b")

    found = call("anki.note_info", noteIds=[two, GONE, one, two, 0, -5, 2**70])["notes"]

    assert [note and note["fields"]["Front"] for note in found] == ["b", None, "a", "b", None, None, None]
    assert len(anki.requests) == 2


def test_ids_come_as_texts_too_and_never_as_booleans(anki, call):
    (one,) = add_notes(anki.collection, "Geo", "a")

    assert call("anki.note_info", noteIds=[str(one)])["notes"][0]["noteId"] == one
    assert call("anki.note_info", noteIds=[True])["code"] == "INVALID_ARGUMENTS"
    assert call("anki.note_info", noteIds=["one"])["code"] == "INVALID_ARGUMENTS"
    assert "at least 1 item after validation, not 0" in call("anki.note_info", noteIds=[])["error"]


def test_a_note_s_deck_comes_from_its_cards_even_where_another_card_has_the_note_s_number(anki, call):
    one, two = add_notes(anki.collection, "A", "a", "b")
    (card,) = anki.collection.card_ids_of_note(two)
    anki.collection.db.execute("update cards set id = ? where id = ?", card + 50, card)
    (mine,) = anki.collection.card_ids_of_note(one)
    anki.collection.db.execute("update cards set id = ? where id = ?", two, mine)
    anki.collection.set_deck([card + 50], anki.collection.decks.id("B"))

    assert [note["deckName"] for note in call("anki.note_info", noteIds=[one, two])["notes"]] == ["A", "B"]


@both_versions
def test_delete_notes_counts_what_was_there_and_what_was_not(anki, call):
    one, two = add_notes(anki.collection, "A", "a", "b")

    assert call("anki.delete_notes", noteIds=[one, GONE, one]) == {"deleted": 1, "missing": 1}
    assert call("anki.delete_notes", noteIds=[one]) == {"deleted": 0, "missing": 1}
    assert list(anki.collection.find_notes("")) == [two]


def test_delete_notes_without_ids_says_so_in_the_documented_words(anki, call):
    answer = call("anki.delete_notes", noteIds=[])

    assert "List should have at least 1 item after validation, not 0" in answer["error"]
    assert anki.requests == []


def test_delete_notes_tells_when_anki_kept_them(anki, call):
    (one,) = add_notes(anki.collection, "A", "a")
    anki.addon.deleteNotes = lambda notes: None

    answer = call("anki.delete_notes", noteIds=[one])

    assert answer["code"] == "NOT_DELETED"
    assert answer["deleted"] == 0


def test_the_window_is_drawn_anew_after_notes_were_deleted(anki, call):
    """A review that shows the deleted card would end in an error box once the person answers it."""
    (one,) = add_notes(anki.collection, "A", "a")

    call("anki.delete_notes", noteIds=[one])

    entries = anki.requests[-1]["params"]["actions"]
    assert [entry["action"] for entry in entries] == ["deleteNotes", "addTags", "notesInfo"]
    assert entries[1]["params"] == {"notes": [], "tags": ""}


def test_notes_are_deleted_also_where_nothing_can_be_drawn(anki, call):
    (one,) = add_notes(anki.collection, "A", "a")
    anki.faults = {1: "entry:1:unsupported action"}

    assert call("anki.delete_notes", noteIds=[one]) == {"deleted": 1, "missing": 0}


def test_find_notes_tells_how_many_there_are_and_cuts_long_fields(anki, call):
    add_notes(anki.collection, "Geo", *(f"{number} {'long ' * 100}" for number in range(9)))

    answer = call("anki.find_notes", query="deck:Geo", limit=2, offset=4, excerpt=20)

    assert (len(answer["notes"]), answer["total"]) == (2, 9)
    assert [len(note["fields"]["Front"]) for note in answer["notes"]] <= [20, 20]


def test_find_notes_tells_of_words_that_anki_finds_in_one_case_only(anki, call):
    one, two = add_notes(anki.collection, "Geo", "Столица Франции", "столица Германии")

    answer = call("anki.find_notes", query="deck:Geo столица")

    assert answer["noteIds"] == [two]
    assert answer["inOtherCase"]["more"] == 1
    assert call("anki.find_notes", query=answer["inOtherCase"]["query"])["noteIds"] == [one, two]


@pytest.fixture
def other_server(anki):
    """Another server that speaks AnkiConnect: notes without cards, storing without deleteExisting, answering null."""
    info, store = anki.addon._info, anki.addon.storeMediaFile
    anki.addon._info = lambda note: {name: value for name, value in info(note).items() if name != "cards"}
    anki.addon.storeMediaFile = lambda filename, data=None, path=None, url=None: (
        store(filename, data, path, url) and None
    )
    anki.addon.ABSENT = ("modelNamesAndIds", "canAddNotesWithErrorDetail", "guiSelectedNotes", "guiCurrentCard")
    return anki


def test_another_server_that_speaks_ankiconnect_does_what_it_can(other_server, call):
    collection = other_server.collection
    picture = base64.b64encode(png()).decode()
    items = [{"Front": f"front {number}", "images": [{"image_base64": picture}]} for number in range(40)]

    added = call("anki.add_from_model", deck="New", items=items)
    found = call("anki.find_notes", query="deck:New")
    first = found["notes"][0]
    updated = call("anki.update_notes", notes=[{"noteId": first["noteId"], "addTags": ["t"], "deckName": "B"}])
    deleted = call("anki.delete_notes", noteIds=[first["noteId"]])

    assert added["added"] == len(found["notes"]) == 40
    assert first["deckName"] == "New"
    assert all(collection.find_cards(f"cid:{card}") == [] for card in first["cards"])  # deleted with the note
    assert updated["updated"] == deleted["deleted"] == 1
    assert call("anki.add_from_model", deck="New", items=items[:2])["skipped"] == 1
