"""Adding notes: every good one, each bad one by its index and reason, and the truth when it breaks off."""

import base64
import json

import pytest

from tests.anki.anki_helpers import add_notes, both_versions, fronts
from tests.anki.anki_images import png
from tools.anki.batches import added_keys, parts
from tools.core import calls, registry, settings


def note(front, **more):
    return {"fields": {"Front": front, "Back": "b"}, **more}


@both_versions
def test_every_good_note_is_added_and_each_bad_one_is_named_with_its_reason(anki, call):
    add_notes(anki.collection, "Geo", "there")

    answer = call(
        "anki.add_notes",
        deck="Geo",
        notes=[
            note("one", tags=["geo", "de"]),
            note("there"),
            note(""),
            {"fields": {"Front": "x", "Bakc": "y"}},
            note("two"),
            note("one"),
            note("tagged", tags=["two words"]),
            note("three"),
        ],
    )

    assert (answer["added"], answer["skipped"]) == (3, 5)
    reasons = [(one["index"], one["status"], one.get("reason")) for one in answer["details"]]
    assert reasons == [
        (0, "ok", None),
        (1, "duplicate", "duplicate"),
        (2, "error", "empty"),
        (3, "error", "unknown_field"),
        (4, "ok", None),
        (5, "duplicate", "duplicate"),
        (6, "error", "invalid_tag"),
        (7, "ok", None),
    ]
    assert "'Back'" in answer["details"][3]["hint"]
    assert fronts(anki.collection, "Geo") == ["there", "one", "two", "three"]
    assert anki.collection.get_note(answer["details"][0]["noteId"]).tags == ["de", "geo"]
    assert fronts(anki.collection, "Default") == []


@both_versions
def test_the_requirement_s_example_of_add_notes(anki, call, env):
    env(ANKI_DEFAULT_MODEL="")
    call("anki.create_model", **call("anki.model_info")["create_model"])
    fields = {"Prompt": "Это тестовая карточка", "Response": "Ответ", "Context": "Проверка", "Sources": ""}

    answer = call(
        "anki.add_notes",
        deck="Default",
        model="Поля для ChatGPT",
        notes=[{"fields": fields, "tags": [], "images": []}],
    )

    note_id = anki.collection.find_notes("")[0]
    assert answer == {"added": 1, "skipped": 0, "details": [{"index": 0, "status": "ok", "noteId": note_id}]}


@both_versions
def test_add_from_model_takes_flat_items_and_whole_ones_and_makes_the_deck(anki, call):
    answer = call(
        "anki.add_from_model",
        deck="New::Deck",
        items=[
            {"front": "a", "BACK": "b", "tags": ["geo"], "dedup_key": "geo-paris"},
            {"fields": {"Front": "c"}, "tags": ["geo"]},
            {"Front": 7},
            {"Frnot": "x"},
            {"fields": {"Front": "y"}, "Back": "z"},
        ],
    )

    assert [one["status"] for one in answer["details"]] == ["ok", "ok", "error", "error", "error"]
    assert answer["details"][0]["dedup_key"] == "geo-paris"
    assert "valid string" in answer["details"][2]["error"]
    assert "'Front'" in answer["details"][3]["hint"]
    assert fronts(anki.collection, "New::Deck") == ["a", "c"]
    assert anki.collection.get_note(answer["details"][0]["noteId"]).items() == [("Front", "a"), ("Back", "b")]


def test_add_notes_does_not_make_the_deck(anki, call):
    answer = call("anki.add_notes", deck="Nope", notes=[note("a"), note("b")])

    assert (answer["added"], answer["skipped"]) == (0, 2)
    assert [one["reason"] for one in answer["details"]] == ["deck", "deck"]
    assert anki.collection.decks.all_names() == ["Default"]


@pytest.mark.parametrize(("tool", "given"), [("anki.add_notes", "notes"), ("anki.add_from_model", "items")])
def test_an_unknown_model_is_told_for_each_note(anki, call, tool, given):
    answer = call(tool, model="Nope", **{given: [note("a")]})

    assert answer["details"] == [
        {
            "index": 0,
            "status": "error",
            "reason": "model",
            "error": "model was not found: Nope",
            "hint": "anki_model_info with this model says how to make it, or which there are.",
        }
    ]


def test_a_cloze_note_without_cloze_is_told(anki, call):
    answer = call("anki.add_notes", model="Cloze", notes=[{"fields": {"Text": "plain"}}])

    assert "{{c1::" in answer["details"][0]["hint"]


