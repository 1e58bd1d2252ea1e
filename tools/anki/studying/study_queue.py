"""The queue of cards to study now, in Anki's own order and within the decks' daily limits."""

# The order is nearly that of Anki's scheduler, by the deck's own options; for all decks, by those of the
# default deck:
# - cards being learned whose time has come; then reviews in the deck's own order, with new cards spread among
#   them; cards being learned ahead of their time only if nothing else is left. Within a day Anki goes by a
#   hash; here it is the order of making. Cards that learn across days, which Anki spreads among the reviews,
#   come before them.
# - Every card counts for its deck and each deck above it; a card that a filtered deck has borrowed is there.
# - With "bury siblings" one card of a note comes; which one is decided in the order learning, review, new.
# - A query is the person's own choice: daily limits do not cut it.
# Searches cost nothing and give ids alone; details (cardsInfo) cost milliseconds a card. So cards are
# searched for in rough order, and the first of each kind are put in exact order by their details.

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import partial
from operator import itemgetter

from tools.toolkit import JsonObject, filled

from .. import client, decks, notes
from ..card_text import LEARNING
from ..client import IdByName, Ids, action, card_search

# Kinds of cards, with their columns in an answer of getDeckStats.
COUNT_COLUMNS = {"new": "new_count", "learning": "learn_count", "review": "review_count"}
# The searches for cards of each kind: reviews from the most overdue, new cards from the first position.
SEARCHES = {
    "is:learn is:due": "learning",
    "is:due -is:learn deck:filtered": "review",
    "is:due -is:learn -deck:filtered prop:due<-30": "review",
    "is:due -is:learn -deck:filtered prop:due>=-30 prop:due<-7": "review",
    "is:due -is:learn -deck:filtered prop:due>=-7 prop:due<-1": "review",
    "is:due -is:learn -deck:filtered prop:due=-1": "review",
    "is:due -is:learn -deck:filtered prop:due=0": "review",
    "is:new prop:pos<64": "new",
    "is:new prop:pos>=64 prop:pos<512": "new",
    "is:new prop:pos>=512 prop:pos<4096": "new",
    "is:new prop:pos>=4096": "new",
}
AWAKE = "-is:suspended -is:buried"
# The searches for cards that are not due, each with its words.
WAITING = {
    f"is:new {AWAKE}": "new behind the day's limit (query is:new shows them)",
    f"is:due {AWAKE}": "due behind the day's limit (query is:due shows them)",
    "is:suspended": "suspended",
    "is:buried": "buried until tomorrow",
    f"-is:new -is:due {AWAKE}": "on a later day",
}
# Cards of a kind whose details are asked for: a quarter of a second of Anki's window.
MOST_DETAILS = 100

# Options of a deck: new cards come after or before the reviews; else they are spread among them.
AFTER = 1
BEFORE = 2
# Option of a deck: new cards by the number of their template, within it as they were gathered.
BY_TEMPLATE = 0
# The members of a card by which new cards are gathered, by the number of the deck's option; else by position.
# Behind `-` the last comes first.
NEW_ORDERS = {0: "deckName due", 2: "-due", 5: "deckName due"}
# The same for reviews, by the number of the deck's review order.
REVIEW_ORDERS = {
    0: "due",
    1: "due deckName",
    2: "deckName due",
    3: "interval",
    4: "-interval",
    5: "factor",
    6: "-factor",
    9: "cardId",
    10: "-cardId",
}

# Cards as cardsInfo has them.
Cards = list[JsonObject]
# Cards due today, as new, learning and review; subdecks and daily limits count.
Counts = dict[str, int]
CountsByDeck = dict[str, Counts]


def deck_and_subdecks(deck: str, deck_ids: IdByName) -> tuple[str, IdByName]:
    """Spell a deck's name as Anki does, and list the ids of it and its subdecks; of all decks without a name.

    Raises ToolError DECK_NOT_FOUND: getDeckStats would make a deck of an unknown name.
    """
    if not deck:
        return "", deck_ids
    name = decks.existing_name(deck, deck_ids)
    if name is None:
        raise decks.not_found([deck], deck_ids)
    return name, {inside: deck_ids[inside] for inside in decks.below([name], deck_ids)}


def due_counts(stats: JsonObject, deck_ids: IdByName) -> tuple[CountsByDeck, Counts]:
    """Read the counts of these decks out of an answer of getDeckStats, and sum them up, with a total.

    A deck's counts include its subdecks, so the sums are those of the decks that lie in no other.
    """
    by_deck = {}
    counts = Counter[str]()
    for name, number in deck_ids.items():
        # Anki hides its default deck as long as it is empty.
        row = stats.get(str(number)) or Counter()
        by_deck[name] = {kind: row[column] for kind, column in COUNT_COLUMNS.items()}
        if name.rpartition(decks.SEPARATOR)[0] not in deck_ids:
            counts.update(by_deck[name])
    return by_deck, {**counts, "total": counts.total()}


