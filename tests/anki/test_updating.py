"""Changing notes, and telling what Anki really changed."""

import json

import pytest

from tests.anki.anki_helpers import (
    GONE,
    REVERSED,
    add_item,
    add_many,
    add_note,
    add_notes,
    both_versions,
    call,
    content,
    fronts,
    in_base64,
    png,
    restore,
    tokens,
    update_detail,
    update_each,
    update_note,
)
from tests.support.client import cases, json_lines
from tools.anki import notes, update_notes


def back(collection, note):
    return collection.get_note(note)["Back"]


def with_backs(collection, *backs):
    return [
        add_note(collection, "Geo", "Basic", f"front {number}", text)
        for number, text in enumerate(backs)
    ]


@both_versions
def test_each_bad_update_is_named_and_the_good_ones_are_made(anki, collection):
    one, two, three = add_notes(collection, "A", "a", "b", "c")
    collection.tags.bulk_add([one], "obsolete::tag keep")
    tags = {"addTags": ["updated"], "removeTags": ["obsolete", "nothere"]}
    picture = {"image_base64": in_base64(png()), "target_field": "Bakc"}
    updates = [
        (None, {"noteId": one, "fields": {"front": "new"}, **tags, "deckName": "B::C"}),
        ("missing", {"noteId": GONE, "fields": {"Back": "new"}}),
        ("unknown_field", {"noteId": two, "fields": {"Bakc": "new"}}),
        ("unknown_target_field", {"noteId": two, "images": [picture]}),
        ("invalid_tag", {"noteId": two, "addTags": ["two words"]}),
        ("unknown_field", {"noteId": two, "fields": {"Front": "x", "front": "y"}}),
        ("nothing", {"noteId": two, "fields": {}, "all": True}),
        ("invalid_deck_name", {"noteId": two, "deckName": "A\nB"}),
        (None, {"noteId": two, "deckName": "a"}),
        (None, {"noteId": str(three), "fields": {"Back": "cleaned\r\nby\x07Anki, e\u0301"}}),
    ]

    answer = call("anki.update_notes", notes=[update for _, update in updates])

    details = answer["details"]
    assert [detail.get("reason") for detail in details] == [reason for reason, _ in updates]
    assert details[0] == {
        "index": 0,
        "noteId": one,
        "status": "ok",
        "updatedFields": ["Front"],
        "addedTags": ["updated"],
        "removedTags": ["obsolete"],
        "deckChangedTo": "B::C",
    }
    assert "Front, Back" in details[3]["hint"]
    assert "deckChangedTo" not in details[8]
    assert "addTags" in details[6]["hint"]
    assert (answer["updated"], answer["skipped"]) == (3, 7)
    assert collection.get_note(one).tags == ["keep", "updated"]
    assert fronts(collection, "B::C") == ["new"]
    assert back(collection, three).startswith("cleaned")


def test_of_two_updates_of_one_note_the_one_that_was_overwritten_is_named(collection, note):
    first = {"noteId": note, "fields": {"Back": "first"}}
    second = {"noteId": note, "fields": {"Back": "second"}}
    tag = {"noteId": note, "addTags": ["x"]}

    tagged = call("anki.update_notes", notes=[first, first, tag])
    answer = call("anki.update_notes", notes=[first, second])

    assert (tagged["updated"], collection.get_note(note).tags) == (3, ["x"])
    assert [detail.get("reason") for detail in answer["details"]] == ["unchanged", None]
    assert back(collection, note) == "second"


def test_what_was_not_sent_is_not_read_back(anki):
    answer = update_note(GONE, fields={"Back": "x"})

    assert (answer["skipped"], len(anki.requests)) == (1, 1)