@pytest.mark.parametrize(
    ("model", "fields"), [("Basic", {"Front": "{{c1::Paris}}"}), ("Cloze", {"Text": "x", "Back Extra": "{{c1::y}}"})]
)
def test_cloze_text_in_a_field_that_is_no_cloze_field_is_told_as_what_it_is(anki, call, model, fields):
    (detail,) = call("anki.add_from_model", model=model, items=[{"fields": fields}])["details"]

    assert "use note type Cloze, or write it without {{c1::}}" in detail["hint"]


def test_fields_that_are_no_text_are_refused_before_anything_is_sent(anki, call):
    answer = call("anki.add_notes", notes=[{"fields": {"Front": 5}}])

    assert answer["error"] == "notes.0.fields.Front: Input should be a valid string"
    assert anki.requests == []


@both_versions
def test_a_dedup_key_is_used_once_in_a_call_and_once_for_all(anki, call):
    first = call("anki.add_from_model", items=[{"Front": "a", "dedup_key": "k"}, {"Front": "b", "dedup_key": "k"}])
    second = call("anki.add_notes", notes=[note("c", dedup_key="k"), note("d", dedup_key="other")])

    note_id = first["details"][0]["noteId"]
    assert [one["status"] for one in first["details"]] == ["ok", "duplicate"]
    assert [one["status"] for one in second["details"]] == ["duplicate", "ok"]
    assert second["details"][0]["noteId"] == note_id
    assert second["details"][0]["dedup_key"] == "k"
    assert fronts(anki.collection, "Default") == ["a", "d"]


def test_a_dedup_key_is_free_again_when_its_note_is_gone_or_was_never_added(anki, call):
    (detail,) = call("anki.add_from_model", items=[{"Front": "a", "dedup_key": "k"}])["details"]
    call("anki.add_from_model", items=[{"Front": "", "dedup_key": "bad"}])
    call("anki.delete_notes", noteIds=[detail["noteId"]])

    answer = call("anki.add_from_model", items=[{"Front": "b", "dedup_key": "k"}, {"Front": "c", "dedup_key": "bad"}])

    assert answer["added"] == 2


@both_versions
@pytest.mark.parametrize("count", [1, 500])
def test_notes_without_media_cost_at_most_six_requests_whatever_their_number(anki, call, count):
    items = [{"Front": f"front {number}", "dedup_key": f"key {number}"} for number in range(count)]

    answer = call("anki.add_from_model", deck="New", items=items)

    assert answer["added"] == count
    assert len(anki.requests) <= 6
    assert anki.collection.card_count() == len(anki.collection.find_cards("deck:New")) == count


def test_a_card_that_its_template_sends_elsewhere_stays_there(anki, call):
    model = anki.collection.models.by_name("Basic")
    model["tmpls"][0]["did"] = anki.collection.decks.id("Override")
    anki.collection.models.update_dict(model)

    call("anki.add_from_model", deck="Geo", items=[{"Front": "a"}])

    assert fronts(anki.collection, "Override") == ["a"]


def count_of(answer):
    words = ("ok", "unknown", "not_sent")
    return {word: sum(one["status"] == word for one in answer["details"]) for word in words}


@both_versions
@pytest.mark.parametrize("fault", ["cut_before", "cut_after", "http_500", "reset"])
def test_a_cut_in_the_middle_says_what_is_known_and_a_second_call_writes_nothing_twice(anki, call, fault):
    items = [{"Front": f"front {number}"} for number in range(300)]
    anki.faults = {2: fault}

    broken = call("anki.add_from_model", deck="New", items=items)

    assert broken["success"] is False
    assert count_of(broken) == {"ok": 30, "unknown": 240, "not_sent": 30}
    assert (broken["added"], broken["skipped"]) == (30, 270)
    assert "added 30, not known 240, not sent 30" in broken["error"]
    assert "Send the notes again that are not `ok`" in broken["hint"]
    again = call("anki.add_from_model", deck="New", items=items)
    assert again["added"] == (30 if fault == "cut_after" else 270)
    assert sorted(fronts(anki.collection, "New")) == sorted(item["Front"] for item in items)
    assert all(detail["noteId"] for detail in again["details"])


