"""A study session in the conversation: what is due, answering, and how it goes."""

import json
from datetime import datetime, timedelta

import pytest

from tests.anki.anki_helpers import add_notes, both_versions
from tools.anki.studying import answers

GONE = 1234567890123
LEARNING = 1
"""The queue of cards that come again today."""
ISOLATES = str.maketrans("", "", "\u2068\u2069")


def tokens(answer):
    return len(json.dumps(answer, ensure_ascii=False, separators=(",", ":"))) / 4


def log(collection):
    """(card, ease) of every answer in the review log."""
    return [tuple(row) for row in collection.db.all("select cid, ease from revlog order by id")]


def make_due(collection, cards, days="0!"):
    """Review cards that are due in so many days; `!` sets the interval too."""
    collection.sched.set_due_date(cards, str(days))


@pytest.fixture
def deck(anki):
    """Thirty new cards in two decks."""
    for name, count in (("Geo", 20), ("Geo::Cities", 10)):
        add_notes(anki.collection, name, *(f"{name} question {number}" for number in range(count)))
    return anki


@both_versions
def test_due_shows_cards_as_text_in_at_most_three_requests(deck, call):
    answer = call("anki.due", deck="geo")

    assert answer["deck"] == "Geo"
    assert answer["due"] == {"new": 20, "learning": 0, "review": 0, "total": 20}
    assert len(answer["cards"]) == 10
    first = answer["cards"][0]
    assert (first["question"], first["answer"], first["state"]) == ("Geo question 0", "answer", "new")
    assert len(deck.requests) <= 3
    assert tokens(answer) <= 900


def test_ten_due_cards_with_whole_sentences_cost_at_most_900_tokens(anki, call):
    question = "Which city on the Seine has been the capital of France since the year 987? ({})"
    ids = add_notes(anki.collection, "Languages::Geo", *(question.format(number) for number in range(12)))
    for note in ids:
        whole = anki.collection.get_note(note)
        whole["Back"] = "<b>Paris</b>, since Hugh Capet made it the seat of the kings."
        anki.collection.update_note(whole)
    anki.requests.clear()

    answer = call("anki.due", deck="Languages")

    assert [len(card["answer"]) > 50 < len(card["question"]) for card in answer["cards"]] == [True] * 10
    assert tokens(answer) <= 900
    assert len(anki.requests) <= 3


def test_stats_of_many_decks_and_leeches_cost_at_most_500_tokens(anki, call):
    for number in range(14):
        ids = add_notes(
            anki.collection, f"Languages::Book {number}", *(f"{number} {at} " + "word " * 30 for at in range(3))
        )
        anki.collection.tags.bulk_add(ids, "leech")
    anki.requests.clear()

    answer = call("anki.stats")

    assert (len(answer["decks"]), len(answer["perDay"])) == (12, 30)
    assert (answer["leeches"]["total"], len(answer["leeches"]["notes"])) == (42, 5)
    assert tokens(answer) <= 500
    assert [request["action"] for request in anki.requests] == ["deckNamesAndIds", "multi"]


def test_due_tells_what_each_button_brings_as_anki_does(deck, call):
    (card,) = call("anki.due", deck="Geo", limit=1)["cards"]

    assert list(card["next"].values()) == buttons_of(deck.collection, card["cardId"])


def test_due_is_cut_at_the_decks_own_daily_limits_with_learning_first(deck, call):
    collection = deck.collection
    config = collection.decks.config_dict_for_deck_id(collection.decks.id("Geo"))
    config["new"]["perDay"], config["rev"]["perDay"] = 3, 2
    collection.decks.update_config(config)
    cards = sorted(collection.find_cards("deck:Geo"))
    make_due(collection, cards[10:15])
    call("anki.invoke", action="answerCards", params={"answers": [{"cardId": cards[0], "ease": 1}]})

    answer = call("anki.due", limit=50)

    states = [card["state"] for card in answer["cards"]]
    assert answer["due"]["total"] == len(states)
    assert states == sorted(states, key=["learning", "review", "new"].index)
    assert states.count("review") == answer["due"]["review"]


