"""Changing many cards at once: dry first, then exactly what was counted."""

import json

import pytest

from tests.anki.anki_helpers import (
    DAY_LEARNING,
    add_many,
    add_notes,
    borrow,
    both_versions,
    call,
    change_cards,
    entries,
    older_version,
    put,
    restore,
    tokens,
    whole,
)
from tests.support.client import cases
from tools.core import calls


@pytest.fixture
def ten(anki):
    """Ten notes with a card each, in deck Geo."""
    anki.ids = add_many(anki.collection, "Geo", 10)
    return anki


def dry_run(query="deck:Geo", **change):
    return call("anki.change_cards", query=query, **change)


CHANGED = """
{"suspend": true} | is:suspended
{"due": "3-7!"} | prop:due>=3 prop:due<=7
{"deck": "Other"} | deck:Other
{"flag": 4} | flag:4
{"addTags": ["x", "y"], "suspend": true} | tag:x tag:y is:suspended
"""


@pytest.mark.parametrize("change, search", cases(CHANGED))
def test_a_dry_run_changes_nothing_and_the_change_needs_its_count(ten, collection, change, search):
    collection.decks.id("Other")
    before = whole(collection)
    change = json.loads(change)

    dry = dry_run(**change)
    wrong = change_cards(9, query="deck:Geo", **change)
    unsaid = call("anki.change_cards", query="deck:Geo", **change, dryRun=False)

    assert (dry["count"], len(dry["examples"])) == (10, 5)
    assert set(dry["before"].values()) == {0}
    assert wrong["code"] == unsaid["code"] == "EXPECTED_COUNT"
    assert whole(collection) == before
    assert collection.find_cards(search) == []

    done = change_cards(10, query="deck:Geo", **change)

    assert done["changed"] == 10
    assert set(done["after"].values()) == {10}
    assert len(collection.find_cards(search)) == 10


@both_versions
def test_tags_of_500_notes_cost_few_requests_and_few_tokens(anki, collection):
    add_many(collection, "Geo", 500)

    dry = dry_run(addTags=["t"])
    assert len(anki.requests) == 2
    anki.requests.clear()
    wet = change_cards(dry["count"], query="deck:Geo", addTags=["t"])

    assert len(anki.requests) == 4
    assert tokens([dry, wet]) <= 250
    assert len(collection.find_notes("tag:t")) == 500


def test_the_schedule_of_borrowed_cards_is_said_to_be_out_of_reach(ten, collection):
    collection.sched.set_due_date(collection.find_cards(""), "0")
    borrow(collection, "Cram", '"question 0"')

    answer = change_cards(10, noteIds=ten.ids, forget=True)

    assert "of 1 card cannot be put back" in answer["warnings"][0]


def test_progress_is_of_all_changes_together(ten):
    reports = []
    with calls.calling(calls.RunningCall(lambda *report: reports.append(report[:2]))):
        change_cards(10, noteIds=ten.ids, suspend=True, flag=4)
    assert [report for report in reports if report[1] == 20] == [(10, 20), (20, 20)]


@pytest.mark.parametrize("fault", ["cut_before", "cut_after", "refused", "cancelled"])
def test_a_change_in_parts_that_is_cut_says_how_far_it_came(anki, collection, fault):
    ids = add_many(collection, "Geo", 300)
    anki.faults = {3: fault}
    reports = []

    call = calls.RunningCall(
        lambda *report: reports.append(report[:2]),
        lambda: fault == "cancelled" and len(anki.requests) > 2,
    )
    with calls.calling(call):
        answer = change_cards(300, noteIds=ids, flag=4)

    assert (answer["code"] == "CANCELLED") == (fault == "cancelled")
    assert reports == [(30, 300)]
    assert len(collection.find_cards("flag:4")) == (270 if fault == "cut_after" else 30)
    assert "30 of 300 changes are made" in answer["error"]
    assert ("may be made too" in answer["error"]) == (fault.startswith("cut"))
    assert "anki_restore puts back" in answer["hint"]
    again = change_cards(300, noteIds=ids, flag=4)
    assert again["after"] == {"flag 4": 300}


NO_SENSE = """
INVALID_ARGUMENTS | {}
INVALID_ARGUMENTS | {"cardIds": [1], "suspend": true}
INVALID_ARGUMENTS | {"query": "", "suspend": true}
INVALID_ARGUMENTS | {"due": "tomorrow"}
INVALID_ARGUMENTS | {"due": "7-3"}
INVALID_ARGUMENTS | {"renameTag": ["tt", "TT"]}
INVALID_ARGUMENTS | {"query": "", "suspend": true, "removeTags": ["rare"]}
INVALID_TAG | {"addTags": ["two words"]}
DECK_NOT_FOUND | {"deck": "Typo"}
ANKI_ERROR | {"query": "is:zzz", "suspend": true}
"""


