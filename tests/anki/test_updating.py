"""Changing notes, and telling what Anki really changed."""

import pytest

from tests.anki.anki_helpers import add_notes, both_versions, fronts

GONE = 1234567890123


def back(collection, note):
    return collection.get_note(note)["Back"]


@both_versions
def test_fields_tags_and_deck_are_changed_and_told(anki, call):
    (one,) = add_notes(anki.collection, "Old", "a")
    anki.collection.tags.bulk_add([one], "obsolete keep")

    answer = call(
        "anki.update_notes",
        notes=[
            {
                "noteId": one,
                "fields": {"front": "Новый вопрос"},
                "addTags": ["updated"],
                "removeTags": ["obsolete"],
                "deckName": "Updated::Deck",
            }
        ],
    )

    assert answer == {
        "updated": 1,
        "skipped": 0,
        "details": [
            {
                "index": 0,
                "noteId": one,
                "status": "ok",
                "updatedFields": ["Front"],
                "addedTags": ["updated"],
                "removedTags": ["obsolete"],
                "deckChangedTo": "Updated::Deck",
            }
        ],
    }
    assert anki.collection.get_note(one).tags == ["keep", "updated"]
    assert fronts(anki.collection, "Updated::Deck") == ["Новый вопрос"]


@both_versions
def test_each_bad_update_is_named_and_the_good_ones_are_made(anki, call):
    one, two = add_notes(anki.collection, "A", "a", "b")

    answer = call(
        "anki.update_notes",
        notes=[
            {"noteId": one, "fields": {"Back": "new"}},
            {"noteId": GONE, "fields": {"Back": "new"}},
            {"noteId": two, "fields": {"Bakc": "new"}},
            {"noteId": two, "addTags": ["two words"]},
            {"noteId": two},
            {"noteId": two, "deckName": "A\nB"},
            {"noteId": two, "deckName": "a"},
            {"noteId": 2**70, "fields": {"Back": "x"}},
        ],
    )

    assert [(one["status"], one.get("reason")) for one in answer["details"]] == [
        ("ok", None),
        ("error", "missing"),
        ("error", "unknown_field"),
        ("error", "invalid_tag"),
        ("error", "nothing"),
        ("error", "invalid_deck_name"),
        ("ok", None),
        ("error", "missing"),
    ]
    assert "deckChangedTo" not in answer["details"][6]
    assert (answer["updated"], answer["skipped"]) == (2, 6)
    assert (back(anki.collection, one), back(anki.collection, two)) == ("new", "answer")


def test_a_note_open_in_the_browser_is_not_said_to_be_changed(anki, call):
    one, two = add_notes(anki.collection, "A", "a", "b")
    anki.addon._open_in_browser = {one}

    answer = call("anki.update_notes", notes=[{"noteId": note, "fields": {"Back": "new"}} for note in (one, two)])

    assert (answer["updated"], answer["skipped"]) == (1, 1)
    assert "Browser" in answer["details"][0]["error"]
    assert answer["details"][1]["status"] == "ok"


def test_a_note_with_several_cards_moves_with_all_of_them(anki, call):
    note = anki.collection.new_note(anki.collection.models.by_name("Basic (and reversed card)"))
    note["Front"], note["Back"] = "f", "b"
    anki.collection.add_note(note, anki.collection.decks.id("A"))
    first, _ = anki.collection.card_ids_of_note(note.id)
    anki.collection.set_deck([first], anki.collection.decks.id("B"))

    answer = call("anki.update_notes", notes=[{"note_id": str(note.id), "deck_name": "B"}])

    assert answer["details"][0]["deckChangedTo"] == "B"
    assert len(anki.collection.find_cards("deck:B")) == 2


