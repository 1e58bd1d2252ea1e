"""What is due in each deck, by the deck's own daily limits."""

from dataclasses import dataclass
from operator import attrgetter

from tools.anki import decks
from tools.anki.client import Action
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject


@dataclass
class Due:
    """Cards due today; subdecks and daily limits count."""

    new: int = 0
    learning: int = 0
    review: int = 0

    @property
    def total(self) -> int:
        return self.new + self.learning + self.review

    def shown(self) -> dict[str, int]:
        return {"new": self.new, "learning": self.learning, "review": self.review, "total": self.total}


def chosen(deck: str, deck_ids: dict[str, int]) -> list[str]:
    """The deck and its subdecks, or every deck if none is named.

    Raises ToolError DECK_NOT_FOUND: getDeckStats would make a deck of an unknown name.
    """
    if not deck.strip():
        return list(deck_ids)
    name = decks.known(deck.strip(), deck_ids)
    if name is None:
        raise decks.not_found([deck], deck_ids)
    return [inner for inner in deck_ids if decks.within(inner, name)]


def question(names: list[str]) -> Action:
    """The action that tells the counts of decks that are known to exist."""
    return "getDeckStats", {"decks": names}


def by_deck(answer: JsonObject, deck_ids: dict[str, int]) -> dict[str, Due]:
    """An answer of getDeckStats, by the deck's whole name."""
    names = {str(number): name for name, number in deck_ids.items()}
    return {
        names[number]: Due(stats["new_count"], stats["learn_count"], stats["review_count"])
        for number, stats in answer.items()
        if number in names
    }


def summed(due: dict[str, Due], deck: str) -> Due:
    """The counts of one deck, or of all: those of the decks that lie in no other."""
    tops = [counts for name, counts in due.items() if (name == deck if deck else decks.SEPARATOR not in name)]
    new, learning, review = (sum(map(attrgetter(kind), tops)) for kind in ("new", "learning", "review"))
    return Due(new, learning, review)


class Limits:
    """What may still be shown today: a card counts for its deck and for each that this deck lies in."""

    def __init__(self, due: dict[str, Due]):
        self.new = {name: counts.new for name, counts in due.items()}
        self.review = {name: counts.review for name, counts in due.items()}

    def within(self, cards: list[int], deck_by_card: dict[int, str], left: dict[str, int]) -> list[int]:
        """The first of these cards, as many as the limits `left` allow."""
        allowed = []
        for card in cards:
            above = [name for name in left if decks.within(deck_by_card.get(card, ""), name)]
            if all(left[name] > 0 for name in above):
                allowed.append(card)
                for name in above:
                    left[name] -= 1
        return allowed


def not_reviewing() -> ToolError:
    return ToolError(
        "Anki shows no card at the moment",
        "Start a review in Anki's window, or call anki_due without `current`.",
        code="NO_REVIEW",
    )
