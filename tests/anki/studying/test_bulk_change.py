"""Changing many cards at once: dry first, then exactly what was counted."""

import json

import pytest

from tests.anki.anki_helpers import add_notes, borrow, both_versions, snapshot, various
from tools.core import calls


@pytest.fixture
def ten(anki):
    """Ten notes with a card each, in deck Geo."""
    anki.ids = add_notes(anki.collection, "Geo", *(f"question {number}" for number in range(10)))
    return anki


CHANGES = [
    ({"suspend": True}, "is:suspended"),
    ({"due": "3-7!"}, "prop:due>=3 prop:due<=7"),
    ({"deck": "Other"}, "deck:Other"),
    ({"flag": 4}, "flag:4"),
    ({"addTags": ["x", "y"], "suspend": True}, "tag:x tag:y is:suspended"),
]


@pytest.mark.parametrize(("change", "search"), CHANGES)
def test_a_dry_run_changes_nothing_and_the_change_needs_its_count(
    ten, collection, call, change, search
):
    collection.decks.id("Other")
    before = snapshot(collection)

    dry = call("anki.change_cards", query="deck:Geo", **change)
    wrong = call("anki.change_cards", query="deck:Geo", **change, dryRun=False, expected=9)
    unsaid = call("anki.change_cards", query="deck:Geo", **change, dryRun=False)

    assert (dry["count"], len(dry["examples"])) == (10, 5)
    assert set(dry["before"].values()) == {0}
    assert wrong["code"] == unsaid["code"] == "EXPECTED_COUNT"
    assert snapshot(collection) == before
    assert collection.find_cards(search) == []

    done = call("anki.change_cards", query="deck:Geo", **change, dryRun=False, expected=10)

    assert done["changed"] == 10
    assert set(done["after"].values()) == {10}
    assert len(collection.find_cards(search)) == 10


@both_versions
def test_tags_of_500_notes_cost_few_requests_and_few_tokens(anki, collection, call):
    ids = add_notes(collection, "Geo", *(f"question {number}" for number in range(500)))

    dry = call("anki.change_cards", query="deck:Geo", addTags=["t"])
    assert len(anki.requests) == 2
    anki.requests.clear()
    wet = call(
        "anki.change_cards", query="deck:Geo", addTags=["t"], dryRun=False, expected=dry["count"]
    )

    assert len(anki.requests) == 3
    assert len(json.dumps([dry, wet], ensure_ascii=False)) / 4 <= 250
    assert len(collection.find_notes("tag:t")) == len(ids) == 500


def states(collection):
    """By card: everything that a change of cards may touch."""
    names = ("did", "type", "queue", "due", "ivl", "factor", "reps", "lapses", "left", "flags")
    cards = [collection.get_card(card) for card in sorted(collection.find_cards(""))]
    return {card.id: ([getattr(card, name) for name in names], card.note().tags) for card in cards}


TO_PUT_BACK = [
    {"unsuspend": True},
    {"due": "3-7!"},
    {"forget": True},
    {"flag": 0},
    {
        "forget": True,
        "suspend": True,
        "flag": 3,
        "addTags": ["x"],
        "removeTags": ["t"],
        "deck": "oTHER",
    },
]
OLDER = [("2023-10", change) for change in TO_PUT_BACK if "due" not in change]


@pytest.mark.parametrize("fsrs", [False, True])
@pytest.mark.parametrize(
    ("anki", "change"),
    [*(("2025-11", change) for change in TO_PUT_BACK), *OLDER],
    indirect=["anki"],
)
def test_cards_are_put_back_as_they_were(ten, collection, call, change, fsrs):
    cards = various(collection, ten.ids, fsrs)
    before = states(collection)
    call("anki.change_cards", cardIds=cards, **change, dryRun=False, expected=10)
    assert states(collection) != before

    entry, _, _, summary = call("anki.restore")["entries"][0]
    answer = call("anki.restore", entry=entry)

    assert summary.startswith("10 cards changed: " + next(iter(change)))
    assert "failed" not in answer
    assert states(collection) == before


