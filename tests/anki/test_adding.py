"""Adding notes: every good one, each bad one by its index and reason, and the truth when it breaks off."""

import json
import sqlite3
from contextlib import closing

import pytest

from tests.anki.anki_helpers import add_notes, both_versions, fronts
from tools.anki import batch, state
from tools.core import calls, registry, settings


def note(front, **more):
    return {"fields": {"Front": front, "Back": "b"}, **more}


@both_versions
def test_every_good_note_is_added_and_each_bad_one_is_named_with_its_reason(anki, collection, call):
    add_notes(collection, "Geo", "there")
    notes = [
        (("ok", None), note("one", tags=["geo", "de"])),
        (("duplicate", "duplicate"), note("there")),
        (("error", "empty"), note("")),
        (("error", "unknown_field"), {"fields": {"Front": "x", "Bakc": "y"}}),
        (("duplicate", "duplicate"), note("one")),
        (("error", "invalid_tag"), note("tagged", tags=["two words"])),
        (("ok", None), note("two")),
    ]

    answer = call("anki.add_notes", deck="Geo", notes=[each for _, each in notes])

    assert (answer["added"], answer["skipped"]) == (2, 5)
    assert [detail["index"] for detail in answer["details"]] == list(range(7))
    assert [(detail["status"], detail.get("reason")) for detail in answer["details"]] == [
        told for told, _ in notes
    ]
    assert "mean Back?" in answer["details"][3]["hint"]
    assert fronts(collection, "Geo") == ["there", "one", "two"]
    assert collection.get_note(answer["details"][0]["noteId"]).tags == ["de", "geo"]
    assert fronts(collection, "Default") == []


@both_versions
def test_add_from_model_takes_flat_items_and_whole_ones_and_makes_the_deck(anki, collection, call):
    items = [
        {"front": "a", "BACK": "b", "tags": ["geo"], "dedup_key": "geo-paris"},
        {"fields": {"Front": "c"}, "tags": ["geo"]},
        {"Front": 7},
        {"Frnot": "x"},
    ]

    details = call("anki.add_from_model", deck="New::Deck", items=items)["details"]

    assert [detail["status"] for detail in details] == ["ok", "ok", "error", "error"]
    assert details[0]["dedup_key"] == "geo-paris"
    assert "valid string" in details[2]["error"] and "mean Front?" in details[3]["hint"]
    assert fronts(collection, "New::Deck") == ["a", "c"]
    assert collection.get_note(details[0]["noteId"]).items() == [("Front", "a"), ("Back", "b")]


def test_add_notes_does_not_make_the_deck(anki, call):
    answer = call("anki.add_notes", deck="Nope", notes=[note("a"), note("b")])

    assert (answer["added"], answer["skipped"]) == (0, 2)
    assert [one["reason"] for one in answer["details"]] == ["deck", "deck"]
    assert anki.collection.decks.all_names() == ["Default"]


@pytest.mark.parametrize(
    ("model", "fields"),
    [("Basic", {"Front": "{{c1::Paris}}"}), ("Cloze", {"Text": "x", "Back Extra": "{{c1::y}}"})],
)
def test_cloze_text_in_a_field_that_is_no_cloze_field_is_told_as_what_it_is(
    anki, call, model, fields
):
    (detail,) = call("anki.add_from_model", model=model, items=[{"fields": fields}])["details"]

    assert "use note type Cloze, or write it without {{c1::}}" in detail["hint"]


@both_versions
def test_a_dedup_key_is_used_once_in_a_call_and_once_for_all(anki, call):
    first = call(
        "anki.add_from_model",
        items=[{"Front": "a", "dedup_key": "k"}, {"Front": "b", "dedup_key": "k"}],
    )
    second = call("anki.add_notes", notes=[note("c", dedup_key="k"), note("d", dedup_key="other")])

    (kept, twice), (again, other) = first["details"], second["details"]
    assert (
        [kept["status"], twice["status"]]
        == [other["status"], again["status"]]
        == ["ok", "duplicate"]
    )
    assert (again["noteId"], again["dedup_key"]) == (kept["noteId"], "k")
    assert fronts(anki.collection, "Default") == ["a", "d"]


