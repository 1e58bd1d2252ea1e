"""The tool that deletes decks.

AnkiConnect deletes a deck only with its cards, so cards that shall stay are moved first, and seen to have moved.
"""

from typing import Annotated

from tools.anki import client, consent, decks, notes, unfinished, window
from tools.anki.journal import entries, looking
from tools.anki.journal.entries import Before
from tools.core import calls, locks
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Alias, Limits
from tools.core.tool import Tool


@Tool("anki.delete_decks", write=True, destructive=True, raw=True, lock=False)
def delete_decks(
    decks: Annotated[list[str], "exact names", Limits(min_length=1)],
    cardsToo: Annotated[bool, "else they move to Default", Alias("cards_too")] = False,
    dryRun: bool | None = None,
    expected: Annotated[int | None, "cards"] = None,
) -> JsonObject | None:
    """Delete decks with their subdecks; returns null. For any deck with cards try dryRun and ask first.

    Source: AnkiConnect changeDeck, deleteDecks.
    """
    deletion = Deletion(sorted(set(decks)), cardsToo)
    if dryRun:
        return deletion.dry_run()
    deletion.run(expected)
    return None


class Deletion:
    """One call: the decks named, and whether their cards go too."""

    def __init__(self, named: list[str], cards_too: bool):
        self.named, self.cards_too = named, cards_too
        self.call = {"tool": "anki.delete_decks", "decks": named, "cardsToo": cards_too}

    def dry_run(self) -> JsonObject:
        """What it would do: the cards of each deck, and where they would go."""
        deck_ids = decks.ids()
        self._check(deck_ids, again=False)
        by_deck = _by_deck(self.named, deck_ids)
        cards = [card for ids in by_deck.values() for card in ids]
        ids = client.call("cardsToNotes", cards=sorted(cards)[: looking.EXAMPLES]) if cards else []
        return {
            "dryRun": True,
            "decks": {name: len(ids) for name, ids in by_deck.items()},
            "cards": len(cards),
            "cardsGoTo": None if self.cards_too else decks.default_name(deck_ids),
            **looking.examples(notes.by_id(ids)),
        }

    def run(self, expected: int | None) -> None:
        deck_ids = decks.ids()
        self._check(deck_ids, again=unfinished.find(self.call) is not None)
        to_delete = [name for name in self.named if name in deck_ids]
        by_deck = _by_deck(to_delete, deck_ids)
        count = sum(map(len, by_deck.values()))
        fate = "deleted" if self.cards_too else "moved"
        consent.check(f"delete {', '.join(self.named)}, {count} cards {fate}", count, expected)
        with locks.exclusive("anki"):
            self._carry_out(to_delete, by_deck, deck_ids)

    def _carry_out(self, to_delete: list[str], by_deck: dict[str, list[int]], deck_ids: dict[str, int]) -> None:
        filtered = _filtered(to_delete, deck_ids)
        cards = [card for ids in by_deck.values() for card in ids]
        lost = looking.of_cards(cards) if self.cards_too else []
        calls.checkpoint()
        if to_delete:
            summary = f"decks deleted: {', '.join(to_delete)}, {len(cards)} cards"
            homes = {name: ids for name, ids in by_deck.items() if name not in filtered}
            entries.write("delete_decks", summary, Before(lost, homes))
        unfinished.note(self.call, {})
        try:
            if not self.cards_too:
                _empty(to_delete, filtered, decks.default_name(deck_ids))
            if to_delete:
                self._delete(to_delete)
        except ToolError as error:
            self._tell(error)
            raise
        unfinished.forget(self.call)

    def _check(self, deck_ids: dict[str, int], *, again: bool) -> None:
        """Nothing may be wrong with any of them before the first is touched. `again`: all were there before."""
        if default := [name for name in self.named if deck_ids.get(name) == decks.DEFAULT_ID]:
            raise ToolError(
                f"{default[0]!r} is Anki's default deck and stays. Nothing was deleted",
                "Leave it out; anki_find_notes and anki_delete_notes empty it.",
                code="DEFAULT_DECK",
            )
        if unknown := [name for name in self.named if name not in deck_ids and not again]:
            error = decks.not_found(
                unknown, {name: deck_ids[name] for name in deck_ids if not _is_parent(name, unknown)}
            )
            error.message += ". Nothing was deleted"
            raise error

    def _delete(self, to_delete: list[str]) -> None:
        delete = ("deleteDecks", {"decks": to_delete, "cardsToo": True})
        _, deck_ids = window.results_redrawn(delete, ("deckNamesAndIds", {}))
        if left := [name for name in to_delete if name in deck_ids]:
            raise ToolError(
                f"Anki kept {', '.join(map(repr, left))}", "Delete it in Anki's own window.", code="DECK_NOT_DELETED"
            )

    def _tell(self, error: ToolError) -> None:
        if not self.cards_too:
            error.message += ". No card is lost: each is in its deck or in the default deck"
        error.hint += " Then call anki_delete_decks again with the same arguments: it finishes the work."


def _by_deck(to_delete: list[str], deck_ids: dict[str, int]) -> dict[str, list[int]]:
    """The cards of each deck that would go, also those that a filtered deck has borrowed. One request."""
    names = [name for name in deck_ids if any(decks.within(name, deck) for deck in to_delete)]
    cards = client.results(*(("findCards", {"query": decks.search(name, subdecks=False)}) for name in names))
    return dict(zip(names, cards, strict=True))


def _is_parent(deck: str, names: list[str]) -> bool:
    """Whether one of the names lies in the deck: whoever wants to delete `A::B` is not to be offered all of `A`."""
    return any(decks.within(decks.folded(name), decks.folded(deck)) for name in names if not decks.same(name, deck))


def _filtered(to_delete: list[str], deck_ids: dict[str, int]) -> list[str]:
    names = [name for name in deck_ids if any(decks.within(name, deck) for deck in to_delete)]
    configs = client.results(*(("getDeckConfig", {"deck": name}) for name in names))
    return [name for name, config in zip(names, configs, strict=True) if decks.is_filtered(config)]


def _empty(to_delete: list[str], filtered: list[str], default: str) -> None:
    """Move every card to the default deck; a filtered deck only borrows its cards, and gives them back when it goes."""
    if filtered:
        client.call("deleteDecks", decks=filtered, cardsToo=True)
    if cards := _cards(to_delete):
        client.call("changeDeck", cards=cards, deck=default)
        if left := _cards(to_delete):
            raise ToolError(
                f"Anki did not move {len(left)} cards to {default!r}", "Look at them in Anki.", code="DECK_NOT_EMPTY"
            )


def _cards(to_delete: list[str]) -> list[int]:
    by_deck = client.results(*(("findCards", {"query": decks.search(name, subdecks=True)}) for name in to_delete))
    return sorted({card for cards in by_deck for card in cards})