def test_due_names_an_unknown_deck_and_makes_none(deck, call):
    before = deck.collection.decks.all_names()

    assert call("anki.due", deck="Geoo")["code"] == "DECK_NOT_FOUND"
    assert call("anki.stats", deck="Geoo")["code"] == "DECK_NOT_FOUND"
    assert deck.collection.decks.all_names() == before


def test_a_card_is_shown_without_styles_and_scripts_and_with_its_sounds_and_pictures_named(anki, call):
    (note,) = add_notes(anki.collection, "A", "x")
    found = anki.collection.get_note(note)
    found["Front"] = (
        '<style>b{}</style><script>alert(1)</script><b>What</b> is<br>this? <img src="a b.png"> &amp; [sound:q.mp3]'
    )
    found["Back"] = "<div>It</div><div>is</div>[sound:a.mp3]"
    anki.collection.update_note(found)

    (card,) = call("anki.due", deck="A")["cards"]

    assert card["question"] == "What is\nthis? [image: a b.png] & [sound: q.mp3]"
    assert card["answer"] == "It\nis\n[sound: a.mp3]"


def test_the_card_on_the_screen_is_shown(deck, call):
    assert call("anki.due", current=True)["code"] == "NO_REVIEW"
    deck.addon.guiDeckReview("Geo")

    answer = call("anki.due", current=True)

    assert [card["cardId"] for card in answer["cards"]] == [deck.addon._showing]
    assert answer["deck"] == "Geo"


@pytest.mark.parametrize("fsrs", [False, True])
def test_a_session_of_thirty_cards_leaves_exactly_its_answers_in_the_log(deck, call, fsrs):
    collection = deck.collection
    collection.set_config("fsrs", fsrs)
    config = collection.decks.config_dict_for_deck_id(collection.decks.id("Geo"))
    config["new"]["perDay"] = 30
    collection.decks.update_config(config)
    answered = []
    while cards := [card for card in call("anki.due", deck="Geo", limit=50)["cards"] if card["state"] == "new"]:
        eases = ["again", "hard", "good", "easy"] * 8
        answers = [{"cardId": card["cardId"], "ease": ease} for card, ease in zip(cards, eases, strict=False)]
        result = call("anki.answer_cards", answers=answers)
        assert result["answered"] == len(answers)
        for card, one in zip(cards, result["cards"], strict=False):
            assert card["cardId"] == one["cardId"]
            if one["ease"] != "easy":  # days are spread anew with every card that falls on one
                assert one["interval"] == card["next"][one["ease"]].lstrip("<")
        answered += [(one["cardId"], eases.index(one["ease"]) + 1) for one in answers]

    assert log(collection) == answered
    assert len(answered) == 30
    answer = call("anki.stats", deck="Geo")
    assert answer["today"] == {"answers": 30, "cards": 30, "minutes": 0.0}
    assert sum(answer["buttons"].values()) == answer["perDay"][-1] == 30
    assert answer["streakDays"] == 1


def buttons_of(collection, card):
    """What Anki's own scheduler writes on the four buttons of a card."""
    states = collection._backend.get_scheduling_states(card)
    return [text.translate(ISOLATES) for text in collection._backend.describe_next_states(states)]


@pytest.mark.parametrize("fsrs", [False, True])
def test_intervals_and_due_dates_are_those_of_anki_s_own_scheduler(deck, call, fsrs):
    """Thirty cards answered with every button as new ones, and once more as reviews."""
    collection = deck.collection
    collection.set_config("fsrs", fsrs)
    config = collection.decks.config_dict_for_deck_id(collection.decks.id("Geo"))
    config["new"]["perDay"] = 30
    collection.decks.update_config(config)
    cards = sorted(collection.find_cards("deck:Geo"))
    spans = set()
    for state in ("new", "review"):
        shown = {card["cardId"]: card for card in call("anki.due", deck="Geo", limit=50)["cards"]}
        assert {card["state"] for card in shown.values()} == {state}
        assert {card: list(shown[card]["next"].values()) for card in cards} == {
            card: buttons_of(collection, card) for card in cards
        }
        for number, card in enumerate(cards):
            ease = number % 4
            expected = buttons_of(collection, card)[ease].lstrip("<")
            (answered,) = call("anki.answer_cards", answers=[{"cardId": card, "ease": ease + 1}])["cards"]
            assert (answered["interval"], state, ease) == (expected, state, ease)
            assert is_due_then(collection, collection.get_card(card), answered["due"])
            spans.add(expected)
        make_due(collection, cards, days="0")

    assert (collection.get_card(cards[0]).memory_state is not None) == fsrs
    assert len(log(collection)) == 60 + 60  # the answers, and a row by hand for each card made due
    assert any(span.endswith("d") and span != "1d" for span in spans)