def test_a_dedup_key_is_free_again_when_its_note_is_gone_or_was_never_added(anki, call):
    (detail,) = call("anki.add_from_model", items=[{"Front": "a", "dedup_key": "k"}])["details"]
    call("anki.add_from_model", items=[{"Front": "", "dedup_key": "bad"}])
    call("anki.delete_notes", noteIds=[detail["noteId"]])

    answer = call(
        "anki.add_from_model",
        items=[{"Front": "b", "dedup_key": "k"}, {"Front": "c", "dedup_key": "bad"}],
    )

    assert answer["added"] == 2


@both_versions
@pytest.mark.parametrize(("count", "requests"), [(1, 3), (100, 4), (500, 5)])
def test_notes_without_media_cost_few_requests_whatever_their_number(
    anki, collection, call, count, requests
):
    items = [{"Front": f"front {number}", "dedup_key": f"key {number}"} for number in range(count)]
    add_notes(collection, "Default", "of the person")

    answer = call("anki.add_from_model", deck="New", items=items)

    assert answer["added"] == len(collection.find_cards("deck:New")) == count
    older = hasattr(anki.addon, "ABSENT")  # its cards have to be moved
    assert len(anki.requests) == requests + older
    assert fronts(collection, "Default") == ["of the person"]


def count_of(answer):
    words = ("ok", "unknown", "not_sent")
    return {word: sum(one["status"] == word for one in answer["details"]) for word in words}


@pytest.mark.parametrize("fault", ["cut_before", "cut_after"])
def test_a_cut_in_the_middle_says_what_is_known_and_a_second_call_writes_nothing_twice(
    anki, call, fault
):
    items = [{"Front": f"front {number}"} for number in range(300)]
    anki.faults = {2: fault}

    broken = call("anki.add_from_model", deck="New", items=items)
    again = call("anki.add_from_model", deck="New", items=items)

    assert count_of(broken) == {"ok": 30, "unknown": 240, "not_sent": 30}
    assert (broken["success"], broken["added"], broken["skipped"]) == (False, 30, 270)
    assert "added 30, not known 240, not sent 30" in broken["error"]
    assert "Send the notes again that are not `ok`" in broken["hint"]
    assert again["added"] == (30 if fault == "cut_after" else 270)
    assert sorted(fronts(anki.collection, "New")) == sorted(item["Front"] for item in items)
    assert all(detail["noteId"] for detail in again["details"])


