"""The tools that add notes: every good note of a batch, each bad one named with its reason."""

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from html import escape
from itertools import chain
from typing import Annotated, TypeAlias

from tools.anki import client, decks, note_input, notes, state
from tools.anki.batch import Batch, ItemError, Parts
from tools.anki.client import Action
from tools.anki.images.pictures import Pictures
from tools.anki.images.placing import Placed, place
from tools.anki.note_input import OBJECTS, NoteInput
from tools.anki.replies import Refused, Result
from tools.anki.settings import current
from tools.core import calls
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.parameters import read_value
from tools.core.schema import Limits, Published
from tools.core.tool import Tool

BESIDE = ("tags", "images", "dedup_key")
"""Names in a flat item that are not fields of the note type."""

ITEM = (
    "{fields: {name: HTML}, tags: […], images: [{image_base64 or image_url, target_field: Back or the second by "
    "default, filename, max_side: 768}], dedup_key: used before, the note is skipped, model}; also flat: "
    '{"Front": "…", "tags": […]}'
)

SEPARATORS = ("\t", ";", " — ", " – ", " - ", "|", ",")
"""Marks between the texts of a pasted list, the likeliest first."""
# Signs of HTML on purpose: </b>, <br>, <img src=…>.
MARKUP = re.compile(r"</[a-z][a-z0-9]*\s*>|<br\s*/?>|<img\s[^<>]*src", re.IGNORECASE)

Item: TypeAlias = NoteInput | ItemError
"""A note to be added, or why it cannot be."""

LOOK_FIRST = "Look with anki_find_notes first: with allowDuplicates Anki adds once more what it got."
AGAIN = "Send the notes again that are not `ok`: those that Anki got are refused as duplicates."


@Tool("anki.add_from_model", write=True, open_world=True)
def add_from_model(
    items: Annotated[list[JsonObject] | None, Published(OBJECTS), ITEM] = None,
    deck: Annotated[str, "ANKI_DEFAULT_DECK by default"] = "",
    model: Annotated[str, "ANKI_DEFAULT_MODEL by default"] = "",
    fieldNames: Annotated[list[str] | None, "of rows, tsv; also tags"] = None,
    rows: Annotated[list[list[str]] | None, "for many: plain text"] = None,
    tsv: Annotated[str, "rows as lines, tabs between"] = "",
    allowDuplicates: Annotated[bool | None, "if the person insists"] = None,
) -> JsonObject:
    """Add notes, the usual way: {added, skipped, details: [{index, status, noteId, reason, error}]}. Good
    notes are added beside bad ones, the deck is made. anki_model_info shows the fields; values may hold
    data:image/… URLs. Of rows and tsv only what is not ok has details.

    Source: AnkiConnect createDeck and addNote in multi, storeMediaFile, findCards, changeDeck.
    """
    rows = rows or [line.split("\t") for line in tsv.splitlines() if line.strip()]
    if bool(items) == bool(rows) or bool(rows) != bool(fieldNames):
        problem = "Give items, or fieldNames with rows or tsv. Nothing was sent to Anki"
        hint = 'For example {"fieldNames": ["Front", "Back"], "rows": [["cat", "кот"]]}.'
        raise ToolError(problem, hint, code="INVALID_ARGUMENTS")
    notes = [_note(item, index) for index, item in enumerate(items or [])]
    header = bool(rows) and rows[0] == fieldNames
    of_rows = [_row(row, fieldNames or []) for row in rows[header:]]
    wrong = [row for row in of_rows if isinstance(row, ItemError)]
    if wrong and len(wrong) == len(of_rows):
        problem = f"No row has the fields of fieldNames: {wrong[0].message}. Nothing was sent to Anki"
        raise ToolError(problem, wrong[0].hint, code="ROW")
    notes += of_rows
    batch = AddBatch(
        deck, model, notes, strict=False, brief=bool(rows), allow_duplicates=bool(allowDuplicates)
    )
    if header:
        batch.warnings.append("the first row has the names of the fields: it was left out")
    return batch.run()


