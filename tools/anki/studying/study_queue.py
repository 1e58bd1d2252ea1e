"""The cards to study now, in Anki's own order and within the decks' daily limits."""

# The order is that of Anki's scheduler (its queue builder, with the deck's own options):
# - learning cards whose time has come; then reviews in the deck's own order, with cards that learn across days and new
# cards spread among them; learning cards ahead of their time only if nothing else is left. Within a day Anki goes by a
# hash; here it is the order of making.
# - Reviews and new cards count for their deck and each deck above it; a card that a filtered deck has borrowed is there.
# - With "bury siblings" one card of a note comes; which one is decided in the order learning, review, new.
# - A query is what the person asked for: daily limits do not cut it.
# Searches cost nothing and give ids alone; details (cardsInfo) cost milliseconds a card. So cards are searched for in
# rough order, and the first of each kind are put in exact order by their details; those beyond follow as they were.

import time
from collections.abc import Callable
from itertools import chain, pairwise
from typing import Any

from tools.anki import client, decks, notes
from tools.anki.card_text import LEARNING
from tools.core.json_types import JsonObject

REVIEWS = (
    "deck:filtered",
    "prop:due<-30",
    "prop:due>=-30 prop:due<-7",
    "prop:due>=-7 prop:due<-2",
    "prop:due=-2",
    "prop:due=-1",
    "prop:due=0",
)
POSITIONS = (0, 8, 64, 512, 4096, 32768, 2**31)
"""New cards are searched for by ranges of their positions."""
MOST_CANDIDATES = 1000
MOST_DETAILS = 100
MOST_ORDERED = 200
"""Reviews whose details are asked for if the deck's order needs them: half a second of Anki's window."""

MIX, AFTER, BEFORE = range(3)
"""Options of a deck: new cards, and those that learn across days, come among the reviews, after or before
them."""
BY_TEMPLATE = 0
"""Option of a deck: new cards by the number of their template, within it as they were gathered."""
BY_DECK = (0, 5)
"""Options of a deck: new cards are gathered deck by deck."""
HIGHEST_FIRST = 2
"""Option of a deck: new cards are gathered from the last position."""
# What Anki takes if a deck has no such option, as a filtered one.
OPTIONS = {
    "newMix": MIX,
    "interdayLearningMix": MIX,
    "reviewOrder": 0,
    "newSortOrder": BY_TEMPLATE,
    "newGatherPriority": 0,
    "buryInterdayLearning": False,
    "new": {},
    "rev": {},
}
ANY_DECK = {"newMix": AFTER, "interdayLearningMix": BEFORE, "reviewOrder": 0}
"""Anki knows no order of all decks."""


def deck_place(info: JsonObject) -> list[str]:
    """The place of a card's deck among all decks."""
    return decks.folded(info["deckName"]).split(decks.SEPARATOR)


# The place of a review, by the number of the deck's review order in Anki.
REVIEW_ORDERS: dict[int, Callable[[JsonObject], Any]] = {
    0: lambda info: info["due"],
    1: lambda info: (info["due"], deck_place(info)),
    2: lambda info: (deck_place(info), info["due"]),
    3: lambda info: info["interval"],
    4: lambda info: -info["interval"],
    5: lambda info: info["factor"],
    6: lambda info: -info["factor"],
    9: lambda info: info["cardId"],
    10: lambda info: -info["cardId"],
}
EASE_ORDERS = (5, 6)
OTHER_ORDER = "by due date; this deck's own order is another"
EASE_ORDER = "by ease; with FSRS Anki goes by difficulty, which AnkiConnect does not give"


Counts = dict[str, int]
"""Cards due today, as new, learning and review; subdecks and daily limits count."""
KINDS = {"new": "new_count", "learning": "learn_count", "review": "review_count"}
"""Kinds of cards, each with its column in an answer of getDeckStats."""


def chosen(deck: str, deck_ids: dict[str, int]) -> list[str]:
    """The deck and its subdecks, or every deck if none is named.

    Raises ToolError DECK_NOT_FOUND: getDeckStats would make a deck of an unknown name.
    """
    if not deck.strip():
        return list(deck_ids)
    name = decks.spelled_by_anki(deck.strip(), deck_ids)
    if name is None:
        raise decks.not_found([deck], deck_ids)
    return [inner for inner in deck_ids if decks.within(inner, name)]