def is_due_then(collection, card, due):
    """Whether a card comes at that time: the day, or the minute, to which Anki adds up to a quarter."""
    if card.queue != LEARNING:
        days = card.due - collection.sched.today
        return (datetime.now() - timedelta(hours=4) + timedelta(days=days)).strftime("%Y-%m-%d") == due
    early = datetime.strptime(due, "%Y-%m-%d %H:%M").timestamp()
    return early <= card.due <= early + 60 + 0.25 * 3600


def test_answering_twenty_cards_is_at_most_three_requests(deck, call):
    cards = sorted(deck.collection.find_cards("deck:Geo"))[:20]

    answer = call("anki.answer_cards", answers=[{"cardId": card, "ease": "good"} for card in cards])

    assert answer["answered"] == 20
    assert len(deck.requests) <= 3


def test_only_cards_that_can_be_answered_are(deck, call):
    new, suspended, later, *_ = sorted(deck.collection.find_cards("deck:Geo"))
    deck.collection.sched.suspend_cards([suspended])
    make_due(deck.collection, [later], days="5!")
    before = log(deck.collection)

    answer = call(
        "anki.answer_cards",
        answers=[
            {"cardId": new, "ease": 3},
            {"cardId": new, "ease": "again"},
            {"cardId": suspended, "ease": "good"},
            {"cardId": later, "ease": "4"},
            {"cardId": GONE, "ease": "Easy"},
        ],
    )

    assert [(card["cardId"], card["ease"]) for card in answer["cards"]] == [(new, "good")]
    reasons = {(card["cardId"], card["reason"]) for card in answer["skipped"]}
    assert reasons == {(new, "twice"), (suspended, "suspended"), (later, "not_due"), (GONE, "missing")}
    assert log(deck.collection)[len(before) :] == [(new, 3)]
    assert deck.collection.find_cards("is:suspended") == [suspended]


@pytest.mark.parametrize("ease", [0, 5, "well", None, True, 2.5])
def test_a_wrong_ease_answers_nothing(deck, call, ease):
    one, two, *_ = sorted(deck.collection.find_cards("deck:Geo"))

    answer = call("anki.answer_cards", answers=[{"cardId": one, "ease": 3}, {"cardId": two, "ease": ease}])

    assert answer["code"] == "INVALID_ARGUMENTS"
    assert log(deck.collection) == []


def test_the_card_on_the_screen_is_answered_by_the_window_itself(deck, call):
    deck.addon.guiDeckReview("Geo")
    showing = deck.addon._showing
    other = max(deck.collection.find_cards("deck:Geo"))

    answer = call("anki.answer_cards", answers=[{"cardId": showing, "ease": "hard"}, {"cardId": other, "ease": "good"}])

    assert answer["answered"] == 2
    actions = deck.actions()
    assert "guiAnswerCard" in actions
    assert actions[actions.index("answerCards") + 1] == "addTags"
    assert sorted(log(deck.collection)) == sorted([(showing, 2), (other, 3)])
    assert len(deck.requests) == 3


@pytest.mark.parametrize("ended", [False, True])
def test_cards_can_be_answered_in_any_order_while_anki_has_its_own_lined_up(deck, call, ended):
    """Since Anki showed its first card it takes answers only for the next one: `not at top of queue`."""
    deck.addon.guiDeckReview("Geo")
    if ended:
        deck.addon.guiDeckBrowser()
    cards = sorted(deck.collection.find_cards("deck:Geo"), reverse=True)[:20]
    with pytest.raises(Exception, match="not at top of queue"):
        deck.addon.answerCards([{"cardId": cards[0], "ease": 3}])

    answer = call("anki.answer_cards", answers=[{"cardId": card, "ease": "good"} for card in cards])

    assert answer["answered"] == 20
    assert log(deck.collection) == [(card, 3) for card in cards]
    assert len(deck.requests) <= 3


