"""Changing notes, and telling what Anki really changed."""

import base64
import json

import pytest

from tests.anki.anki_helpers import add_notes, both_versions, fronts
from tests.anki.anki_images import png
from tools.anki.batches import updating

GONE = 1234567890123


def back(collection, note):
    return collection.get_note(note)["Back"]


@both_versions
def test_each_bad_update_is_named_and_the_good_ones_are_made(anki, call):
    one, two, three = add_notes(anki.collection, "A", "a", "b", "c")
    anki.collection.tags.bulk_add([one], "obsolete keep")
    whole = {"fields": {"front": "new"}, "addTags": ["updated"], "removeTags": ["obsolete"], "deckName": "B::C"}

    answer = call(
        "anki.update_notes",
        notes=[
            {"noteId": one, **whole},
            {"noteId": GONE, "fields": {"Back": "new"}},
            {"noteId": two, "fields": {"Bakc": "new"}},
            {"noteId": two, "addTags": ["two words"]},
            {"noteId": two},
            {"noteId": two, "deckName": "A\nB"},
            {"noteId": two, "deckName": "a"},
            {"noteId": 2**70, "fields": {"Back": "x"}},
            {"note_id": str(three), "fields": {"Back": "first"}},
            {"noteId": three, "fields": {"Back": "second"}},
        ],
    )

    reasons = [None, "missing", "unknown_field", "invalid_tag", "nothing", "invalid_deck_name"]
    assert [one.get("reason") for one in answer["details"]] == [*reasons, None, "missing", None, "twice"]
    made = {"updatedFields": ["Front"], "addedTags": ["updated"], "removedTags": ["obsolete"], "deckChangedTo": "B::C"}
    assert answer["details"][0] == {"index": 0, "noteId": one, "status": "ok", **made}
    assert "deckChangedTo" not in answer["details"][6]
    assert (answer["updated"], answer["skipped"]) == (3, 7)
    assert anki.collection.get_note(one).tags == ["keep", "updated"]
    assert (fronts(anki.collection, "B::C"), back(anki.collection, three)) == (["new"], "first")


def test_notes_of_two_types_are_changed_each_by_its_own_fields(anki, call):
    (basic,) = add_notes(anki.collection, "A", "a")
    cloze = anki.collection.new_note(anki.collection.models.by_name("Cloze"))
    cloze["Text"] = "{{c1::x}}"
    anki.collection.add_note(cloze, anki.collection.decks.id("A"))
    fields = ((basic, {"back": "b"}), (cloze.id, {"back extra": "e"}))

    details = call("anki.update_notes", notes=[{"noteId": note, "fields": its} for note, its in fields])["details"]
    changed = [anki.collection.get_note(note).values() for note in (basic, cloze.id)]
    call("anki.restore", entry=1)

    assert [detail["updatedFields"] for detail in details] == [["Back"], ["Back Extra"]]
    assert changed == [["a", "b"], ["{{c1::x}}", "e"]]
    assert [anki.collection.get_note(note).values()[1] for note in (basic, cloze.id)] == ["answer", ""]


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


@pytest.mark.parametrize(("count", "requests"), [(1, 4), (200, 5), (500, 6)])
def test_updates_cost_few_requests_whatever_their_number(anki, call, count, requests):
    ids = add_notes(anki.collection, "A", *(f"front {number}" for number in range(count)))

    answer = call(
        "anki.update_notes",
        notes=[{"noteId": one, "fields": {"Back": "new"}, "addTags": ["t"], "deckName": "B"} for one in ids],
    )

    assert answer["updated"] == count
    assert len(anki.requests) <= requests


@pytest.mark.parametrize("fault", ["cut_before", "cut_after"])
def test_a_cut_in_the_middle_says_what_is_known_and_a_second_call_finishes(anki, call, fault):
    ids = add_notes(anki.collection, "A", *(f"front {number}" for number in range(300)))
    notes = [{"noteId": one, "fields": {"Back": "new"}} for one in ids]
    anki.faults = {2: fault}

    broken = call("anki.update_notes", notes=notes)

    assert broken["code"] == "ANKI_CUT"
    states = [broken["details"][at]["status"] for at in (0, 29, 30, 269, 270)]
    assert states == ["ok", "ok", "unknown", "unknown", "not_sent"]
    assert call("anki.update_notes", notes=notes)["updated"] == 300


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
    monkeypatch.setattr(updating, "EDITOR_S", 0)
    monkeypatch.setattr(updating.time, "sleep", lambda _: save_old(anki.collection, note))

    (detail,) = call("anki.update_notes", notes=[{"noteId": note, "fields": {"Back": "new"}}])["details"]

    assert detail["status"] == "error"
    assert "Browser" in detail["error"]


def save_old(collection, note):
    found = collection.get_note(note)
    found["Back"] = "answer"
    collection.update_note(found)


