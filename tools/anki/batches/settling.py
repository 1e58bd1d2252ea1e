"""Cards of new notes that an older add-on puts into the default deck, moved to where they belong."""

from typing import Any

from tools.anki import client, decks
from tools.anki.client import Action
from tools.anki.replies import Refused


class Settling:
    """What is known of the new cards of one call. Its questions travel with the next notes, or at the end alone."""

    def __init__(self, deck: str, *, is_default: bool):
        self.deck = deck
        self.is_default = is_default
        self.goes_astray: bool | None = None
        """Whether this AnkiConnect sends new cards to the default deck; None until one was seen."""
        self._new: list[int] = []
        self._old: list[int] = []
        self._asked: list[int] = []
        self._astray: list[int] = []

    def take(self, new: list[int], *, old: bool = False) -> None:
        """Notes that this call added; `old`: an earlier call did, whose answer was lost."""
        (self._old if old else self._new).extend(new)

    def actions(self) -> list[Action]:
        """What is to be done next: move the cards that were found astray, look at those of the newest notes."""
        if self.is_default:
            return []
        move: list[Action] = [("changeDeck", {"cards": self._astray, "deck": self.deck})] if self._astray else []
        new = [] if self.goes_astray is False else self._new
        self._asked = [*self._old, *new]
        query = f"nid:{','.join(map(str, self._asked))} did:{decks.DEFAULT_ID}"
        return [*move, ("findCards", {"query": query})] if self._asked else move

    def learn(self, results: list[Any]) -> None:
        """The results of `actions`; what Anki refused is asked again at the end."""
        if any(isinstance(result, Refused) for result in results):
            return
        if not self._asked:
            self._astray = []
            return
        self._astray = results[-1] or []
        if self._new:
            self.goes_astray = bool(self._astray)
        self._new, self._old, self._asked = [], [], []

    def finish(self) -> None:
        """Leave no card astray. At most two requests.

        Raises Failure.
        """
        while actions := self.actions():
            self.learn(client.results(*actions))
