"""Adding notes: every good one, each bad one by its index and reason, and the truth when it breaks off."""

import json
import sqlite3
from collections import Counter
from contextlib import closing

import pytest

from tests.anki.anki_helpers import (
    add_item,
    add_items,
    add_notes,
    add_rows,
    add_text,
    both_versions,
    call,
    content,
    delete_notes,
    fronts,
    numbered,
    update_detail,
)
from tests.support.client import json_lines
from tools.anki import batch, state
from tools.core import calls, settings


def note(front, **more):
    return {"fields": {"Front": front, "Back": "b"}, **more}


def add_wholes(*notes, deck="Default"):
    return call("anki.add_notes", deck=deck, notes=list(notes))


@both_versions
def test_every_good_note_is_added_and_each_bad_one_is_named_with_its_reason(anki, collection):
    add_notes(collection, "Geo", "there")
    notes = [
        (None, note("one", tags=["geo", "de"])),
        ("duplicate", note("there")),
        ("empty", note("")),
        ("unknown_field", {"fields": {"Front": "x", "Bakc": "y"}}),
        ("duplicate", note("one")),
        ("invalid_tag", note("tagged", tags=["two words"])),
        (None, note("two")),
    ]

    answer = add_wholes(*(each for _, each in notes), deck="Geo")

    assert (answer["added"], answer["skipped"]) == (2, 5)
    details = answer["details"]
    assert [detail.get("reason") for detail in details] == [reason for reason, _ in notes]
    assert "mean Back?" in details[3]["hint"]
    assert fronts(collection, "Geo") == ["there", "one", "two"]
    assert collection.get_note(details[0]["noteId"]).tags == ["de", "geo"]
    assert fronts(collection, "Default") == []


@both_versions
def test_add_from_model_takes_flat_items_and_whole_ones_and_makes_the_deck(anki, collection):
    flat = {"front": "a", "BACK": "b", "tags": ["geo"], "dedup_key": "geo-paris"}
    whole = {"fields": {"Front": "c"}, "tags": ["geo"]}

    answer = add_items(flat, whole, {"Front": 7}, {"Frnot": "x"}, deck="New::Deck")

    first, second, number, typo = answer["details"]
    assert (first["status"], first["dedup_key"]) == ("ok", "geo-paris")
    assert second["status"] == "ok"
    assert "valid string" in number["error"] and "mean Front?" in typo["hint"]
    assert [note[1:3] for note in content(collection)] == [
        (["a", "b"], ["geo"]),
        (["c", ""], ["geo"]),
    ]
    assert len(collection.find_notes("deck:New::Deck")) == 2


def test_add_notes_does_not_make_the_deck(anki):
    (detail,) = add_wholes(note("a"), deck="Nope")["details"]

    assert detail["reason"] == "deck"
    assert anki.collection.decks.all_names() == ["Default"]


MISPLACED_CLOZES = json_lines("""
["Basic", {"Front": "{{c1::Paris}}"}]
["Cloze", {"Text": "x", "Back Extra": "{{c1::y}}"}]
""")


@pytest.mark.parametrize("model, fields", MISPLACED_CLOZES)
def test_cloze_text_in_a_field_that_is_no_cloze_field_is_told_as_what_it_is(anki, model, fields):
    detail = add_item({"fields": fields}, model=model)

    assert "use note type Cloze, or write it without {{c1::}}" in detail["hint"]


@both_versions
def test_a_dedup_key_is_used_once_in_a_call_and_once_for_all(anki):
    first = add_items({"Front": "a", "dedup_key": "k"}, {"Front": "b", "dedup_key": "k"})
    second = add_wholes(note("c", dedup_key="k"), note("d", dedup_key="other"))

    kept, _, again, _ = details = [*first["details"], *second["details"]]
    assert [detail["status"] for detail in details] == ["ok", "duplicate", "duplicate", "ok"]
    assert (again["noteId"], again["dedup_key"]) == (kept["noteId"], "k")
    assert fronts(anki.collection, "Default") == ["a", "d"]


def test_a_dedup_key_is_free_again_when_its_note_is_gone_or_was_never_added(anki):
    detail = add_item({"Front": "a", "dedup_key": "k"})
    add_items({"Front": "", "dedup_key": "bad"})
    delete_notes([detail["noteId"]])

    answer = add_items({"Front": "b", "dedup_key": "k"}, {"Front": "c", "dedup_key": "bad"})

    assert answer["added"] == 2