def test_notes_of_two_types_are_changed_each_by_its_own_fields(anki, collection):
    (basic,) = add_notes(collection, "A", "a")
    cloze = add_note(collection, "A", "Cloze", "{{c1::x}}")
    updates = [
        {"noteId": basic, "fields": {"back": "b"}},
        {"noteId": cloze, "fields": {"back extra": "e"}},
    ]

    details = call("anki.update_notes", notes=updates)["details"]
    changed = content(collection)
    restore()

    assert [detail["updatedFields"] for detail in details] == [["Back"], ["Back Extra"]]
    assert [note[1] for note in changed] == [["a", "b"], ["{{c1::x}}", "e"]]
    assert [note[1] for note in content(collection)] == [["a", "answer"], ["{{c1::x}}", ""]]


def test_a_note_open_in_the_browser_is_not_said_to_be_changed(anki):
    one, two = add_notes(anki.collection, "A", "a", "b")
    anki.addon._open_in_browser = {one}

    answer = update_each([one, two], fields={"Back": "new"})

    assert answer["updated"] == 1
    assert "Browser" in answer["details"][0]["error"]


def test_a_note_with_several_cards_moves_with_all_of_them(anki, collection):
    note = add_note(collection, "A", REVERSED, "f", "b")
    first, _ = collection.card_ids_of_note(note)
    collection.set_deck([first], collection.decks.id("B"))

    detail = update_detail(str(note), deckName="B")

    assert detail["deckChangedTo"] == "B"
    assert len(collection.find_cards("deck:B")) == 2


FEW = {"fields": {"Back": "new"}, "addTags": ["t"], "deckName": "B"}


@both_versions
@pytest.mark.parametrize(
    "count, update, requests, taggings",
    [(1, FEW, 5, 1), (500, FEW, 7, 3), (500, {"addTags": ["t"]}, 2, 1)],
)
def test_updates_cost_few_requests_whatever_their_number(anki, count, update, requests, taggings):
    ids = add_many(anki.collection, "A", count)

    answer = update_each(ids, **update)

    assert answer["updated"] == len(anki.collection.find_notes("tag:t")) == count
    assert len(anki.requests) <= requests
    assert anki.actions().count("addTags") <= taggings


def test_one_step_that_fails_is_told_with_those_that_did_not(anki, note):
    def fail(**params):
        raise Exception("bad tag")

    anki.addon.addTags = fail

    detail = update_detail(note, fields={"Back": "new"}, addTags=["t"])

    assert (detail["reason"], detail["error"]) == ("other", "bad tag")
    assert detail["updatedFields"] == ["Back"]
    assert "addedTags" not in detail


def test_after_a_stall_nothing_more_is_asked(anki, impatient):
    ids = add_many(anki.collection, "A", 51, "front")
    anki.faults = {2: "stall"}

    answer = update_each(ids, fields={"Back": "new"})

    assert answer["code"] == "ANKI_NO_ANSWER"
    assert [answer["details"][at]["status"] for at in (0, 29, 30)] == ["ok", "ok", "unknown"]
    assert "not read back" in answer["warnings"][0]
    assert len(anki.requests) == 3


def test_a_change_that_the_loading_browser_overwrites_is_not_said_to_be_made(
    anki, collection, note, monkeypatch
):
    """guiBrowse, then update_notes at once: two seconds later the editor saves the old text over the new
    one."""
    anki.addon.guiSelectedNotes = lambda: [note]
    old = collection.get_note(note)
    monkeypatch.setattr(update_notes.time, "sleep", lambda _: collection.update_note(old))

    detail = update_detail(note, fields={"Back": "new"})

    assert "Browser" in detail["error"]


def test_hundreds_of_moved_cards_are_moved_back_by_their_decks(anki, collection):
    ids = add_many(collection, "A", 200, "front")
    more = add_many(collection, "B", 100, "other")
    update_each(ids + more, deckName="C")
    anki.requests.clear()

    assert restore()["cards"] == 300

    assert (len(anki.requests), anki.actions().count("changeDeck")) == (2, 2)
    homes = [len(collection.find_cards(f"deck:{deck}")) for deck in "ABC"]
    assert homes == [200, 100, 0]


def test_a_typo_in_a_long_field_is_replaced_in_few_words(anki, collection):
    (note,) = with_backs(collection, "x" * 2000 + " teh end " + "y" * 2000)
    update = {"noteId": note, "replace": {"Back": ["teh", "the"]}}

    answer = call("anki.update_notes", notes=[update])

    assert back(collection, note)[1995:2010] == "xxxxx the end y"
    assert tokens([update, answer]) <= 60