def test_parts_take_some_seconds_however_slow_anki_is(monkeypatch):
    now, sizes = [0.0], []
    monkeypatch.setattr(batch.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(batch, "PART_S", 10)
    for part in batch.timed_parts(range(500), "counting"):
        now[0] += len(part) * (0.3 if len(sizes) < 4 else 0.005)
        sizes.append(len(part))

    assert sizes == [30, 33, 33, 33, 33, 264, 74]


def test_progress_is_reported_and_a_cancelled_batch_stops_between_requests(anki):
    reports = []
    tool = registry.tool_named("anki.add_from_model", registry.listed().values())
    items = [{"Front": f"front {number}"} for number in range(300)]

    with calls.calling(lambda *report: reports.append(report), lambda: len(anki.requests) > 2):
        answer = tool.call({"items": items, "deck": "New"})

    assert answer["code"] == "CANCELLED"
    assert count_of(answer) == {"ok": 270, "unknown": 0, "not_sent": 30}
    assert "added 270" in answer["error"]
    assert [report[0] for report in reports] == sorted({report[0] for report in reports})
    assert len(anki.collection.find_cards("deck:New")) == 270


def test_default_means_anki_s_default_deck_also_where_it_has_another_name(anki, collection, call):
    collection.decks.rename(collection.decks.get(1), "По умолчанию")

    one = call("anki.add_notes", notes=[note("a")])["details"][0]["noteId"]
    call("anki.add_from_model", deck="Default", items=[{"Front": "b"}])
    call("anki.add_from_model", deck="Geo", items=[{"Front": "c"}])
    moved = call("anki.update_notes", notes=[{"noteId": one, "deckName": "default"}])

    assert "deckChangedTo" not in moved["details"][0]
    assert fronts(collection, "По умолчанию") == ["a", "b"]
    assert collection.decks.all_names() == ["Geo", "По умолчанию"]


def test_notes_whose_keys_cannot_be_kept_are_told_as_added_and_come_once(anki, call, monkeypatch):
    """Another session holds the record, once the notes are in Anki."""
    call("anki.add_from_model", items=[{"Front": "a", "dedup_key": "k"}])
    monkeypatch.setattr(state, "PATIENCE_S", 0)
    items = [{"Front": f"n{number}", "dedup_key": f"n{number}"} for number in range(35)]
    items.insert(3, {"Front": "a", "dedup_key": "another"})

    with closing(sqlite3.connect(settings.current().state_dir / "anki-added.sqlite3")) as record:
        record.execute("begin immediate")
        broken = call("anki.add_from_model", items=items)
    again = call("anki.add_from_model", items=items)
    (settings.current().state_dir / "anki-added.sqlite3").write_bytes(b"no database" * 100)
    refused = call("anki.add_from_model", items=[{"Front": "b", "dedup_key": "b"}])

    assert (broken["code"], count_of(broken)) == (
        "STATE_NOT_WRITABLE",
        {"ok": 29, "unknown": 0, "not_sent": 6},
    )
    assert "added 29" in broken["error"]
    assert (refused["code"], "anki-added.sqlite3" in refused["error"]) == (
        "STATE_NOT_WRITABLE",
        True,
    )
    assert (again["added"], anki.collection.note_count()) == (6, 36)


@pytest.mark.parametrize("way", ["rows", "tsv"])
def test_two_hundred_words_cost_few_tokens_in_and_out(anki, collection, call, way):
    add_notes(collection, "Words", "word 7")
    rows = [[f"word {number}", f"слово {number}", "en"] for number in range(200)]
    given = rows if way == "rows" else "\n".join(map("\t".join, rows))
    arguments = {"deck": "Words", "fieldNames": ["front", "Back", "tags"], way: given}

    answer = call("anki.add_from_model", **arguments)

    first, *_, last = (note for note in sorted(collection.find_notes("tag:en")))
    (duplicate,) = answer["details"]
    assert (answer["added"], answer["skipped"]) == (199, 1)
    assert answer["noteIds"] == f"{first}-{last}"
    assert (duplicate["index"], duplicate["status"]) == (7, "duplicate")
    assert collection.get_note(first).values() == ["word 0", "слово 0"]
    size = len(json.dumps(answer)) + (len(given) if way == "tsv" else 0)
    assert size / 4 <= 1500


def test_of_rows_that_do_not_fit_only_tags_may_be_missing(anki, call):
    rows = [["a", "b", "c", "d"], ["d", "e"], ["", "e"], ["f"], ["g", ""]]
    answer = call("anki.add_from_model", fieldNames=["Front", "Back", "tags"], rows=rows)

    assert answer["added"] == 2
    reasons = [(detail["index"], detail["reason"]) for detail in answer["details"]]
    assert reasons == [(0, "row"), (2, "empty"), (3, "row")]


@pytest.mark.parametrize(
    "arguments",
    [{}, {"tsv": "a\tb"}, {"fieldNames": ["Front"]}, {"items": [{"Front": "a"}], "rows": [["a"]]}],
)
def test_notes_come_in_one_way_only(anki, call, arguments):
    assert call("anki.add_from_model", **arguments)["code"] == "INVALID_ARGUMENTS"
    assert anki.requests == []


def test_a_row_that_was_added_with_a_warning_has_a_detail(anki, call):
    rows = [["cat", "кот"], ["dog", "data:image/png;base64,AAAA"]]

    answer = call("anki.add_from_model", fieldNames=["Front", "Back"], rows=rows)

    assert answer["added"] == 2
    ((index, warnings),) = [(detail["index"], detail["warnings"]) for detail in answer["details"]]
    assert index == 1 and "left as it is" in warnings[0]


def test_a_duplicate_is_added_where_the_person_insists(anki, collection, call):
    add_notes(collection, "Words", "bank")

    assert call("anki.add_from_model", deck="Words", items=[{"Front": "bank"}])["skipped"] == 1
    assert (
        call("anki.add_from_model", deck="Words", items=[{"Front": "bank"}], allowDuplicates=True)[
            "added"
        ]
        == 1
    )
    assert fronts(collection, "Words") == ["bank", "bank"]


@pytest.mark.parametrize(
    ("line", "separator"),
    [("basement|подвал", "'|'"), ("stairs — лестница", "' — '"), ("roof - крыша", "' - '")],
)
def test_a_pasted_list_without_tabs_is_refused_with_its_separator_named(
    anki, call, line, separator
):
    names = ["Front", "Back", "tags"]

    answer = call("anki.add_from_model", fieldNames=names, tsv=f"{line}\n{line}")
    mixed = call("anki.add_from_model", fieldNames=names, tsv=f"{line}\ncat\tкот")

    assert (
        answer["code"] == "ROW"
        and separator in answer["hint"]
        and "Nothing was sent" in answer["error"]
    )
    assert mixed["added"] == 1
    assert mixed["details"][0]["reason"] == "row" and separator in mixed["details"][0]["hint"]
    assert fronts(anki.collection, "Default") == ["cat"]


def test_a_first_row_of_field_names_is_left_out_and_said_so(anki, call):
    answer = call("anki.add_from_model", fieldNames=["Front", "Back"], tsv="Front\tBack\ncat\tкот")

    assert (answer["added"], answer["skipped"]) == (1, 0)
    assert "first row" in answer["warnings"][0]
    assert fronts(anki.collection, "Default") == ["cat"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("vector<int>", "vector&lt;int&gt;"),
        ("if a<b and b>c: print(x)", "if a&lt;b and b&gt;c: print(x)"),
        ("x & y", "x &amp; y"),
        ("one\ntwo", "one<br>two"),
        ("a <b>bold</b> word", "a <b>bold</b> word"),
        ("one<br>two", "one<br>two"),
        ('see <img src="a.png">', 'see <img src="a.png">'),
        ("\\( x \\) [sound:a.mp3]", "\\( x \\) [sound:a.mp3]"),
    ],
)
def test_rows_are_plain_text_unless_they_are_html_on_purpose(anki, collection, call, text, kept):
    call("anki.add_from_model", fieldNames=["Front", "Back"], rows=[["q", text]])

    (note,) = collection.find_notes("")
    assert collection.get_note(note)["Back"] == kept
    if "<" in text:
        call("anki.add_from_model", items=[{"Front": "by items", "Back": text}])
        assert collection.get_note(max(collection.find_notes("")))["Back"] == text