def read_queue(deck: str, query: str, limit: int) -> tuple[str, Counts, Cards, JsonObject]:
    """Read the queue of a deck and its subdecks, or of all decks; with a query only what it finds. Four
    requests, and one if nothing is due.

    Returns the deck's name, empty for all; the number of cards due by kind; the first cards to study now; and
    remarks: the reason if there are none (`note`), and if reviews are not, or may not be, in the deck's
    `order`.
    """
    notes.refuse_unquoted_names(query)
    deck, deck_ids = deck_and_subdecks(deck, decks.ids())
    stats, options = client.results(
        action("getDeckStats", decks=list(deck_ids)),
        action("getDeckConfig", deck=deck or decks.default_name(deck_ids)),
    )
    options = defaultdict(int, options or {})
    limits, counts = due_counts(stats, deck_ids)
    if query:  # Anki counts by decks alone
        limits = dict.fromkeys(deck_ids, dict.fromkeys(COUNT_COLUMNS, notes.NO_LIMIT))
    candidates = _candidates(query, deck_ids, limits)
    if query:
        counts = {kind: len(cards) for kind, cards in candidates.items()}
        counts["total"] = sum(counts.values())
    order, order_remark = _review_order(options["reviewOrder"], len(candidates["review"]))
    detail_reads = [
        action("cardsInfo", cards=cards[:MOST_DETAILS]) for cards in candidates.values()
    ]
    new, learning, reviews = client.results(*detail_reads)
    # Of each kind as many as the limits allow, in the order in which siblings are buried.
    notes_chosen: set[int] = set()
    choose = partial(_choose, limits, counts, notes_chosen)
    new_order = NEW_ORDERS.get(options["newGatherPriority"], "due")
    learning = choose("learning", _sorted(learning, "queue due"), options["buryInterdayLearning"])
    reviews = choose("review", _sorted(reviews, order), options.get("rev", {}).get("bury"))
    new = choose("new", _sorted(new, new_order), options.get("new", {}).get("bury"))
    if options["newSortOrder"] == BY_TEMPLATE:
        new = _sorted(new, "ord")
    # A card that learns across days is due on a numbered day, which is less than any second.
    due = [info for info in learning if info["due"] <= time.time()]
    cards = due + _mixed(reviews, new, options["newMix"]) or learning
    reason = "" if cards else _why_nothing_is_due(_query_in(query, deck_ids.values()))
    return deck, counts, cards[:limit], filled(note=reason, order=order_remark)


def _choose(
    limits: CountsByDeck,
    counts: Counts,
    notes_chosen: set[int],
    kind: str,
    infos: Cards,
    buries: object,
) -> Cards:
    """Choose the first cards of a kind, as many as the limits of their decks allow, and lower the limits by
    these.

    With `buries`, cards of `notes_chosen` are left out. The notes of the chosen cards are added to it.
    """
    cards = []
    for info in infos:
        room = limits.get(info["deckName"]) or Counter()
        is_buried = buries and info["note"] in notes_chosen and info["queue"] != LEARNING
        if room[kind] > 0 and not is_buried:
            cards.append(info)
            notes_chosen.add(info["note"])
            room[kind] -= 1
    return cards[: counts[kind]]


def _query_in(query: str, deck_ids: Iterable[int]) -> str:
    """Query for the cards in these decks that `query` finds."""
    return f"{client.ids_query('did', deck_ids)} ({query or 'deck:*'})"


def _candidates(query: str, deck_ids: IdByName, limits: CountsByDeck) -> dict[str, Ids]:
    """Find the cards of each kind in rough order, in the decks whose limits are not reached."""
    searches = []
    for search, kind in SEARCHES.items():
        full_decks = [name for name, room in limits.items() if not room[kind]]
        having_room = [deck_ids[name] for name in deck_ids if not decks.within(name, *full_decks)]
        searches.append(card_search(f"{_query_in(query, having_room)} {search} {AWAKE}"))
    candidates: dict[str, Ids] = {kind: [] for kind in COUNT_COLUMNS}
    for kind, cards in zip(SEARCHES.values(), client.results(*searches)):
        candidates[kind] += sorted(cards)
    return candidates


def _review_order(number: int, count: int) -> tuple[str, str]:
    """Choose the members by which so many reviews are sorted, with a note if that is not, or may not be, the
    deck's own order."""
    order = REVIEW_ORDERS.get(number, "")
    if count < 2:
        return "due", ""
    if not order or (number and count > MOST_DETAILS):
        return "due", "by due date; this deck's own order is another"
    if "factor" in order:
        return order, "by ease; with FSRS Anki goes by difficulty, which AnkiConnect does not give"
    return order, ""


def _why_nothing_is_due(scope: str) -> str:
    """Explain an empty queue, with the counts of cards that are not due. One request."""
    searches = [card_search(f"{scope} {search}") for search in WAITING]
    matches = zip(WAITING.values(), client.results(*searches))
    counts = [f"{len(cards)} {reason}" for reason, cards in matches if cards]
    return f"nothing is due: {', '.join(counts) or 'there are no such cards'}"


def _sorted(infos: Cards, order: str) -> Cards:
    """Sort cards by the members that `order` names."""
    members = order.lstrip("-").split()
    return sorted(infos, key=itemgetter(*members), reverse=order.startswith("-"))


def _mixed(reviews: Cards, new: Cards, option: int) -> Cards:
    """Mix reviews and new cards by the deck's option."""
    if option == AFTER:
        return reviews + new
    if option == BEFORE:
        return new + reviews
    distance = (len(reviews) + 1) / (len(new) + 1)
    cards = list(reviews)
    for number, info in enumerate(new, 1):
        cards.insert(number - 1 + int(number * distance), info)
    return cards