@both_versions
@pytest.mark.parametrize("count, requests", [(1, 3), (100, 4), (500, 5)])
def test_notes_without_media_cost_few_requests_whatever_their_number(
    anki, collection, count, requests
):
    items = [{**item, "dedup_key": item["Front"]} for item in numbered(count)]
    add_notes(collection, "Default", "of the person")

    answer = add_items(*items, deck="New")

    assert answer["added"] == len(collection.find_cards("deck:New")) == count
    older = hasattr(anki.addon, "ABSENT")  # its cards have to be moved
    assert len(anki.requests) == requests + older
    assert fronts(collection, "Default") == ["of the person"]


def count_of(answer):
    return Counter(detail["status"] for detail in answer["details"])


@pytest.mark.parametrize("fault", ["cut_before", "cut_after"])
def test_a_cut_in_the_middle_says_what_is_known_and_a_second_call_writes_nothing_twice(anki, fault):
    items = numbered(300)
    anki.faults = {2: fault}

    broken = add_items(*items, deck="New")
    again = add_items(*items, deck="New")

    assert count_of(broken) == {"ok": 30, "unknown": 240, "not_sent": 30}
    assert "added 30, not known 240, not sent 30" in broken["error"]
    assert "Send the notes again that are not `ok`" in broken["hint"]
    assert again["added"] == (30 if fault == "cut_after" else 270)
    assert sorted(fronts(anki.collection, "New")) == sorted(item["Front"] for item in items)
    assert all(detail["noteId"] for detail in again["details"])