def with_backs(collection, *backs):
    ids = add_notes(collection, "Geo", *(f"front {number}" for number in range(len(backs))))
    for note, text in zip(ids, backs, strict=True):
        changed = collection.get_note(note)
        changed["Back"] = text
        collection.update_note(changed)
    return ids


def test_a_typo_in_a_long_field_is_replaced_in_few_words(anki, call):
    (note,) = with_backs(anki.collection, "x" * 2000 + " teh end " + "y" * 2000)
    update = {"noteId": note, "replace": {"Back": ["teh", "the"]}}

    answer = call("anki.update_notes", notes=[update])

    assert back(anki.collection, note)[1995:2010] == "xxxxx the end y"
    assert (len(json.dumps({"notes": [update]})) + len(json.dumps(answer))) / 4 <= 60


@pytest.mark.parametrize(
    ("replace", "more", "reason"),
    [
        ({"Back": ["teh", "the"]}, {}, "ambiguous"),
        ({"Back": ["Teh", "the"]}, {}, "no_such_text"),
        ({"Bakc": ["teh", "the"]}, {}, "unknown_field"),
        ({"*": ["teh", "the"]}, {"all": True}, None),
        ({"*": ["front", "back"]}, {}, None),
    ],
)
def test_a_text_is_replaced_where_it_is_meant(anki, call, replace, more, reason):
    (note,) = with_backs(anki.collection, "teh cat and teh dog")

    (detail,) = call("anki.update_notes", notes=[{"noteId": note, "replace": replace, **more}])["details"]

    assert detail.get("reason") == reason
    assert (back(anki.collection, note) == "teh cat and teh dog") == (not more)


def test_a_replacement_made_again_after_a_lost_answer_changes_nothing_more(anki, call):
    """The new text holds the old one: cats must not become catss."""
    (note,) = with_backs(anki.collection, "a cat, two cats")
    notes = [{"noteId": note, "replace": {"Back": ["cat", "cats"]}}]
    anki.faults = {1: "cut_after"}

    assert call("anki.update_notes", notes=notes)["success"] is False
    assert call("anki.update_notes", notes=notes)["updated"] == 1
    assert back(anki.collection, note) == "a cats, two cats"


def test_thirty_typos_cost_few_tokens_and_are_changed_only_as_counted(anki, call):
    ids = with_backs(anki.collection, *(f"{'x' * 300} teh word {number}" for number in range(30)), "the other")
    wanted = {"query": "deck:Geo", "replace": {"*": ["teh", "the"]}}

    dry = call("anki.update_notes", **wanted, dryRun=True)
    refused = call("anki.update_notes", **wanted)
    answer = call("anki.update_notes", **wanted, expected=30)

    assert (dry["count"], dry["placesInAll"], len(dry["places"])) == (30, 30, 10)
    assert dry["places"][0] == [ids[0], "Back", f"{'x' * 19} [teh → the] word 0"]
    assert (refused["code"], refused["count"]) == ("EXPECTED_COUNT", 30)
    assert answer == {"updated": 30, "skipped": 0, "noteIds": f"{ids[0]}-{ids[29]}"}
    assert [back(anki.collection, note)[-10:-2] for note in ids[:9]] == ["the word"] * 9
    # The dry run's places are most of it.
    assert sum(len(json.dumps(text, ensure_ascii=False)) for text in (wanted, dry, wanted, answer)) / 4 <= 300


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": "deck:Geo"},
        {"replace": {"*": ["a", "b"]}},
        {"query": "deck:Geo", "replace": {"*": ["a"]}},
        {"query": "deck:Geo", "replace": {"*": ["", "b"]}},
        {"query": "deck:Geo", "replace": {"*": ["a", "b"]}, "notes": [{"noteId": 1}]},
    ],
)
def test_a_replacement_that_is_not_whole_is_refused(anki, call, arguments):
    assert call("anki.update_notes", **arguments)["code"] == "INVALID_ARGUMENTS"
    assert anki.requests == []


def test_a_dry_run_of_updates_shows_all_that_would_change_and_be_made(anki, call):
    (note,) = with_backs(anki.collection, "the same beginning of a text, then blue")
    update = {"noteId": note, "fields": {"Back": "the same beginning of a text, then green"}, "deckName": "Nowhere"}

    dry = call(
        "anki.update_notes",
        notes=[{**update, "addTags": ["new"], "removeTags": ["old"]}, {"noteId": GONE}],
        dryRun=True,
    )

    assert (dry["count"], dry["missing"]) == (1, 1)
    assert dry["examples"] == [
        {
            "noteId": note,
            "text": "front 0",
            "fields": {"Back": ["ing of a text, then blue", "ing of a text, then green"]},
            "addTags": ["new"],
            "removeTags": ["old"],
            "deckName": ["Geo", "Nowhere"],
        }
    ]
    assert dry["makes"] == {"decks": ["Nowhere"], "tags": ["new"]}
    assert "undo list" in dry["warnings"][0]
