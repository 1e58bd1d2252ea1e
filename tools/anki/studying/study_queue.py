"""The cards to study now, in Anki's own order and within the decks' daily limits."""

# The order is that of Anki's scheduler (its queue builder, with the deck's own options; for all decks, with
# those of the default deck):
# - learning cards whose time has come; then reviews in the deck's own order, with cards that learn across
#   days and new cards spread among them; learning cards ahead of their time only if nothing else is left.
#   Within a day Anki goes by a hash; here it is the order of making.
# - Reviews and new cards count for their deck and each deck above it; a card that a filtered deck has
#   borrowed is there.
# - With "bury siblings" one card of a note comes; which one is decided in the order learning, review, new.
# - A query is what the person asked for: daily limits do not cut it.
# Searches cost nothing and give ids alone; details (cardsInfo) cost milliseconds a card. So cards are
# searched for in rough order, and the first of each kind are put in exact order by their details.

import time
from collections import Counter, defaultdict
from itertools import chain
from operator import itemgetter

from tools.toolkit import JsonObject

from .. import client, decks, notes
from ..card_text import LEARNING
from ..client import IdByName, Ids, action, card_search, note_search
from ..note_input import folded

# Reviews from the most overdue, and new cards from the first position.
REVIEWS = (
    "is:due -is:learn deck:filtered",
    "is:due -is:learn prop:due<-30",
    "is:due -is:learn prop:due>=-30 prop:due<-7",
    "is:due -is:learn prop:due>=-7 prop:due<-2",
    "is:due -is:learn prop:due=-2",
    "is:due -is:learn prop:due=-1",
    "is:due -is:learn prop:due=0",
)
NEW = (
    "is:new prop:pos<8",
    "is:new prop:pos>=8 prop:pos<64",
    "is:new prop:pos>=64 prop:pos<512",
    "is:new prop:pos>=512 prop:pos<4096",
    "is:new prop:pos>=4096",
)
AWAKE = "-is:suspended -is:buried"
# The searches for cards that are not due, each with its words.
WAITING = {
    f"is:new {AWAKE}": "new behind the day's limit (query is:new shows them)",
    f"is:due {AWAKE}": "due behind the day's limit (query is:due shows them)",
    "is:suspended": "suspended",
    "is:buried": "buried until tomorrow",
    f"-is:new -is:due {AWAKE}": "on a later day",
}
MOST_CANDIDATES = 1000
MOST_DETAILS = 100
# Reviews whose details are asked for if the deck's order needs them: half a second of Anki's window.
MOST_ORDERED = 200

# Options of a deck: new cards, and those that learn across days, come among the reviews, after or before
# them.
MIX, AFTER, BEFORE = range(3)
# Option of a deck: new cards by the number of their template, within it as they were gathered.
BY_TEMPLATE = 0
# The members of a card by which new cards are gathered, by the number of the deck's option; else by position.
# `place` is that of the card's deck among all decks; behind `-` the last comes first.
NEW_ORDERS = {0: "place due", 2: "-due", 5: "place due"}
# The same for reviews, by the number of the deck's review order.
REVIEW_ORDERS = {
    0: "due",
    1: "due place",
    2: "place due",
    3: "interval",
    4: "-interval",
    5: "factor",
    6: "-factor",
    9: "cardId",
    10: "-cardId",
}
EASE_ORDERS = (5, 6)

# Cards as cardsInfo has them, and the ids of those of each kind.
Cards = list[JsonObject]
CardsByKind = dict[str, Ids]
# Cards due today, as new, learning and review; subdecks and daily limits count.
Counts = dict[str, int]
# Kinds of cards, with their columns in an answer of getDeckStats.
COUNT_COLUMNS = {"new": "new_count", "learning": "learn_count", "review": "review_count"}


def deck_and_subdecks(deck: str, deck_ids: IdByName) -> tuple[str, list[str]]:
    """The deck as Anki spells it, and the names of it and its subdecks; of every deck if none is named.

    Raises ToolError DECK_NOT_FOUND: getDeckStats would make a deck of an unknown name.
    """
    if not deck:
        return "", list(deck_ids)
    name = decks.existing_name(deck, deck_ids)
    if name is None:
        raise decks.not_found([deck], deck_ids)
    return name, decks.below([name], deck_ids)