@pytest.mark.parametrize(
    ("fields", "used"),
    [
        (["Front", "Back"], "Basic"),
        (["Text"], "Cloze"),
        (["Front", "Add Reverse"], "Basic (optional reversed card)"),
    ],
)
def test_a_first_card_in_an_unknown_collection_takes_its_simplest_type(
    anki, call, env, fields, used
):
    env(ANKI_DEFAULT_MODEL="")
    item = {name: "{{c1::text}}" if name == "Text" else "text" for name in fields}

    answer = call("anki.add_from_model", items=[item])
    named = call("anki.add_from_model", items=[item], model="Nonsense")

    assert answer["added"] == 1
    assert answer["warnings"] == [
        f"'Поля для ChatGPT' is not in this collection: {used!r} was taken"
    ]
    assert named["details"][0]["reason"] == "model"


def test_the_key_of_a_duplicate_is_kept_so_that_new_words_for_it_add_nothing(
    anki, collection, call
):
    """A batch ended before its keys were kept: the repeated call finds duplicates, the third has other words."""
    add_notes(collection, "Default", "a")

    (again,) = call("anki.add_from_model", items=[{"Front": "a", "dedup_key": "k"}])["details"]
    (reworded,) = call("anki.add_from_model", items=[{"Front": "A!", "dedup_key": "k"}])["details"]

    assert again["reason"] == reworded["reason"] == "duplicate"
    assert fronts(collection, "Default") == ["a"]


@both_versions
def test_a_duplicate_is_named_also_where_its_first_field_has_several_lines(anki, call):
    for front in ("one\ntwo\tthree", 'a "b" \\ c: *_', "<b>e\u0301</b>"):
        (first,) = call("anki.add_notes", notes=[note(front)])["details"]
        (again,) = call("anki.add_notes", notes=[note(front)])["details"]
        assert (again["reason"], again["noteId"]) == ("duplicate", first["noteId"])
