"""What tests of several subjects need of a collection."""

import pytest

both_versions = pytest.mark.parametrize("anki", ["2025-11", "2023-10"], indirect=True)


def add_notes(collection, deck, *fronts):
    """Notes of the Basic type, put into a deck without the server; their ids."""
    ids = []
    for front in fronts:
        note = collection.new_note(collection.models.by_name("Basic"))
        note["Front"], note["Back"] = front, "answer"
        collection.add_note(note, collection.decks.id(deck))
        ids.append(note.id)
    return ids


def snapshot(collection):
    """By deck: its cards with all that must survive a move, and the name of its preset."""
    by_deck = {}
    for deck in collection.decks.all_names_and_ids():
        cards = [collection.get_card(card) for card in sorted(collection.find_cards(f"did:{deck.id}"))]
        config = collection.decks.config_dict_for_deck_id(deck.id)
        by_deck[deck.name] = ([_kept(card) for card in cards], config["name"])
    return by_deck


def _kept(card):
    kept = {name: getattr(card, name) for name in ("id", "nid", "type", "queue", "due", "ivl", "reps", "factor")}
    return {**kept, "front": card.note()["Front"]}


def fronts(collection, deck):
    """The first fields of the notes in a deck, in the order of their adding."""
    return [collection.get_note(note).fields[0] for note in sorted(collection.find_notes(f'"deck:{deck}"'))]
