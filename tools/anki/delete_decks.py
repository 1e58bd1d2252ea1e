"""The tool that deletes decks.

AnkiConnect deletes a deck only with its cards, so cards that shall stay are moved first, and seen to have moved.
"""

from typing import Annotated

from tools import calls
from tools.anki import client, decks, unfinished
from tools.errors import ToolError
from tools.registry import Tool
from tools.schema import Alias, Limits


@Tool("anki.delete_decks", write=True, destructive=True, bare=True)
def delete_decks(
    decks: Annotated[list[str], "exact names", Limits(min_length=1)],
    cardsToo: Annotated[bool, "true deletes the cards for good; else they move to Default", Alias("cards_too")] = False,
) -> None:
    """Delete decks with their subdecks. Returns null.

    Source: AnkiConnect changeDeck, deleteDecks.
    """
    Deletion(sorted(set(decks)), cardsToo).run()


class Deletion:
    """One call: the decks named, and whether their cards go too."""

    def __init__(self, named: list[str], cards_too: bool):
        self.named, self.cards_too = named, cards_too
        self.call = {"tool": "anki.delete_decks", "decks": named, "cardsToo": cards_too}

    def run(self) -> None:
        there = decks.ids()
        self._check(there, again=unfinished.find(self.call) is not None)
        doomed = [name for name in self.named if name in there]
        filtered = [] if self.cards_too else _filtered(doomed, there)
        calls.checkpoint()
        unfinished.note(self.call, {})
        try:
            if not self.cards_too:
                _empty(doomed, filtered, decks.default_name(there))
            if doomed:
                self._delete(doomed)
        except ToolError as error:
            self._tell(error)
            raise
        unfinished.forget(self.call)

    def _check(self, there: dict[str, int], *, again: bool) -> None:
        """Nothing may be wrong with any of them before the first is touched. `again`: all were there before."""
        if default := [name for name in self.named if there.get(name) == decks.DEFAULT_ID]:
            raise ToolError(
                f"{default[0]!r} is Anki's default deck and stays. Nothing was deleted",
                "Leave it out; anki.find_notes and anki.delete_notes empty it.",
                code="DEFAULT_DECK",
            )
        if unknown := [name for name in self.named if name not in there and not again]:
            error = decks.not_found(unknown, there)
            error.message += ". Nothing was deleted"
            raise error

    def _delete(self, doomed: list[str]) -> None:
        _, there = client.results(("deleteDecks", {"decks": doomed, "cardsToo": True}), ("deckNamesAndIds", {}))
        if left := [name for name in doomed if name in there]:
            raise ToolError(
                f"Anki kept {', '.join(map(repr, left))}", "Delete it in Anki's own window.", code="DECK_NOT_DELETED"
            )

    def _tell(self, error: ToolError) -> None:
        if not self.cards_too:
            error.message += ". No card is lost: each is in its deck or in the default deck"
        error.hint += " Then call anki.delete_decks again with the same arguments: it finishes the work."


def _filtered(doomed: list[str], there: dict[str, int]) -> list[str]:
    names = [name for name in there if any(decks.within(name, one) for one in doomed)]
    configs = client.results(*(("getDeckConfig", {"deck": name}) for name in names))
    return [name for name, config in zip(names, configs, strict=True) if decks.is_filtered(config)]


def _empty(doomed: list[str], filtered: list[str], default: str) -> None:
    """Move every card to the default deck; a filtered deck only borrows its cards, and gives them back when it goes."""
    if filtered:
        client.call("deleteDecks", decks=filtered, cardsToo=True)
    if cards := _cards(doomed):
        client.call("changeDeck", cards=cards, deck=default)
        if left := _cards(doomed):
            raise ToolError(
                f"Anki did not move {len(left)} cards to {default!r}", "Look at them in Anki.", code="DECK_NOT_EMPTY"
            )


def _cards(doomed: list[str]) -> list[int]:
    found = client.results(*(("findCards", {"query": decks.search(name, subdecks=True)}) for name in doomed))
    return sorted({card for cards in found for card in cards})