REPLACEMENTS = """
{"replace": {"Back": ["teh", "the"]}} | ambiguous
{"replace": {"Back": ["Teh", "the"]}} | no_such_text
{"replace": {"Bakc": ["teh", "the"]}} | unknown_field
{"replace": {"*": ["teh", "the"]}, "all": true} | made
{"replace": {"*": ["front", "back"]}} | made
"""


@pytest.mark.parametrize("update, reason", cases(REPLACEMENTS))
def test_a_text_is_replaced_where_it_is_meant(anki, collection, update, reason):
    (note,) = with_backs(collection, "teh cat and teh dog")

    detail = update_detail(note, **json.loads(update))

    assert detail.get("reason", "made") == reason
    assert (back(collection, note) == "teh cat and teh dog") == ("all" not in update)


def test_a_replacement_made_again_after_a_lost_answer_changes_nothing_more(anki, collection):
    """The new text holds the old one: cats must not become catss."""
    (note,) = with_backs(collection, "a cat, two cats")
    replace = {"Back": ["cat", "cats"]}
    anki.faults = {1: "cut_after"}

    assert update_note(note, replace=replace)["success"] is False
    assert update_note(note, replace=replace)["updated"] == 1
    assert back(collection, note) == "a cats, two cats"


def test_thirty_typos_cost_few_tokens_and_are_changed_only_as_counted(anki, collection):
    backs = [f"{'x' * 4 * number} teh word {number} {'x' * 300}" for number in range(30)]
    ids = with_backs(collection, *backs, "the other")
    replacement = {"query": "deck:Geo", "replace": {"*": ["teh", "the"]}}

    dry = call("anki.update_notes", **replacement, dryRun=True)
    refused = call("anki.update_notes", **replacement)
    answer = call("anki.update_notes", **replacement, expected=30)

    assert (dry["count"], dry["placesInAll"], len(dry["places"])) == (30, 30, 10)
    assert dry["places"][0] == [ids[0], "Back", f" [teh → the] word 0 {'x' * 12}"]
    assert dry["places"][9][2].startswith(f"{'x' * 19} [teh → the] word 9 ")
    assert (refused["code"], refused["count"]) == ("EXPECTED_COUNT", 30)
    assert answer == {"updated": 30, "skipped": 0, "noteIds": f"{ids[0]}-{ids[29]}"}
    assert all("the word" in back(collection, note) for note in ids[:30])
    # The dry run's places are most of it.
    assert tokens([replacement, dry, replacement, answer]) <= 300


NOT_WHOLE = json_lines("""
{}
{"query": "deck:Geo"}
{"query": "deck:Geo", "replace": {"*": ["a"]}}
{"query": "deck:Geo", "replace": {"*": ["", "b"]}}
{"query": "deck:Geo", "replace": {"*": ["a", "b"]}, "notes": [{"noteId": 1}]}
""")


@pytest.mark.parametrize("arguments", NOT_WHOLE)
def test_a_replacement_that_is_not_whole_is_refused(anki, arguments):
    assert call("anki.update_notes", **arguments)["code"] == "INVALID_ARGUMENTS"
    assert anki.requests == []


def test_a_dry_run_of_updates_shows_all_that_would_change_and_be_made(anki):
    (note,) = with_backs(anki.collection, "the same beginning of a text, then blue")
    fields = {"Back": "the same beginning of a text, then green"}
    tags = {"addTags": ["new"], "removeTags": ["old"]}

    dry = update_each([note, GONE], fields=fields, **tags, deckName="Nowhere", dryRun=True)

    changes = {"Back": ["ing of a text, then blue", "ing of a text, then green"]}
    decks = ["Geo", "Nowhere"]
    example = {"noteId": note, "text": "front 0", "fields": changes, **tags, "deckName": decks}
    assert dry["examples"] == [example]
    assert (dry["count"], dry["missing"]) == (1, 1)
    assert dry["makes"] == {"decks": ["Nowhere"], "tags": ["new"]}
    assert "undo list" in dry["warnings"][0]


