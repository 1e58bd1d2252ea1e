"""Renaming and deleting decks: cards, ids and scheduling survive, also a failure half-way."""

import pytest

from tests.anki.anki_helpers import add_notes, borrow, both_versions, call


@pytest.fixture
def tree(anki):
    """Three decks with two cards each, one of them reviewed, and a preset of their own."""
    for name in ("Old", "Old::Sub", "Old::Sub::Leaf", "Other"):
        add_notes(anki.collection, name, f"{name} 1", f"{name} 2")
    decks = anki.collection.decks
    preset = decks.add_config_returning_id("Mine")
    deck = decks.by_name("Old::Sub")
    decks.set_config_id_for_deck_dict(deck, preset)
    card = anki.collection.get_card(anki.collection.find_cards('"deck:Old::Sub"')[0])
    card.type, card.queue, card.ivl, card.due, card.reps, card.factor = 2, 2, 30, 400, 7, 2300
    anki.collection.update_card(card)
    return anki


def snapshot(collection):
    """By deck: its cards with all that must survive a move, and the name of its preset."""
    names = ("id", "nid", "type", "queue", "due", "ivl", "reps", "factor")
    by_deck = {}
    for deck in collection.decks.all_names_and_ids():
        cards = map(collection.get_card, sorted(collection.find_cards(f"did:{deck.id}")))
        config = collection.decks.config_dict_for_deck_id(deck.id)
        kept = [[getattr(card, name) for name in names] for card in cards]
        by_deck[deck.name] = (kept, config["name"])
    return by_deck


def moved(decks, old, new):
    """A snapshot as it is to be after a rename."""
    return {
        new + name.removeprefix(old) if name == old or name.startswith(old + "::") else name: found
        for name, found in decks.items()
    }


@both_versions
def test_rename_deck_keeps_cards_ids_scheduling_subdecks_and_presets(tree, collection):
    before = snapshot(collection)

    assert call("anki.rename_deck", oldName="Old", newName="New::Home") is None

    after = snapshot(collection)
    assert after.pop("New") == ([], "Default")
    assert after == moved(before, "Old", "New::Home")


@both_versions
def test_rename_deck_changes_the_case_of_a_name_and_finds_a_parent_however_that_is_written(
    tree, collection
):
    before = snapshot(collection)

    assert call("anki.rename_deck", oldName="Old::Sub", newName="old::SUB") is None
    assert call("anki.rename_deck", oldName="Old", newName="oLD") is None
    assert snapshot(collection) == moved(moved(before, "Old::Sub", "Old::SUB"), "Old", "oLD")

    assert call("anki.rename_deck", oldName="oLD", newName="OTHER::Old") is None
    assert "Other::Old::SUB::Leaf" in collection.decks.all_names()
    assert len(collection.find_cards("deck:Other")) == 8


def test_rename_deck_leaves_a_longer_name_and_wildcards_alone(anki, collection):
    for name in ("A_b", "Axb", "A_b*", 'A"q', "A\\n", "A_bc", "no\u00a0break"):
        add_notes(collection, name, name)
    before = snapshot(collection)

    for old in ("A_b", 'A"q', "A\\n", "A_b*", "no\u00a0break"):
        assert call("anki.rename_deck", oldName=old, newName=old + " new") is None
        before = moved(before, old, old + " new")

    assert snapshot(collection) == before


def test_rename_deck_takes_cards_along_that_a_filtered_deck_has_borrowed(tree, collection):
    before = snapshot(collection)
    borrow(collection, "Cram", '"deck:Old::Sub" or deck:Other')

    assert call("anki.rename_deck", oldName="Old", newName="New") is None

    collection.sched.empty_filtered_deck(collection.decks.id("Cram"))
    assert snapshot(collection) == {**moved(before, "Old", "New"), "Cram": ([], "Cram")}


REFUSED = {
    "DECK_NOT_FOUND": [("Nope", "New"), ("old", "OLD")],
    "DECK_EXISTS": [("Default", "DEFAULT"), ("Old", "other"), ("Old", "Old"), ("Old", "Old::x")],
    "INVALID_DECK_NAME": [("Old", "  "), ("Old", "A::"), ("Old", "A\nB")],
    "FILTERED_DECK": [("Other", "New")],
}


@pytest.mark.parametrize("code", REFUSED)
def test_rename_deck_refuses_before_anything_moves(tree, collection, code):
    borrow(collection, "Other::Cram", "deck:Other")
    before = snapshot(collection)

    assert {
        call("anki.rename_deck", oldName=old, newName=new)["code"] for old, new in REFUSED[code]
    } == {code}
    assert snapshot(collection) == before