@Tool("anki.add_notes", write=True, open_world=True)
def add_notes(
    notes: Annotated[
        list[NoteInput], Published(OBJECTS), "as anki_add_from_model's items", Limits(min_length=1)
    ],
    deck: Annotated[str, "an existing one"] = "",
    model: str = "",
) -> JsonObject:
    """Add notes to an existing deck; answers as anki_add_from_model, which is the usual way.

    Source: AnkiConnect addNote in multi, storeMediaFile, findCards, changeDeck.
    """
    return AddBatch(deck, model, list(notes), strict=True).run()


def _row(texts: list[str], names: list[str]) -> Item:
    """A note of plain texts in the order of `names`; only tags at the end may be missing."""
    missing = names[len(texts) :]
    if len(texts) > len(names) or missing not in ([], ["tags"]):
        separator = next((mark for mark in SEPARATORS if mark in texts[0]), "") if texts else ""
        hint = "A tab or a line break inside a field needs items, or rows as a list."
        if missing and separator:
            hint = f"The texts seem to be separated by {separator!r}: put a tab there, or send rows."
        elif missing:
            hint = 'For an empty field send "" in rows, or nothing after its tab.'
        return ItemError(f"{len(texts)} texts for {len(names)} fields", hint, code="ROW")
    fields = dict(zip(names, texts, strict=False))
    tags = fields.pop("tags", "").split()
    return NoteInput({name: _html(text) for name, text in fields.items()}, tags=tags)


def _html(text: str) -> str:
    """The HTML of plain text, so that `a < b` and `vector<int>` arrive as typed; a text with a closing tag, a
    line break or a picture is HTML already."""
    return text if MARKUP.search(text) else escape(text, quote=False).replace("\n", "<br>")


def _note(item: JsonObject, index: int) -> Item:
    if not isinstance(item.get("fields"), dict):
        beside = {name: value for name, value in item.items() if name in BESIDE}
        item = {"fields": {name: value for name, value in item.items() if name not in BESIDE}, **beside}
    try:
        return read_value(NoteInput, item, f"items.{index}")
    except ToolError as error:
        return ItemError(error.message, error.hint, code=error.code)


@dataclass(frozen=True)
class NoteType:
    """A note type that this call uses."""

    name: str
    id: int
    fields: list[str]


@dataclass
class Ready:
    """A note that fits its type, with its pictures once they are stored; `unknown` are fields that its
    pictures name and the type does not have."""

    note: NoteInput
    type: NoteType
    unknown: list[str]
    placed: Placed = field(default_factory=lambda: Placed({}))


