"""The order of study, beside that of Anki's own scheduler."""

import time

import pytest

from tests.anki.anki_helpers import (
    DAY_LEARNING,
    LEARNING,
    NEW,
    REVIEW,
    add_items,
    add_many,
    add_notes,
    both_versions,
    call,
    due_cards,
    make_due,
    minutes_from_now,
    options,
    put,
    random_collection,
    tokens,
)
from tests.anki.anki_standin import StandIn
from tools.anki import due
from tools.anki.studying import study_queue


def scheduled(collection):
    """The cards of the scheduler's own queue for deck Geo, as far as it shows them before the clock moves
    on."""
    collection.decks.select(collection.decks.id("Geo"))
    queued = [queued.card for queued in collection.sched.get_queued_cards(fetch_limit=1000).cards]
    ahead = [card.id for card in queued if card.queue == LEARNING and card.due > time.time()]
    return [card.id for card in queued if card.id not in ahead] or ahead


@pytest.mark.parametrize(
    "count, at_least", [(10, 9), pytest.param(100, 95, marks=pytest.mark.slow)]
)
def test_the_order_is_that_of_the_scheduler_in_95_of_100_random_collections(
    collection_in, tmp_path, env, count, at_least
):
    equal = 0
    for seed in range(count):
        collection = collection_in(tmp_path / f"User {seed}")
        random_collection(collection, seed)
        anki = StandIn(collection)
        env(ANKI_CONNECT_URL=anki.url)
        expected = days_by_kind(collection, scheduled(collection)[:50])
        queued = days_by_kind(collection, shown(limit=50))
        equal += all(map(alike, queued, expected))
        anki.close()
    assert equal >= at_least


def days_by_kind(collection, cards):
    """When the cards of each kind were due, in their order: within a day Anki goes by a hash."""
    days = {queue: [] for queue in (NEW, LEARNING, REVIEW, DAY_LEARNING)}
    for card in map(collection.get_card, cards):
        days[card.queue].append(card.due)
    return days.values()


def alike(days, others):
    """Anki fills the places of buried siblings within the day's limit at once, here the next call does."""
    return days == others[: len(days)] and len(days) + 2 >= len(others)


@pytest.mark.parametrize("option, kinds", list(enumerate(["RRNRRNRR", "RRRRRRNN", "NNRRRRRR"])))
def test_new_cards_are_spread_among_the_reviews_or_come_after_or_before_them(
    anki, collection, option, kinds
):
    review_cards(collection, range(6))
    add_many(collection, "Geo", 2, "new")
    with options(collection) as config:
        config["newMix"] = option

    cards = shown()

    assert cards == scheduled(collection)
    assert "".join("NLR"[collection.get_card(card).queue] for card in cards) == kinds


def review_cards(collection, days):
    """Review cards, each due so many days ago."""
    notes = add_many(collection, "Geo", len(days))
    cards = [collection.find_cards(f"nid:{note}")[0] for note in notes]
    for card, day in zip(cards, days, strict=True):
        due = collection.sched.today - day
        put(collection, card, type=2, queue=REVIEW, due=due, ivl=9, factor=2500)
    return cards


def shown(**more):
    return [card["cardId"] for card in due_cards(**more)]


def test_a_card_being_learned_comes_before_others_once_it_is_due_and_not_before(anki, collection):
    first, second, third = review_cards(collection, [1, 2, 3])
    put(collection, first, type=3, queue=LEARNING, due=minutes_from_now(-1), left=1001)
    put(collection, second, type=3, queue=LEARNING, due=minutes_from_now(8), left=1001)

    assert shown() == [first, third]
    collection.sched.suspend_cards([first, third])
    (ahead,) = due_cards()
    assert (ahead["cardId"], ahead["inMinutes"]) == (second, 8)


@both_versions
def test_due_shows_cards_as_text_in_at_most_four_requests(deck, collection):
    for note in map(collection.get_note, collection.find_notes("deck:Geo")):
        note["Back"] = "<b>answer</b>, a whole sentence that explains it"
        collection.update_note(note)
    deck.requests.clear()

    answer = call("anki.due", deck="geo")

    assert answer["deck"] == "Geo"
    assert answer["due"] == {"new": 20, "learning": 0, "review": 0, "total": 20}
    assert len(answer["cards"]) == 10
    first = answer["cards"][0]
    assert (first["question"], first["state"]) == ("Geo question 0", "new")
    assert first["answer"] == "answer, a whole sentence that explains it"
    assert len(deck.requests) <= 4
    assert tokens(answer) <= 900


def test_due_names_an_unknown_deck_and_makes_none(deck, collection):
    for tool in ("anki.due", "anki.stats"):
        assert call(tool, deck="Geoo")["code"] == "DECK_NOT_FOUND"
    assert "Geoo" not in collection.decks.all_names()


def test_a_card_is_shown_without_styles_and_scripts_and_with_its_sounds_and_pictures_named(
    anki, collection
):
    front = (
        "<style>b{}</style><script>alert(1)</script>"
        '<b>What</b> is<br>this? <img src="a b.png"> &amp; [sound:q.mp3]'
    )
    back = "<div>It</div><div>is</div>[sound:a.mp3]"
    add_items({"Front": front, "Back": back})

    (card,) = call("anki.due")["cards"]

    assert card["question"] == "What is\nthis? [image: a b.png] & [sound: q.mp3]"
    assert card["answer"] == "It\nis\n[sound: a.mp3]"


