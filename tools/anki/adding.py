"""Adding notes: every good note of a batch, each bad one named with its reason."""

from dataclasses import dataclass
from typing import Any

from tools import calls
from tools.anki import added_keys, client, decks, fields, models, notes
from tools.anki.note_input import NoteInput
from tools.anki.outcomes import Outcomes, Unfit, chunks
from tools.anki.pictures import Pictures
from tools.anki.placing import Placed, place
from tools.anki.replies import Refused, hangs
from tools.errors import ToolError
from tools.settings import current

PARTS = 3
MOST_AT_ONCE = 200
"""Notes in one request, which freezes Anki's window while it lasts; 500 notes go in PARTS."""

AGAIN = "Send the notes again that are not `ok`: Anki refuses one that it has as a duplicate."


@dataclass(frozen=True)
class Anki:
    """What Anki had when the call began: its decks, the fields of the note type, the notes of known dedup_keys."""

    decks: dict[str, int]
    model_fields: list[str] | ToolError
    by_key: dict[str, int]


def add(deck: str, model: str, given: list[NoteInput | Unfit], *, strict: bool) -> dict[str, Any]:
    """Add the notes to a deck: {added, skipped, details}. An Unfit in place of a note is reported as its failure.

    `strict` refuses the whole call for an image's target_field that there is not, and does not make the deck.
    """
    deck, model = deck.strip() or current().anki_default_deck, model.strip() or current().anki_default_model
    outcomes = Outcomes(len(given), "added")
    known = _look(model, [one.dedup_key for one in given if isinstance(one, NoteInput) and one.dedup_key])
    missing = _missing(deck, known, strict=strict)
    if missing:
        for index in range(len(given)):
            outcomes.bad(index, *missing)
        return outcomes.answer()
    if strict:
        _check_targets(given, known.model_fields)
    ready = _ready(given, known, outcomes)
    return Adding(deck, model, known, ready, outcomes).run()


def _look(model: str, keys: list[str]) -> Anki:
    by_key = added_keys.notes(keys)
    there, names, model_fields, infos = client.multi(
        ("deckNamesAndIds", {}),
        ("modelNames", {}),
        ("modelFieldNames", {"modelName": model}),
        ("notesInfo", {"notes": list(by_key.values())}),
    )
    for one in (there, names, infos):
        if isinstance(one, Refused):
            raise one
    if isinstance(model_fields, Refused):
        model_fields = models.not_found(model, names) if "was not found" in model_fields.text else model_fields
    alive = notes.indexed(infos)
    return Anki(there, model_fields, {key: note for key, note in by_key.items() if note in alive})


def _missing(deck: str, known: Anki, *, strict: bool) -> tuple[str, str, str] | None:
    """What no note of this call can do without: (reason, error, hint)."""
    if isinstance(known.model_fields, ToolError):
        hint = "anki.model_info with this model says how to make it, or which there are."
        return "model", known.model_fields.message.removeprefix("RuntimeError: "), hint
    if strict and decks.known(deck, known.decks) is None:
        return "deck", f"deck was not found: {deck}", decks.not_found([deck], known.decks).hint
    return None


def _check_targets(given: list[NoteInput | Unfit], model_fields: list[str]) -> None:
    wrong = [
        f"notes.{index}: {name!r}"
        for index, note in enumerate(given)
        if isinstance(note, NoteInput)
        for name in (image.target_field for image in note.images)
        if fields.find(name, model_fields) is None
    ]
    if wrong:
        raise ToolError(
            f"ValueError: target_field is not in the note type: {', '.join(wrong[:8])}. Nothing was sent to Anki",
            f"target_field must be one of {', '.join(model_fields)}.",
            code="UNKNOWN_TARGET_FIELD",
        )


def _ready(given: list[NoteInput | Unfit], known: Anki, outcomes: Outcomes) -> dict[int, NoteInput]:
    """The notes, by index, that nothing here speaks against; the others get their reason."""
    ready: dict[int, NoteInput] = {}
    keys: set[str] = set()
    for index, note in enumerate(given):
        try:
            one = _checked(note, known.model_fields)
        except Unfit as error:
            outcomes.failed(index, error, error.code.lower())
            continue
        key = one.dedup_key
        if key and (key in keys or key in known.by_key):
            _skip(index, key, known, outcomes)
            continue
        keys.update([key] if key else [])
        ready[index] = one
    return ready


