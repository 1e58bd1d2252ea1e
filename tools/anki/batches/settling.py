"""Cards of new notes that an older add-on puts into the default deck, moved to where they belong."""

from tools.anki import client, decks
from tools.anki.client import Action
from tools.anki.replies import Refused, Result


class Settling:
    """Which notes' cards have still to be looked for in the default deck, and which cards to be moved from there.

    The actions for it travel with the next notes of the batch; what is left at its end goes alone.
    """

    def __init__(self, deck: str, *, is_default: bool):
        self.deck = deck
        self.is_default = is_default
        self.goes_astray: bool | None = None
        """Whether this AnkiConnect sends new cards to the default deck; None until the first were looked for."""
        self._new: list[int] = []
        self._recognized: list[int] = []
        self._looked_for: list[int] = []
        self._astray: list[int] = []

    def add(self, notes: list[int]) -> None:
        """Notes that this call added."""
        self._new += notes

    def add_recognized(self, notes: list[int]) -> None:
        """Notes that an earlier call added, whose answer was lost."""
        self._recognized += notes

    def actions(self) -> list[Action]:
        """What is to be done next: move the cards that were found astray, look for those of the newest notes."""
        if self.is_default:
            return []
        self._looked_for = [*self._recognized, *(self._new if self.goes_astray is not False else [])]
        actions: list[Action] = []
        if self._astray:
            actions.append(("changeDeck", {"cards": self._astray, "deck": self.deck}))
        if self._looked_for:
            query = f"nid:{','.join(map(str, self._looked_for))} did:{decks.DEFAULT_ID}"
            actions.append(("findCards", {"query": query}))
        return actions

    def read(self, results: list[Result]) -> None:
        """The results of `actions`; what Anki refused is asked again with the next ones."""
        if any(isinstance(result, Refused) for result in results):
            return
        self._astray = (results[-1] or []) if self._looked_for else []
        if set(self._new) & set(self._looked_for):
            self.goes_astray = bool(self._astray)
        self._new, self._recognized, self._looked_for = [], [], []

    def finish(self) -> None:
        """Leave no card astray. At most two requests.

        Raises Failure.
        """
        while actions := self.actions():
            self.read(client.results(*actions))
