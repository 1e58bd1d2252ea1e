"""Finding, showing and deleting notes."""

import json

import pytest

from tests.anki.anki_helpers import (
    GONE,
    add_many,
    add_notes,
    both_versions,
    call,
    delete_notes,
    find_notes,
    restore,
    update_note,
)
from tests.support.client import cases


@both_versions
def test_find_notes_gives_sorted_ids_and_notes_in_at_most_three_requests(anki, collection):
    ids = sorted(add_notes(collection, "Geo", *"abcdef"))

    answer = find_notes(" deck:Geo ", limit=2, offset=3)

    assert answer["noteIds"] == ids[3:5]
    assert answer["notes"][0] == {
        "noteId": ids[3],
        "modelName": "Basic",
        "deckName": "Geo",
        "tags": [],
        "fields": {"Front": "d", "Back": "answer"},
        "cards": collection.card_ids_of_note(ids[3]),
    }
    assert len(anki.requests) <= 3
    assert anki.requests[1]["params"]["notes"] == ids[3:5]


@pytest.mark.parametrize("query", ["(deck:A", "is:zzz"])
def test_a_wrong_query_is_a_clear_error(anki, query):
    answer = find_notes(query)

    assert answer["error"].startswith("RuntimeError: Invalid search: ")
    assert "\u2068" not in answer["error"]
    assert answer["hint"]


@both_versions
def test_note_info_is_aligned_with_the_ids_and_null_where_there_is_no_note(anki):
    one, two = add_notes(anki.collection, "Geo", "a", "b")

    rows = call("anki.note_info", noteIds=[two, GONE, one, two, 0, -5])["notes"]

    assert [note and note["fields"]["Front"] for note in rows] == ["b", None, "a", "b", None, None]
    assert len(anki.requests) == 2


@both_versions
def test_delete_notes_counts_what_was_there_and_what_was_not(anki, collection):
    one, two = add_notes(collection, "A", "a", "b")

    assert delete_notes([one, GONE, one], dryRun=True)["missing"] == 1
    assert delete_notes([one, GONE, one]) == {"deleted": 1, "missing": 1}
    assert delete_notes([one]) == {"deleted": 0, "missing": 1}
    assert list(collection.find_notes("")) == [two]


def test_delete_notes_tells_when_anki_kept_them(anki, note):
    anki.addon.deleteNotes = lambda notes: None

    answer = delete_notes([note])

    assert answer["code"] == "NOT_DELETED"
    assert answer["deleted"] == 0


def test_the_window_is_drawn_again_after_notes_were_deleted(anki, note):
    """A review that shows the deleted card would end in an error box once the person answers it."""
    delete_notes([note])

    assert anki.actions()[-3:] == ["deleteNotes", "addTags", "findNotes"]
    assert anki.requests[-1]["params"]["actions"][1]["params"] == {"notes": [], "tags": ""}


def test_find_notes_tells_of_words_that_anki_finds_in_one_case_only(anki):
    one, two = add_notes(anki.collection, "Geo", "Столица Франции", "столица Германии")

    answer = find_notes("deck:Geo столица")

    assert answer["noteIds"] == [two]
    assert answer["inOtherCase"]["more"] == 1
    assert find_notes(answer["inOtherCase"]["query"])["noteIds"] == [one, two]


def test_find_notes_answers_fifty_unless_told_and_briefly_if_told(anki):
    ids = add_many(anki.collection, "Geo", 60, "word")

    answer = find_notes("deck:Geo")
    brief = find_notes("deck:Geo", brief=True, limit=2, offset=1, excerpt=5)

    assert (len(answer["notes"]), answer["total"], answer["nextOffset"]) == (50, 60, 50)
    assert "nextOffset" not in find_notes("deck:Geo", limit=10, offset=50)
    assert brief == {"notes": [[ids[1], "word…"], [ids[2], "word…"]], "total": 60, "nextOffset": 3}


@pytest.fixture
def school(anki, collection):
    ids = add_notes(collection, "Школа::Языки", "a")
    collection.tags.bulk_add(ids, "bio::cell")


NAMES = """
deck:Школы | deck:Школы | Школа
"deck:Школа bio" tag:x | deck:Школа bio | Школа
tag:boi -is:new | tag:boi | bio
note:"Basci" | note:Basci | Basic
"""