def test_the_card_on_the_screen_is_shown(deck):
    assert call("anki.due", current=True)["code"] == "NO_REVIEW"
    deck.addon.guiDeckReview("Geo")

    answer = call("anki.due", current=True)

    assert [card["cardId"] for card in answer["cards"]] == [deck.addon._showing]
    assert answer["deck"] == "Geo"
    # Without it the page speaks of an error.
    assert answer["due"] == call("anki.due", deck="Geo")["due"]


@pytest.mark.parametrize("order", range(13))
def test_reviews_come_in_the_deck_s_own_order_or_the_answer_says_that_they_do_not(
    anki, collection, monkeypatch, order
):
    cards = review_cards(collection, range(1, 13))
    for number, card in enumerate(cards):
        put(collection, card, ivl=number * 7 % 13 + 30, factor=1300 + number * 5 % 13 * 100)
    collection.set_deck(cards[::3], collection.decks.id("Geo::Cities"))
    with options(collection) as config:
        config["reviewOrder"] = order

    answer = call("anki.due", deck="Geo", limit=50)

    same = [card["cardId"] for card in answer["cards"]] == scheduled(collection)
    assert same or answer["order"] == "by due date; this deck's own order is another"
    assert same == (order in (0, 1, 2, 3, 4, 5, 6, 9, 10))
    assert ("order" in answer) == (order in (5, 6, 7, 8, 11, 12))

    assert "order" not in call("anki.due", query=f"cid:{cards[0]}")

    # Of a backlog only the first details are read.
    monkeypatch.setattr(study_queue, "MOST_DETAILS", 5)
    backlog = call("anki.due", deck="Geo")

    assert ("order" in backlog) == (order != 0)
    most_overdue = [card["cardId"] for card in backlog["cards"]]
    assert most_overdue == cards[:6:-1]


def test_a_deck_that_has_reached_its_limit_leaves_its_place_to_others(anki, collection):
    add_many(collection, "Geo::Cities", 3)
    add_many(collection, "Other", 1)
    preset = collection.decks.add_config_returning_id("nothing new")
    nothing_new = collection.decks.get_config(preset)
    nothing_new["new"]["perDay"] = 0
    collection.decks.update_config(nothing_new)
    collection.decks.set_config_id_for_deck_dict(collection.decks.by_name("Geo"), preset)

    assert [card["deck"] for card in call("anki.due")["cards"]] == ["Other"]


def test_a_query_is_studied_beyond_the_daily_limits_and_nothing_else(deck, collection):
    verbs = sorted(collection.find_notes("deck:Geo::Cities"))[:3]
    collection.tags.bulk_add(verbs, "verb")
    with options(collection) as config:
        config["new"]["perDay"] = 1
    make_due(collection, collection.find_cards(f"nid:{verbs[0]}"))

    answer = call("anki.due", query="tag:verb", deck="Geo")

    assert answer["due"] == {"new": 2, "learning": 0, "review": 1, "total": 3}
    assert sorted(row["noteId"] for row in answer["cards"]) == verbs
    assert call("anki.due", query="tag:nothing")["cards"] == []


def test_cards_ahead_of_their_time_are_announced_as_such(anki, collection):
    """That they are answered as the note says: test_answer_batch.py."""
    (card,) = review_cards(collection, [1])
    due_s = minutes_from_now(8) - 20
    put(collection, card, type=3, queue=LEARNING, due=due_s, left=1001)

    answer = call("anki.due", deck="Geo")

    due_at = time.strftime("%H:%M", time.localtime(due_s))
    early = "nothing else is due: these come early, the next at"
    assert answer["note"] == f"{early} {due_at}; answer them with early: true"
    assert answer["cards"][0]["inMinutes"] == 8  # a part of a minute counts as one


def test_the_page_gets_as_many_cards_as_their_files_leave_room_for(anki, collection, monkeypatch):
    """A file that is too large by itself is left out; two others fit, and a third does not."""
    monkeypatch.setattr(due, "MOST_FILE_BYTES", 8)
    for name, content in (("large", b"ABC" * 3), ("a", b"ABC"), ("b", b"ABC"), ("c", b"ABC")):
        collection.media.write_data(name, content)
        add_notes(collection, "Geo", f"<img src={name}>")

    cards = due.STUDY_PAGE.private(call("anki.due"))[due.CARDS_KEY]

    assert [card["files"] for card in cards] == [{"large": None}, {"a": "QUJD"}, {"b": "QUJD"}]


def test_a_deck_with_nothing_due_says_where_its_cards_are(deck, collection):
    with options(collection) as config:
        config["new"]["perDay"] = 0
    cards = sorted(collection.find_cards("deck:Geo::Cities"))
    collection.sched.suspend_cards(cards[:3])
    collection.sched.bury_cards(cards[3:5])
    collection.sched.set_due_date(cards[5:6], "4")

    note = call("anki.due", deck=" Geo::Cities ")["note"]

    limit = "nothing is due: 4 new behind the day's limit (query is:new shows them)"
    assert note == f"{limit}, 3 suspended, 2 buried until tomorrow, 1 on a later day"
    assert len(call("anki.due", deck="Geo::Cities", query="is:new")["cards"]) == 4
    nothing = call("anki.due", deck="Geo", query="tag:nothing")
    assert nothing["note"] == "nothing is due: there are no such cards"