def due_counts(
    stats: JsonObject, deck_ids: IdByName, deck: str
) -> tuple[dict[str, Counts], Counts]:
    """The counts in an answer of getDeckStats by the deck's whole name, and their sum with a total: of
    `deck`, or of all decks that lie in no other."""
    by_deck = {}
    counts = Counter(dict.fromkeys(COUNT_COLUMNS, 0))
    for name, number in deck_ids.items():
        if row := stats.get(str(number)):
            by_deck[name] = {kind: row[column] for kind, column in COUNT_COLUMNS.items()}
            if name == deck or (not deck and decks.SEPARATOR not in name):
                counts.update(by_deck[name])
    return by_deck, {**counts, "total": counts.total()}


class StudyQueue:
    """The cards of a deck and its subdecks, or of all decks, that may be studied now. With a query only those
    that it finds. Three requests.

    - `name`, `names`: the deck, empty for all, and the decks that count; `deck_ids`: of all decks;
    - `counts`: the cards due by kind; `limits`: the same by deck, which none may exceed;
    - `learning`, `reviews`, `new`: the details of the first cards, in order; `order`: a note on that order;
    - `seen`: notes whose other cards do not come if siblings are buried.
    """

    def __init__(self, deck: str, query: str = ""):
        cards = self._find_candidates(deck, query)
        by_name, stats, options = client.results(
            action("getDecks", cards=list(chain(*cards.values()))),
            action("getDeckStats", decks=self.names),
            action("getDeckConfig", deck=self.name or decks.default_name(self.deck_ids)),
        )
        deck_of = notes.deck_by_card(by_name)
        self.options: JsonObject = defaultdict(int, options or {})
        self.limits, self.counts = due_counts(stats, self.deck_ids, self.name)
        if query:
            self.limits = {}
        for kind, ids in cards.items():
            full = [name for name, counts in self.limits.items() if not counts[kind]]
            having_room = set(self.names).difference(decks.below(full, self.names))
            cards[kind] = [card for card in ids if deck_of.get(card) in having_room]
        if query:  # Anki counts by decks alone
            self.counts = {kind: len(cards[kind]) for kind in COUNT_COLUMNS}
            self.counts["total"] = sum(self.counts.values())
        self._read_details(cards)

    def _find_candidates(self, deck: str, query: str) -> CardsByKind:
        """The candidates of each kind; reviews and new cards in rough order."""
        notes.check_names(query)
        scope = f'deck:"{decks.quoted(deck)}" ' if deck else ""
        if query:
            scope += f"({query}) "
        self.scope = scope
        actions = [action("deckNamesAndIds")]
        for search in ("is:learn is:due", *REVIEWS, *NEW):
            actions.append(card_search(f"{scope}{search} {AWAKE}"))
        actions.append(note_search(f"{scope}is:learn -is:due prop:due=0 {AWAKE}"))
        self.deck_ids, learning, *matches, learning_later = client.results(*actions)
        self.name, self.names = deck_and_subdecks(deck, self.deck_ids)
        # Notes whose other cards do not come if siblings are buried.
        self.seen = set(learning_later)
        reviews = chain(*map(sorted, matches[: len(REVIEWS)]))
        new = chain(*map(sorted, matches[len(REVIEWS) :]))
        return {
            "learning": learning,
            "review": list(dict.fromkeys(reviews))[:MOST_CANDIDATES],
            "new": list(new)[:MOST_CANDIDATES],
        }

    def _read_details(self, cards: CardsByKind) -> None:
        """Read the details of the first cards of each kind and sort them. `order`: a note for the answer if
        the order of reviews is not, or may not be, the deck's own."""
        number = self.options["reviewOrder"]
        self.order = ""
        if number in EASE_ORDERS:
            self.order = (
                "by ease; with FSRS Anki goes by difficulty, which AnkiConnect does not give"
            )
        if number not in REVIEW_ORDERS or (number and len(cards["review"]) > MOST_ORDERED):
            number = 0
            self.order = "by due date; this deck's own order is another"
        reviews = cards["review"][: MOST_ORDERED if number else MOST_DETAILS]
        if len(reviews) < 2:
            self.order = ""
        first = (cards["learning"][:MOST_DETAILS], reviews, cards["new"][:MOST_DETAILS])
        details = client.results(*(action("cardsInfo", cards=ids) for ids in first))
        self.learning, self.reviews, self.new = (list(filter(None, infos)) for infos in details)
        for info in chain(self.reviews, self.new):
            info["place"] = folded(info["deckName"]).split(decks.SEPARATOR)
        _sort(self.learning, "due")
        _sort(self.reviews, REVIEW_ORDERS[number])
        _sort(self.new, "ord")
        _sort(self.new, NEW_ORDERS.get(self.options["newGatherPriority"], "due"))

    def why_nothing_is_due(self) -> str:
        """A sentence for an empty queue, with the counts of cards that are not due. One request."""
        searches = [card_search(self.scope + search) for search in WAITING]
        found = zip(WAITING.values(), client.results(*searches), strict=True)
        counts = [f"{len(cards)} {words}" for words, cards in found if cards]
        return f"nothing is due: {', '.join(counts) or 'there are no such cards'}"

    def first_cards(self, limit: int) -> Cards:
        """The first cards in Anki's order, as cardsInfo has them."""
        now = time.time()
        today = [info for info in self.learning if info["queue"] == LEARNING]
        across = [info for info in self.learning if info["queue"] != LEARNING]
        due = [info for info in today if info["due"] <= now]
        self.seen.update(info["note"] for info in today)
        others = self._within_limits(across)
        return (due + others or today)[:limit]

    def _within_limits(self, across: Cards) -> Cards:
        """Reviews, cards that learn `across` days, and new cards, as far as the daily limits go. Those of
        reviews hold for cards that learn across days too, though Anki counts these as learning."""
        reviewing = self.options.get("rev", {})
        a_day = reviewing.get("perDay", MOST_CANDIDATES)
        reviews_left = {}
        new_left = {}
        for name, counts in self.limits.items():
            learning = sum(decks.within(info["deckName"], name) for info in across)
            reviews_left[name] = min(a_day, counts["review"] + learning)
            new_left[name] = counts["new"]
        across = self._gather(across, reviews_left, self.options["buryInterdayLearning"])
        reviews = self._gather(self.reviews, reviews_left, reviewing.get("bury"))
        new = self._gather(self.new, new_left, self.options.get("new", {}).get("bury"))
        if self.options["newSortOrder"] == BY_TEMPLATE:
            _sort(new, "ord")
        reviews = mixed(reviews, across, self.options["interdayLearningMix"])
        return mixed(reviews, new, self.options["newMix"])

    def _gather(self, infos: Cards, left: dict[str, int], bury: object) -> Cards:
        """The first of these cards, as many as the limits `left` allow, without siblings if they are
        buried."""
        gathered = []
        for info in infos:
            above = [name for name in left if decks.within(info["deckName"], name)]
            if all(left[name] > 0 for name in above) and not (bury and info["note"] in self.seen):
                gathered.append(info)
                self.seen.add(info["note"])
                for name in above:
                    left[name] -= 1
        return gathered


def _sort(infos: Cards, order: str) -> None:
    """Sort cards by the members that `order` names."""
    infos.sort(key=itemgetter(*order.lstrip("-").split()), reverse=order.startswith("-"))


def mixed(reviews: Cards, others: Cards, option: int) -> Cards:
    """Reviews and other cards in one order: by the deck's option the others are spread evenly among the
    reviews, or come after or before them."""
    ratio = (len(reviews) + 1) / (len(others) + 1)
    order = list(reviews)
    for number in range(len(others), 0, -1):
        place = {MIX: int(number * ratio), AFTER: len(reviews), BEFORE: 0}[option]
        order.insert(place, others[number - 1])
    return order
