"""Answering cards: what is written, what is not, and taking an answer back."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from tests.anki.anki_helpers import (
    CHANGES_SINCE,
    DAY_LEARNING,
    GONE,
    LEARNING,
    REVIEW,
    add_notes,
    answer_cards,
    answer_each,
    answer_in_the_window,
    borrow,
    call,
    due_cards,
    log,
    make_due,
    older_version,
    pass_minutes,
    put,
    schedule,
    undo_list,
    whole,
)
from tools.anki import answers, due
from tools.anki.card_text import span

# The context in which Anki writes a time on its buttons.
ANSWER_BUTTONS = 1

ISOLATES = str.maketrans("", "", "\u2068\u2069")
DAY = 86400


def cards_of(anki, count=None):
    return sorted(anki.collection.find_cards("deck:Geo"))[:count]


@pytest.fixture
def card(deck):
    return min(cards_of(deck))


@pytest.fixture
def on_screen(deck):
    """The card that Anki's window shows."""
    deck.addon.guiDeckReview("Geo")
    return deck.addon._showing


def undo():
    return call("anki.answer_cards", answers=[], undo=True)  # a client may send every argument


def reasons(result):
    return {skip["cardId"]: skip["reason"] for skip in result.get("skipped", [])}


def buttons_of(collection, card):
    """What Anki's own scheduler writes on the four buttons of a card."""
    states = collection._backend.get_scheduling_states(card)
    return [text.translate(ISOLATES) for text in collection._backend.describe_next_states(states)]


@pytest.mark.parametrize("fsrs", [False, True])
def test_intervals_and_due_dates_are_those_of_anki_s_own_scheduler(deck, collection, fsrs):
    """Eight cards answered with every button as new ones, and once more as reviews."""
    collection.set_config("fsrs", fsrs)
    cards = cards_of(deck, 8)
    for state in ("new", "review"):
        due_by_id = {card["cardId"]: card for card in due_cards(limit=50)}
        for number, card in enumerate(cards):
            ease = number % 4
            expected = buttons_of(collection, card)
            assert (due_by_id[card]["state"], list(due_by_id[card]["next"].values())) == (
                state,
                expected,
            )
            (answered,) = answer_cards([card], ease + 1)["cards"]
            assert answered["interval"] == expected[ease].lstrip("<")
            assert is_due_then(collection, collection.get_card(card), answered["due"])
        make_due(collection, cards, days="0")
        pass_minutes(collection, 2)

    assert (collection.get_card(cards[0]).memory_state is not None) == fsrs


def is_due_then(collection, card, due):
    """True if a card comes at that time: the day, or the minute, to which Anki adds up to a quarter."""
    if card.queue != LEARNING:
        days = card.due - collection.sched.today
        today = datetime.fromtimestamp(collection.sched.day_cutoff - DAY)
        return (today + timedelta(days=days)).strftime("%Y-%m-%d") == due
    early = datetime.strptime(due, "%Y-%m-%d %H:%M").timestamp()
    return early <= card.due <= early + 60 + 0.25 * 3600


def test_only_cards_that_can_be_answered_are_all_in_two_requests(deck, collection):
    new, suspended, later, *others = cards_of(deck)
    collection.sched.suspend_cards([suspended])
    make_due(collection, [later], days="5!")
    before = log(collection)
    again = [(card, 1) for card in others]

    result = answer_each(
        [(new, 3), (new, "again"), (suspended, "good"), (later, "4"), (GONE, "Easy"), *again]
    )

    assert len(deck.requests) == 2
    first = result["cards"][0]
    assert (first["cardId"], first["ease"]) == (new, "good")
    refused = {new: "twice", suspended: "suspended", later: "not_due", GONE: "missing"}
    assert reasons(result) == refused
    assert log(collection)[len(before) :] == [(new, 3), *again]
    assert collection.find_cards("is:suspended") == [suspended]


