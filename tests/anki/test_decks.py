"""Renaming and deleting decks: cards, ids and scheduling survive, also a failure half-way."""

import pytest

from tests.anki.anki_helpers import REVIEW, add_notes, borrow, both_versions, call, put, restore
from tests.support.client import json_lines


def rename_deck(old, new):
    return call("anki.rename_deck", oldName=old, newName=new)


def delete_decks(*decks, **more):
    return call("anki.delete_decks", decks=list(decks), **more)


@pytest.fixture
def tree(anki):
    """Three decks with two cards each, one of them reviewed, and a preset of their own."""
    for name in ("Old", "Old::Sub", "Old::Sub::Leaf", "Other"):
        add_notes(anki.collection, name, f"{name} 1", f"{name} 2")
    decks = anki.collection.decks
    preset = decks.add_config_returning_id("Mine")
    decks.set_config_id_for_deck_dict(decks.by_name("Old::Sub"), preset)
    card, *_ = anki.collection.find_cards("deck:Old::Sub")
    put(anki.collection, card, type=2, queue=REVIEW, ivl=30, due=400, reps=7, factor=2300)
    return anki


def snapshot(collection):
    """By deck: its cards with all that must survive a move, and the name of its preset."""
    columns = "id, nid, type, queue, due, ivl, reps, factor"
    by_deck = {}
    for deck in collection.decks.all_names_and_ids():
        cards = collection.db.all(f"select {columns} from cards where did = {deck.id} order by id")
        config = collection.decks.config_dict_for_deck_id(deck.id)
        by_deck[deck.name] = (cards, config["name"])
    return by_deck


def moved(decks, old, new):
    """A snapshot as it is to be after a rename."""
    return {
        new + name.removeprefix(old)
        if name == old or name.startswith(old + "::")
        else name: contents
        for name, contents in decks.items()
    }


@both_versions
def test_rename_deck_keeps_cards_ids_scheduling_subdecks_and_presets(tree, collection):
    before = snapshot(collection)

    assert rename_deck("Old", "New::Home") is None

    after = snapshot(collection)
    assert after.pop("New") == ([], "Default")
    assert after == moved(before, "Old", "New::Home")


@both_versions
def test_rename_deck_changes_the_case_of_a_name_and_finds_a_parent_however_that_is_written(
    tree, collection
):
    before = snapshot(collection)

    assert rename_deck("Old::Sub", "old::SUB") is None
    assert rename_deck("Old", "oLD") is None
    assert snapshot(collection) == moved(moved(before, "Old::Sub", "Old::SUB"), "Old", "oLD")

    assert rename_deck("oLD", "OTHER::Old") is None
    assert "Other::Old::SUB::Leaf" in collection.decks.all_names()
    assert len(collection.find_cards("deck:Other")) == 8


def test_rename_deck_leaves_a_longer_name_and_wildcards_alone(anki, collection):
    for name in ("A_b", "Axb", "A_b*", 'A"q', "A\\n", "A_bc", "no\u00a0break"):
        add_notes(collection, name, name)
    before = snapshot(collection)

    for old in ("A_b", 'A"q', "A\\n", "A_b*", "no\u00a0break"):
        assert rename_deck(old, old + " new") is None
        before = moved(before, old, old + " new")

    assert snapshot(collection) == before


def test_rename_deck_takes_cards_along_that_a_filtered_deck_has_borrowed(tree, collection):
    before = snapshot(collection)
    borrow(collection, "Cram", '"deck:Old::Sub" or deck:Other')

    assert rename_deck("Old", "New") is None

    collection.sched.empty_filtered_deck(collection.decks.id("Cram"))
    assert snapshot(collection) == {**moved(before, "Old", "New"), "Cram": ([], "Cram")}


# A code, and the old and the new names that it is for.
REFUSED = json_lines(r"""
["DECK_NOT_FOUND", [["Nope", "New"], ["old", "OLD"]]]
["DECK_EXISTS", [["Default", "DEFAULT"], ["Old", "other"], ["Old", "Old"], ["Old", "Old::x"]]]
["INVALID_DECK_NAME", [["Old", "  "], ["Old", "A::"], ["Old", "A\nB"]]]
["FILTERED_DECK", [["Other", "New"]]]
""")


