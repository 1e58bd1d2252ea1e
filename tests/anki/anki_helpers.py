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


def borrow(collection, name, query, limit=100):
    """A filtered deck that has the cards of a query; its cards."""
    deck = collection.sched.get_or_create_filtered_deck(0)
    deck.name = name
    del deck.config.search_terms[1:]
    deck.config.search_terms[0].search = query
    deck.config.search_terms[0].limit = limit
    made = collection.sched.add_or_update_filtered_deck(deck)
    return collection.find_cards(f"did:{made.id}")


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


def harm(anki):
    """(tool, arguments, what it counts, what the person is asked) of each change that takes something from deck Geo."""
    one, two, *_ = anki.ids
    fields = {"noteId": one, "fields": {"Back": "new"}, "removeTags": ["two"], "deckName": "B"}
    change = {"query": "deck:Geo", "deck": "Geo::Sub", "addTags": ["x"], "removeTags": ["one"], "dryRun": False}
    kinds = {
        "notes": ({"noteIds": [one, two]}, 2, "delete 2 notes: “a”, “b” …"),
        "decks": ({"decks": ["Geo"], "cardsToo": True}, 4, "delete “Geo”, 4 cards deleted: “a”, “b” …"),
        "decks, cards kept": ({"decks": ["Geo::Sub"]}, 1, "delete “Geo::Sub”, 1 cards moved to “Default”: “d” …"),
        "update": (
            *({"notes": [fields, {"noteId": two, "addTags": ["x"]}]}, 2),
            "change fields “Back”, tags, deck to “B” of 2 notes: “a”, “b” …",
        ),
        "media": ({"filename": "a.mp3"}, 1, "delete the file “a.mp3”, which 1 notes use"),
        "cards": (
            *({**change, "expected": 4}, 4),
            "change 4 cards of “(deck:Geo)”: deck “Geo::Sub”, addTags “x”, removeTags “one”",
        ),
    }
    return {kind: (KINDS_OF_HARM[kind], *told) for kind, told in kinds.items()}


KINDS_OF_HARM = {
    "notes": "anki.delete_notes",
    "decks": "anki.delete_decks",
    "decks, cards kept": "anki.delete_decks",
    "update": "anki.update_notes",
    "media": "anki.delete_media",
    "cards": "anki.change_cards",
}
