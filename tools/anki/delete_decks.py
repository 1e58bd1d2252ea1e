"""The tool that deletes decks.

AnkiConnect deletes a deck only with its cards, so cards that shall stay are moved first, and seen to have moved.
"""

from functools import partial
from typing import Annotated

from tools.anki import client, confirm, decks, notes
from tools.anki.journal import entries, note_records
from tools.anki.journal.entries import Before
from tools.core import calls
from tools.core.errors import ToolError, quoted
from tools.core.json_types import JsonObject
from tools.core.schema import Alias, Limits
from tools.core.tool import Tool


@Tool("anki.delete_decks", write=True, destructive=True, lock=False)
def delete_decks(
    decks: Annotated[list[str], "exact names", Limits(min_length=1)],
    cardsToo: Annotated[bool, "else they move to Default", Alias("cards_too")] = False,
    dryRun: bool | None = None,
    expected: Annotated[int | None, "cards"] = None,
) -> JsonObject | None:
    """Delete decks with their subdecks. For any deck with cards try dryRun and ask first.

    Source: AnkiConnect changeDeck, deleteDecks.
    """
    look = partial(Deletion, sorted(set(decks)), cardsToo)
    if dryRun:
        return look().dry_run()
    with confirm.agreed(look, lambda deletion: deletion.cards, Deletion.words, expected) as deletion:
        deletion.run()
    return None


class Deletion:
    """One call: the decks named, their cards with those of their subdecks, and whether the cards go too."""

    def __init__(self, named: list[str], cards_too: bool):
        deck_ids = decks.ids()
        _check(named, deck_ids)
        self.named, self.cards_too, self.default = named, cards_too, decks.default_name(deck_ids)
        names = [name for name in deck_ids if any(decks.within(name, deck) for deck in named)]
        _, self.filtered, self.cards_by_deck = decks.contents(names, deck_ids)
        self.cards = [card for cards in self.cards_by_deck.values() for card in cards]

    def dry_run(self) -> JsonObject:
        """The cards of each deck, and where they would go."""
        return {
            "dryRun": True,
            "decks": {name: len(cards) for name, cards in self.cards_by_deck.items()},
            "cards": len(self.cards),
            "cardsGoTo": None if self.cards_too else self.default,
            "examples": self.examples(),
        }

    def words(self) -> str:
        fate = "deleted" if self.cards_too else f"moved to {quoted(self.default)}"
        texts = confirm.examples(example["text"] for example in self.examples())
        return f"delete {', '.join(map(quoted, self.named))}, {len(self.cards)} cards {fate}{texts}"

    def examples(self) -> list[JsonObject]:
        """The first notes with a card in these decks. Two requests, if there are any."""
        some = sorted(self.cards)[: note_records.EXAMPLES]
        ids = client.call("cardsToNotes", cards=some) if some else []
        return note_records.examples(notes.by_id(ids))["examples"]

    def run(self) -> None:
        ids = client.call("cardsToNotes", cards=self.cards) if self.cards and self.cards_too else []
        lost = note_records.deleted_notes(notes.by_id(ids))
        calls.checkpoint()
        # A filtered deck only borrows its cards.
        homes = {name: cards for name, cards in self.cards_by_deck.items() if name not in self.filtered}
        summary = f"decks deleted: {', '.join(self.named)}, {len(self.cards)} cards"
        entry = entries.write("delete_decks", summary, Before(lost, homes))
        if not self.cards_too:
            self._move_cards()
        decks.delete(self.named)
        entries.tell(entry, f"the {len(self.cards)} cards")

    def _move_cards(self) -> None:
        if self.filtered:  # it gives its cards back when it goes
            client.call("deleteDecks", decks=self.filtered, cardsToo=True)
        if cards := decks.cards_within(self.named):
            client.call("changeDeck", cards=cards, deck=self.default)
            if left := decks.cards_within(self.named):
                problem = f"Anki did not move {len(left)} cards to {self.default!r}: none is lost"
                hint = "Look at them in Anki."
                raise ToolError(problem, hint, code="DECK_NOT_EMPTY")


def _check(named: list[str], deck_ids: dict[str, int]) -> None:
    """Nothing may be wrong with any of them before the first is touched."""
    if default := [name for name in named if deck_ids.get(name) == decks.DEFAULT_ID]:
        problem = f"{default[0]!r} is Anki's default deck and stays. Nothing was deleted"
        hint = "Leave it out; anki_find_notes and anki_delete_notes empty it."
        raise ToolError(problem, hint, code="DEFAULT_DECK")
    if unknown := [name for name in named if name not in deck_ids]:
        # Whoever wants to delete `A::B` is not to be offered all of `A`.
        below = [decks.folded(name) for name in unknown]
        parents = [deck for deck in deck_ids if any(name.startswith(decks.folded(f"{deck}::")) for name in below)]
        near = {deck: deck_id for deck, deck_id in deck_ids.items() if deck not in parents}
        error = decks.not_found(unknown, near)
        error.message += ". Nothing was deleted"
        raise error
