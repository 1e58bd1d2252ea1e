"""What tests of several subjects need of a collection, and small images, made by hand."""

import json
import struct
import time
import zlib

import pytest

# Queues of cards.
LEARNING, REVIEW, DAY_LEARNING = 1, 2, 3

GIF = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
SVG = b'<?xml version="1.0"?>\n<!-- a circle -->\n<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>'
JPEG_HEAD = (
    b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08\0\x05\0\x07\x03"
)
JPEG = JPEG_HEAD + b"\x01\x22\0\x02\x11\x01\x03\x11\x01\xff\xd9"
WEBP = b"RIFF\x16\0\0\0WEBPVP8L\x09\0\0\0/\x02\x40\x00\x00\0\0\0\0\0"

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
        cards = [
            collection.get_card(card) for card in sorted(collection.find_cards(f"did:{deck.id}"))
        ]
        config = collection.decks.config_dict_for_deck_id(deck.id)
        by_deck[deck.name] = ([_kept(card) for card in cards], config["name"])
    return by_deck


def _kept(card):
    kept = {
        name: getattr(card, name)
        for name in ("id", "nid", "type", "queue", "due", "ivl", "reps", "factor")
    }
    return {**kept, "front": card.note()["Front"]}


def fronts(collection, deck):
    """The first fields of the notes in a deck, in the order of their adding."""
    return [
        collection.get_note(note).fields[0]
        for note in sorted(collection.find_notes(f'"deck:{deck}"'))
    ]


def harm(anki):
    """(tool, arguments, what it counts, what the person is asked) of each change that takes something from
    deck Geo."""
    one, two, *_ = anki.ids
    fields = {"noteId": one, "fields": {"Back": "new"}, "removeTags": ["two"], "deckName": "B"}
    updates = {"notes": [fields, {"noteId": two, "addTags": ["x"]}]}
    tags = {"addTags": ["x"], "removeTags": ["one"]}
    change = {"query": "deck:Geo", "deck": "Geo::Sub", **tags, "dryRun": False, "expected": 4}
    kinds = {
        "notes": ({"noteIds": [one, two]}, 2, "delete 2 notes: “a”, “b” …"),
        "decks": (
            {"decks": ["Geo"], "cardsToo": True},
            4,
            "delete “Geo”, 4 cards deleted: “a”, “b” …",
        ),
        "decks, cards kept": (
            {"decks": ["Geo::Sub"]},
            1,
            "delete “Geo::Sub”, 1 card moved to “Default”: “d” …",
        ),
        "update": (updates, 2, "change fields “Back”, tags, deck to “B” of 2 notes: “a”, “b” …"),
        "media": ({"filename": "a.mp3"}, 1, "delete the file “a.mp3”, used by 1 note"),
        "cards": (
            change,
            4,
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


# What a person may do at once after the answer of a `card`, as Python in Anki (the lab runs it there, too).
CHANGES_SINCE = {
    "an edit of another note": "n = col.get_card(other).note(); n['Back'] = 'typed'; col.update_note(n)",
    "an edit of the answered note": "n = col.get_card(card).note(); n['Back'] = 'typed'; col.update_note(n)",
    "a tag": "col.tags.bulk_add([col.get_card(other).nid], 'x')",
    "a tag of the answered note": "col.tags.bulk_add([col.get_card(card).nid], 'x')",
    "suspended": "col.sched.suspend_cards([other])",
    "buried": "col.sched.bury_cards([other])",
    "a flag": "col.set_user_flag_for_cards(2, [other])",
    "another flag": "col.set_user_flag_for_cards(3, [flagged])",
    "moved": "col.set_deck([other], col.decks.id('Other'))",
    "a due date": "col.sched.set_due_date([other], '3')",
    "a note deleted": "col.remove_notes([col.get_card(other).nid])",
    "a new note": "n = col.new_note(col.models.by_name('Basic')); n['Front'] = 'q'; col.add_note(n, 1)",
    "a new deck": "col.decks.add_normal_deck_with_name('New')",
    "a deck renamed": "col.decks.rename(col.decks.id('Other'), 'Third')",
    "css": "m = col.models.by_name('Cloze'); m['css'] += '/**/'; col.models.update_dict(m)",
    "css of the answered card": "m = col.models.by_name('Basic'); m['css'] += '/**/'; col.models.update_dict(m)",
    "deck options": """
from anki.deck_config_pb2 import UpdateDeckConfigsRequest
deck = col.decks.id("Geo")
now = col.decks.get_deck_configs_for_update(deck)
config = now.all_config[0].config
config.config.new_per_day = 7
asked = UpdateDeckConfigsRequest(target_deck_id=deck, configs=[config], limits=now.current_deck.limits)
col.decks.update_deck_configs(asked)
""",
}


def tokens(answer):
    return len(json.dumps(answer, ensure_ascii=False, separators=(",", ":"))) / 4


def log(collection):
    """(card, ease) of every answer in the review log."""
    return [tuple(row) for row in collection.db.all("select cid, ease from revlog order by id")]


def make_due(collection, cards, days="0!"):
    """Review cards that are due in so many days; `!` sets the interval too."""
    collection.sched.set_due_date(cards, str(days))


def put(collection, card, **columns):
    """Write columns of a card."""
    changed = collection.get_card(card)
    for name, value in columns.items():
        setattr(changed, name, value)
    collection.update_card(changed)


def pass_minutes(collection, minutes):
    """Let so many minutes pass for the cards that are being learned, and for the log."""
    seconds = 60 * minutes
    for card in collection.find_cards("is:learn"):
        if collection.get_card(card).queue == LEARNING:
            put(collection, card, due=collection.get_card(card).due - seconds)
    collection.db.execute("update revlog set id = id - ?", seconds * 1000)


def answer_in_the_window(anki, card=None, ease=3):
    """The person answers the card on the screen, which is the next of deck Geo unless a review goes on."""
    if not anki.addon.guiReviewActive():
        anki.addon.guiDeckReview("Geo")
    shown = anki.addon._showing
    anki.addon.guiShowAnswer()
    anki.addon.guiAnswerCard(ease)
    return shown


def undo_list(collection):
    """What Ctrl+Z would take back, newest first; takes it all back."""
    steps = []
    while step := collection.undo_status().undo:
        steps.append(step)
        collection.undo()
    return steps


def minutes_from_now(minutes):
    return int(time.time()) + 60 * minutes


def various(collection, notes, fsrs):
    """Cards that are new, learning, due and overdue, suspended, flagged, tagged; the decks to move them
    to."""
    collection.set_config("fsrs", fsrs)
    collection.decks.id("Other")
    cards = sorted(collection.find_cards("deck:Geo"))
    for card, ease in zip(cards[:6], (1, 2, 3, 4, 3, 3), strict=False):
        shown = collection.get_card(card)
        shown.start_timer()
        collection.sched.answerCard(shown, ease)
    collection.sched.set_due_date(cards[4:6], "9!")
    collection.sched.suspend_cards(cards[5:7])
    collection.set_user_flag_for_cards(2, cards[2:4])
    collection.tags.bulk_add(notes[:3], "t")
    return cards


def png(width=2, height=1, *, alpha=False, claimed=None):
    """A red PNG; half of it transparent with `alpha`. `claimed` is a size that only its header has."""
    channels = b"\xff\0\0" + (b"\x80" if alpha else b"")
    rows = b"".join(b"\0" + channels * width for _ in range(height))
    header = struct.pack(">IIBBBBB", *(claimed or (width, height)), 8, 6 if alpha else 2, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    )
