"""Adding notes: every good note of a batch, each bad one named with its reason."""

from dataclasses import replace

from tools.anki import client, decks, models, notes
from tools.anki.batches import added_keys, fields
from tools.anki.batches.note_input import NoteInput
from tools.anki.batches.outcomes import ItemError, Outcomes
from tools.anki.batches.sending import Anki, Sending
from tools.anki.replies import Refused
from tools.anki.settings import current
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject


def add(deck: str, model: str, notes: list[NoteInput | ItemError], *, strict: bool) -> JsonObject:
    """Add the notes to a deck: {added, skipped, details}. An ItemError in place of a note is reported as its failure.

    `strict` refuses the whole call for an image's target_field that there is not, and does not make the deck.
    """
    deck, model = deck.strip() or current().anki_default_deck, model.strip() or current().anki_default_model
    outcomes = Outcomes(len(notes), "added")
    anki = _look(model, [note.dedup_key for note in notes if isinstance(note, NoteInput) and note.dedup_key])
    if lacking := _lacking(deck, anki, strict=strict):
        for index in range(len(notes)):
            outcomes.failed(index, lacking, lacking.code.lower())
        return outcomes.answer()
    if strict:
        _check_targets(notes, anki.fields)
    ready = _ready(notes, anki, outcomes)
    sending = Sending(deck, anki, ready, outcomes)
    sending.recognize_keys(note.dedup_key for note in notes if isinstance(note, NoteInput))
    return sending.run()


def _look(model: str, keys: list[str]) -> Anki:
    """What Anki has at the moment. One request."""
    by_key = added_keys.notes(keys)
    deck_ids, names, ids, model_fields, infos = client.multi(
        ("deckNamesAndIds", {}),
        ("modelNames", {}),
        ("modelNamesAndIds", {}),
        ("modelFieldNames", {"modelName": model}),
        ("notesInfo", {"notes": list(by_key.values())}),
    )
    for result in (deck_ids, names, infos):
        if isinstance(result, Refused):
            raise result
    problem = None
    if isinstance(model_fields, Refused):
        problem = models.not_found(model, names) if "was not found" in model_fields.text else model_fields
    alive = notes.indexed(infos)
    return Anki(
        decks=deck_ids,
        model=model,
        model_id=next(
            (number for name, number in models.ids(ids).items() if name.casefold() == model.casefold()), None
        ),
        fields=[] if problem else model_fields,
        by_key={key: note for key, note in by_key.items() if note in alive},
        problem=problem,
    )


def _lacking(deck: str, anki: Anki, *, strict: bool) -> ItemError | None:
    """What no note of this call can do without."""
    if anki.problem:
        hint = "anki_model_info with this model says how to make it, or which there are."
        return ItemError(anki.problem.message.removeprefix("RuntimeError: "), hint, code="MODEL")
    if strict and decks.known(deck, anki.decks) is None:
        return ItemError(f"deck was not found: {deck}", decks.not_found([deck], anki.decks).hint, code="DECK")
    return None


def _check_targets(notes: list[NoteInput | ItemError], model_fields: list[str]) -> None:
    wrong = [
        f"notes.{index}: {image.target_field!r}"
        for index, note in enumerate(notes)
        if isinstance(note, NoteInput)
        for image in note.images
        if image.target_field and fields.find(image.target_field, model_fields) is None
    ]
    if wrong:
        raise ToolError(
            f"ValueError: target_field is not in the note type: {', '.join(wrong[:8])}. Nothing was sent to Anki",
            f"target_field must be one of {', '.join(model_fields)}.",
            code="UNKNOWN_TARGET_FIELD",
        )


def _ready(notes: list[NoteInput | ItemError], anki: Anki, outcomes: Outcomes) -> dict[int, NoteInput]:
    """The notes, by index, that nothing here speaks against; the others get their reason."""
    ready: dict[int, NoteInput] = {}
    keys: set[str] = set()
    for index, note in enumerate(notes):
        try:
            checked = _checked(note, anki.fields)
        except ItemError as error:
            outcomes.failed(index, error, error.code.lower())
            continue
        key = checked.dedup_key
        if key and key in anki.by_key:
            outcomes.duplicate(index, anki.by_key[key], dedup_key=key)
        elif key and key in keys:
            outcomes.duplicate(index, error="dedup_key is in this call twice", dedup_key=key)
        else:
            keys.update([key] if key else [])
            ready[index] = checked
    return ready


def _checked(note: NoteInput | ItemError, model_fields: list[str]) -> NoteInput:
    if isinstance(note, ItemError):
        raise note
    return replace(note, fields=fields.canonical(note.fields, model_fields), tags=fields.checked_tags(note.tags))
