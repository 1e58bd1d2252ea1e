"""Changing notes: what each update comes to, and sending it."""

from tools.anki import client, consent, decks, models, notes
from tools.anki.batches import consequences, fields, reading_back
from tools.anki.batches.note_input import NoteUpdate
from tools.anki.batches.outcomes import ItemError, Outcomes
from tools.anki.batches.parts import Parts
from tools.anki.batches.steps import Change, steps
from tools.anki.images.pictures import Pictures
from tools.anki.images.placing import place
from tools.anki.journal import entries, looking
from tools.anki.journal.entries import Before, Note
from tools.anki.notes import Info
from tools.anki.replies import Refused
from tools.anki.studying.card_text import cut
from tools.core import calls, locks
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject

AGAIN = "The same call can be made again: what is changed already stays as it is."


class Updating:
    """One batch, from looking at the notes to reading them back."""

    def __init__(self, updates: list[NoteUpdate]):
        self.updates = updates
        self.outcomes = Outcomes(len(updates), "updated", [{"noteId": update.noteId} for update in updates])
        self.changes: dict[int, Change] = {}
        self.done = 0

    def run(self, expected: int | None) -> JsonObject:
        consent.check(f"change {len(self.updates)} notes", len(self.updates), expected)
        with locks.exclusive("anki"):
            return self._run()

    def dry_run(self) -> JsonObject:
        """What it would do: how many notes there are, and the texts of the first before and after."""
        self._look()
        updates = [update for update in self.updates if update.noteId in self.before]
        return {
            "dryRun": True,
            "count": len(self.updates),
            "missing": len(self.updates) - len(updates),
            "examples": [self._example(update) for update in updates[: looking.EXAMPLES]],
        }

    def _example(self, update: NoteUpdate) -> JsonObject:
        info, old = self.before[update.noteId], self.values[update.noteId]
        try:
            values = fields.canonical(update.fields or {}, list(old))
        except ItemError as error:
            return {"noteId": update.noteId, "error": error.message, "hint": error.hint}
        changed = {
            name: [cut(old[name], looking.LONGEST_TEXT), cut(text, looking.LONGEST_TEXT)]
            for name, text in values.items()
        }
        return {"noteId": update.noteId, "text": looking.first_text(info), **({"fields": changed} if changed else {})}

    def _run(self) -> JsonObject:
        self._look()
        part: list[int] = []
        try:
            self._prepare()
            self._record()
            for part in Parts(self.changes, weigh=lambda index: bool(self.changes[index].placed.values)):
                calls.checkpoint()
                self._send({index: self.changes[index] for index in part})
                self.done += len(part)
                calls.report(len(self.updates) + self.done, 2 * len(self.updates), "changing notes")
        except ToolError as error:
            reading_back.check(self.before, self.changes, self.outcomes, after=error)
            raise self.outcomes.interrupted(error, part, AGAIN) from error
        after = reading_back.check(self.before, self.changes, self.outcomes)
        self._warn(after)
        return self.outcomes.answer()

    def _warn(self, after: dict[int, Info]) -> None:
        """Say what the changes brought about that nobody asked for. One request, if there can be anything."""
        try:
            warnings = consequences.find(self.before, after, self.model_ids)
        except ToolError as error:
            return self.outcomes.warn(f"whether a changed note is a duplicate now is not known: {error.message}")
        last = {change.note: index for index, change in self.changes.items()}
        for note, texts in warnings.items():
            self.outcomes.details[last[note]].setdefault("warnings", []).extend(texts)
        if any("empty card" in text for texts in warnings.values() for text in texts):
            self.outcomes.warn(consequences.EMPTY_CARDS)
        return None

    def _look(self) -> None:
        ids = notes.possible([update.noteId for update in self.updates])
        infos, model_ids = client.multi(("notesInfo", {"notes": ids}), ("modelNamesAndIds", {}))
        if isinstance(infos, Refused):
            raise infos
        self.before = notes.with_cards(notes.indexed(infos))
        self.model_ids = models.ids(model_ids)
        self.values = {note: notes.values(info) for note, info in self.before.items()}
        self.tags = {note: fields.folded(info.get("tags", [])) for note, info in self.before.items()}
        self.deck_by_card: dict[int, str] = {}
        moving = [update.noteId for update in self.updates if update.deckName and update.noteId in self.before]
        if moving:
            cards = [card for note in moving for card in self.before[note]["cards"]]
            by_deck, self.decks = client.results(("getDecks", {"cards": cards}), ("deckNamesAndIds", {}))
            self.deck_by_card = notes.deck_by_card(by_deck)
        self.homes = dict(self.deck_by_card)

    def _prepare(self) -> None:
        pictures = Pictures()
        for index, update in enumerate(self.updates):
            try:
                self.changes[index] = self._change(update, pictures)
            except ItemError as error:
                self.outcomes.failed(index, error, error.code.lower())
            if update.images:
                calls.checkpoint()
                calls.report(index + 1, 2 * len(self.updates), "placing images")

    def _change(self, update: NoteUpdate, pictures: Pictures) -> Change:
        """What the update comes to, after those of the same note before it."""
        if update.noteId not in self.before:
            raise ItemError(
                f"note {update.noteId} was not found", "anki_find_notes finds the notes there are.", code="MISSING"
            )
        if not (update.fields or update.addTags or update.removeTags or update.deckName or update.images):
            raise ItemError(
                "nothing to change", "Give fields, addTags, removeTags, deckName or images.", code="NOTHING"
            )
        values = self.values[update.noteId]
        new_values = fields.canonical(update.fields or {}, list(values))
        add, remove = fields.checked_tags(update.addTags), fields.checked_tags(update.removeTags)
        images, unknown = fields.aimed(update.images, list(values))
        if unknown:
            raise ItemError(
                f"{fields.UNKNOWN_TARGET}: {', '.join(unknown)[:80]}",
                f"target_field must be one of {', '.join(values)}.",
                code="UNKNOWN_TARGET_FIELD",
            )
        cards = self.before[update.noteId]["cards"]
        deck = self._target(update.deckName, cards)
        placed = place(pictures, new_values, values, images, list(values))
        values.update(placed.values)
        tags = self.tags[update.noteId]
        tags |= fields.folded(add)
        removed = [tag for tag in remove if fields.below(tag, tags)]
        tags.difference_update(*(fields.below(tag, tags) for tag in removed))
        return Change(update.noteId, cards, placed, add, removed, deck)

    def _record(self) -> None:
        """Put on record what will be overwritten."""
        kept: dict[int, Note] = {}
        homes: dict[str, list[int]] = {}
        for change in self.changes.values():
            info = self.before[change.note]
            old, model = notes.values(info), info.get("modelName") or ""
            note = kept.setdefault(change.note, Note(change.note, model, ""))
            note.fields.update({name: old[name] for name in change.placed.values})
            if change.add or change.remove:
                note.tags = list(info.get("tags", []))
            for card in change.cards if change.deck else []:
                homes.setdefault(self.homes[card], []).append(card)
        if kept:
            entries.write("update_notes", f"{len(kept)} notes changed", Before(list(kept.values()), homes))

    def _target(self, wanted: str | None, cards: list[int]) -> str:
        if not (wanted and wanted.strip()):
            return ""
        deck = decks.known(wanted, self.decks) or decks.checked_name(wanted)
        if all(self.deck_by_card.get(card) == deck for card in cards):
            return ""
        self.deck_by_card.update(dict.fromkeys(cards, deck))
        return deck

    def _send(self, changes: dict[int, Change]) -> None:
        planned = steps(changes)
        answers = client.multi(*(step.action for step in planned))
        done: dict[int, JsonObject] = {index: {} for index in changes}
        refused: dict[int, Refused] = {}
        for step, answer in zip(planned, answers, strict=True):
            for index, changed in step.changes.items():
                if isinstance(answer, Refused):
                    refused.setdefault(index, answer)
                else:
                    done[index][step.name] = changed
        for index, change in changes.items():
            detail = {**done[index], **change.placed.detail()}
            if index in refused:
                self.outcomes.failed(index, refused[index], **detail)
            else:
                self.outcomes.ok(index, **detail)
