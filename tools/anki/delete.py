"""The tools that delete notes and decks.

AnkiConnect deletes a deck only with its cards, so cards to keep are moved first, and the move is
checked.
"""

from functools import partial
from itertools import chain
from typing import Annotated

from tools.toolkit import JsonObject, Limits, Tool, ToolError, checkpoint, quoted

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
            count = notes.count_text(ids, "note")
            entry = JournalEntry(notes.profile_of(before), lost=_deleted_notes(before))
            journal.write("delete_notes", f"{count} deleted", f"the {count}", entry)
            # Delete the notes, and look for them again.
            *_, kept = client.results(
                action("deleteNotes", notes=ids),
                client.REDRAW,
                note_search(client.ids_query("nid", ids)),
            )
            if kept:
                raise ToolError(
                    f"Anki kept {len(kept)} of {len(ids)} notes",
                    "Look at them in Anki; a broken collection is repaired there with Tools, Check Database.",
                    "NOT_DELETED",
                    deleted=len(ids) - len(kept),
                    kept=kept,
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
    """Describe the deletion of notes to the person; empty if there are none."""
    count = notes.count_text(before, "note")
    return f"delete {count}{confirm.examples_text(before)}" if before else ""


def _deleted_notes(infos: Infos) -> list[Note]:
    """Read what the journal keeps of notes that are about to be deleted: the deck of each card, the schedule
    of each studied one. Three requests, and one for each 500 cards."""
    cards = notes.cards_of(infos)
    deck_of = notes.read_decks(cards)
    deleted = {}
    for note, info in infos.items():
        deck_names = [deck_of[card] for card in info["cards"]] or ["Default"]
        deleted[note] = Note(
            note, info["modelName"], deck_names, notes.values(info), info["tags"], []
        )
    # With the add-on of 2023 cardsInfo has no flags.
    flag_of = {}
    for step in journal.steps_to_states(cards, FLAGS):
        flag_of.update(dict.fromkeys(step.ids, step.params["newValues"][0]))
    # The cards that are not as they were when they were added.
    query = f"{client.ids_query('cid', cards)} (-is:new or is:suspended or is:buried or -flag:0)"
    for info in journal.cards_in_own_deck(query):
        info["flags"] = flag_of[info["cardId"]]
        deleted[info["note"]].schedules.append((info["ord"], journal.schedule_params(info)))
    return list(deleted.values())


class DeckDeletion(list[int]):
    """The deletion of decks with their subdecks: the list of their cards, which are deleted too or move to
    the default deck."""

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
        """Count the cards of each deck, and say where they would go."""
        return {
            "dryRun": True,
            "decks": {name: len(cards) for name, cards in self.cards_by_deck.items()},
            "cards": len(self),
            "cardsGoTo": None if self.cards_too else self.default,
            **notes.examples(self._first_notes()),
        }

    def describe(self) -> str:
        """Describe the deletion to the person."""
        count = notes.count_text(self, "card")
        fate = "deleted" if self.cards_too else f"moved to {quoted(self.default)}"
        examples = confirm.examples_text(self._first_notes())
        return f"delete {', '.join(map(quoted, self.names))}, {count} {fate}{examples}"

    def _first_notes(self) -> Infos:
        return notes.by_id(client.call("cardsToNotes", cards=sorted(self)[: notes.MOST_EXAMPLES]))

    def run(self) -> None:
        # Write into the journal where the cards are, and the notes that go.
        lost = []
        if self.cards_too:
            lost = _deleted_notes(notes.by_id(client.call("cardsToNotes", cards=self)))
        checkpoint()
        cards_by_deck = self.cards_by_deck
        for name in self.filtered:  # it only borrows its cards
            del cards_by_deck[name]
        count = notes.count_text(self, "card")
        summary = f"decks deleted: {', '.join(self.names)}, {count}"
        entry = JournalEntry(self.profile, journal.steps_to_decks(cards_by_deck), lost)
        journal.write("delete_decks", summary, f"the {count}", entry)
        # Move the cards that stay.
        if not self.cards_too:
            if self.filtered:  # it gives its cards back when it goes
                client.call("deleteDecks", decks=self.filtered, cardsToo=True)
            client.call("changeDeck", cards=decks.cards_within(self.names), deck=self.default)
            if cards_left := decks.cards_within(self.names):
                raise ToolError(
                    f"Anki did not move {len(cards_left)} cards to {self.default!r}: none is lost",
                    "Look at them in Anki.",
                    "DECK_NOT_EMPTY",
                )
        decks.delete(self.names)