def test_updates_of_one_note_build_on_each_other(anki, call):
    (one,) = add_notes(anki.collection, "A", "a")

    answer = call(
        "anki.update_notes",
        notes=[
            {"noteId": one, "fields": {"Back": "first"}, "addTags": ["x"]},
            {"noteId": one, "fields": {"Back": "second"}, "removeTags": ["x"], "deckName": "B"},
        ],
    )

    assert answer["updated"] == 2
    assert back(anki.collection, one) == "second"
    assert anki.collection.get_note(one).tags == []


def test_text_in_decomposed_unicode_counts_as_changed(anki, call):
    (one,) = add_notes(anki.collection, "A", "a")

    assert call("anki.update_notes", notes=[{"noteId": one, "fields": {"Back": "e\u0301"}}])["updated"] == 1
    assert back(anki.collection, one) == "\u00e9"


@both_versions
@pytest.mark.parametrize("count", [1, 100, 300])
def test_updates_cost_at_most_eight_requests(anki, call, count):
    ids = add_notes(anki.collection, "A", *(f"front {number}" for number in range(count)))

    answer = call(
        "anki.update_notes",
        notes=[{"noteId": one, "fields": {"Back": "new"}, "addTags": ["t"], "deckName": "B"} for one in ids],
    )

    assert answer["updated"] == count
    assert len(anki.requests) <= 8


@pytest.mark.parametrize("fault", ["cut_before", "cut_after"])
def test_a_cut_in_the_middle_says_what_is_known_and_a_second_call_finishes(anki, call, fault):
    ids = add_notes(anki.collection, "A", *(f"front {number}" for number in range(120)))
    notes = [{"noteId": one, "fields": {"Back": "new"}} for one in ids]
    anki.faults = {2: fault}

    broken = call("anki.update_notes", notes=notes)

    assert broken["code"] == "ANKI_CUT"
    assert [broken["details"][at]["status"] for at in (0, 49, 50, 99, 100)] == [
        "ok",
        "ok",
        "unknown",
        "unknown",
        "not_sent",
    ]
    assert call("anki.update_notes", notes=notes)["updated"] == 120


def test_what_was_not_read_back_is_said(anki, call):
    (one,) = add_notes(anki.collection, "A", "a")
    anki.faults = {2: "cut_before"}

    answer = call("anki.update_notes", notes=[{"noteId": one, "fields": {"Back": "new"}}])

    assert answer["updated"] == 1
    assert "not read back" in answer["details"][0]["warnings"][0]


def test_one_step_that_fails_is_told_with_those_that_did_not(anki, call):
    (one,) = add_notes(anki.collection, "A", "a")
    anki.faults = {1: "entry:1:bad tag"}

    (detail,) = call("anki.update_notes", notes=[{"noteId": one, "fields": {"Back": "new"}, "addTags": ["t"]}])[
        "details"
    ]

    assert detail["status"] == "error"
    assert detail["error"] == "bad tag"
    assert detail["updatedFields"] == ["Back"]
    assert "addedTags" not in detail


def test_a_note_can_be_moved_there_and_back_in_one_call(anki, call):
    (one,) = add_notes(anki.collection, "A", "a")

    answer = call("anki.update_notes", notes=[{"noteId": one, "deckName": "B"}, {"noteId": one, "deckName": "A"}])

    assert answer["updated"] == 2
    assert fronts(anki.collection, "A") == ["a"]


def test_after_a_stall_nothing_more_is_asked(anki, call, env):
    env(ANKI_CONNECT_TIMEOUT=1)
    ids = add_notes(anki.collection, "A", *(f"front {number}" for number in range(51)))
    anki.faults = {2: "stall"}

    answer = call("anki.update_notes", notes=[{"noteId": one, "fields": {"Back": "new"}} for one in ids])

    assert answer["code"] == "ANKI_NO_ANSWER"
    assert [answer["details"][at]["status"] for at in (0, 49, 50)] == ["ok", "ok", "unknown"]
    assert "not read back" in answer["details"][0]["warnings"][0]
    assert len(anki.requests) == 3