# The same call made again adds no note twice: Anki refuses a note whose first field is there, and the answer
# names the note that it repeats. A dedup_key is kept once Anki has answered with the id of its note, never before. The
# pictures of all notes are stored before the first note is sent: a picture stored again gets the same name.
class AddBatch(Batch):
    """Notes added to a deck: {added, skipped, details}. An ItemError in place of a note is reported as its
    failure.

    `strict` refuses the whole call for an image's target_field that the note type does not have, and does not
    make the deck.
    """

    done = "added"

    def __init__(
        self,
        deck: str,
        model: str,
        items: list[Item],
        *,
        strict: bool,
        brief: bool = False,
        allow_duplicates: bool = False,
    ):
        self.fallback = "" if model.strip() else current().anki_default_model
        """The note type that nobody named: another may take its place."""
        model = model.strip() or self.fallback
        self.items: list[Item] = []
        for item in items:
            if isinstance(item, NoteInput):
                item = replace(item, model=item.model.strip() or model)
            self.items.append(item)
        self.notes = [item for item in self.items if isinstance(item, NoteInput)]
        self.strict = strict
        self.brief = brief
        self.warnings = []
        self.options = {"options": {"allowDuplicate": True}} if allow_duplicates else {}
        self._look(list({note.model for note in self.notes} or {model}))
        deck = deck.strip() or current().anki_default_deck
        spelling = decks.spelled_by_anki(deck, self.deck_ids)
        if strict and spelling is None:
            hint = decks.not_found([deck], self.deck_ids).hint
            self.items = [ItemError(f"deck was not found: {deck}", hint, code="DECK") for _ in items]
        self.new_deck = spelling is None
        self.deck = spelling or decks.checked_name(deck)
        self.ready: dict[int, Ready] = {}

    def run(self) -> JsonObject:
        self.begin([{} for _ in self.items], sum(bool(note.images) for note in self.notes))
        for index, item in enumerate(self.items):
            try:
                self._check(index, item)
            except ItemError as error:
                self.failed(index, error)
        return self.run_parts(self._place, LOOK_FIRST if self.options else AGAIN, "adding notes")

    def _look(self, names: list[str]) -> None:
        """The state of Anki at the moment, of these note types, and the notes of known dedup_keys. One
        request."""
        by_key = state.notes_by_key(note.dedup_key for note in self.notes if note.dedup_key)
        known_notes = list(chain.from_iterable(by_profile.values() for by_profile in by_key.values()))
        profile, decks, models, infos, *answers = client.multi(
            client.PROFILE,
            ("deckNamesAndIds", {}),
            ("modelNamesAndIds", {}),
            ("notesInfo", {"notes": known_notes}),
            *(("modelFieldNames", {"modelName": name}) for name in names),
        )
        self.deck_ids, model_ids, infos = client.whole([decks, models, infos])
        self.profile = client.profile(profile)
        id_of = {name.casefold(): number for name, number in model_ids.items()}
        self.types: dict[str, NoteType | ItemError] = {}
        for name, fields in zip(names, answers, strict=True):
            if not isinstance(fields, Refused):
                self.types[name] = NoteType(name, id_of[name.casefold()], fields)
            elif name == self.fallback and model_ids:
                simplest = self._simplest_type(model_ids)
                self.types[name] = simplest
                self.warnings.append(f"{name!r} is not in this collection: {simplest.name!r} was taken")
            else:
                hint = "anki_model_info with this model shows how to create it, or which models exist."
                self.types[name] = ItemError(f"model was not found: {name}", hint, code="MODEL")
        there = notes.indexed(infos)
        self.by_key: dict[str, int] = {}
        """The notes of dedup_keys; 0 for one of this call."""
        for key, by_profile in by_key.items():
            # If AnkiConnect did not name the profile, a key counts in every profile that has its note.
            note = by_profile.get(self.profile, by_profile.get("", 0))
            if note in there:
                self.by_key[key] = note

    def _simplest_type(self, model_ids: dict[str, int]) -> NoteType:
        """The oldest note type that has the fields of these notes, of two fields if there is one: in a new
        collection that is Basic, in whatever language. One request."""
        names = sorted(model_ids, key=model_ids.__getitem__)
        answers = client.results(*(("modelFieldNames", {"modelName": name}) for name in names))
        used: set[str] = set()
        for note in self.notes:
            if note.model == self.fallback:
                used.update(map(str.casefold, note.fields))
        types = [NoteType(name, model_ids[name], fields) for name, fields in zip(names, answers, strict=True)]
        return min(
            types, key=lambda type: (bool(used - set(map(str.casefold, type.fields))), len(type.fields) != 2)
        )

    def _check(self, index: int, item: Item) -> None:
        """Keep the note if nothing here speaks against it."""
        if isinstance(item, ItemError):
            raise item
        kind = self.types[item.model]
        if isinstance(kind, ItemError):
            raise kind
        fields = note_input.canonical_fields(item.fields, kind.fields)
        tags = note_input.checked_tags(item.tags)
        images, unknown = note_input.aim_images(item.images, kind.fields)
        if self.strict and unknown:
            problem = f"ValueError: target_field is not in the note type: notes.{index}: {unknown[0]!r}"
            hint = f"target_field must be one of {', '.join(kind.fields)}."
            raise ToolError(f"{problem}. Nothing was sent to Anki", hint, code="UNKNOWN_TARGET_FIELD")
        key = item.dedup_key
        if key and key in self.by_key:
            earlier = {"noteId": self.by_key[key]} if self.by_key[key] else {}
            return self.set(index, "duplicate", reason="duplicate", dedup_key=key, **earlier)
        if key:
            self.by_key[key] = 0
        self.ready[index] = Ready(replace(item, fields=fields, tags=tags, images=images), kind, unknown)
        return None

    def _place(self) -> Parts[int]:
        pictures = Pictures()
        for index, ready in list(self.ready.items()):
            try:
                ready.placed = place(pictures, ready.note.fields, {}, ready.note.images)
            except ItemError as error:
                del self.ready[index]
                self.failed(index, error)
                continue
            for name in ready.unknown:
                warning = note_input.UNKNOWN_TARGET
                ready.placed.warnings.append(warning)
                ready.placed.images.append(
                    {"target_field": name, "warning": warning, "fields": ready.type.fields}
                )
            if ready.note.images or ready.unknown:
                calls.checkpoint()
                self.report(1, "placing images")
        return Parts(self.ready)

    def send(self, part: list[int]) -> None:
        create: list[Action] = [("createDeck", {"deck": self.deck})] if self.new_deck else []
        adding: list[Action] = [("addNote", self._entry(index)) for index in part]
        profile, *answers = client.multi(client.PROFILE, *create, *adding)
        answers = answers[len(create) :]
        if (other := client.profile(profile)) != self.profile:
            # The person has switched it meanwhile: the notes of a moment ago are in another collection.
            mistaken = [note for note in answers if isinstance(note, int)]
            client.results(("deleteNotes", {"notes": mistaken}), client.REDRAW)
            problem = (
                f"Anki's profile was switched from {self.profile!r} to {other!r}, where no note was left"
            )
            hint = "Ask the person which profile is meant."
            raise ToolError(problem, hint, code="OTHER_PROFILE")
        self.new_deck = False
        keys: dict[str, int] = {}
        for index, answer in zip(part, answers, strict=True):
            self._tell(index, answer)
            if isinstance(answer, int) and (key := self.ready[index].note.dedup_key):
                keys[key] = answer
        state.remember_keys(keys, self.profile)

    def _entry(self, index: int) -> JsonObject:
        """The note as AnkiConnect takes it."""
        ready = self.ready[index]
        note = {"deckName": self.deck, "modelName": ready.type.name}
        return {"note": {**note, "fields": ready.placed.values, "tags": ready.note.tags, **self.options}}

    def _tell(self, index: int, answer: Result) -> None:
        ready = self.ready[index]
        key = ready.note.dedup_key
        more: JsonObject = {"dedup_key": key} if key else {}
        more.update(ready.placed.detail())
        if isinstance(answer, int):
            return self.set(index, "ok", noteId=answer, **more)
        if not isinstance(answer, Refused):
            answer = Refused("Anki did not add it and gives no reason")
        return self.failed(index, answer, **more)

    def end(self) -> None:
        """Move the cards that went to the default deck, and name what duplicates repeat. At most three requests."""
        if self.deck_ids.get(self.deck) != decks.DEFAULT_ID:
            self._move_from_default()
        nameless = []
        searches = []
        for index in self.indexes("duplicate"):
            if index in self.ready:
                ready = self.ready[index]
                nameless.append(index)
                searches.append(notes.like(ready.type.id, ready.placed.values.get(ready.type.fields[0], "")))
        keys: dict[str, int] = {}
        with suppress(ToolError):
            for index, ids in zip(nameless, client.results(*searches), strict=True):
                key = self.ready[index].note.dedup_key
                if ids:
                    self.details[index]["noteId"] = max(ids)
                if ids and key:
                    keys[key] = max(ids)
            # A call before may have added it and ended before its key was kept.
            state.remember_keys(keys, self.profile)

    def _move_from_default(self) -> None:
        """Move the cards that older add-ons, that of 2023 among them, put into the default deck."""
        ids = [self.details[index]["noteId"] for index in self.indexes("ok")]
        try:
            query = f"nid:{','.join(map(str, ids))} did:{decks.DEFAULT_ID}"
            if astray := client.call("findCards", query=query) if ids else []:
                client.call("changeDeck", cards=astray, deck=self.deck)
        except ToolError as error:
            problem = f"new cards may be in the default deck, not in {self.deck!r}"
            self.warnings.append(f"{problem}: {error.message}; anki_change_cards moves them")