@both_versions
@pytest.mark.parametrize("default", ["Default", "По умолчанию"])
def test_rename_deck_of_the_default_deck_moves_its_cards_and_subdecks(tree, collection, default):
    add_notes(collection, "Default", "d")
    add_notes(collection, "Default::Sub", "s")
    collection.decks.rename(collection.decks.get(1), default)
    before = snapshot(collection)

    assert call("anki.rename_deck", oldName="Default", newName="Inbox") is None

    after = snapshot(collection)
    assert after.pop(default) == ([], "Default")
    assert after == moved(before, default, "Inbox")
    assert call("anki.rename_deck", oldName="Default", newName="Inbox") is None
    assert snapshot(collection) == {default: ([], "Default"), **after}


def test_the_default_deck_is_known_by_its_id_whatever_it_is_called(tree, collection):
    default = collection.decks.get(1)
    collection.decks.rename(default, "По умолчанию")

    assert (
        call("anki.delete_decks", decks=["По умолчанию"], cardsToo=True)["code"] == "DEFAULT_DECK"
    )
    assert call("anki.delete_decks", decks=["Other"]) is None
    assert len(collection.find_cards("did:1")) == 2
    assert "Default" not in collection.decks.all_names()


def test_delete_decks_moves_the_cards_to_default_unless_told_otherwise(tree, collection):
    """Also of a name with a no-break space, as texts from the web have it: deck: finds nothing for it."""
    add_notes(collection, "from\u00a0the web", "a", "b")
    cards = sorted(collection.find_cards("deck:Old or front:a or front:b"))

    assert call("anki.delete_decks", decks=["from\u00a0the web"], dryRun=True)["cards"] == 2
    assert call("anki.delete_decks", decks=["Old", "from\u00a0the web"]) is None

    assert sorted(collection.find_cards("did:1")) == cards
    assert collection.decks.all_names() == ["Default", "Other"]
    assert call("anki.delete_decks", decks=["Other"], cardsToo=True) is None
    assert sorted(collection.find_cards("")) == cards


def test_delete_decks_sends_borrowed_cards_home_and_keeps_them(tree, collection):
    borrow(collection, "Old::Cram", "deck:Other or deck:Old::Sub::Leaf")
    cards = collection.card_count()

    assert call("anki.delete_decks", decks=["Old"]) is None

    assert collection.card_count() == cards
    assert len(collection.find_cards("deck:Other")) == 2
    assert len(collection.find_cards("did:1")) == 6
    call("anki.restore", entry=1)
    assert "Old::Cram" not in collection.decks.all_names()


@both_versions
@pytest.mark.parametrize("cards_too", [True, False])
def test_delete_decks_takes_a_deck_named_beside_its_subdeck_and_no_other(
    tree, collection, cards_too
):
    """The subdeck is gone with its parent when its own turn comes."""
    cards = collection.card_count()
    add_notes(collection, "Older", "a")
    add_notes(collection, "Home::Old", "b")
    others = {
        name: content for name, content in snapshot(collection).items() if "Old::" not in name
    }
    del others["Old"]

    assert call("anki.delete_decks", decks=["Old::Sub", "Old"], cardsToo=cards_too) is None

    after = snapshot(collection)
    kept, _ = after.pop("Default")
    del others["Default"]
    assert after == others
    assert len(kept) == (0 if cards_too else 6)
    assert collection.card_count() == cards + 2 - (6 if cards_too else 0)


@pytest.mark.parametrize("cards_too", [True, False])
def test_delete_decks_with_an_unknown_name_deletes_nothing(tree, collection, cards_too):
    before = snapshot(collection)

    answer = call("anki.delete_decks", decks=["Other", "old", "Nope"], cardsToo=cards_too)

    assert answer["code"] == "DECK_NOT_FOUND"
    assert "'Nope'" in answer["error"] and "anki_list_decks" in answer["hint"]
    assert snapshot(collection) == before


@pytest.mark.parametrize("new", ["New", "OLD", None])
def test_no_deck_is_deleted_before_its_cards_are_seen_elsewhere(tree, collection, new):
    before = snapshot(collection)
    tree.addon.changeDeck = lambda cards, deck: None

    if new:
        answer = call("anki.rename_deck", oldName="Old", newName=new)
    else:
        answer = call("anki.delete_decks", decks=["Old", "Other"])

    assert answer["code"] == "DECK_NOT_EMPTY"
    assert "deleteDecks" not in tree.actions()
    assert snapshot(collection).items() >= before.items()