@pytest.mark.parametrize("code, names", REFUSED)
def test_rename_deck_refuses_before_anything_moves(tree, collection, code, names):
    borrow(collection, "Other::Cram", "deck:Other")
    before = snapshot(collection)

    assert {rename_deck(old, new)["code"] for old, new in names} == {code}
    assert snapshot(collection) == before


@both_versions
@pytest.mark.parametrize("default", ["Default", "По умолчанию"])
def test_rename_deck_of_the_default_deck_moves_its_cards_and_subdecks(tree, collection, default):
    add_notes(collection, "Default", "d")
    add_notes(collection, "Default::Sub", "s")
    collection.decks.rename(collection.decks.get(1), default)
    before = snapshot(collection)

    assert rename_deck("Default", "Inbox") is None

    after = snapshot(collection)
    assert after.pop(default) == ([], "Default")
    assert after == moved(before, default, "Inbox")
    assert rename_deck("Default", "Inbox") is None
    assert snapshot(collection) == {default: ([], "Default"), **after}


def test_delete_decks_moves_the_cards_to_the_default_deck_which_stays(tree, collection):
    """Whatever that is called. Also of a name with a no-break space, as texts from the web have it: deck:
    finds nothing for it."""
    collection.decks.rename(collection.decks.get(1), "По умолчанию")
    add_notes(collection, "from\u00a0the web", "a", "b")
    cards = sorted(collection.find_cards("deck:Old or front:a or front:b"))

    assert delete_decks("from\u00a0the web", dryRun=True)["cards"] == 2
    assert delete_decks("Old", "from\u00a0the web") is None

    assert sorted(collection.find_cards("did:1")) == cards
    assert collection.decks.all_names() == ["Other", "По умолчанию"]
    assert delete_decks("По умолчанию", cardsToo=True)["code"] == "DEFAULT_DECK"
    assert delete_decks("Other", cardsToo=True) is None
    assert sorted(collection.find_cards("")) == cards


def test_delete_decks_sends_borrowed_cards_home_and_keeps_them(tree, collection):
    borrow(collection, "Old::Cram", "deck:Other or deck:Old::Sub::Leaf")
    cards = collection.card_count()

    assert delete_decks("Old") is None

    assert collection.card_count() == cards
    assert len(collection.find_cards("deck:Other")) == 2
    assert len(collection.find_cards("did:1")) == 6
    restore()
    assert "Old::Cram" not in collection.decks.all_names()


@both_versions
@pytest.mark.parametrize("cards_too", [True, False])
def test_delete_decks_takes_a_deck_named_beside_its_subdeck_and_no_other(
    tree, collection, cards_too
):
    """The subdeck is gone with its parent when its own turn comes."""
    add_notes(collection, "Older", "a")
    add_notes(collection, "Home::Old", "b")
    before = snapshot(collection)

    assert delete_decks("Old::Sub", "Old", cardsToo=cards_too) is None

    after = snapshot(collection)
    assert len(after.pop("Default")[0]) == (0 if cards_too else 6)
    assert set(before) - set(after) == {"Default", "Old", "Old::Sub", "Old::Sub::Leaf"}
    assert before.items() >= after.items()


def test_delete_decks_with_an_unknown_name_deletes_nothing(tree, collection):
    before = snapshot(collection)

    answer = delete_decks("Other", "old", "Nope", cardsToo=True)

    assert answer["code"] == "DECK_NOT_FOUND"
    assert "'Nope'" in answer["error"] and "mean Old?" in answer["hint"]
    assert snapshot(collection) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda: rename_deck("Old", "New"),
        lambda: rename_deck("Old", "OLD"),
        lambda: delete_decks("Old", "Other"),
    ],
    ids=["rename", "rename by case", "delete"],
)
def test_no_deck_is_deleted_before_its_cards_are_seen_elsewhere(tree, collection, change):
    before = snapshot(collection)
    tree.addon.changeDeck = lambda cards, deck: None

    assert change()["code"] == "DECK_NOT_EMPTY"
    assert "deleteDecks" not in tree.actions()
    assert snapshot(collection).items() >= before.items()