def test_the_schedule_of_borrowed_cards_is_said_to_be_out_of_reach(ten, collection, call):
    collection.sched.set_due_date(collection.find_cards(""), "0")
    borrow(collection, "Cram", '"question 0"')

    answer = call("anki.change_cards", noteIds=ten.ids, forget=True, dryRun=False, expected=10)

    assert "of 1 card cannot be put back" in answer["warnings"][0]


def test_progress_is_of_all_changes_together(ten, call):
    reports = []
    change = {"suspend": True, "flag": 4}
    with calls.calling(lambda *report: reports.append(report[:2]), lambda: False):
        call("anki.change_cards", noteIds=ten.ids, **change, dryRun=False, expected=10)
    assert [report for report in reports if report[1] == 20] == [(10, 20), (20, 20)]


@pytest.mark.parametrize("fault", ["cut_before", "cut_after", "refused", "cancelled"])
def test_a_change_in_parts_that_is_cut_says_how_far_it_came(anki, collection, call, fault):
    ids = add_notes(collection, "Geo", *(f"question {number}" for number in range(300)))
    anki.faults = {3: fault}
    reports = []

    with calls.calling(
        lambda *report: reports.append(report[:2]),
        lambda: fault == "cancelled" and len(anki.requests) > 2,
    ):
        answer = call("anki.change_cards", noteIds=ids, flag=4, dryRun=False, expected=300)

    assert (answer["code"] == "CANCELLED") == (fault == "cancelled")
    assert reports == [(30, 300)]
    assert len(collection.find_cards("flag:4")) == (270 if fault == "cut_after" else 30)
    assert "30 of 300 changes are made" in answer["error"]
    assert ("may be made too" in answer["error"]) == (fault.startswith("cut"))
    assert "anki_restore puts back" in answer["hint"]
    again = call("anki.change_cards", noteIds=ids, flag=4, dryRun=False, expected=300)
    assert again["after"] == {"flag 4": 300}


WRONG = [
    {"query": "deck:Geo"},
    {"query": "deck:Geo", "cardIds": [1], "suspend": True},
    {"suspend": True},
    *({"query": "deck:Geo", "due": due} for due in ("tomorrow", "7-3")),
    {"query": "deck:Geo", "renameTag": ["tt", "TT"]},
]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        *((arguments, "INVALID_ARGUMENTS") for arguments in WRONG),
        ({"query": "deck:Geo", "addTags": ["two words"]}, "INVALID_TAG"),
        ({"query": "deck:Geo", "deck": "Typo"}, "DECK_NOT_FOUND"),
        ({"query": "is:zzz", "suspend": True}, "ANKI_ERROR"),
    ],
)
def test_what_makes_no_sense_changes_nothing(ten, collection, call, arguments, code):
    before = snapshot(collection)

    assert call("anki.change_cards", **arguments, dryRun=False, expected=10)["code"] == code
    assert snapshot(collection) == before


@pytest.mark.parametrize("anki", ["2023-10"], indirect=True)
def test_an_older_add_on_that_cannot_set_due_dates_is_named(ten, call):
    answer = call("anki.change_cards", query="deck:Geo", due="3", dryRun=False, expected=10)

    assert "update the add-on" in answer["hint"]
    assert answer["before"] == {"due 3": 0}


REPEATED = [
    {"forget": True},
    {"unsuspend": True},
    {"due": "3-7"},
    {"deck": "Other"},
    {"renameTag": ["t", "u"]},
]


@pytest.mark.parametrize("change", REPEATED)
def test_a_change_repeated_after_a_lost_answer_leaves_one_entry_that_puts_all_back(
    ten, collection, call, change
):
    collection.decks.id("Other")
    cards = sorted(collection.find_cards("deck:Geo"))
    collection.sched.set_due_date(cards, "0")
    collection.tags.bulk_add(ten.ids, "t")
    if "unsuspend" in change:
        collection.sched.suspend_cards(cards)
    before = states(collection)
    ten.faults = {
        3 if "forget" in change or "due" in change else 2: "cut_after"
    }  # the request that makes the change

    lost = call("anki.change_cards", cardIds=cards, **change, dryRun=False, expected=10)
    again = call("anki.change_cards", cardIds=cards, **change, dryRun=False, expected=10)

    assert "may be made too" in lost["error"]
    assert again["changed"] == 0
    ((entry, *_),) = call("anki.restore")["entries"]
    call("anki.restore", entry=entry)
    assert states(collection) == before


