"""The tools that delete notes and decks.

AnkiConnect deletes a deck only with its cards, so cards to keep are moved first, and the move is
checked.
"""

from functools import partial
from itertools import chain
from typing import Annotated

from tools.core import calls
from tools.toolkit import JsonObject, Limits, Tool, ToolError, quoted

from . import client, confirm, decks, journal, notes
from .client import action, note_search
from .journal import FLAGS, JournalEntry, Note
from .notes import Infos


@Tool("anki.delete_notes", write=True, destructive=True, idempotent=True, lock=False)
def delete_notes(
    noteIds: Annotated[list[int], Limits(min_length=1)],
    dryRun: bool = False,
    expected: int | None = None,
) -> JsonObject:
    """Delete notes with their cards. Above 20 notes try dryRun and ask first.

    Source: AnkiConnect deleteNotes; it answers null whatever happened, so the notes are looked for before and
    after. {deleted, missing}.
    """
    # The dry run: the notes that would go, and their cards.
    if dryRun:
        before = notes.by_id(noteIds)
        return {
            "dryRun": True,
            "notes": len(before),
            "missing": len(set(noteIds)) - len(before),
            "cards": len(notes.cards_of(before)),
            **notes.examples(before),
        }
    # The deletion, once it is agreed to.
    with confirm.agreed(partial(notes.by_id, noteIds), _describe, expected) as before:
        if before:
            # Write into the journal what is deleted.
            ids = list(before)
            count = notes.counted(ids, "note")
            entry = JournalEntry(notes.profile_of(before), lost=_recorded(before))
            journal.write("delete_notes", f"{count} deleted", f"the {count}", entry)
            # Delete the notes, and look for them again.
            *_, left = client.results(
                action("deleteNotes", notes=ids),
                client.REDRAW,
                note_search(client.ids_query("nid", ids)),
            )
            if left:
                raise ToolError(
                    f"Anki kept {len(left)} of {len(ids)} notes",
                    "Look at them in Anki; a broken collection is repaired there with Tools, Check Database.",
                    "NOT_DELETED",
                    deleted=len(ids) - len(left),
                    kept=left,
                )
    return {"deleted": len(before), "missing": len(set(noteIds)) - len(before)}


@Tool("anki.delete_decks", write=True, destructive=True, lock=False)
def delete_decks(
    decks: Annotated[list[str], "exact names", Limits(min_length=1)],
    cardsToo: Annotated[bool, "else they move to Default"] = False,
    dryRun: bool = False,
    expected: Annotated[int | None, "cards"] = None,
) -> JsonObject | None:
    """Delete decks with their subdecks. For any deck with cards try dryRun and ask first.

    Source: AnkiConnect changeDeck, deleteDecks.
    """
    select = partial(DeckDeletion, sorted(set(decks)), cardsToo)
    if dryRun:
        return select().dry_run()
    with confirm.agreed(select, DeckDeletion.describe, expected) as deletion:
        deletion.run()
    return None


def _describe(before: Infos) -> str:
    """The deletion of notes in words; empty if there are none."""
    count = notes.counted(before, "note")
    return f"delete {count}{confirm.examples(before)}" if before else ""


def _recorded(infos: Infos) -> list[Note]:
    """The notes about to be deleted as the journal keeps them: with the deck of each card and the schedule of
    those studied. Three requests, and one for each 500 cards."""
    cards = notes.cards_of(infos)
    deck_of = notes.decks_of(cards)
    lost = {}
    for note, info in infos.items():
        homes = [deck_of[card] for card in info["cards"]] or ["Default"]
        lost[note] = Note(note, info["modelName"], homes, notes.values(info), info["tags"], [])
    # With the add-on of 2023 cardsInfo has no flags.
    flag_of = {}
    for step in journal.in_state_again(cards, FLAGS):
        flag_of.update(dict.fromkeys(step.ids, step.params["newValues"][0]))
    # The cards that are not as they were when they were added.
    query = f"{client.ids_query('cid', cards)} (-is:new or is:suspended or is:buried or -flag:0)"
    for card in journal.cards_in_own_deck(query):
        card["flags"] = flag_of[card["cardId"]]
        lost[card["note"]].schedules.append((card["ord"], journal.schedule(card)))
    return list(lost.values())


class DeckDeletion(list[int]):
    """The deletion of decks and their subdecks, as the list of their cards, which go too or move to the
    default deck."""

    def __init__(self, names: list[str], cards_too: bool):
        self.names = names
        self.cards_too = cards_too
        self.profile, deck_ids = client.unrefused(client.with_profile(action("deckNamesAndIds")))
        self.default = decks.default_name(deck_ids)
        # All are checked before the first is touched.
        if self.default in names:
            raise ToolError(
                f"{self.default!r} is Anki's default deck and stays. Nothing was deleted",
                "Leave it out; anki_find_notes and anki_delete_notes empty it.",
                "DEFAULT_DECK",
            )
        if unknown := [name for name in names if name not in deck_ids]:
            missing = decks.not_found(unknown, deck_ids)
            missing.message += ". Nothing was deleted"
            raise missing
        with_subdecks = decks.below(names, deck_ids)
        _, self.filtered, self.cards_by_deck = decks.contents(with_subdecks, deck_ids)
        super().__init__(chain(*self.cards_by_deck.values()))

    def dry_run(self) -> JsonObject:
        """The count of cards of each deck, and where they would go."""
        return {
            "dryRun": True,
            "decks": {name: len(cards) for name, cards in self.cards_by_deck.items()},
            "cards": len(self),
            "cardsGoTo": None if self.cards_too else self.default,
            **notes.examples(self._first_notes()),
        }

    def describe(self) -> str:
        """The deletion in words."""
        count = notes.counted(self, "card")
        fate = "deleted" if self.cards_too else f"moved to {quoted(self.default)}"
        examples = confirm.examples(self._first_notes())
        return f"delete {', '.join(map(quoted, self.names))}, {count} {fate}{examples}"

    def _first_notes(self) -> Infos:
        return notes.by_id(client.call("cardsToNotes", cards=sorted(self)[: notes.MOST_EXAMPLES]))

    def run(self) -> None:
        # Write into the journal where the cards are, and the notes that go.
        lost = []
        if self.cards_too:
            lost = _recorded(notes.by_id(client.call("cardsToNotes", cards=self)))
        calls.checkpoint()
        homes = self.cards_by_deck
        for name in self.filtered:  # which only borrows its cards
            del homes[name]
        count = notes.counted(self, "card")
        summary = f"decks deleted: {', '.join(self.names)}, {count}"
        entry = JournalEntry(self.profile, journal.moved_again(homes), lost)
        journal.write("delete_decks", summary, f"the {count}", entry)
        # Move the cards that stay.
        if not self.cards_too:
            if self.filtered:  # it gives its cards back when it goes
                client.call("deleteDecks", decks=self.filtered, cardsToo=True)
            client.call("changeDeck", cards=decks.cards_within(self.names), deck=self.default)
            if left := decks.cards_within(self.names):
                raise ToolError(
                    f"Anki did not move {len(left)} cards to {self.default!r}: none is lost",
                    "Look at them in Anki.",
                    "DECK_NOT_EMPTY",
                )
        decks.delete(self.names)
