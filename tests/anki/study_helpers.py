"""What tests of studying need of a collection."""

import json
import time

LEARNING, REVIEW, DAY_LEARNING = 1, 2, 3
"""Queues of cards."""


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