def _checked(note: NoteInput | Unfit, model_fields: list[str]) -> NoteInput:
    if isinstance(note, Unfit):
        raise note
    named = fields.canonical(note.fields, model_fields)
    return NoteInput(named, fields.checked_tags(note.tags), note.images, note.dedup_key)


def _skip(index: int, key: str, known: Anki, outcomes: Outcomes) -> None:
    note = known.by_key.get(key)
    error = f"dedup_key was used for note {note}" if note else "dedup_key is in this call twice"
    outcomes.bad(index, "duplicate", error, **({"noteId": note} if note else {}), dedup_key=key)


class Adding:
    """Uploading the pictures, sending the notes, and seeing to their deck."""

    def __init__(self, deck: str, model: str, known: Anki, ready: dict[int, NoteInput], outcomes: Outcomes):
        self.model, self.known, self.outcomes = model, known, outcomes
        self.notes = ready
        self.placed: dict[int, Placed] = {}
        self.done = 0
        self.steps = len(ready) + sum(bool(note.images) for note in ready.values())
        there = decks.known(deck, known.decks)
        self.new_deck = there is None
        self.deck = there or decks.checked_name(deck)

    def run(self) -> dict[str, Any]:
        part: list[int] = []
        try:
            self._place()
            for part in chunks(list(self.placed), max(PARTS, len(self.placed) // MOST_AT_ONCE)):
                calls.checkpoint()
                self._send(part)
                self._report(len(part), "adding notes")
        except ToolError as error:
            self._settle(after=error)
            raise self.outcomes.interrupted(error, part, AGAIN) from error
        self._settle()
        return self.outcomes.answer()

    def _place(self) -> None:
        pictures = Pictures()
        for index, note in self.notes.items():
            try:
                self.placed[index] = place(pictures, note.fields, {}, note.images, self.known.model_fields)
            except Unfit as error:
                self.outcomes.failed(index, error, error.code.lower())
            if note.images:
                calls.checkpoint()
                self._report(1, "placing images")

    def _report(self, steps: int, what: str) -> None:
        self.done += steps
        calls.report(self.done, self.steps, what)

    def _send(self, part: list[int]) -> None:
        create = [("createDeck", {"deck": self.deck})] if self.new_deck else []
        found = client.multi(*create, *(("addNote", {"note": self._note(index)}) for index in part))
        if create and isinstance(found[0], Refused):
            for index in part:
                self.outcomes.failed(index, found[0], "deck")
            return
        self.new_deck = False
        added = dict(zip(part, found[len(create) :], strict=True))
        for index, one in added.items():
            self._tell(index, one)
        keys = {self.notes[index].dedup_key: one for index, one in added.items() if isinstance(one, int)}
        added_keys.remember({key: one for key, one in keys.items() if key})

    def _note(self, index: int) -> dict[str, Any]:
        full = {name: self.placed[index].values.get(name, "") for name in self.known.model_fields}
        return {"deckName": self.deck, "modelName": self.model, "fields": full, "tags": self.notes[index].tags}

    def _tell(self, index: int, answer: Any) -> None:
        key = self.notes[index].dedup_key
        more = {**({"dedup_key": key} if key else {}), **self.placed[index].told()}
        if isinstance(answer, int):
            self.outcomes.ok(index, noteId=answer, **more)
        elif isinstance(answer, Refused):
            self.outcomes.failed(index, answer, **more)
        else:
            self.outcomes.bad(index, "other", "Anki did not add it and gives no reason", **more)

    def _settle(self, after: ToolError | None = None) -> None:
        """Older add-ons put the cards of new notes into the default deck: those are moved to where they belong."""
        added = {one["noteId"]: one["index"] for one in self.outcomes.details if one["status"] == "ok"}
        if not added or self.known.decks.get(self.deck) == decks.DEFAULT_ID:
            return
        query = f"nid:{','.join(map(str, added))} did:{decks.DEFAULT_ID}"
        try:
            if hangs(after):
                raise after
            if astray := client.call("findCards", query=query):
                client.call("changeDeck", cards=astray, deck=self.deck)
        except ToolError as error:
            for index in added.values():
                self.outcomes.warn(index, f"whether its cards are in {self.deck!r} is not known: {error.message}")