@pytest.mark.parametrize("ease", [0, 5, "well", True])
def test_a_wrong_ease_answers_nothing(deck, ease):
    one, two = cards_of(deck, 2)

    result = answer_each([(one, 3), (two, ease)])

    assert result["code"] == call("anki.answer_cards", early=True)["code"] == "INVALID_ARGUMENTS"
    assert log(deck.collection) == []


@pytest.mark.parametrize("ease", ["again", "hard", "good", "easy"])
def test_the_same_call_made_again_answers_nothing_twice(deck, ease):
    cards = cards_of(deck, 4)
    first = answer_cards(cards, ease)

    again = answer_cards(cards, ease)
    early = answer_cards(cards, ease, early=True)

    assert (first["answered"], again["answered"], early["answered"]) == (4, 0, 0)
    assert again["skipped"] == early["skipped"]
    assert again["skipped"][0]["error"] == "it got this answer less than a minute ago"
    assert set(reasons(again).values()) == {"not_due"}
    assert len(log(deck.collection)) == 4


def test_a_press_repeats_an_answer_within_a_minute_on_a_card_seen_after_it(deck, card, collection):
    answer_cards([card], "again")
    seen = collection.db.scalar("select max(id) from revlog")
    press = {"press_key": due.press_key(), "cardId": card, "ease": 1, "seen": seen}

    pressed = answers.answer_by_press(**press)
    repeated = answers.answer_by_press(**press)

    assert "answeredBefore" not in pressed["cards"][0]
    assert repeated["cards"][0]["answeredBefore"] is True
    assert log(collection) == [(card, 1), (card, 1)]


def test_a_learning_card_ahead_of_its_time_is_answered_early_only_and_by_four_at_once_once(
    deck, card
):
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: answer_cards([card]), range(4)))
    assert sorted(result["answered"] for result in results) == [0, 0, 0, 1]

    refused = answer_cards([card], "easy")
    taken = answer_cards([card], "easy", early=True)

    due_in = r"it is due in 1[0-3] min; early: true answers it now"
    assert re.fullmatch(due_in, refused["skipped"][0]["error"])
    assert taken["cards"][0]["interval"].endswith("d")
    assert log(deck.collection) == [(card, 3), (card, 4)]


def test_another_profile_opened_meanwhile_keeps_its_cards(deck, collection_in, tmp_path):
    other = collection_in(tmp_path / "Two")
    add_notes(other, "Geo", "a card of the other profile")
    look = deck.addon.guiCurrentCard
    collection = deck.addon._collection

    def switch():
        deck.addon._collection = other
        return look()

    deck.addon.guiCurrentCard = switch
    cards = cards_of(deck, 2)
    result = answer_cards(cards)
    deck.addon._collection = collection

    assert set(reasons(result).values()) == {"not_answered"}
    assert log(other) == log(collection) == []


def test_the_card_on_the_screen_is_answered_by_the_window_itself(deck, on_screen):
    other = max(cards_of(deck))

    assert answer_cards([on_screen, other], "hard")["answered"] == 2
    actions = deck.actions()
    assert "guiAnswerCard" in actions
    assert actions[actions.index("answerCards") + 1] == "addTags"
    assert sorted(log(deck.collection)) == sorted([(on_screen, 2), (other, 2)])


@pytest.mark.parametrize("ended", [False, True])
def test_the_person_s_undo_list_survives_answers_beside_a_review(deck, collection, ended):
    answered = [answer_in_the_window(deck) for _ in range(3)]
    if ended:
        deck.addon.guiDeckBrowser()
    others = [card for card in cards_of(deck) if card not in [*answered, deck.addon._showing]][
        :4:-1
    ]

    assert answer_cards(others)["answered"] == len(others)

    assert undo_list(collection).count("Answer Card") == 3 + len(others)
    assert log(collection) == []


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"type": 3, "queue": LEARNING, "left": 1001, "ivl": 9},
        {"type": 1, "queue": DAY_LEARNING, "left": 1001},
        {"type": 2, "queue": REVIEW, "ivl": 9, "factor": 2100},
    ],
    ids=["new", "relearning", "across", "review"],
)
def test_making_room_beside_a_review_changes_no_card(deck, collection, columns):
    """A card is suspended and woken before the answers; a copy answered without that ends in the same
    state."""
    one, two, *_ = cards_of(deck)
    for card in (one, two):
        put(collection, card, due=0, **columns)
    deck.addon.answerCards([{"cardId": two, "ease": 1}])

    answer_cards([one], "again")

    assert schedule(collection.get_card(one)) == schedule(collection.get_card(two))


