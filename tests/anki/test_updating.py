"""Changing notes, and telling what Anki really changed."""

import base64

import pytest

from tests.anki.anki_helpers import add_notes, both_versions, fronts
from tests.anki.anki_images import png
from tools.anki.batches import reading_back

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
@pytest.mark.parametrize("count", [1, 100, 500])
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
    ids = add_notes(anki.collection, "A", *(f"front {number}" for number in range(300)))
    notes = [{"noteId": one, "fields": {"Back": "new"}} for one in ids]
    anki.faults = {2: fault}

    broken = call("anki.update_notes", notes=notes)

    assert broken["code"] == "ANKI_CUT"
    assert [broken["details"][at]["status"] for at in (0, 29, 30, 269, 270)] == [
        "ok",
        "ok",
        "unknown",
        "unknown",
        "not_sent",
    ]
    assert call("anki.update_notes", notes=notes)["updated"] == 300


def test_what_was_not_read_back_is_said(anki, call):
    (one,) = add_notes(anki.collection, "A", "a")
    anki.faults = {2: "cut_before"}

    answer = call("anki.update_notes", notes=[{"noteId": one, "fields": {"Back": "new"}}])

    assert answer["updated"] == 1
    assert "not read back" in answer["warnings"][0]


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
    assert [answer["details"][at]["status"] for at in (0, 29, 30)] == ["ok", "ok", "unknown"]
    assert "not read back" in answer["warnings"][0]
    assert len(anki.requests) == 3


@both_versions
def test_a_tag_for_500_notes_is_three_requests(anki, call):
    ids = add_notes(anki.collection, "A", *(f"front {number}" for number in range(500)))

    answer = call("anki.update_notes", notes=[{"noteId": note, "addTags": ["t"]} for note in ids])

    assert answer["updated"] == 500
    assert len(anki.requests) == 3
    assert sum(name == "addTags" for name in anki.actions()) == 1
    assert len(anki.collection.find_notes("tag:t")) == 500


def test_equal_tags_and_decks_are_one_action_each(anki, call):
    ids = add_notes(anki.collection, "A", *(f"front {number}" for number in range(20)))
    change = {"fields": {"Back": "new"}, "addTags": ["x", "y"], "removeTags": ["old"], "deckName": "B"}
    anki.collection.tags.bulk_add(ids, "old")

    call("anki.update_notes", notes=[{"noteId": note, **change} for note in ids])

    sent = [name for name in anki.actions() if name in ("addTags", "removeTags", "changeDeck")]
    assert sent == ["addTags", "removeTags", "changeDeck"]
    assert anki.collection.get_note(ids[7]).tags == ["x", "y"]


@pytest.mark.parametrize("text", ["line 1\r\nline 2", "a\x07b\x7f", "tab\tand e\u0301"])
def test_text_that_anki_cleans_counts_as_changed(anki, call, text):
    (note,) = add_notes(anki.collection, "A", "a")

    assert call("anki.update_notes", notes=[{"noteId": note, "fields": {"Back": text}}])["updated"] == 1
    assert back(anki.collection, note) != "answer"


def test_only_tags_that_the_note_had_are_said_to_be_removed(anki, call):
    one, two = add_notes(anki.collection, "A", "a", "b")
    anki.collection.tags.bulk_add([one], "Geo::city keep")

    answer = call(
        "anki.update_notes", notes=[{"noteId": note, "removeTags": ["nothere", "geo"]} for note in (one, two)]
    )

    assert answer["updated"] == 2
    assert answer["details"][0]["removedTags"] == ["geo"]
    assert "removedTags" not in answer["details"][1]
    assert anki.collection.get_note(one).tags == ["keep"]


def test_a_picture_for_a_field_that_is_not_there_is_that_update_s_failure(anki, call):
    one, two = add_notes(anki.collection, "A", "a", "b")
    image = {"image_base64": base64.b64encode(png()).decode(), "target_field": "Bakc"}

    answer = call(
        "anki.update_notes", notes=[{"noteId": one, "images": [image]}, {"noteId": two, "fields": {"Back": "new"}}]
    )

    assert answer["details"][0]["reason"] == "unknown_target_field"
    assert "Front, Back" in answer["details"][0]["hint"]
    assert answer["details"][1]["status"] == "ok"