def test_the_first_of_anki_s_own_line_is_not_answered_twice(deck, call):
    """The next card is taken, the one after it refused, and with it the call: the log tells which is which."""
    deck.addon.guiDeckReview("Geo")
    first = deck.addon._showing
    deck.addon.guiDeckBrowser()
    last = max(deck.collection.find_cards("deck:Geo"))

    answer = call("anki.answer_cards", answers=[{"cardId": card, "ease": "again"} for card in (first, last)])

    assert answer["answered"] == 2
    assert log(deck.collection) == [(first, 1), (last, 1)]


def test_an_answer_that_the_window_gives_in_the_background_is_waited_for(deck, call, monkeypatch):
    deck.addon.guiDeckReview("Geo")
    showing, answering = deck.addon._showing, deck.addon.answerCards
    late = []
    monkeypatch.setattr(answers.time, "sleep", lambda _: [answering(late.pop()) for _ in list(late)])
    deck.addon.answerCards = lambda given: late.append(given)

    answer = call("anki.answer_cards", answers=[{"cardId": showing, "ease": "good"}])

    assert [(card["cardId"], card["ease"]) for card in answer["cards"]] == [(showing, "good")]
    assert log(deck.collection) == [(showing, 3)]


def test_an_answer_that_went_to_another_card_is_said(deck, call):
    """The person goes on in the window between the look at it and the answer."""
    deck.addon.guiDeckReview("Geo")
    showing, look = deck.addon._showing, deck.addon.guiCurrentCard
    deck.addon.guiCurrentCard = lambda: [look(), go_on(deck)][0]

    answer = call("anki.answer_cards", answers=[{"cardId": showing, "ease": "easy"}])

    assert "had moved on" in answer["warnings"][0]
    assert "got the answer easy" in answer["warnings"][0]
    assert answer["answered"] == 1  # the person's own, which the log has
    assert log(deck.collection)[0] == (showing, 3)


def go_on(deck):
    if deck.actions().count("guiCurrentCard") == 1:
        deck.addon.guiShowAnswer()
        deck.addon.guiAnswerCard(3)


def test_what_was_answered_is_told_although_the_rest_could_not_be_sent(deck, call):
    deck.addon.guiDeckReview("Geo")
    showing, other = deck.addon._showing, max(deck.collection.find_cards("deck:Geo"))
    deck.faults = {2: "http_403"}

    answer = call("anki.answer_cards", answers=[{"cardId": card, "ease": "good"} for card in (showing, other)])

    assert [card["cardId"] for card in answer["cards"]] == [showing]
    assert [(card["cardId"], card["reason"]) for card in answer["skipped"]] == [(other, "not_sent")]
    assert log(deck.collection) == [(showing, 3)]


