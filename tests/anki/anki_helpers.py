"""What tests of several subjects need: calls, a collection with something in it, small images made by
hand."""

import base64
import random
import struct
import time
import zlib
from contextlib import contextmanager

import pytest

from tests.klipper.asking import call, tokens  # noqa: F401

# Queues of cards.
NEW, LEARNING, REVIEW, DAY_LEARNING = range(4)
# An id that no note and no card has.
GONE = 1234567890123

GIF = (
    b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0"
    b",\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
)
SVG = (
    b'<?xml version="1.0"?>\n<!-- a circle -->\n'
    b'<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>'
)
JPEG = (
    b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08\0\x05\0\x07\x03"
    b"\x01\x22\0\x02\x11\x01\x03\x11\x01\xff\xd9"
)
WEBP = b"RIFF\x16\0\0\0WEBPVP8L\x09\0\0\0/\x02\x40\x00\x00\0\0\0\0\0"

REVERSED = "Basic (and reversed card)"

both_versions = pytest.mark.parametrize("anki", ["2025-11", "2023-10"], indirect=True)
older_version = pytest.mark.parametrize("anki", ["2023-10"], indirect=True)


def add_items(*items, **more):
    return call("anki.add_from_model", items=list(items), **more)


def add_item(item, **more):
    """The detail of one item that is added."""
    (detail,) = add_items(item, **more)["details"]
    return detail


def add_rows(rows, names=("Front", "Back")):
    return call("anki.add_from_model", fieldNames=list(names), rows=rows)


def add_text(tsv, names=("Front", "Back"), **more):
    return call("anki.add_from_model", fieldNames=list(names), tsv=tsv, **more)


def update_each(notes, dryRun=False, **update):
    """The same update of each of these notes."""
    updates = [{"noteId": note, **update} for note in notes]
    return call("anki.update_notes", notes=updates, dryRun=dryRun)


def update_note(note, **update):
    return update_each([note], **update)


def delete_notes(notes, **more):
    return call("anki.delete_notes", noteIds=notes, **more)


def find_notes(query, **more):
    return call("anki.find_notes", query=query, **more)


def restore(entry=1):
    """Put back what an entry of the journal holds; the first is 1."""
    return call("anki.restore", entry=entry)


def entries():
    """What can be put back, newest first."""
    return call("anki.restore")["entries"]


def due_cards(**more):
    """The cards of deck Geo to be studied."""
    return call("anki.due", deck="Geo", **more)["cards"]


def update_detail(note, **update):
    """The detail of one note that is updated."""
    (detail,) = update_note(note, **update)["details"]
    return detail


def change_cards(expected, **change):
    """A change that is made, of as many cards or notes as are expected."""
    return call("anki.change_cards", **change, dryRun=False, expected=expected)


def answer_each(answers, **more):
    """Answers (card, ease)."""
    ratings = [{"cardId": card, "ease": ease} for card, ease in answers]
    return call("anki.answer_cards", answers=ratings, **more)


def answer_cards(cards, ease="good", **more):
    return answer_each([(card, ease) for card in cards], **more)


def add_note(collection, deck, model, *fields):
    """A note put into a deck without the server; its id."""
    note = collection.new_note(collection.models.by_name(model))
    note.fields[: len(fields)] = fields
    collection.add_note(note, collection.decks.id(deck))
    return note.id


def add_notes(collection, deck, *fronts):
    """Notes of the Basic type; their ids."""
    return [add_note(collection, deck, "Basic", front, "answer") for front in fronts]


def add_many(collection, deck, count, front="question"):
    """Notes as of `add_notes`, numbered from 0."""
    return add_notes(collection, deck, *(f"{front} {number}" for number in range(count)))


@contextmanager
def options(collection):
    """The options of all decks, to be changed."""
    config = collection.decks.config_dict_for_deck_id(1)
    yield config
    collection.decks.update_config(config)


def borrow(collection, name, query, limit=100):
    """A filtered deck that has the cards of a query; its cards."""
    deck = collection.sched.get_or_create_filtered_deck(0)
    deck.name = name
    del deck.config.search_terms[1:]
    deck.config.search_terms[0].search = query
    deck.config.search_terms[0].limit = limit
    changes = collection.sched.add_or_update_filtered_deck(deck)
    return collection.find_cards(f"did:{changes.id}")


# All of a card that can be changed and put back, but where it is and when it comes.
SCHEDULE = ("ord", "type", "queue", "ivl", "factor", "reps", "lapses", "left", "flags")


def schedule(card):
    return [getattr(card, name) for name in SCHEDULE]


def whole(collection):
    """All that a person can change, by its ids."""
    columns = ", ".join(SCHEDULE)
    return [
        collection.db.all("select id, flds, tags from notes order by id"),
        collection.db.all(f"select id, did, due, {columns} from cards order by id"),
        sorted(collection.decks.all_names()),
        [model["css"] for model in collection.models.all()],
    ]


def content(collection):
    """Every note with its cards, whatever their ids are; a new card's place in the queue is not kept."""
    notes = []
    for note in map(collection.get_note, collection.find_notes("")):
        cards = []
        for card in note.cards():
            due = card.due if card.type else 0
            cards.append((*schedule(card), collection.decks.name(card.did), due))
        notes.append((note.note_type()["name"], note.fields, sorted(note.tags), sorted(cards)))
    return sorted(notes)


def fronts(collection, deck):
    """The first fields of the notes in a deck, in the order of their adding."""
    return [
        collection.get_note(note).fields[0]
        for note in sorted(collection.find_notes(f'"deck:{deck}"'))
    ]