def test_a_dry_run_tells_what_a_change_brings_beside_it(ten, call):
    ten.collection.tags.bulk_add(ten.ids[:3], "lang lang::de")

    due = call("anki.change_cards", query="deck:Geo", due="0")
    tags = call("anki.change_cards", query="deck:Geo", removeTags=["lang"])
    flag = call("anki.change_cards", query="deck:Geo", flag=1)

    assert due["warnings"] == ["10 new cards become review cards"]
    assert tags["warnings"] == ["lang goes with the tags below it, lang::*, of 3 notes"]
    assert "undo list" in flag["warnings"][0]
    assert "warnings" not in call("anki.change_cards", query="deck:Geo", suspend=True)


@pytest.mark.parametrize("change", [{"renameTag": ["rare", "new"]}, {"removeTags": ["rare"]}])
@pytest.mark.parametrize("query", ["deck:*", ""])
def test_a_change_of_tags_alone_counts_the_notes_that_have_them(
    ten, collection, call, change, query
):
    collection.tags.bulk_add(ten.ids[:3], "rare")

    dry = call("anki.change_cards", query=query, **change)
    made = call("anki.change_cards", query=query, **change, dryRun=False, expected=3)
    again = call("anki.change_cards", query=query, **change, dryRun=False, expected=3)

    assert dry["count"] == made["changed"] == 3 and again["changed"] == 0
    assert not collection.find_notes("tag:rare")


def test_a_tag_with_a_quotation_mark_is_renamed_and_removed(ten, collection, call):
    collection.tags.bulk_add(ten.ids[:3], '5"')

    renamed = call("anki.change_cards", renameTag=['5"', '6"'], dryRun=False, expected=3)
    removed = call("anki.change_cards", removeTags=['6"'], dryRun=False, expected=3)

    assert renamed["changed"] == removed["changed"] == 3
    assert not collection.find_notes("-tag:none")


def test_a_change_of_tags_beside_another_still_needs_to_be_told_of_what(ten, call):
    answer = call("anki.change_cards", removeTags=["rare"], suspend=True)
    assert answer["code"] == "INVALID_ARGUMENTS"


def test_the_dry_run_of_forgetting_says_what_goes(ten, collection, call):
    cards = list(collection.find_cards(""))
    collection.sched.set_due_date(cards[:3], "9!")
    collection.sched.set_due_date(cards[:1], "40!")

    dry = call("anki.change_cards", query="deck:Geo", forget=True)

    assert dry["warnings"] == [
        "3 cards lose their intervals, 1 of these of 3 weeks or more; anki_restore puts them back"
    ]


def test_cards_of_a_subdeck_are_moved_to_its_parent(anki, collection, call):
    add_notes(collection, "Geo::Sub", "a", "b")

    made = call("anki.change_cards", query="deck:Geo::Sub", deck="Geo", dryRun=False, expected=2)

    assert made["changed"] == made["after"]["deck “Geo”"] == 2
    assert len(collection.find_cards("deck:Geo -deck:Geo::*")) == 2


def test_a_tag_is_another_than_the_one_above_it(ten, collection, call):
    collection.tags.bulk_add(ten.ids, "lang::de")

    call("anki.change_cards", query="deck:Geo", addTags=["lang"], dryRun=False, expected=10)
    collection.tags.bulk_remove(ten.ids, "lang")
    collection.tags.bulk_add(ten.ids[:3], "lang")
    collection.tags.bulk_add(ten.ids[3:], "lang::de")
    renamed = call("anki.change_cards", renameTag=["lang", "language"], dryRun=False, expected=3)

    assert len(collection.find_notes("tag:re:^language$")) == renamed["changed"] == 3
    assert len(call("anki.restore")["entries"]) == 2
