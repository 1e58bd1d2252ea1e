"""Sending new notes: their pictures first, then the notes in parts, then a look at their deck."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tools.anki import client, decks, replies
from tools.anki.batches import added_keys, fields, present
from tools.anki.batches.added_keys import Sent
from tools.anki.batches.note_input import NoteInput
from tools.anki.batches.outcomes import ItemError, Outcomes
from tools.anki.batches.parts import Parts
from tools.anki.batches.settling import Settling
from tools.anki.client import Action
from tools.anki.images.pictures import Pictures
from tools.anki.images.placing import Placed, place
from tools.anki.replies import Refused, Result, Unreachable, hangs
from tools.core import calls
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject

CLOZE = re.compile(r"\{\{c\d+::")
"""A cloze deletion: {{c1::…}}."""

LATER = "Send the same notes again later: cards that are still in the default deck are then moved."
AGAIN = "Send the notes again that are not `ok`: those that Anki got are recognized."


@dataclass(frozen=True)
class Anki:
    """What Anki had when the call began; `by_key` are the notes of known dedup_keys, `problem` why there are no
    `fields`."""

    decks: dict[str, int]
    model: str
    model_id: int | None
    fields: list[str]
    by_key: dict[str, int]
    problem: ToolError | None = None


class Sending:
    """One batch, from its pictures to the look at its deck."""

    def __init__(self, deck: str, anki: Anki, ready: dict[int, NoteInput], outcomes: Outcomes):
        self.anki, self.outcomes = anki, outcomes
        self.notes = ready
        self.placed: dict[int, Placed] = {}
        self.done = 0
        self.steps = len(ready) + sum(bool(note.images) for note in ready.values())
        known = decks.known(deck, anki.decks)
        self.new_deck = known is None
        self.looked_ahead = False
        self.recognized: list[Sent] = []
        self.deck = known or decks.checked_name(deck)
        self.settling = Settling(self.deck, is_default=anki.decks.get(self.deck) == decks.DEFAULT_ID)

    def run(self) -> JsonObject:
        part: list[int] = []
        try:
            self._place()
            self._recognize()
            parts = Parts(self.placed)
            for part in parts:
                calls.checkpoint()
                self._send(part, parts)
                self._report(len(part), "adding notes")
        except ToolError as error:
            self._settle(after=error)
            raise self.outcomes.interrupted(error, part, AGAIN) from error
        self._settle()
        self._name_duplicates()
        return self.outcomes.answer()

    def _place(self) -> None:
        pictures = Pictures()
        for index, note in self.notes.items():
            try:
                self.placed[index] = self._with_pictures(note, pictures)
            except ItemError as error:
                self.outcomes.failed(index, error, error.code.lower())
            if note.images:
                calls.checkpoint()
                self._report(1, "placing images")

    def _with_pictures(self, note: NoteInput, pictures: Pictures) -> Placed:
        images, unknown = fields.aimed(note.images, self.anki.fields)
        placed = place(pictures, note.fields, {}, images, self.anki.fields)
        for name in unknown:
            placed.warnings.append(fields.UNKNOWN_TARGET)
            placed.images.append({"target_field": name, "warning": fields.UNKNOWN_TARGET, "fields": self.anki.fields})
        return placed

    def _report(self, steps: int, what: str) -> None:
        self.done += steps
        calls.report(self.done, self.steps, what)

    def _recognize(self) -> None:
        """Notes that an earlier call sent, and whose answer was lost, are looked for. One request, if there are any."""
        lost = added_keys.unsettled({index: self._sent(index) for index in self.placed})
        note_ids = present.find(list(lost.values()), self.anki.model_id, self.anki.fields[0]) if lost else []
        for index, note in zip(lost, note_ids, strict=True):
            if note is None:
                continue
            key = self.notes[index].dedup_key
            del self.placed[index]
            self.outcomes.duplicate(index, note, **({"dedup_key": key} if key else {}))
            added_keys.remember({key: note} if key else {})
            if decks.same(lost[index].deck, self.deck):
                self.settling.add_recognized([note])
                self.recognized.append(lost[index])
        added_keys.settled(sent for sent, note in zip(lost.values(), note_ids, strict=True) if note is None)

    def recognize_keys(self, keys: Iterable[str | None]) -> None:
        """Notes of known keys whose cards were not seen in their deck yet are looked for with the others."""
        known = [key for key in keys if key in self.anki.by_key]
        lost = added_keys.unsettled({at: Sent(self.deck, self.anki.model, "", key) for at, key in enumerate(known)})
        here = [sent for sent in lost.values() if decks.same(sent.deck, self.deck)]
        self.settling.add_recognized([self.anki.by_key[sent.key] for sent in here])
        self.recognized += here

    def _sent(self, index: int) -> Sent:
        first = self.placed[index].values.get(self.anki.fields[0], "")
        return Sent(self.deck, self.anki.model, first, self.notes[index].dedup_key or "")

    def _send(self, part: list[int], parts: Parts) -> None:
        """One part. The first one also asks which of the others Anki would refuse, which draws no window."""
        create: list[Action] = [("createDeck", {"deck": self.deck})] if self.new_deck else []
        settle = self.settling.actions()
        ahead = [] if self.looked_ahead else list(parts.left)
        check: list[Action] = [("canAddNotesWithErrorDetail", {"notes": self._entries(ahead)})] if ahead else []
        results = self._ask(part, [*create, *settle, *check])
        self.looked_ahead = True
        if create and isinstance(results[0], Refused):
            everything = [*part, *parts.left]
            parts.drop(everything)
            return self._refuse(everything, results[0])
        self.new_deck = False
        results = results[len(create) :]
        self.settling.read(results[: len(settle)])
        self._take(dict(zip(part, results[len(settle) + len(check) :], strict=True)))
        if check:
            parts.drop(self._refused(ahead, results[len(settle)]))
        return None

    def _ask(self, part: list[int], before: list[Action]) -> list[Result]:
        sent = [self._sent(index) for index in part]
        added_keys.sending(sent)
        try:
            return client.multi(*before, *(("addNote", {"note": note}) for note in self._entries(part)))
        except Unreachable:
            added_keys.settled(sent)
            raise

    def _entries(self, indexes: list[int]) -> list[JsonObject]:
        """The notes as AnkiConnect takes them."""
        return [
            {
                "deckName": self.deck,
                "modelName": self.anki.model,
                "fields": {name: self.placed[index].values.get(name, "") for name in self.anki.fields},
                "tags": self.notes[index].tags,
            }
            for index in indexes
        ]

    def _take(self, answers: dict[int, Result]) -> None:
        added = {index: answer for index, answer in answers.items() if isinstance(answer, int)}
        for index, answer in answers.items():
            self._tell(index, answer)
        keys = {self.notes[index].dedup_key: note for index, note in added.items()}
        added_keys.remember({key: note for key, note in keys.items() if key})
        added_keys.settled(self._sent(index) for index in answers if index not in added)
        self.settling.add(list(added.values()))

    def _refused(self, indexes: list[int], answer: object) -> list[int]:
        """Those that Anki would not take, told; none if this AnkiConnect cannot be asked."""
        if not isinstance(answer, list) or len(answer) != len(indexes):
            return []
        errors = {index: str(can["error"]) for index, can in zip(indexes, answer, strict=True) if "error" in can}
        for index, text in errors.items():
            self._tell(index, replies.refused(text))
        if errors:
            self._report(len(errors), "adding notes")
        return list(errors)

    def _refuse(self, indexes: list[int], error: Refused) -> None:
        added_keys.settled(self._sent(index) for index in indexes)
        for index in indexes:
            self.outcomes.failed(index, error, "deck")

    def _tell(self, index: int, answer: object) -> None:
        key = self.notes[index].dedup_key
        more = {**({"dedup_key": key} if key else {}), **self.placed[index].detail()}
        if isinstance(answer, int):
            self.outcomes.ok(index, noteId=answer, **more)
        elif isinstance(answer, Refused):
            self.outcomes.failed(index, self._explained(index, answer), **more)
        else:
            self.outcomes.bad(index, "other", "Anki did not add it and gives no reason", **more)

    def _explained(self, index: int, error: Refused) -> Refused:
        """Anki gives no reason for a note without a card: the usual one is cloze text in another note type."""
        if "unknown reason" in error.text and any(map(CLOZE.search, self.placed[index].values.values())):
            error.hint = (
                f"The text has {{{{c1::…}}}}, and {self.anki.model!r} is not a Cloze note type, or the field is not its "
                "cloze field: use note type Cloze, or write it without {{c1::}}."
            )
        return error

    def _settle(self, after: ToolError | None = None) -> None:
        """Leave no card in the default deck, and no doubt about the notes that are seen in theirs.

        Nothing is asked `after` Anki hung: it would hang again.
        """
        try:
            if after and hangs(after):
                raise after
            self.settling.finish()
        except ToolError as error:
            return self.outcomes.warn(
                f"whether all new cards are in {self.deck!r} is not known: {error.message}. {LATER}"
            )
        added = set(self.outcomes.indexes("ok")) & set(self.placed)
        try:
            return added_keys.settled([*map(self._sent, sorted(added)), *self.recognized])
        except ToolError as error:  # the notes are in Anki; sent again, they are looked for and recognized
            return self.outcomes.warn(f"{error.message}. {error.hint}")

    def _name_duplicates(self) -> None:
        """Say which note each duplicate repeats. One request, if there are any."""
        details = self.outcomes.details
        nameless = [i for i in self.outcomes.indexes("duplicate") if i in self.placed and "noteId" not in details[i]]
        try:
            repeated = present.find([self._sent(i) for i in nameless], self.anki.model_id, self.anki.fields[0])
        except ToolError:
            return
        for index, note in zip(nameless, repeated, strict=True):
            if note:
                details[index]["noteId"] = note
