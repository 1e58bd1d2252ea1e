"""Finding, showing and deleting notes."""

import pytest

from tests.anki.anki_helpers import add_notes, both_versions

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
    assert call("anki.find_notes", query="tag:none") == {"noteIds": [], "notes": []}
    assert call("anki.find_notes", query="deck:*", offset=5) == {"noteIds": [], "notes": []}
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
