"""Changing many cards at once: dry first, then exactly what was counted."""

import json

import pytest

from tests.anki.anki_helpers import add_notes, both_versions, snapshot


@pytest.fixture
def geo(anki):
    """Ten notes with a card each, in deck Geo."""
    anki.ids = add_notes(anki.collection, "Geo", *(f"question {number}" for number in range(10)))
    return anki


CHANGES = [
    ({"suspend": True}, "is:suspended"),
    ({"due": "3-7!"}, "prop:due>=3 prop:due<=7"),
    ({"deck": "Other"}, "deck:Other"),
    ({"flag": 4}, "flag:4"),
    ({"addTags": ["x", "y"]}, "tag:x tag:y"),
    ({"addTags": ["x"], "suspend": True}, "tag:x is:suspended"),
]


@pytest.mark.parametrize(("change", "search"), CHANGES)
def test_a_dry_run_changes_nothing_and_the_change_needs_its_count(geo, call, change, search):
    geo.collection.decks.id("Other")
    before = snapshot(geo.collection)

    dry = call("anki.change_cards", query="deck:Geo", **change)
    wrong = call("anki.change_cards", query="deck:Geo", **change, dryRun=False, expected=9)
    unsaid = call("anki.change_cards", query="deck:Geo", **change, dryRun=False)

    assert (dry["count"], len(dry["examples"])) == (10, 5)
    assert set(dry["before"].values()) == {0}
    assert wrong["code"] == unsaid["code"] == "EXPECTED_COUNT"
    assert snapshot(geo.collection) == before
    assert geo.collection.find_cards(search) == []

    done = call("anki.change_cards", query="deck:Geo", **change, dryRun=False, expected=10)

    assert done["changed"] == 10
    assert max(done["after"].values()) == 10
    assert set(done["after"].values()) <= {0, 10}
    assert len(geo.collection.find_cards(search)) == 10


@both_versions
def test_tags_of_500_notes_cost_few_requests_and_few_tokens(anki, call):
    ids = add_notes(anki.collection, "Geo", *(f"question {number}" for number in range(500)))

    dry = call("anki.change_cards", query="deck:Geo", addTags=["t"])
    wet = call("anki.change_cards", query="deck:Geo", addTags=["t"], dryRun=False, expected=dry["count"])

    assert len(anki.requests) == 5  # two of them the dry run's
    assert len(json.dumps(wet)) / 4 <= 250
    assert len(json.dumps([dry, wet], ensure_ascii=False)) / 4 <= 250
    assert len(anki.collection.find_notes("tag:t")) == len(ids) == 500


def test_changes_can_be_taken_back(geo, call):
    cards = sorted(geo.collection.find_cards("deck:Geo"))
    for change in (
        {"suspend": True},
        {"unsuspend": True},
        {"addTags": ["a"]},
        {"renameTag": ["a", "b"]},
        {"removeTags": ["b"]},
    ):
        assert call("anki.change_cards", cardIds=cards, **change, dryRun=False, expected=10)["changed"] == 10
    geo.collection.sched.set_due_date(cards, "0")
    assert call("anki.change_cards", noteIds=geo.ids, forget=True, dryRun=False, expected=10)["after"] == {"new": 10}
    assert geo.collection.find_cards("is:suspended") == []
    assert geo.collection.find_notes("tag:a") == geo.collection.find_notes("tag:b") == []


def test_a_search_that_finds_nothing_more_after_the_change_is_counted_right(geo, call):
    geo.collection.tags.bulk_add(geo.ids, "old")

    answer = call("anki.change_cards", query="tag:old", renameTag=["old", "new"], dryRun=False, expected=10)

    assert answer["before"] == {"tag old": 10, "tag new": 0}
    assert answer["after"] == {"tag old": 0, "tag new": 10}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"query": "deck:Geo"}, "INVALID_ARGUMENTS"),
        ({"query": "deck:Geo", "cardIds": [1], "suspend": True}, "INVALID_ARGUMENTS"),
        ({"suspend": True}, "INVALID_ARGUMENTS"),
        ({"query": "deck:Geo", "suspend": True, "unsuspend": True}, "INVALID_ARGUMENTS"),
        ({"query": "deck:Geo", "due": "tomorrow"}, "INVALID_ARGUMENTS"),
        ({"query": "deck:Geo", "due": "-1"}, "INVALID_ARGUMENTS"),
        ({"query": "deck:Geo", "renameTag": ["a"]}, "INVALID_ARGUMENTS"),
        ({"query": "deck:Geo", "addTags": ["two words"]}, "INVALID_TAG"),
        ({"query": "deck:Geo", "deck": "Typo"}, "DECK_NOT_FOUND"),
        ({"query": "deck:Geo", "flag": 8}, "INVALID_ARGUMENTS"),
        ({"query": "is:zzz", "suspend": True}, "ANKI_ERROR"),
    ],
)
def test_what_makes_no_sense_changes_nothing(geo, call, arguments, code):
    before = snapshot(geo.collection)

    assert call("anki.change_cards", **arguments, dryRun=False, expected=10)["code"] == code
    assert snapshot(geo.collection) == before


@pytest.mark.parametrize("anki", ["2023-10"], indirect=True)
def test_an_older_add_on_that_cannot_set_due_dates_is_named(geo, call):
    answer = call("anki.change_cards", query="deck:Geo", due="3", dryRun=False, expected=10)

    assert "update the add-on" in answer["hint"]
    assert answer["after"]["suspended"] == 0
