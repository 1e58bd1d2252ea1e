"""Changing notes: what each update comes to, and sending it."""

from dataclasses import dataclass
from typing import Any

from tools import calls
from tools.anki import client, decks, fields, notes, reading_back
from tools.anki.client import Action
from tools.anki.note_input import NoteUpdate
from tools.anki.outcomes import Outcomes, Unfit, chunks
from tools.anki.pictures import Pictures
from tools.anki.placing import Placed, place
from tools.anki.replies import Refused
from tools.errors import ToolError

PARTS = 5
"""Requests that carry the changes, whatever their number; three more look before and after."""

AGAIN = "The same call can be made again: what is changed already stays as it is."


@dataclass
class Change:
    """One update, ready to be sent. `deck` is empty where no card has to move."""

    note: int
    cards: list[int]
    placed: Placed
    add: list[str]
    remove: list[str]
    deck: str

    def steps(self) -> dict[str, tuple[Any, Action]]:
        """By the name it has in the details: what is changed, and the request that does it."""
        values, one = self.placed.values, [self.note]
        every = {
            "updatedFields": (list(values), ("updateNoteFields", {"note": {"id": self.note, "fields": values}})),
            "addedTags": (self.add, ("addTags", {"notes": one, "tags": " ".join(self.add)})),
            "removedTags": (self.remove, ("removeTags", {"notes": one, "tags": " ".join(self.remove)})),
            "deckChangedTo": (self.deck, ("changeDeck", {"cards": self.cards, "deck": self.deck})),
        }
        return {name: step for name, step in every.items() if step[0]}


class Updating:
    """One batch, from looking at the notes to reading them back."""

    def __init__(self, updates: list[NoteUpdate]):
        self.updates = updates
        self.outcomes = Outcomes(len(updates), "updated", [{"noteId": one.noteId} for one in updates])
        self.changes: dict[int, Change] = {}

    def run(self) -> dict[str, Any]:
        self._look()
        part: list[int] = []
        try:
            self._prepare()
            for part in chunks(list(self.changes), PARTS):
                calls.checkpoint()
                self._send(part)
                calls.report(len(self.updates) + part[-1] + 1, 2 * len(self.updates), "changing notes")
        except ToolError as error:
            reading_back.check(self.before, self.changes, self.outcomes, after=error)
            raise self.outcomes.interrupted(error, part, AGAIN) from error
        reading_back.check(self.before, self.changes, self.outcomes)
        return self.outcomes.answer()

    def _look(self) -> None:
        self.before = notes.by_id([one.noteId for one in self.updates])
        moving = [self.before[one.noteId] for one in self.updates if one.deckName and one.noteId in self.before]
        self.deck_by_card: dict[int, str] = {}
        if moving:
            cards = [card for info in moving for card in info["cards"]]
            by_deck, self.decks = client.results(("getDecks", {"cards": cards}), ("deckNamesAndIds", {}))
            self.deck_by_card = notes.deck_by_card(by_deck)

    def _prepare(self) -> None:
        pictures = Pictures()
        now = {note: notes.values(info) for note, info in self.before.items()}
        for index, update in enumerate(self.updates):
            try:
                self.changes[index] = self._change(update, pictures, now.get(update.noteId))
                now[update.noteId].update(self.changes[index].placed.values)
            except Unfit as error:
                self.outcomes.failed(index, error, error.code.lower())
            if update.images:
                calls.checkpoint()
                calls.report(index + 1, 2 * len(self.updates), "placing images")

    def _change(self, update: NoteUpdate, pictures: Pictures, now: dict[str, str] | None) -> Change:
        if now is None:
            raise Unfit(
                f"note {update.noteId} was not found", "anki.find_notes finds the notes there are.", code="MISSING"
            )
        cards = self.before[update.noteId]["cards"]
        values = fields.canonical(update.fields or {}, list(now))
        add, remove = fields.checked_tags(update.addTags), fields.checked_tags(update.removeTags)
        deck = self._target(update.deckName, cards)
        change = Change(update.noteId, cards, place(pictures, values, now, update.images, list(now)), add, remove, deck)
        if not change.steps() and not update.deckName:
            raise Unfit("nothing to change", "Give fields, addTags, removeTags, deckName or images.", code="NOTHING")
        return change

    def _target(self, wanted: str | None, cards: list[int]) -> str:
        if not (wanted and wanted.strip()):
            return ""
        deck = decks.known(wanted, self.decks) or decks.checked_name(wanted)
        if all(self.deck_by_card.get(card) == deck for card in cards):
            return ""
        self.deck_by_card.update(dict.fromkeys(cards, deck))
        return deck

    def _send(self, part: list[int]) -> None:
        steps = [(index, name, step) for index in part for name, step in self.changes[index].steps().items()]
        answers = client.multi(*(action for _, _, (_, action) in steps))
        done: dict[int, dict[str, Any]] = {index: {} for index in part}
        refused: dict[int, Refused] = {}
        for (index, name, (what, _)), answer in zip(steps, answers, strict=True):
            if isinstance(answer, Refused):
                refused.setdefault(index, answer)
            else:
                done[index][name] = what
        for index in part:
            told = {**done[index], **self.changes[index].placed.told()}
            if index in refused:
                self.outcomes.failed(index, refused[index], **told)
            else:
                self.outcomes.ok(index, **told)