def test_a_card_in_a_filtered_deck_stays_there(deck, collection):
    (card,) = borrow(collection, "Cram", "deck:Geo", limit=1)

    assert answer_cards([card], "again")["answered"] == 1
    assert collection.find_cards("deck:Cram") == [card]


def test_an_answer_that_the_window_gives_in_the_background_is_waited_for(
    deck, on_screen, monkeypatch
):
    answering = deck.addon.answerCards
    late = []
    deck.addon.answerCards = late.append

    def give_late(seconds):
        while late:
            answering(late.pop())

    monkeypatch.setattr(answers.time, "sleep", give_late)

    assert answer_cards([on_screen])["answered"] == 1
    assert log(deck.collection) == [(on_screen, 3)]


def test_an_answer_that_went_to_another_card_is_said(deck, on_screen):
    """The person goes on in the window between the look at it and the answer."""
    look = deck.addon.guiCurrentCard
    looks = []

    def go_on_after_the_first():
        if looks:
            answer_in_the_window(deck)
        looks.append(look())
        return looks[-1]

    deck.addon.guiCurrentCard = go_on_after_the_first

    result = answer_cards([on_screen], "easy")

    assert "had moved on" in result["warnings"][0]


def test_of_a_lost_reply_the_review_log_is_told(deck):
    """Answers that are lost elsewhere: tests/anki/test_lost_requests.py."""
    cards = cards_of(deck, 5)
    deck.faults = {1: "cut_after"}

    answer = answer_cards(cards, "again")

    assert answer["answered"] == len(log(deck.collection)) == 5
    assert "review log" in answer["warnings"][0]


def lose_an_answer(deck, card, ease, fault="cut_after"):
    """The answer is sent, and neither the reply nor the log can be read."""
    deck.faults = {1: fault, 2: "cut_before"}
    broken = answer_cards([card], ease)
    deck.faults = {}
    deck.requests.clear()
    return broken


def test_a_lost_answer_that_the_log_has_is_told_as_given_before(deck, card):
    broken = lose_an_answer(deck, card, "again")
    again = answer_cards([card], "again")

    assert "what is in the log is not answered twice" in broken["hint"]
    assert again["cards"][0]["answeredBefore"] is True
    assert log(deck.collection) == [(card, 1)]


def test_a_lost_answer_is_not_taken_for_one_with_another_ease(deck, card, collection):
    """It never reached Anki; the person answered the card in Anki, and again it is due."""
    lose_an_answer(deck, card, "easy", fault="cut_before")
    deck.addon.answerCards([{"cardId": card, "ease": 3}])
    pass_minutes(collection, 15)

    result = answer_cards([card], "easy")

    assert "answeredBefore" not in result["cards"][0]
    assert log(collection) == [(card, 3), (card, 4)]


def test_a_lost_answer_is_forgotten_after_an_hour(deck, card, collection, monkeypatch):
    lose_an_answer(deck, card, "good")
    pass_minutes(collection, 61)
    now = answers.time.time
    monkeypatch.setattr(answers.time, "time", lambda: now() + 3660)
    make_due(collection, [card])

    result = answer_cards([card], "good")

    assert "answeredBefore" not in result["cards"][0]
    assert [ease for _, ease in log(collection) if ease] == [3, 3]