def test_parts_take_some_seconds_however_slow_anki_is(monkeypatch):
    now = [0.0]
    sizes = []
    monkeypatch.setattr(batch.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(batch, "PART_S", 10)
    for part in batch.timed_parts(range(500), "counting"):
        now[0] += len(part) * (0.3 if len(sizes) < 4 else 0.005)
        sizes.append(len(part))

    assert sizes == [30, 33, 33, 33, 33, 264, 74]


def test_progress_is_reported_and_a_cancelled_batch_stops_between_requests(anki):
    reports = []

    call = calls.RunningCall(
        lambda *report: reports.append(report[0]), lambda: len(anki.requests) > 2
    )
    with calls.calling(call):
        answer = add_items(*numbered(300), deck="New")

    assert answer["code"] == "CANCELLED"
    assert count_of(answer) == {"ok": 270, "not_sent": 30}
    assert reports == sorted(set(reports))
    assert len(anki.collection.find_cards("deck:New")) == 270


def test_default_means_anki_s_default_deck_also_where_it_has_another_name(anki, collection):
    collection.decks.rename(collection.decks.get(1), "По умолчанию")

    (added,) = add_wholes(note("a"))["details"]
    add_items({"Front": "b"}, deck="Default")
    add_items({"Front": "c"}, deck="Geo")
    moved = update_detail(added["noteId"], deckName="default")

    assert "deckChangedTo" not in moved
    assert fronts(collection, "По умолчанию") == ["a", "b"]
    assert collection.decks.all_names() == ["Geo", "По умолчанию"]


def test_notes_whose_keys_cannot_be_kept_are_told_as_added_and_come_once(anki, monkeypatch):
    """Another session holds the record, once the notes are in Anki."""
    add_items({"Front": "a", "dedup_key": "k"})
    monkeypatch.setattr(state, "BUSY_TIMEOUT_S", 0)
    items = [{**item, "dedup_key": item["Front"]} for item in numbered(35)]
    items.insert(3, {"Front": "a", "dedup_key": "another"})

    file = settings.current().state_dir / "anki-added.sqlite3"

    with closing(sqlite3.connect(file)) as record:
        record.execute("begin immediate")
        broken = add_items(*items)
    again = add_items(*items)
    file.write_bytes(b"no database" * 100)
    refused = add_items({"Front": "b", "dedup_key": "b"})

    assert broken["code"] == refused["code"] == "STATE_NOT_WRITABLE"
    assert count_of(broken) == {"ok": 29, "duplicate": 1, "not_sent": 6}
    assert "anki-added.sqlite3" in refused["error"]
    assert (again["added"], anki.collection.note_count()) == (6, 36)


@pytest.mark.parametrize("way", ["rows", "tsv"])
def test_two_hundred_words_cost_few_tokens_in_and_out(anki, collection, way):
    add_notes(collection, "Words", "word 7")
    rows = [[f"word {number}", f"слово {number}", "en"] for number in range(200)]
    table = rows if way == "rows" else "\n".join(map("\t".join, rows))
    arguments = {"deck": "Words", "fieldNames": ["front", "Back", "tags"], way: table}

    answer = call("anki.add_from_model", **arguments)

    first, *_, last = sorted(collection.find_notes("tag:en"))
    (duplicate,) = answer["details"]
    assert (answer["added"], answer["skipped"]) == (199, 1)
    assert answer["noteIds"] == f"{first}-{last}"
    assert (duplicate["index"], duplicate["status"]) == (7, "duplicate")
    assert collection.get_note(first).values() == ["word 0", "слово 0"]
    size = len(json.dumps(answer)) + (len(table) if way == "tsv" else 0)
    assert size / 4 <= 1500


def test_of_rows_that_do_not_fit_only_tags_may_be_missing(anki):
    names = ["Front", "Back", "tags"]
    rows = [names, ["a", "b", "c", "d"], ["d", "e"], ["", "e"], ["f"], ["g", ""]]

    answer = add_rows(rows, names)

    assert answer["added"] == 2 and "first row" in answer["warnings"][0]
    reasons = [(detail["index"], detail["reason"]) for detail in answer["details"]]
    assert reasons == [(0, "row"), (2, "empty"), (3, "row")]


NOT_ONE_WAY = json_lines(r"""
{}
{"tsv": "a\tb"}
{"fieldNames": ["Front"]}
{"items": [{"Front": "a"}], "rows": [["a"]]}
""")


@pytest.mark.parametrize("arguments", NOT_ONE_WAY)
def test_notes_come_in_one_way_only(anki, arguments):
    assert call("anki.add_from_model", **arguments)["code"] == "INVALID_ARGUMENTS"
    assert anki.requests == []


def test_a_row_that_was_added_with_a_warning_has_a_detail(anki):
    answer = add_rows([["cat", "кот"], ["dog", "data:image/png;base64,AAAA"]])

    (detail,) = answer["details"]
    assert (answer["added"], detail["index"]) == (2, 1)
    assert "left as it is" in detail["warnings"][0]


def test_a_duplicate_is_added_where_the_person_insists(anki, collection):
    add_notes(collection, "Words", "bank")

    assert add_items({"Front": "bank"}, deck="Words")["skipped"] == 1
    assert add_items({"Front": "bank"}, deck="Words", allowDuplicates=True)["added"] == 1
    assert fronts(collection, "Words") == ["bank", "bank"]


SEPARATED = json_lines("""
["basement|подвал", "'|'"]
["stairs — лестница", "' — '"]
["roof - крыша", "' - '"]
""")


@pytest.mark.parametrize("line, separator", SEPARATED)
def test_a_pasted_list_without_tabs_is_refused_with_its_separator_named(anki, line, separator):
    answer = add_text(f"{line}\n{line}")
    mixed = add_text(f"{line}\ncat\tкот")

    assert answer["code"] == mixed["details"][0]["reason"].upper() == "ROW"
    assert separator in answer["hint"] and separator in mixed["details"][0]["hint"]
    assert "Nothing was sent" in answer["error"]
    assert fronts(anki.collection, "Default") == ["cat"]


# The fields of a note, and the type that fits them.
FITTING = json_lines("""
[{"Front": "text", "Back": "text"}, "Basic"]
[{"Text": "{{c1::text}}"}, "Cloze"]
[{"Front": "text", "Add Reverse": "y"}, "Basic (optional reversed card)"]
""")


@pytest.mark.parametrize("item, used", FITTING)
def test_a_first_card_in_an_unknown_collection_takes_its_simplest_type(anki, env, item, used):
    env(ANKI_DEFAULT_MODEL="")

    answer = add_items(item)
    named = add_items(item, model="Nonsense")

    assert answer["added"] == 1
    assert answer["warnings"] == [
        f"'Поля для ChatGPT' is not in this collection: {used!r} was taken"
    ]
    assert named["details"][0]["reason"] == "model"


def test_the_key_of_a_duplicate_is_kept_so_that_new_words_for_it_add_nothing(anki, collection):
    """A batch ended before its keys were kept: the repeated call finds duplicates, the third has other
    words."""
    add_notes(collection, "Default", "a")

    again = add_items({"Front": "a", "dedup_key": "k"})
    reworded = add_items({"Front": "A!", "dedup_key": "k"})

    assert again["skipped"] == reworded["skipped"] == 1
    assert fronts(collection, "Default") == ["a"]


@both_versions
@pytest.mark.parametrize("front", ["one\ntwo\tthree", 'a "b" \\ c: *_', "<b>e\u0301</b>"])
def test_a_duplicate_is_named_also_where_its_first_field_has_several_lines(anki, front):
    (first,) = add_wholes(note(front))["details"]
    (again,) = add_wholes(note(front))["details"]

    assert (again["reason"], again["noteId"]) == ("duplicate", first["noteId"])
