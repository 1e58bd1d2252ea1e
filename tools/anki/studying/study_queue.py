"""The cards to study now, in Anki's own order and within the decks' daily limits."""

# The order is that of Anki's scheduler (its queue builder, with the deck's own options):
# - learning cards whose time has come; then reviews in the deck's own order, with cards that learn across days and new
# cards spread among them; learning cards ahead of their time only if nothing else is left. Within a day Anki goes by a
# hash; here it is the order of making.
# - Reviews and new cards count for their deck and each deck above it; a card that a filtered deck has borrowed is there.
# - With "bury siblings" one card of a note comes; which one is decided in the order learning, review, new.
# - A query is what the person asked for: daily limits do not cut it.
# Only searches give due days cheaply: ids cost nothing, details (cardsInfo) milliseconds a card. So details are asked
# for few: a collection with more candidates than MOST_DETAILS of a kind gets their order by the cards' ids.

import time

from tools.anki import client, decks, notes
from tools.core.json_types import JsonObject

OVERDUE_DAYS = 14
"""Reviews are searched for by the day they were due, so many days back."""
POSITIONS = ((0, 8), (8, 64), (64, 512), (512, 4096), (4096, 32768), (32768, 2**31))
"""New cards are searched for by ranges of their positions."""
MOST_CANDIDATES = 1000
MOST_DETAILS = 100
MOST_ORDERED = 200
"""Reviews whose details are asked for if the deck's order needs them: half a second of Anki's window."""
DAY_LEARNING = 3
"""The queue of cards that learn across days: their `due` is a day, that of other learning cards a second."""
UNKNOWN_DUE = 2**31
BORROWED_DUE = -50_000
"""A filtered deck gives its cards places from -100,000 on in place of days."""
MIX, AFTER, BEFORE = range(3)
"""Options of a deck: new cards, and those that learn across days, come among the reviews, after or before
them."""
BY_TEMPLATE = 0
"""Option of a deck: new cards by the number of their template, within it as they were gathered."""
BY_DECK = (0, 5)
"""Options of a deck: new cards are gathered deck by deck."""
HIGHEST_FIRST = 2
"""Option of a deck: new cards are gathered from the last position."""
ANY_DECK = {"newMix": AFTER, "interdayLearningMix": BEFORE, "reviewOrder": 0}
"""Anki knows no order of all decks."""
BY_DAY = 0
DAY_THEN_DECK = 1
DECK_THEN_DAY = 2
ADDED_FIRST = 9
ADDED_LAST = 10
"""Review orders of a deck that need no details."""
BY_DETAIL = {3: ("interval", 1), 4: ("interval", -1), 5: ("factor", 1), 6: ("factor", -1)}
"""Review orders of a deck by a detail of cardsInfo, with their direction."""
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
    finds there. Three requests, four in a deck that needs the details of its reviews."""

    def __init__(self, deck: str, query: str = ""):
        self.query = query.strip()
        matches = [sorted(cards) for cards in self._search(deck)]
        learning, due_now, borrowed = matches[:3]
        new_ranges = matches[3 : 3 + len(POSITIONS)]
        days = matches[3 + len(POSITIONS) :]
        self.due_now = set(due_now)
        learning.sort(key=lambda card: card not in self.due_now)
        new = [card for cards in new_ranges for card in cards][:MOST_CANDIDATES]
        self.day_of = {card: day for day, cards in enumerate(days) for card in cards}
        reviews = list(self.day_of)[:MOST_CANDIDATES]
        overdue = [card for card in reviews if not self.day_of[card]]
        detailed = [card for cards in (learning, borrowed, new, overdue) for card in cards[:MOST_DETAILS]]
        every = learning + borrowed + new + reviews
        stats, by_name, config, infos = client.results(
            ("getDeckStats", {"decks": self.names}),
            ("getDecks", {"cards": every}),
            ("getDeckConfig", {"deck": self.name or decks.default_name(self.deck_ids)}),
            ("cardsInfo", {"cards": list(dict.fromkeys(detailed))}),
        )
        self.limits = by_deck(stats, self.deck_ids)
        self.deck_of = notes.deck_by_card(by_name)
        self.config = dict(config or {})
        if not self.name:
            self.config.update(ANY_DECK)
        self.infos = {info["cardId"]: info for info in infos if info}
        self.learning = self._here(learning)
        self.new = self._here(new)
        self.reviews = self._here(reviews)

    def _here(self, cards: list[int]) -> list[int]:
        return [card for card in cards if self.deck_of.get(card) in self.names]

    def _search(self, deck: str) -> list[list[int]]:
        """The candidates: learning, borrowed ones, new ones by position, reviews by day."""
        scope = f'deck:"{decks.quoted(deck.strip())}" ' if deck.strip() else ""
        if self.query:
            scope += f"({self.query}) "
        days = [f"<-{OVERDUE_DAYS}", *(f"=-{day}" for day in range(OVERDUE_DAYS, 0, -1)), "=0", ">0"]
        searches = ["is:learn", "is:learn is:due", "deck:filtered -is:learn (is:due or is:new)"]
        searches += [f"is:new prop:pos>={low} prop:pos<{high}" for low, high in POSITIONS]
        searches += [f"is:due -is:learn prop:due{day}" for day in days]
        queries = [{"query": f"{scope}{search} -is:suspended -is:buried"} for search in searches]
        self.deck_ids, *matches = client.results(
            ("deckNamesAndIds", {}), *(("findCards", query) for query in queries)
        )
        self.names = chosen(deck, self.deck_ids)
        self.name = self.names[0] if deck.strip() else ""
        return matches

    def counts(self) -> Counts:
        """The cards due now, by kind, and their total."""
        if not self.query:
            return summed(self.limits, self.name)
        waiting = self.due_now.intersection(self.learning)
        counts = {"new": len(self.new), "learning": len(waiting), "review": len(self.reviews)}
        return {**counts, "total": sum(counts.values())}

    def order(self) -> str:
        """A word about the order of reviews if it is not the deck's own, or may not be; else empty."""
        order = self.config.get("reviewOrder", BY_DAY)
        if len(self.reviews) < 2 or order in (BY_DAY, DAY_THEN_DECK, DECK_THEN_DAY, ADDED_FIRST, ADDED_LAST):
            return ""
        if order not in BY_DETAIL or len(self.reviews) > MOST_ORDERED:
            return OTHER_ORDER
        return EASE_ORDER if order in EASE_ORDERS else ""

    def first(self, limit: int) -> list[JsonObject]:
        """The first cards in Anki's order, as cardsInfo has them."""
        order = self.config.get("reviewOrder", BY_DAY)
        if order in BY_DETAIL and len(self.reviews) <= MOST_ORDERED:
            self._details(self.reviews)
        self.reviews.sort(key=self._place)
        if self._buries("new") or self._buries("rev"):  # the notes of cards are needed, to know siblings
            self._details(self.reviews[:MOST_DETAILS])
        return self._details(self._ordered()[:limit])

    def _place(self, card: int) -> tuple[object, ...]:
        """The place of a review: those of filtered decks by theirs, then the others in the deck's order."""
        info = self.infos.get(card)
        due = info["due"] if info else UNKNOWN_DUE
        if due < BORROWED_DUE:
            return 0, due
        day = self.day_of[card]
        overdue = (day, 0 if day else due)
        order = self.config.get("reviewOrder", BY_DAY)
        if order == DAY_THEN_DECK:
            return 1, overdue, self._deck_place(card)
        if order == DECK_THEN_DAY:
            return 1, self._deck_place(card), overdue
        if order in (ADDED_FIRST, ADDED_LAST):
            return 1, card if order == ADDED_FIRST else -card
        if order in BY_DETAIL and info and len(self.reviews) <= MOST_ORDERED:
            detail, direction = BY_DETAIL[order]
            return 1, direction * info[detail]
        return 1, overdue, card

    def _deck_place(self, card: int) -> list[str]:
        return decks.folded(self.deck_of[card]).split(decks.SEPARATOR)

    def _details(self, cards: list[int]) -> list[JsonObject]:
        if unknown := [card for card in cards if card not in self.infos]:
            infos = client.call("cardsInfo", cards=unknown)
            self.infos |= {info["cardId"]: info for info in infos if info}
        return [self.infos[card] for card in cards if card in self.infos]

    def _ordered(self) -> list[int]:
        learning = [self.infos[card] for card in self.learning if card in self.infos]
        learning.sort(key=lambda info: info["due"])
        today = [info for info in learning if info["queue"] != DAY_LEARNING]
        self.seen = {info["note"] for info in today}
        across = [info["cardId"] for info in learning if info not in today and info["cardId"] in self.due_now]
        left = self._reviews_left(across)
        across = self._gather(across, left, bury=bool(self.config.get("buryInterdayLearning")))
        reviews = self._gather(self.reviews, left, bury=self._buries("rev"))
        new_left = {name: self._left(counts["new"]) for name, counts in self.limits.items()}
        new = self._gather(sorted(self.new, key=self._new_place), new_left, bury=self._buries("new"))
        if self.config.get("newSortOrder") == BY_TEMPLATE:
            new.sort(key=lambda card: self.infos[card]["ord"] if card in self.infos else 0)
        reviews = mixed(reviews, across, self.config.get("interdayLearningMix", MIX))
        main = mixed(reviews, new, self.config.get("newMix", MIX))
        now = time.time()
        due = [info["cardId"] for info in today if info["due"] <= now]
        ahead = [info["cardId"] for info in today if info["cardId"] in self.due_now and info["due"] > now]
        return due + main or ahead

    def _left(self, count: int) -> int:
        return MOST_CANDIDATES if self.query else count

    def _reviews_left(self, across: list[int]) -> dict[str, int]:
        """The reviews left today in each deck. Cards that learn `across` days count among them, but Anki counts
        them as learning cards."""
        a_day = self.config.get("rev", {}).get("perDay", MOST_CANDIDATES)
        reviews_left = {}
        for name, counts in self.limits.items():
            learning = sum(decks.within(self.deck_of[card], name) for card in across)
            reviews_left[name] = self._left(min(a_day, counts["review"] + learning))
        return reviews_left

    def _buries(self, kind: str) -> bool:
        return bool(self.config.get(kind, {}).get("bury"))

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

    def _new_place(self, card: int) -> tuple[object, ...]:
        """The place in which a new card is gathered: first by deck or not, then by position from either
        end."""
        info = self.infos.get(card)
        priority = self.config.get("newGatherPriority", 1)
        deck = self._deck_place(card) if priority in BY_DECK else []
        position, template = (info["due"], info["ord"]) if info else (UNKNOWN_DUE, card)
        return deck, -position if priority == HIGHEST_FIRST else position, template


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
