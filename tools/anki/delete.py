"""The tools that delete notes and decks.

AnkiConnect deletes a deck only with its cards, so cards to keep are moved first, and the move is
checked.
"""

from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Annotated

from tools.toolkit import JsonObject, Limits, Tool, ToolError, checkpoint, quoted

from . import client, confirm, journal, notes
from . import decks as anki_decks
from .client import Ids, action, note_search
from .journal import FLAGS, JournalEntry, Note
from .notes import Infos


@Tool("anki.delete_notes", write=True, destructive=True, idempotent=True, lock=False)
def delete_notes(
    noteIds: Annotated[list[int], Limits(min_length=1)],
    dryRun: bool = False,
    expected: int | None = None,
) -> JsonObject:
    """Delete notes with their cards. Above 20 notes try dryRun and ask first.

    Source: AnkiConnect deleteNotes; it answers null even if nothing was deleted, so the notes are looked for
    before and after. {deleted, missing}.
    """
    # The dry run: the notes that would go, and their cards.
    if dryRun:
        infos = notes.by_id(noteIds)
        return {
            "dryRun": True,
            "notes": len(infos),
            "missing": len(set(noteIds)) - len(infos),
            "cards": len(notes.cards_of(infos)),
            **notes.examples(infos),
        }
    # The deletion, once it is agreed to.
    with confirm.agreed(partial(notes.by_id, noteIds), _describe, expected) as infos:
        if infos:
            # Write the notes into the journal.
            ids = list(infos)
            count = notes.count_text(ids, "note")
            entry = JournalEntry(notes.profile_of(infos), lost=_deleted_notes(infos))
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
    return {"deleted": len(infos), "missing": len(set(noteIds)) - len(infos)}


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
    deletion = DeckDeletion(sorted(set(decks)), cardsToo)
    if dryRun:
        return deletion.dry_run()
    deletion.run(expected)
    return None


def _describe(infos: Infos) -> str:
    """Describe the deletion of notes to the person; empty if there are none."""
    count = notes.count_text(infos, "note")
    return f"delete {count}{confirm.examples_text(infos)}" if infos else ""


def _deleted_notes(infos: Infos) -> list[Note]:
    """Read the journal's record of notes that are about to be deleted: the deck of each card, the schedule
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


@dataclass
class DeckDeletion:
    """The deletion of decks with their subdecks: their cards are deleted too, or move to the default deck.

    `_read_cards` sets the `profile` that is open; `default`, the name of the default deck; the decks that are
    `filtered`; `cards_by_deck`; and `cards`, all of these.
    """

    names: list[str]
    cards_too: bool

    def dry_run(self) -> JsonObject:
        """Count the cards of each deck, and say where they would go."""
        self._read_cards()
        return {
            "dryRun": True,
            "decks": {name: len(cards) for name, cards in self.cards_by_deck.items()},
            "cards": len(self.cards),
            "cardsGoTo": None if self.cards_too else self.default,
            **notes.examples(self._first_notes()),
        }

    def run(self, expected: int | None) -> None:
        with confirm.agreed(self._read_cards, self._describe, expected):
            # Write into the journal where the cards are, and the notes that go.
            lost = []
            if self.cards_too:
                lost = _deleted_notes(notes.by_id(client.call("cardsToNotes", cards=self.cards)))
            checkpoint()
            for name in self.filtered:
                del self.cards_by_deck[name]
            count = notes.count_text(self.cards, "card")
            summary = f"decks deleted: {', '.join(self.names)}, {count}"
            entry = JournalEntry(self.profile, journal.steps_to_decks(self.cards_by_deck), lost)
            journal.write("delete_decks", summary, f"the {count}", entry)
            # Move the cards that stay.
            if not self.cards_too:
                if self.filtered:  # it gives its cards back when it goes
                    client.call("deleteDecks", decks=self.filtered, cardsToo=True)
                client.call(
                    "changeDeck", cards=anki_decks.cards_within(self.names), deck=self.default
                )
                if cards_left := anki_decks.cards_within(self.names):
                    raise ToolError(
                        f"Anki did not move {len(cards_left)} cards to {self.default!r}: none is lost",
                        "Look at them in Anki.",
                        "DECK_NOT_EMPTY",
                    )
            anki_decks.delete(self.names)

    def _read_cards(self) -> Ids:
        """Check that all decks can be deleted, and read their cards. Two requests.

        Raises ToolError DEFAULT_DECK or DECK_NOT_FOUND.
        """
        self.profile, deck_ids = client.unrefused(client.with_profile(action("deckNamesAndIds")))
        self.default = anki_decks.default_name(deck_ids)
        if self.default in self.names:
            raise ToolError(
                f"{self.default!r} is Anki's default deck and stays. Nothing was deleted",
                "Leave it out; anki_find_notes and anki_delete_notes empty it.",
                "DEFAULT_DECK",
            )
        if unknown := [name for name in self.names if name not in deck_ids]:
            missing = anki_decks.not_found(unknown, deck_ids)
            missing.message += ". Nothing was deleted"
            raise missing
        with_subdecks = anki_decks.below(self.names, deck_ids)
        _, self.filtered, self.cards_by_deck = anki_decks.contents(with_subdecks, deck_ids)
        self.cards = list(chain(*self.cards_by_deck.values()))
        return self.cards

    def _describe(self, cards: Ids) -> str:
        """Describe the deletion to the person."""
        count = notes.count_text(cards, "card")
        fate = "deleted" if self.cards_too else f"moved to {quoted(self.default)}"
        examples = confirm.examples_text(self._first_notes())
        return f"delete {', '.join(map(quoted, self.names))}, {count} {fate}{examples}"

    def _first_notes(self) -> Infos:
        return notes.by_id(
            client.call("cardsToNotes", cards=sorted(self.cards)[: notes.MOST_EXAMPLES])
        )
