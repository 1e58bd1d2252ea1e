"""The tools that add notes: the good notes of a batch are added, each bad one is named with its reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, NamedTuple

from tools.core.parameters import parse_value
from tools.toolkit import JsonObject, Limits, Tool, ToolError, filled

from . import client, decks, note_input, notes, state, tables
from .batch import Batch
from .client import Action, IdByName, IdsByName, Refused, action, card_search
from .images.pictures import NewTexts, with_pictures
from .note_input import OBJECTS, ItemError, NoteInput
from .settings import current

ITEM_DESCRIPTION = (
    "{fields: {name: HTML, no Markdown, math as \\( \\)}, tags: […], images: [{image_base64 or "
    "image_url, target_field: Back or the second by default, filename, max_side: 768}], dedup_key: used "
    'before, the note is skipped, model, deck}; also flat: {"Front": "…", "tags": […]}'
)


@Tool("anki.add_from_model", write=True, open_world=True)
def add_from_model(
    items: Annotated[list[JsonObject] | None, OBJECTS, ITEM_DESCRIPTION] = None,
    deck: Annotated[str, "ANKI_DEFAULT_DECK by default"] = "",
    model: Annotated[str, "ANKI_DEFAULT_MODEL by default"] = "",
    fieldNames: Annotated[list[str] | None, "of rows, tsv; also tags"] = None,
    rows: Annotated[list[list[str]] | None, "for many: plain text"] = None,
    tsv: Annotated[str, "or a table as text: TSV, CSV, Anki's export"] = "",
    allowDuplicates: Annotated[bool, "if the person insists"] = False,
) -> JsonObject:
    """Add notes, the usual way: {added, skipped, details: [{index, status, noteId, reason, error}]}. Good
    notes are added beside bad ones, the deck is made. anki_model_info shows the fields; values may hold
    data:image/… URLs. Of rows and tsv only what is not ok has details.

    Source: AnkiConnect createDeck and addNote in multi, storeMediaFile, findCards, changeDeck.
    """
    if bool(items) + bool(rows) + bool(tsv.strip()) != 1:
        raise ToolError(
            "Give items, or fieldNames with rows or tsv. Nothing was sent to Anki",
            'For example {"fieldNames": ["Front", "Back"], "rows": [["cat", "кот"]]}.',
            "INVALID_ARGUMENTS",
        )
    batch = AddBatch(deck, model, allow_duplicates=allowDuplicates)
    if items:
        return batch.run([_note_of_item(item, index) for index, item in enumerate(items)])
    batch.brief = True
    batch.cells_are_html = True
    names = fieldNames or []
    table = tables.Table(rows, names, {}, []) if rows else tables.from_text(tsv, names)
    batch.warnings += table.remarks
    # The deck and note type of the call go before those of the file.
    return batch.run(table.notes(deck.strip(), model.strip()))


@Tool("anki.add_notes", write=True, open_world=True)
def add_notes(
    notes: Annotated[
        list[NoteInput], OBJECTS, "as anki_add_from_model's items", Limits(min_length=1)
    ],
    deck: Annotated[str, "an existing one"] = "",
    model: str = "",
) -> JsonObject:
    """Add notes to an existing deck; answers as anki_add_from_model, which is the usual way.

    Source: AnkiConnect addNote in multi, storeMediaFile, findCards, changeDeck.
    """
    return AddBatch(deck, model, strict=True).run(notes)


def _note_of_item(item: JsonObject, index: int) -> NoteInput | ToolError:
    if not isinstance(item.get("fields"), dict):
        fields = dict(item)
        names = ("tags", "images", "dedup_key")
        item = {name: fields.pop(name) for name in names if name in fields}
        item["fields"] = fields
    try:
        return parse_value(NoteInput, item, f"items.{index}")
    except ToolError as error:
        return error


class NoteType(NamedTuple):
    """A note type that a call uses."""

    name: str
    id: int
    fields: list[str]


class NewNote(NamedTuple):
    """A note to be added, as AnkiConnect takes it, and the search for notes with the same first field."""

    note: JsonObject
    texts: NewTexts
    dedup_key: str
    duplicate_search: Action


# The same call made again adds no note twice:
# - Anki refuses a note whose first field is there already, and the answer names the note that it repeats;
# - a dedup_key is kept once Anki has answered with the id of its note, never before, and for each profile;
# - the pictures of all notes are stored before the first note is sent: stored again, one gets the same name.
@dataclass
class AddBatch(Batch[NoteInput, NewNote]):
    """The addition of notes to a deck: {added, skipped, details}.

    - `strict`: do not make the deck, and refuse the whole call if the note type lacks an image's
      target_field.
    - `cells_are_html`: the fields are cells of a table, which are HTML already.
    - Read before the first note: the `profile` that is open; the name of the `default_deck`; `decks` and
      `types` as Anki has them, by the names that notes use, "" for the default type; `by_key`, the notes of
      dedup_keys, 0 for one of this call.
    """

    deck: str
    # The type of notes that name none; empty for the default one.
    model: str
    strict: bool = False
    allow_duplicates: bool = False
    count_key = "added"
    cells_are_html = False

    def __post_init__(self) -> None:
        super().__init__()
        self.deck = self.deck.strip() or current().anki_default_deck
        self.model = self.model.strip()

    def run(self, items: Sequence[NoteInput | ToolError]) -> JsonObject:
        self._read_collection([item for item in items if isinstance(item, NoteInput)])
        self.prepare_all(items)
        advice = (
            "Send the notes again that are not `ok`; those that Anki has are refused as duplicates."
        )
        if self.allow_duplicates:
            advice = (
                "Look with anki_find_notes first: with allowDuplicates, notes that Anki already has are "
                "added again."
            )
        return self.send_all(1, advice)

    def _read_collection(self, new_notes: list[NoteInput]) -> None:
        """Read the decks, the types of the new notes, and the notes that have their keys. One request, one
        more if keys were used before, and one without the default note type.

        The fields of each type are needed before: Anki silently drops the value of a field that a type does
        not have. A missing note type fails note by note, in Anki's own words.
        """
        # Read decks, note types and the fields of each type.
        default_type = current().anki_default_model
        type_names = list({note.model or self.model for note in new_notes})
        field_reads = [
            action("modelFieldNames", modelName=name or default_type) for name in type_names
        ]
        self.profile, *answers = client.with_profile(
            action("deckNamesAndIds"), action("modelNamesAndIds"), *field_reads
        )
        deck_ids, model_ids = client.unrefused(answers[:2])
        # Find the decks and note types that the notes name.
        self.default_deck = decks.default_name(deck_ids)
        deck_names = {note.deck or self.deck for note in new_notes}
        self.decks = {
            name: decks.existing_name(name, deck_ids) or decks.checked_name(name)
            for name in deck_names
        }
        self.types: dict[str, NoteType | Refused] = {}
        for name, answer in zip(type_names, answers[2:]):
            model = note_input.find_name(name or default_type, model_ids)
            if model and not isinstance(answer, Refused):
                self.types[name] = NoteType(model, model_ids[model], answer)
            elif name:
                self.types[name] = answer
            else:
                self.types[name] = simplest = _simplest_type(model_ids, new_notes)
                self.warnings.append(
                    f"{default_type!r} is not in this collection: {simplest.name!r} was taken"
                )
        # Find the notes of keys that were used before, as far as they still exist.
        keys = {note.dedup_key for note in new_notes if note.dedup_key}
        recorded_notes = state.notes_by_key(keys, self.profile)
        infos = notes.by_id(list(recorded_notes.values()))
        self.by_key = {key: note for key, note in recorded_notes.items() if note in infos}

    def prepare(self, index: int, note: NoteInput) -> NewNote:
        # The note's type, fields, tags and images in Anki's terms.
        note_type = self.types[note.model or self.model]
        if isinstance(note_type, Refused):
            raise note_type
        html = note.fields if self.cells_are_html else note_input.with_breaks(note.fields)
        fields = note_input.canonical_fields(html, note_type.fields)
        tags = note_input.checked_tags(note.tags)
        images, unknown = note_input.aim_images(note.images, note_type.fields)
        if unknown and self.strict:
            raise ToolError(
                f"ValueError: target_field is not in the note type: notes.{index}: {unknown[0]!r}. "
                "No note was added",
                f"target_field must be one of {', '.join(note_type.fields)}.",
                "UNKNOWN_TARGET_FIELD",
            )
        # A note of a key that was used before is skipped.
        key = note.dedup_key
        if key in self.by_key:
            raise ItemError(
                "dedup_key was used before",
                "Update that note.",
                "DUPLICATE",
                **filled(noteId=self.by_key[key], dedup_key=key),
            )
        # Its pictures are stored, and warnings collected.
        warnings = note_input.checked_clozes(fields)
        texts = with_pictures(self.pictures, fields, {}, images)
        texts.warnings.extend(warnings)
        for name in unknown:
            texts.images.append({"target_field": name, "fields": note_type.fields})
        if unknown:
            texts.warnings.append(note_input.UNKNOWN_TARGET)
        if key:
            self.by_key[key] = 0
        note_params = {
            "deckName": self.decks[note.deck or self.deck],
            "modelName": note_type.name,
            "fields": texts.values,
            "tags": tags,
            "options": {"allowDuplicate": self.allow_duplicates},
        }
        first_text = texts.values.get(note_type.fields[0], "")
        return NewNote(note_params, texts, key, notes.duplicate_search(note_type.id, first_text))

    # One addNote for each note, in one request: addNotes of the add-on of 2025 takes all back for a
    # single bad one, and names it by its text only.
    def send(self, part: list[int]) -> None:
        # createDeck leaves an existing deck as it is.
        deck_names = {self.ready[index].note["deckName"] for index in part}
        making = [] if self.strict else [action("createDeck", deck=name) for name in deck_names]
        adding = [action("addNote", note=self.ready[index].note) for index in part]
        profile, *answers = client.with_profile(*making, *adding)
        answers = answers[len(making) :]
        if profile != self.profile:
            # The person has switched the profile meanwhile: the earlier notes are in another collection.
            client.call("deleteNotes", notes=[note for note in answers if isinstance(note, int)])
            raise ToolError(
                f"Anki's profile is now {profile!r}, not {self.profile!r}; no note was left in it",
                "Ask the person which profile is meant.",
                "OTHER_PROFILE",
            )
        keys: IdByName = {}
        for index, answer in zip(part, answers):
            ready = self.ready[index]
            detail = filled(dedup_key=ready.dedup_key, **ready.texts.detail())
            if isinstance(answer, int):
                self.set_detail(index, "ok", noteId=answer, **detail)
                if ready.dedup_key:
                    keys[ready.dedup_key] = answer
            else:
                refusal = answer if isinstance(answer, Refused) else Refused("")
                self.set_failed(index, refusal, **detail)
        state.remember_keys(keys, self.profile)

    def end(self) -> None:
        """Move new cards out of the default deck, where older add-ons (2023) put them, and name the note that
        each duplicate repeats. At most three requests.

        The note that a duplicate repeats gets its dedup_key too: an earlier call may have added it and ended
        before the key was kept.
        """
        # The notes that older add-ons may have put into the default deck, and the duplicates.
        note_ids_by_deck: IdsByName = {}
        for index in self.indexes_with("ok"):
            deck = self.ready[index].note["deckName"]
            if deck != self.default_deck:
                note_ids_by_deck.setdefault(deck, []).append(self.details[index]["noteId"])
        repeating = [index for index in self.indexes_with("duplicate") if index in self.ready]
        default_deck_searches = [
            card_search(f"{client.ids_query('nid', ids)} did:{decks.DEFAULT_ID}")
            for ids in note_ids_by_deck.values()
        ]
        # Move the cards of those that are there.
        try:
            moves = [
                action("changeDeck", cards=astray, deck=deck)
                for deck, astray in zip(note_ids_by_deck, client.results(*default_deck_searches))
                if astray
            ]
            client.results(*moves)
            matches = client.results(*(self.ready[index].duplicate_search for index in repeating))
            # Name the repeated notes, and keep their keys.
            keys: IdByName = {}
            for index, same_notes in zip(repeating, matches):
                if same_notes:
                    self.details[index]["noteId"] = max(same_notes)
                    keys[self.ready[index].dedup_key] = max(same_notes)
            keys.pop("", None)
            state.remember_keys(keys, self.profile)
        except ToolError as error:
            self.warnings.append(
                f"not looked at again: {error.message}; new cards in the default deck are moved by "
                "anki_change_cards"
            )


def _simplest_type(model_ids: IdByName, notes: list[NoteInput]) -> NoteType:
    """Choose a type for notes that name none, if the default one is missing: the oldest with their fields,
    and with two fields if possible. In a new collection that is Basic, in any language. One request."""
    names = sorted(model_ids, key=model_ids.__getitem__)
    answers = client.results(*(action("modelFieldNames", modelName=name) for name in names))
    field_names = set(map(str.casefold, chain.from_iterable(note.fields for note in notes)))

    def unfitness(note_type: NoteType) -> tuple[bool, bool]:
        fields = map(str.casefold, note_type.fields)
        return not field_names.issubset(fields), len(note_type.fields) != 2

    return min(map(NoteType, names, sorted(model_ids.values()), answers), key=unfitness)