@pytest.mark.parametrize("fault", ["cut_before", "cut_after", "reset", "http_500"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_lost_answer_is_never_given_twice(deck, call, env, fault, number):
    cards = sorted(deck.collection.find_cards("deck:Geo"))[:5]
    answers = [{"cardId": card, "ease": "again"} for card in cards]
    deck.faults = {number: fault}

    call("anki.answer_cards", answers=answers)
    deck.faults = {}
    again = call("anki.answer_cards", answers=answers) if len(log(deck.collection)) < 5 or number == 1 else None

    assert again is None or len(log(deck.collection)) in (5, 10)
    counts = {card: sum(one == card for one, _ in log(deck.collection)) for card in cards}
    assert set(counts.values()) == {1} or fault == "cut_after"


def test_an_answer_lost_by_a_stall_is_looked_up_before_it_is_repeated(deck, call, env):
    """Again: the card is due again at once, so that only the log can tell that it was answered."""
    card = sorted(deck.collection.find_cards("deck:Geo"))[0]
    deck.faults = {1: "cut_after", 2: "cut_before"}
    broken = call("anki.answer_cards", answers=[{"cardId": card, "ease": "again"}])
    deck.faults = {}

    again = call("anki.answer_cards", answers=[{"cardId": card, "ease": "again"}])
    third = call("anki.answer_cards", answers=[{"cardId": card, "ease": "good"}])

    assert "what is in the log is not answered twice" in broken["hint"]
    assert again["cards"][0]["answeredBefore"] is True
    assert third["answered"] == 1
    assert log(deck.collection) == [(card, 1), (card, 3)]


def test_a_cut_answer_is_told_by_the_log(deck, call):
    cards = sorted(deck.collection.find_cards("deck:Geo"))[:3]
    deck.faults = {1: "cut_after"}

    answer = call("anki.answer_cards", answers=[{"cardId": card, "ease": "good"} for card in cards])

    assert answer["answered"] == 3
    assert "review log" in answer["warnings"][0]


@both_versions
def test_stats_are_one_multi_after_the_names_without_rows_made_by_hand(deck, call):
    collection = deck.collection
    cards = sorted(collection.find_cards("deck:Geo"))
    make_due(collection, cards[:10])
    for note in collection.find_notes("deck:Geo::Cities")[:2]:
        collection.tags.bulk_add([note], "leech")
    answers = [{"cardId": card, "ease": ease} for card, ease in zip(cards[:10], [1, 3, 3, 3, 4] * 2, strict=True)]
    call("anki.answer_cards", answers=answers)
    deck.requests.clear()

    answer = call("anki.stats")

    assert [request["action"] for request in deck.requests][:2] == ["deckNamesAndIds", "multi"]
    assert answer["today"]["answers"] == 10
    assert answer["buttons"] == {"again": 2, "hard": 0, "good": 6, "easy": 2}
    assert answer["leeches"]["total"] == 2
    assert answer["leeches"]["notes"][0]["question"].startswith("Geo::Cities question")
    assert len(answer["forecast"]) == 7
    assert tokens(answer) <= 500


def test_retention_counts_reviews_of_young_and_mature_cards(anki, call):
    cards = [anki.collection.find_cards(f"nid:{note}")[0] for note in add_notes(anki.collection, "A", *"abcdefgh")]
    for number, card in enumerate(cards):
        values = {"type": 2, "queue": 2, "ivl": 10 if number < 4 else 30, "due": 0, "reps": 3, "factor": 2500}
        found = anki.collection.get_card(card)
        for name, value in values.items():
            setattr(found, name, value)
        anki.collection.update_card(found)
    eases = [1, 3, 3, 3, 1, 1, 3, 3]
    call("anki.answer_cards", answers=[{"cardId": c, "ease": e} for c, e in zip(cards, eases, strict=True)])

    assert call("anki.stats")["retention"] == {"young": 75.0, "mature": 50.0}


def test_a_sound_is_stored_under_the_name_that_anki_gives_it(anki, call):
    assert call("anki.store_media", filename="a.mp3", data="SUQz") == {"filename": "a.mp3", "sizeBytes": 3}
    assert call("anki.store_media", filename="a.mp3", data="data:audio/mpeg;base64,SUQz")["filename"] == "a.mp3"
    other = call("anki.store_media", filename="a.mp3", data="eHl6")["filename"]
    assert other != "a.mp3"
    assert call("anki.get_media", filename="a.mp3")["dataBase64"] == "SUQz"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"filename": "../a.mp3", "data": "eA=="}, "INVALID_FILENAME"),
        ({"filename": "a.mp3", "data": "%%%"}, "INVALID_BASE64"),
        ({"filename": "a.mp3"}, "INVALID_ARGUMENTS"),
        ({"filename": "a.mp3", "url": "http://127.0.0.1:1/x"}, "PRIVATE_ADDRESS"),
    ],
)
def test_a_file_that_cannot_be_stored_is_refused_before_anything_is_sent(anki, call, arguments, code):
    assert call("anki.store_media", **arguments)["code"] == code
    assert anki.requests == []