each_kind_of_harm = pytest.mark.parametrize(
    "kind", ["notes", "decks", "decks, cards kept", "update", "media", "cards"]
)


def harm(anki):
    """By kind: (tool, arguments, what it counts, what the person is asked) of a change that takes something
    from deck Geo."""
    one, two, *_ = anki.ids
    fields = {"noteId": one, "fields": {"Back": "new"}, "removeTags": ["two"], "deckName": "B"}
    tags = {"addTags": ["x"], "removeTags": ["one"]}
    return {
        "notes": ("anki.delete_notes", {"noteIds": [one, two]}, 2, "delete 2 notes: “a”, “b” …"),
        "decks": (
            "anki.delete_decks",
            {"decks": ["Geo"], "cardsToo": True},
            4,
            "delete “Geo”, 4 cards deleted: “a”, “b” …",
        ),
        "decks, cards kept": (
            "anki.delete_decks",
            {"decks": ["Geo::Sub"]},
            1,
            "delete “Geo::Sub”, 1 card moved to “Default”: “d” …",
        ),
        "update": (
            "anki.update_notes",
            {"notes": [fields, {"noteId": two, "addTags": ["x"]}]},
            2,
            "change fields “Back”, tags, deck to “B” of 2 notes: “a”, “b” …",
        ),
        "media": (
            "anki.delete_media",
            {"filename": "a.mp3"},
            1,
            "delete the file “a.mp3”, used by 1 note",
        ),
        "cards": (
            "anki.change_cards",
            {"query": "deck:Geo", "deck": "Geo::Sub", **tags, "dryRun": False, "expected": 4},
            4,
            "change 4 cards of “(deck:Geo)”: deck “Geo::Sub”, addTags “x”, removeTags “one”",
        ),
    }


# What a person may do at once after the answer of a `card`, as Python in Anki (the lab runs it there, too).
CHANGES_SINCE = {
    "an answer": "c = col.get_card(other); c.start_timer(); col.sched.answerCard(c, 3)",
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
    "css of the answered card": """
m = col.models.by_name("Basic")
m["css"] += "/**/"
col.models.update_dict(m)
""",
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


def numbered(count):
    """Items to be added."""
    return [{"Front": f"front {number}"} for number in range(count)]


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
    collection.db.execute("update cards set due = due - ? where queue = ?", seconds, LEARNING)
    collection.db.execute("update revlog set id = id - ?", seconds * 1000)


def answer_in_the_window(anki):
    """The person answers the card on the screen, which is the next of deck Geo unless a review goes on."""
    if not anki.addon.guiReviewActive():
        anki.addon.guiDeckReview("Geo")
    card = anki.addon._showing
    anki.addon.guiShowAnswer()
    anki.addon.guiAnswerCard(3)
    return card


def undo_list(collection):
    """What Ctrl+Z would take back, newest first; takes it all back."""
    steps = []
    while step := collection.undo_status().undo:
        steps.append(step)
        collection.undo()
    return steps


def minutes_from_now(minutes):
    return int(time.time()) + 60 * minutes


def in_base64(data):
    return base64.b64encode(data).decode()


def random_collection(collection, seed):
    """Decks with a backlog, learning cards ahead and due, siblings, new cards in odd positions, a filtered
    deck."""
    chance = random.Random(seed)
    pick = chance.choice
    with options(collection) as config:
        config["new"]["perDay"] = pick([2, 5, 20])
        config["rev"]["perDay"] = pick([5, 10, 200])
        bury = chance.random() < 0.5
        config["new"]["bury"] = config["rev"]["bury"] = config["buryInterdayLearning"] = bury
        config["newMix"] = pick([0, 0, 1, 2])
        config["interdayLearningMix"] = pick([0, 0, 1, 2])
        config["newSortOrder"] = pick([0, 0, 1])
        config["newGatherPriority"] = pick([0, 0, 1, 2])
    names = ["Geo", "Geo::Cities", "Geo::Rivers", "Other"]
    for number in range(chance.randint(20, 60)):
        model = pick(["Basic", REVERSED])
        add_note(collection, pick(names), model, f"question {number}", "answer")
    today = collection.sched.today
    now = int(time.time())
    overdue = [0, 0, 1, 2, 3, 20, 29, 30, 31, 45, 400]
    for card in sorted(collection.find_cards("")):
        kind = pick(["new", "review", "review", "review", "learning", "ahead", "across", "later"])
        type, queue, due = {
            "new": (0, 0, chance.randint(1, 99)),
            "review": (2, REVIEW, today - pick(overdue)),
            "learning": (1, LEARNING, now - chance.randint(1, 5000)),
            "ahead": (1, LEARNING, now + chance.randint(60, 1100)),
            "across": (pick([1, 3]), DAY_LEARNING, today - chance.randint(0, 2)),
            "later": (2, REVIEW, today + chance.randint(1, 9)),
        }[kind]
        left = 1001 if type in (1, 3) else 0
        put(collection, card, type=type, queue=queue, due=due, ivl=9 if type else 0, left=left)
    collection.sched.suspend_cards(chance.sample(collection.find_cards(""), 3))
    if seed % 3 == 0:
        name, state = pick(["Geo::Cram", "Cram"]), pick(["new", "due", "review"])
        borrow(collection, name, f"is:{state}", limit=chance.randint(1, 9))


def png(width=2, height=1):
    """A red PNG."""
    rows = (b"\0" + b"\xff\0\0" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    chunks = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