@pytest.mark.parametrize("code, change", cases(NO_SENSE))
def test_what_makes_no_sense_changes_nothing(ten, collection, code, change):
    before = whole(collection)

    assert change_cards(10, **{"query": "deck:Geo", **json.loads(change)})["code"] == code
    assert whole(collection) == before


@older_version
def test_an_older_add_on_that_cannot_set_due_dates_is_named(ten):
    answer = change_cards(10, query="deck:Geo", due="3")

    assert "update the add-on" in answer["hint"]
    assert answer["before"] == {"due 3": 0}


LOST = """
3 | {"forget": true}
2 | {"unsuspend": true}
3 | {"due": "3-7"}
2 | {"deck": "Other"}
2 | {"renameTag": ["t", "u"]}
"""


@pytest.mark.parametrize("number, change", cases(LOST))
def test_a_change_repeated_after_a_lost_answer_leaves_one_entry_that_puts_all_back(
    ten, collection, number, change
):
    """`number` is that of the request that makes the change."""
    change = json.loads(change)
    collection.decks.id("Other")
    cards = list(collection.find_cards("deck:Geo"))
    collection.sched.set_due_date(cards, "0")
    collection.tags.bulk_add(ten.ids, "t")
    if "unsuspend" in change:
        collection.sched.suspend_cards(cards)
    before = whole(collection)
    ten.faults = {int(number): "cut_after"}

    lost = change_cards(10, cardIds=cards, **change)
    again = change_cards(10, cardIds=cards, **change)

    assert "may be made too" in lost["error"]
    assert again["changed"] == 0
    ((entry, _, _, summary),) = entries()
    assert summary.startswith("10 ") and next(iter(change)) in summary
    restore(entry)
    assert whole(collection) == before


def test_a_dry_run_tells_what_a_change_brings_beside_it(ten):
    ten.collection.tags.bulk_add(ten.ids[:3], "lang lang::de")

    due = dry_run(due="0")
    tags = dry_run(removeTags=["lang"])

    assert due["warnings"] == ["10 new cards become review cards"]
    assert tags["warnings"] == ["lang goes with the tags below it, lang::*, of 3 notes"]
    for change in ({"flag": 1}, {"deck": "Default"}):
        assert "undo list" in dry_run(**change)["warnings"][0]
    assert "warnings" not in dry_run(suspend=True)


@pytest.mark.parametrize("change", [{"renameTag": ["rare", "new"]}, {"removeTags": ["rare"]}])
@pytest.mark.parametrize("query", ["deck:*", ""])
def test_a_change_of_tags_alone_counts_the_notes_that_have_them(ten, collection, change, query):
    collection.tags.bulk_add(ten.ids[:3], "rare")

    dry = dry_run(query, **change)
    made = change_cards(3, query=query, **change)
    again = change_cards(3, query=query, **change)

    assert dry["count"] == made["changed"] == 3 and again["changed"] == 0
    assert not collection.find_notes("tag:rare")


def test_a_tag_with_a_quotation_mark_is_renamed_and_removed(ten, collection):
    collection.tags.bulk_add(ten.ids[:3], '5"')

    renamed = change_cards(3, renameTag=['5"', '6"'])
    removed = change_cards(3, removeTags=['6"'])

    assert renamed["changed"] == removed["changed"] == 3
    assert not collection.find_notes("-tag:none")


def test_the_dry_run_of_forgetting_says_what_goes(ten, collection):
    one, *others = collection.find_cards("")
    collection.sched.set_due_date(others[:2], "20!")
    collection.sched.set_due_date([one], "21!")

    dry = dry_run(forget=True)

    assert dry["warnings"] == [
        "3 cards lose their intervals, 1 of these of 3 weeks or more; anki_restore puts them back"
    ]


def test_cards_of_a_subdeck_are_moved_to_its_parent(anki, collection):
    add_notes(collection, "Geo::Sub", "a", "b")

    made = change_cards(2, query="deck:Geo::Sub", deck="Geo")

    assert made["changed"] == made["after"]["deck “Geo”"] == 2
    assert len(collection.find_cards("deck:Geo -deck:Geo::*")) == 2


def test_a_card_that_learns_across_days_has_no_interval_of_a_review(ten, collection):
    card, *_ = collection.find_cards("")
    put(collection, card, type=1, queue=DAY_LEARNING, due=collection.sched.today, left=1001)

    assert dry_run(due="0!")["before"] == {"due 0!": 0}


def test_a_tag_is_another_than_the_one_above_it(ten, collection):
    collection.tags.bulk_add(ten.ids, "lang::de")

    change_cards(10, query="deck:Geo", addTags=["lang"])
    collection.tags.bulk_remove(ten.ids, "lang")
    collection.tags.bulk_add(ten.ids[:3], "lang")
    collection.tags.bulk_add(ten.ids[3:], "lang::de")
    renamed = change_cards(3, renameTag=["lang", "language"])

    assert len(collection.find_notes("tag:re:^language$")) == renamed["changed"] == 3
    assert len(entries()) == 2