def test_a_dry_run_names_each_update_that_would_fail(geo):
    one, two, three, _ = geo.ids
    notes = [
        {"noteId": one, "addTags": ["two words"]},
        {"noteId": two, "replace": {"Back": ["zzz", "x"]}},
        {"noteId": three, "images": [{"image_base64": in_base64(png())}]},
    ]

    examples = call("anki.update_notes", notes=notes, dryRun=True)["examples"]

    assert [example.get("reason") for example in examples] == ["invalid_tag", "no_such_text", None]
    assert "storeMediaFile" not in geo.actions()


def test_a_misspelt_field_in_a_query_s_replace_is_an_error(geo):
    replace = {"Bakc": ["answer", "x"]}

    answer = call("anki.update_notes", query="deck:Geo", replace=replace, dryRun=True)

    assert answer["code"] == "UNKNOWN_FIELD" and "Bakc" in answer["error"]


EMPTYING = json_lines("""
{"replace": {"Front": ["a", ""]}}
{"fields": {"Front": "<br>"}}
""")


@pytest.mark.parametrize("change", EMPTYING)
def test_a_change_that_empties_the_first_field_warns(geo, change):
    dry = update_note(geo.ids[0], **change, dryRun=True)
    answer = update_note(geo.ids[0], **change)

    warning = f"note {geo.ids[0]} has nothing in its first field, Front, after this"
    assert warning in dry["warnings"] and warning in answer["warnings"]


# A field, and what Anki keeps of it.
KEPT = json_lines(r"""
["def f(x):\n    return x", "def f(x):<br>    return x"]
["a < b\nc", "a < b<br>c"]
["a vector<int>, <b>bold</b>", "a vector<int>, <b>bold</b>"]
["<pre>a\nb</pre>", "<pre>a\nb</pre>"]
["<li>a\n<li>b", "<li>a\n<li>b"]
""")


@pytest.mark.parametrize("text, kept", KEPT)
def test_fields_are_html_and_line_breaks_of_plain_text_are_breaks_in_anki(
    anki, collection, text, kept
):
    detail = add_item({"Front": "q", "Back": text})
    call("anki.add_notes", notes=[{"fields": {"Front": "r", "Back": text}}])
    update_note(detail["noteId"], fields={"Front": text})

    fields = [note[1] for note in content(collection)]
    assert fields == [[kept, kept], ["r", kept]]


def test_a_replacement_in_many_notes_goes_on_with_the_same_call(anki, collection, monkeypatch):
    monkeypatch.setattr(update_notes, "MOST_NOTES_PER_CALL", 20)
    monkeypatch.setattr(notes, "NOTES_PER_REQUEST", 7)
    ids = with_backs(collection, *(f"teh word {number}" for number in range(50)))
    replacement = {"query": "deck:Geo", "replace": {"Back": ["teh", "the"]}}

    answers = [call("anki.update_notes", **replacement, expected=count) for count in (50, 30, 10)]

    assert [(answer["updated"], answer.get("left")) for answer in answers] == [
        (20, 30),
        (20, 10),
        (10, None),
    ]
    assert not collection.find_notes("back:*teh*")
    assert max(len(request.get("params", {}).get("notes", ())) for request in anki.requests) <= 7
    for entry in (3, 2, 1):
        restore(entry)
    assert len(collection.find_notes("back:*teh*")) == len(ids)


def test_a_replacement_arrives_as_typed_with_line_breaks_as_anki_shows_them(anki, collection):
    one, two = with_backs(collection, "one teh", "<pre>a\nb</pre>")

    update_note(one, replace={"Back": ["teh", "two\nthree"]})
    update_note(two, replace={"Back": ["a\nb", "a\n\\(c\\1"]})

    assert back(collection, one) == "one two<br>three"
    assert back(collection, two) == "<pre>a\n\\(c\\1</pre>"