@both_versions
@pytest.mark.parametrize("fault", ["cut_before", "cut_after"])
def test_a_dedup_key_holds_also_after_a_lost_answer_and_with_other_words(anki, call, fault):
    """The answer is lost after Anki added the note; the model rewords it and sends it under the same key."""
    anki.faults = {1: fault}
    broken = call("anki.add_from_model", deck="New", items=[{"Front": 'what\n"q"', "dedup_key": "k"}])

    again = call("anki.add_from_model", deck="New", items=[{"Front": "reworded", "dedup_key": "k"}])
    third = call("anki.add_from_model", deck="New", items=[{"Front": "once more", "dedup_key": "k"}])

    assert broken["details"][0]["status"] == "unknown"
    assert again["details"][0]["status"] == ("duplicate" if fault == "cut_after" else "ok")
    assert third["details"][0]["status"] == "duplicate"
    assert again["details"][0]["noteId"] == third["details"][0]["noteId"]
    assert anki.collection.note_count() == 1
    assert len(anki.collection.find_cards("deck:New")) == 1


def test_a_session_killed_while_it_sends_leaves_no_card_astray_for_the_next(anki, call, monkeypatch):
    """The 2023 add-on puts new cards into the default deck; nobody is left to move them after a kill."""
    anki.addon._deck_for_new = lambda note: 1
    anki.addon.ABSENT = ("canAddNotesWithErrorDetail",)
    items = [{"Front": f"front {number}"} for number in range(100)]
    anki.faults = {2: "cut_after"}
    monkeypatch.setattr("tools.anki.batches.settling.Settling.finish", killed)
    with pytest.raises(SystemExit):
        registry.TOOLS["anki.add_from_model"].function(items, "New")
    monkeypatch.undo()
    assert len(anki.collection.find_cards("deck:Default")) > 0

    again = call("anki.add_from_model", deck="New", items=items)

    assert again["skipped"] == 100
    assert len(anki.collection.find_cards("deck:New")) == anki.collection.note_count() == 100


def killed(settling):
    raise SystemExit(9)


def test_cards_that_go_astray_are_moved_with_the_next_part_not_all_at_the_end(anki, call):
    anki.addon._deck_for_new = lambda note: 1
    anki.addon.ABSENT = ("canAddNotesWithErrorDetail",)

    answer = call("anki.add_from_model", deck="New", items=[{"Front": f"front {number}"} for number in range(500)])

    assert answer["added"] == 500
    assert len(anki.requests) == 6
    third = [entry["action"] for entry in anki.requests[3]["params"]["actions"]]
    assert third[:2] == ["changeDeck", "findCards"]
    assert len(anki.collection.find_cards("deck:New")) == 500


def test_duplicates_go_first_without_drawing_a_window_and_are_named(anki, call):
    ids = add_notes(anki.collection, "Geo", *(f"front {number}" for number in range(200)))
    anki.requests.clear()

    answer = call("anki.add_from_model", deck="Geo", items=[{"Front": f"front {number}"} for number in range(201)])

    assert [detail["noteId"] for detail in answer["details"][:200]] == ids
    assert answer["details"][200]["status"] == "ok"
    assert sum(name == "addNote" for name in anki.actions()) == 31
    assert len(json.dumps(answer)) < 200 * 100
    assert len(anki.requests) <= 5


def test_parts_take_some_seconds_however_slow_anki_is(monkeypatch):
    pace = {"s_per_note": 0.3, "now": 0.0}
    monkeypatch.setattr(parts.time, "monotonic", lambda: pace["now"])
    monkeypatch.setattr(parts, "PART_S", 10)
    sizes = []
    for part in parts.Parts(range(500)):
        pace["now"] += len(part) * pace["s_per_note"]
        pace["s_per_note"] = 0.005 if len(sizes) > 2 else 0.3
        sizes.append(len(part))

    assert sizes == [30, 33, 33, 33, 33, 264, 74]


def test_anki_gone_in_the_middle_leaves_the_rest_not_added(anki, call):
    anki.addon.addNote = closing_after(anki, anki.addon.addNote, 60)

    answer = call("anki.add_from_model", items=[{"Front": f"front {number}"} for number in range(150)])

    assert answer["details"][49]["status"] == "ok"
    assert {detail["reason"] for detail in answer["details"] if detail["status"] == "error"} == {"other"}
    assert answer["added"] == 60


def test_what_holds_for_the_whole_call_is_said_once(anki, call):
    anki.faults = {2: "cut_before"}

    answer = call("anki.add_from_model", deck="New", items=[{"Front": f"front {number}"} for number in range(30)])

    assert len(answer["warnings"]) == 1
    assert not any("warnings" in detail for detail in answer["details"])


