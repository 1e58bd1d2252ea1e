"""A rename whose last answer was lost is known as done once; after that it is a rename of a deck that is not there."""

import pytest


@pytest.fixture
def decks(anki):
    for name in ("First", "Old"):
        anki.collection.decks.id(name)
    return anki


def test_a_finished_rename_is_not_taken_for_done_for_ever(decks, call):
    before = len(decks.requests)
    assert call("anki.rename_deck", oldName="First", newName="Second") is None
    count = len(decks.requests) - before
    decks.faults = {len(decks.requests) + count - 1: "cut_after"}

    assert call("anki.rename_deck", oldName="Old", newName="New")["success"] is False
    assert {"New"} == {name for name in decks.collection.decks.all_names() if name in ("Old", "New")}
    assert call("anki.rename_deck", oldName="Old", newName="New") is None
    assert call("anki.rename_deck", oldName="Old", newName="New")["code"] == "DECK_NOT_FOUND"