@pytest.mark.parametrize("query, name, nearest", cases(NAMES))
def test_a_name_in_a_query_that_is_not_there_is_told_with_the_nearest(school, query, name, nearest):
    answer = find_notes(query)

    assert answer["total"] == 0
    assert answer["warnings"][0] == f"there is no {name}. Did you mean {nearest}?"


@pytest.mark.parametrize("name", ["deck:школа", "tag:BIO", "deck:current", "tag:none", "deck:Шк*"])
def test_a_name_in_a_query_that_is_there_is_not_warned_of(school, name):
    assert find_notes(f"{name} zzz") == {"noteIds": [], "notes": [], "total": 0}


def test_duplicates_by_a_field_come_in_groups(anki, collection):
    first = add_notes(collection, "A", "cat", "dog", "bird")
    second = add_notes(collection, "B", "<b>Cat</b>", "dog")
    anki.requests.clear()

    everywhere = call("anki.find_notes", duplicates="front")
    in_a_deck = find_notes("deck:A", duplicates="Front")
    by_back = call("anki.find_notes", duplicates="Back", limit=1)

    assert everywhere == {
        "groups": [
            {"text": "cat", "noteIds": [first[0], second[0]]},
            {"text": "dog", "noteIds": [first[1], second[1]]},
        ],
        "total": 2,
    }
    assert in_a_deck == {"groups": [], "total": 0}
    assert by_back["groups"][0]["noteIds"] == [*first, *second]
    assert call("anki.find_notes", duplicates="Frnt")["code"] == "UNKNOWN_FIELD"
    assert call("anki.find_notes")["code"] == "INVALID_ARGUMENTS"


def test_a_server_whose_notes_name_no_cards_is_served_all_the_same(geo):
    """As anki-connect-server of PyPI."""
    info_of = geo.addon._info

    def without_cards(note):
        info = info_of(note)
        info.pop("cards", None)
        return info

    geo.addon._info = without_cards

    note = find_notes("deck:Geo")["notes"][3]
    updated = update_note(geo.ids[0], deckName="Other")
    deleted = delete_notes(geo.ids[1:2])

    assert note["deckName"] == "Geo::Sub"
    assert note["cards"] == geo.collection.card_ids_of_note(geo.ids[3])
    assert updated["updated"] == deleted["deleted"] == 1
    assert restore(2)["addedAgain"] == 1


def test_an_empty_list_is_refused_in_the_words_of_the_requirement(anki):
    words = "List should have at least 1 item after validation, not 0"
    assert words in delete_notes([])["error"]


BLANK_NAMES = """\
deck:Spanish Verbs
deck:spanish verbs ser
-deck:Spanish Verbs
(tag:x deck:Spanish Verbs)
deck:Lang::Old Norse
note:Basic (and reversed card)"""
TAKING_A_QUERY = """
find_notes | {}
find_notes | {"duplicates": "Front"}
change_cards | {"suspend": true}
update_notes | {"replace": {"Front": ["a", "b"]}}
due | {}
"""


@pytest.mark.parametrize("query", BLANK_NAMES.splitlines())
@pytest.mark.parametrize("tool, more", cases(TAKING_A_QUERY))
def test_a_name_with_a_blank_needs_its_quotes(anki, query, tool, more):
    for deck in ("Spanish", "Spanish Verbs", "Lang::Old Norse"):
        add_notes(anki.collection, deck, f"sol Verbs {deck}")

    refusal = call(f"anki.{tool}", query=query, **json.loads(more))

    kind = "note" if query.startswith("note") else "deck"
    assert refusal["code"] == "INVALID_QUERY" and f'Write "{kind}:' in refusal["hint"]


CLEAR_NAMES = """\
deck:Spanish sol
"deck:Spanish Verbs"
deck:"Spanish Verbs"
deck:Spanish* Verbs
deck:Spanish"""


@pytest.mark.parametrize("query", CLEAR_NAMES.splitlines())
def test_a_name_in_quotes_or_followed_by_a_word_of_its_own_is_searched_for(anki, collection, query):
    add_notes(collection, "Spanish", "sol Verbs")
    add_notes(collection, "Spanish Verbs", "ser Verbs")

    assert find_notes(query)["total"] > 0