def by_deck(answer: JsonObject, deck_ids: dict[str, int]) -> dict[str, Counts]:
    """An answer of getDeckStats, by the deck's whole name."""
    names = {str(number): name for name, number in deck_ids.items()}
    counts = {}
    for number, stats in answer.items():
        if number in names:
            counts[names[number]] = {kind: stats[column] for kind, column in KINDS.items()}
    return counts


def summed(due: dict[str, Counts], deck: str) -> Counts:
    """The counts of one deck, or of all: those of the decks that lie in no other; and their total."""
    counts = dict.fromkeys(KINDS, 0)
    for name, deck_counts in due.items():
        if name == deck or (not deck and decks.SEPARATOR not in name):
            for kind in KINDS:
                counts[kind] += deck_counts[kind]
    return {**counts, "total": sum(counts.values())}


class StudyQueue:
    """The cards of a deck and its subdecks, or of all decks, that may be studied now; of a query those that it
    finds there. Three requests; a fourth if cards come without details."""

    def __init__(self, deck: str, query: str = ""):
        self.query = query.strip()
        waiting, ahead, *rest = self._search(deck)
        self.waiting = set(waiting)
        candidates = [waiting + ahead]
        for matches in (rest[: len(REVIEWS)], rest[len(REVIEWS) :]):
            candidates.append(list(dict.fromkeys(chain(*matches)))[:MOST_CANDIDATES])
        stats, by_name, config = client.results(
            ("getDeckStats", {"decks": self.names}),
            ("getDecks", {"cards": list(chain(*candidates))}),
            ("getDeckConfig", {"deck": self.name or decks.default_name(self.deck_ids)}),
        )
        self.limits = by_deck(stats, self.deck_ids)
        self.deck_of = notes.deck_by_card(by_name)
        self.options = {**OPTIONS, **(config or {})}
        if not self.name:
            self.options.update(ANY_DECK)
        for cards in candidates:
            cards[:] = [card for card in cards if self.deck_of.get(card) in self.names]
        self.learning, self.reviews, self.new = candidates
        self.infos: dict[int, JsonObject] = {}
        most = MOST_ORDERED if self.options["reviewOrder"] else MOST_DETAILS
        self._read(self.learning[:MOST_DETAILS] + self.reviews[:most] + self.new[:MOST_DETAILS])

    def _search(self, deck: str) -> list[list[int]]:
        """The candidates: those that learn, due and ahead; reviews and new cards, each in rough order."""
        scope = f'deck:"{decks.quoted(deck.strip())}" ' if deck.strip() else ""
        if self.query:
            scope += f"({self.query}) "
        searches = ["is:learn is:due", "is:learn -is:due"]
        searches += [f"is:due -is:learn {days}" for days in REVIEWS]
        searches += [f"is:new prop:pos>={low} prop:pos<{high}" for low, high in pairwise(POSITIONS)]
        queries = [{"query": f"{scope}{search} -is:suspended -is:buried"} for search in searches]
        self.deck_ids, *matches = client.results(
            ("deckNamesAndIds", {}), *(("findCards", query) for query in queries)
        )
        self.names = chosen(deck, self.deck_ids)
        self.name = self.names[0] if deck.strip() else ""
        return list(map(sorted, matches))

    def _read(self, cards: list[int]) -> None:
        if cards:
            infos = client.call("cardsInfo", cards=cards)
            self.infos.update({info["cardId"]: info for info in infos if info})

    def counts(self) -> Counts:
        """The cards due now, by kind, and their total."""
        if not self.query:
            return summed(self.limits, self.name)
        waiting = self.waiting.intersection(self.learning)
        counts = {"new": len(self.new), "learning": len(waiting), "review": len(self.reviews)}
        return {**counts, "total": sum(counts.values())}

    def order(self) -> str:
        """A word about the order of reviews if it is not the deck's own, or may not be; else empty."""
        order = self.options["reviewOrder"]
        if len(self.reviews) < 2:
            return ""
        if order not in REVIEW_ORDERS or (order and len(self.reviews) > MOST_ORDERED):
            return OTHER_ORDER
        return EASE_ORDER if order in EASE_ORDERS else ""

    def first(self, limit: int) -> list[JsonObject]:
        """The first cards in Anki's order, as cardsInfo has them."""
        cards = self._ordered()[:limit]
        self._read([card for card in cards if card not in self.infos])
        return [self.infos[card] for card in cards if card in self.infos]

    def _ordered(self) -> list[int]:
        learning = [self.infos[card] for card in self.learning if card in self.infos]
        learning.sort(key=REVIEW_ORDERS[0])
        today = [info for info in learning if info["queue"] == LEARNING]
        self.seen = {info["note"] for info in today}
        across = [info["cardId"] for info in learning if info["queue"] != LEARNING]
        across = [card for card in across if card in self.waiting]
        left = self._reviews_left(across)
        across = self._gather(across, left, bury=self.options["buryInterdayLearning"])
        order = 0 if self.order() == OTHER_ORDER else self.options["reviewOrder"]
        place = REVIEW_ORDERS.get(order, REVIEW_ORDERS[0])
        reviews = self._gather(self._sorted(self.reviews, place), left, bury=self._buries("rev"))
        new_left = {name: self._left(counts["new"]) for name, counts in self.limits.items()}
        new = self._gather(self._sorted(self.new, self._new_place), new_left, bury=self._buries("new"))
        if self.options["newSortOrder"] == BY_TEMPLATE:
            new = self._sorted(new, lambda info: info["ord"])
        reviews = mixed(reviews, across, self.options["interdayLearningMix"])
        main = mixed(reviews, new, self.options["newMix"])
        now = time.time()
        due = [info["cardId"] for info in today if info["due"] <= now]
        ahead = [info["cardId"] for info in today if info["due"] > now]
        return due + main or [card for card in ahead if card in self.waiting]

    def _sorted(self, cards: list[int], place: Callable[[JsonObject], Any]) -> list[int]:
        """The cards whose details are known by their place, then the others."""
        known = [card for card in cards if card in self.infos]
        known.sort(key=lambda card: place(self.infos[card]))
        return known + [card for card in cards if card not in self.infos]

    def _left(self, count: int) -> int:
        return MOST_CANDIDATES if self.query else count

    def _reviews_left(self, across: list[int]) -> dict[str, int]:
        """The reviews left today in each deck. Cards that learn `across` days count among them, but Anki counts
        them as learning cards."""
        a_day = self.options["rev"].get("perDay", MOST_CANDIDATES)
        reviews_left = {}
        for name, counts in self.limits.items():
            learning = sum(decks.within(self.deck_of[card], name) for card in across)
            reviews_left[name] = self._left(min(a_day, counts["review"] + learning))
        return reviews_left

    def _buries(self, kind: str) -> bool:
        return self.options[kind].get("bury", False)

    def _gather(self, cards: list[int], left: dict[str, int], *, bury: bool) -> list[int]:
        """The first of these cards, as many as the limits `left` allow, without siblings if they are
        buried."""
        gathered = []
        for card in cards:
            above = [name for name in left if decks.within(self.deck_of[card], name)]
            note = self.infos[card]["note"] if card in self.infos else None
            if all(left[name] > 0 for name in above) and not (bury and note in self.seen):
                gathered.append(card)
                for name in above:
                    left[name] -= 1
                self.seen.add(note)
        return gathered

    def _new_place(self, info: JsonObject) -> tuple[object, ...]:
        """The place in which a new card is gathered: first by deck or not, then by position from either
        end."""
        priority = self.options["newGatherPriority"]
        deck = deck_place(info) if priority in BY_DECK else []
        return deck, -info["due"] if priority == HIGHEST_FIRST else info["due"], info["ord"]


def mixed(reviews: list[int], others: list[int], option: int) -> list[int]:
    """Both kinds of cards in one order: the others spread evenly among the reviews, after or before them."""
    if option == AFTER:
        return reviews + others
    if option == BEFORE:
        return others + reviews
    ratio = (len(reviews) + 1) / (len(others) + 1)
    order: list[int] = []
    done = 0
    for number, other in enumerate(others, 1):
        order += [*reviews[done : int(number * ratio)], other]
        done = int(number * ratio)
    return [*order, *reviews[done:]]