def test_a_change_that_the_loading_browser_overwrites_is_not_said_to_be_made(anki, call, monkeypatch):
    """guiBrowse, then update_notes at once: two seconds later the editor saves the old text over the new one."""
    (note,) = add_notes(anki.collection, "A", "a")
    anki.addon._selected = [note]
    monkeypatch.setattr(reading_back, "EDITOR_S", 0)
    monkeypatch.setattr(reading_back.time, "sleep", lambda _: save_old(anki.collection, note))

    (detail,) = call("anki.update_notes", notes=[{"noteId": note, "fields": {"Back": "new"}}])["details"]

    assert detail["status"] == "error"
    assert "Browser" in detail["error"]


def save_old(collection, note):
    found = collection.get_note(note)
    found["Back"] = "answer"
    collection.update_note(found)


@pytest.mark.parametrize(
    ("update", "meant"),
    [
        ({"id": 1}, "noteId"),
        ({"noteId": 1, "tags": ["x"]}, "addTags"),
        ({"noteId": 1, "images": [{"url": "", "side": 1}]}, "max_side"),
    ],
)
def test_a_name_that_an_update_does_not_have_is_answered_with_those_it_has(anki, call, update, meant):
    answer = call("anki.update_notes", notes=[update])

    assert answer["hint"].startswith(f"Did you mean {meant}?")
    assert ("noteId, fields, addTags" in answer["hint"]) != ("images" in update)
    assert anki.requests == []


def test_tag_for_tags_in_a_flat_item_is_understood_as_a_slip(anki, call):
    answer = call("anki.add_from_model", items=[{"Front": "x", "tag": ["a"]}])

    assert answer["details"][0]["hint"] == "Did you mean tags?"


@both_versions
def test_what_a_change_brings_about_unasked_is_a_warning(anki, call):
    """Anki says nothing to an emptied first field, to a text that another note has, to clozes that are gone."""
    empty, twin, other, same = add_notes(anki.collection, "A", "a", "b", "c", "d")
    cloze = anki.collection.new_note(anki.collection.models.by_name("Cloze"))
    cloze["Text"], cloze["Back Extra"] = "{{c1::Paris}} {{c2::lies}} {{c3::there}}", "{{c9::not a cloze field}}"
    anki.collection.add_note(cloze, 1)
    anki.requests.clear()

    answer = call(
        "anki.update_notes",
        notes=[
            {"noteId": empty, "fields": {"Front": "<br>"}},
            {"noteId": twin, "fields": {"Front": "<b>c</b>"}},
            {"noteId": same, "fields": {"Front": "d", "Back": "{{c1::}}"}},
            {"noteId": cloze.id, "fields": {"Text": "{{c1::Paris}}", "Back Extra": ""}},
        ],
    )

    assert answer["updated"] == 4
    assert [detail.get("warnings") for detail in answer["details"]] == [
        ["Front, the first field, is empty now"],
        [f"Front, the first field, is now the same as of note {other}, a duplicate"],
        None,
        ["c2, c3 gone, with an empty card left for each"],
    ]
    assert "Empty Cards" in answer["warnings"][0]
    assert len(anki.requests) == 4


def test_a_picture_alone_is_no_empty_first_field(anki, call):
    (note,) = add_notes(anki.collection, "A", "a")

    (detail,) = call("anki.update_notes", notes=[{"noteId": note, "fields": {"Front": '<img src="a.png">'}}])["details"]

    assert "warnings" not in detail


def test_first_fields_that_could_not_be_compared_are_said(anki, call):
    (note,) = add_notes(anki.collection, "A", "a")
    anki.faults = {3: "cut_before"}

    answer = call("anki.update_notes", notes=[{"noteId": note, "fields": {"Front": "new"}}])

    assert answer["updated"] == 1
    assert "is not known" in answer["warnings"][0]


@both_versions
def test_updates_of_every_first_field_cost_at_most_eight_requests_too(anki, call):
    ids = add_notes(anki.collection, "A", *(f"front {number}" for number in range(500)))
    change = {"fields": {"Front": "the same", "Back": "new"}, "addTags": ["t"], "deckName": "B"}

    answer = call("anki.update_notes", notes=[{"noteId": note, **change} for note in ids])

    assert answer["updated"] == 500
    assert all("a duplicate" in detail["warnings"][0] for detail in answer["details"])
    assert len(anki.requests) <= 8