@pytest.mark.parametrize("is_on_screen", [False, True])
def test_the_last_answer_can_be_taken_back(deck, collection, is_on_screen):
    if is_on_screen:
        deck.addon.guiDeckReview("Geo")
    first, second = (deck.addon._showing if is_on_screen else cards_of(deck)[0]), cards_of(deck)[5]
    answer_cards([second], "again")
    answer_cards([first], "good")

    assert undo()["undone"] == {"cardId": first, "ease": "good"}
    assert undo()["undone"] == {"cardId": second, "ease": "again"}
    assert undo()["code"] == "NOTHING_TO_UNDO"
    assert log(collection) == []
    assert not {"Answer Card", "Suspend", "Unbury/Unsuspend"} & set(undo_list(collection))
    assert collection.get_card(first).queue == 0


@pytest.mark.parametrize("change", CHANGES_SINCE)
def test_an_undo_takes_back_nothing_that_came_after_the_answer(deck, collection, change):
    card, other, flagged = cards_of(deck, 3)
    collection.set_user_flag_for_cards(1, [flagged])
    collection.decks.id("Other")
    answer_cards([card])
    names = {"col": collection, "card": card, "other": other, "flagged": flagged}
    exec(CHANGES_SINCE[change], names)
    before = whole(collection)

    refusal = undo()

    assert refusal["code"] == "NOTHING_TO_UNDO" and "Ctrl+Z" in refusal["hint"]
    assert "changed after the answer" in refusal["error"]
    assert "guiUndo" not in deck.actions()
    assert log(collection)[0] == (card, 3)
    assert whole(collection) == before


def test_the_answers_of_a_call_are_taken_back_one_by_one_until_something_was_changed(
    deck, collection
):
    first, second, third = cards_of(deck, 3)
    answer_cards([first])
    collection.set_user_flag_for_cards(2, [third])
    answer_cards([second, third])

    assert undo()["undone"]["cardId"] == third
    assert undo()["undone"]["cardId"] == second
    assert undo()["code"] == "NOTHING_TO_UNDO"
    assert [card for card, _ in log(collection)] == [first]


@older_version
def test_an_add_on_that_hides_when_notes_changed_undoes_no_answer(deck, card):
    answer_cards([card])

    assert undo()["code"] == "NOTHING_TO_UNDO"
    assert "guiUndo" not in deck.actions()


def test_of_an_undo_that_left_the_answer_no_more_is_said_than_is_seen(deck, card):
    answer_cards([card])
    deck.addon.guiUndo = lambda: True  # an empty undo list

    refusal = undo()

    assert refusal["code"] == "UNDO_OTHER"
    assert refusal["error"].endswith("took back a later step instead, or had nothing to undo")
    assert log(deck.collection) == [(card, 3)]


@pytest.mark.parametrize("fault", ["cut_before", "cut_after"])
def test_an_undo_whose_reply_is_lost_takes_back_one_answer_at_most(deck, fault):
    cards = cards_of(deck, 2)
    answer_cards(cards)
    deck.requests.clear()
    deck.faults = {2: fault}

    lost = undo()
    deck.faults = {}

    assert lost["code"] == "ANKI_CUT"
    assert len(log(deck.collection)) == (2 if fault == "cut_before" else 1)


def test_due_dates_count_from_anki_s_day_not_from_this_clock(deck, card, monkeypatch):
    """Anki's host may be in another zone, where the day is another."""
    deck.addon.getNumCardsReviewedByDay = lambda: [["2031-05-09", 7], ["2031-05-08", 2]]

    (answered,) = answer_cards([card], "easy")["cards"]

    assert answered["interval"].endswith("d")
    assert answered["due"] == f"2031-05-{9 + int(answered['interval'][:-1]):02}"


def test_an_interval_is_written_as_on_anki_s_buttons(collection):
    seconds = [0, 59, 60, 600, 3600, 5400, *(days * DAY for days in range(1, 800))]
    by_anki = [collection.format_timespan(second, ANSWER_BUTTONS) for second in seconds]

    assert list(map(span, seconds)) == [text.translate(ISOLATES) for text in by_anki]