def closing_after(anki, add, most):
    """addNote that finds the profile closed after `most` notes."""
    added = []

    def add_note(note):
        if len(added) == most:
            anki.addon._profile_open = False
        added.append(add(note))
        return added[-1]

    return add_note


def test_a_deck_that_could_not_be_verified_is_a_warning(anki, call):
    anki.faults = {2: "cut_before"}

    answer = call("anki.add_from_model", deck="New", items=[{"Front": "a"}])

    assert answer["added"] == 1
    assert "is not known" in answer["warnings"][0]


def test_progress_is_reported_and_a_cancelled_batch_stops_between_requests(anki):
    reports = []
    tool = registry.find("anki.add_from_model", registry.listed(settings.current()).values())
    items = [{"Front": f"front {number}"} for number in range(300)]

    with calls.calling(lambda *report: reports.append(report), lambda: len(anki.requests) > 2):
        answer = tool.call({"items": items, "deck": "New"})

    assert answer["code"] == "CANCELLED"
    assert count_of(answer) == {"ok": 270, "unknown": 0, "not_sent": 30}
    assert "added 270" in answer["error"]
    assert [report[0] for report in reports] == sorted({report[0] for report in reports})
    assert len(anki.collection.find_cards("deck:New")) == 270


def test_default_means_anki_s_default_deck_also_where_it_has_another_name(anki, call):
    anki.collection.decks.rename(anki.collection.decks.get(1), "По умолчанию")

    one = call("anki.add_notes", notes=[note("a")])["details"][0]["noteId"]
    call("anki.add_from_model", deck="Default", items=[{"Front": "b"}])
    call("anki.add_from_model", deck="Geo", items=[{"Front": "c"}])
    moved = call("anki.update_notes", notes=[{"noteId": one, "deckName": "default"}])

    assert "deckChangedTo" not in moved["details"][0]
    assert fronts(anki.collection, "По умолчанию") == ["a", "b"]
    assert anki.collection.decks.all_names() == ["Geo", "По умолчанию"]


@pytest.mark.parametrize("fault", ["cut_before", "cut_after", "refused", "http_500"])
def test_whichever_request_fails_a_second_call_adds_what_is_missing_and_nothing_twice(anki, call, fault):
    picture = base64.b64encode(png()).decode()
    for number in range(4):
        items = [{"Front": f"{fault} {number} {at}", "images": [{"image_base64": picture}]} for at in range(2)]
        anki.faults = {len(anki.requests) + number: fault}
        first = call("anki.add_from_model", deck="New", items=items)
        anki.faults = {}

        told = first.get("success") is False or first["skipped"]
        assert told or number == 3, "only the look at the deck of the new notes may fail without an error"
        call("anki.add_from_model", deck="New", items=items)
        assert len(anki.collection.find_notes(f'"{fault} {number} *"')) == 2


def test_a_deck_that_anki_will_not_make_is_told_with_its_reason(anki, call):
    deck = anki.collection.sched.get_or_create_filtered_deck(0)
    deck.name = "Cram"
    deck.allow_empty = True
    anki.collection.sched.add_or_update_filtered_deck(deck)

    (detail,) = call("anki.add_from_model", deck="Cram::Below", items=[{"Front": "a"}])["details"]

    assert detail["reason"] == "deck"
    assert "filtered" in detail["error"].lower()


@pytest.mark.parametrize("name", ["A\nB", "::", "A::", "\x07"])
def test_a_name_that_no_deck_can_have_is_refused(anki, call, name):
    assert call("anki.add_from_model", deck=name, items=[{"Front": "a"}])["code"] == "INVALID_DECK_NAME"
    assert anki.collection.decks.all_names() == ["Default"]


def test_a_broken_record_of_dedup_keys_is_told_with_its_file(anki, call):
    call("anki.list_decks")
    (settings.current().state_dir / "anki-added.sqlite3").write_bytes(b"no database" * 100)

    answer = call("anki.add_from_model", items=[{"Front": "a", "dedup_key": "k"}])

    assert answer["code"] == "STATE_NOT_WRITABLE"
    assert "anki-added.sqlite3" in answer["error"]
    assert anki.collection.note_count() == 0


def test_the_record_of_dedup_keys_forgets_the_oldest(env, monkeypatch):
    monkeypatch.setattr(added_keys, "MOST", 3)
    for number in range(5):
        added_keys.remember({f"key {number}": number})
    added_keys.remember({"key 4": 40})

    assert added_keys.notes(f"key {number}" for number in range(5)) == {"key 3": 3, "key 4": 40}
