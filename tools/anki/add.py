"""The tools that add notes: fitted to their note type, and notes whose fields are known to fit."""

from typing import Annotated

from tools.anki.batch import ItemError
from tools.anki.batches.adding import AddBatch
from tools.anki.note_input import NoteInput
from tools.core.errors import ToolError, did_you_mean
from tools.core.json_types import JsonObject
from tools.core.parameters import read_value
from tools.core.schema import Limits, Published
from tools.core.tool import Tool

BESIDE = ("tags", "images", "dedup_key")
"""Names in a flat item that are not fields of the note type."""

# Listed as words: typed in a schema, each property costs four times as much of every conversation.
ITEMS = {
    "type": "array",
    "items": {"type": "object"},
    "description": (
        "{fields: {name: HTML}, tags: […], images: [{image_base64 or image_url, target_field: Back or the second by "
        "default, filename, max_side: 768}], dedup_key: used before, the note is skipped, model}; also flat: "
        '{"Front": "…", "tags": […]}'
    ),
}
NOTES = {
    "type": "array",
    "items": {"type": "object"},
    "description": "as anki_add_from_model's items",
}


@Tool("anki.add_from_model", write=True, open_world=True)
def add_from_model(
    items: Annotated[list[JsonObject] | None, Published(ITEMS)] = None,
    deck: Annotated[str, "ANKI_DEFAULT_DECK by default"] = "",
    model: Annotated[str, "ANKI_DEFAULT_MODEL by default"] = "",
    fieldNames: Annotated[list[str] | None, "of rows, tsv; also tags"] = None,
    rows: Annotated[list[list[str]] | None, "for many, instead of items"] = None,
    tsv: Annotated[str, "as rows: a line per note, tabs between fields"] = "",
    allowDuplicates: Annotated[bool | None, "if the person insists"] = None,
) -> JsonObject:
    """Add notes, the usual way: {added, skipped, details: [{index, status, noteId, reason, error}]}. Good notes are added
    beside bad ones, the deck is made. anki_model_info shows the fields; values may hold data:image/… URLs. Of rows and
    tsv only what is not ok has details.

    Source: AnkiConnect createDeck and addNote in multi, storeMediaFile, findCards, changeDeck.
    """
    rows = rows or [line.split("\t") for line in tsv.splitlines() if line.strip()]
    if bool(items) == bool(rows) or bool(rows) != bool(fieldNames):
        problem = "Give items, or fieldNames with rows or tsv. Nothing was sent to Anki"
        hint = 'For example {"fieldNames": ["Front", "Back"], "rows": [["cat", "кот"]]}.'
        raise ToolError(problem, hint, code="INVALID_ARGUMENTS")
    given = [_note(item, index) for index, item in enumerate(items or [])]
    given += [_row(row, fieldNames or []) for row in rows]
    batch = AddBatch(deck, model, given, strict=False, brief=bool(rows), allow_duplicates=bool(allowDuplicates))
    return batch.run()


@Tool("anki.add_notes", write=True, open_world=True)
def add_notes(
    notes: Annotated[list[NoteInput], Published(NOTES), Limits(min_length=1)],
    deck: Annotated[str, "an existing one"] = "",
    model: str = "",
) -> JsonObject:
    """Add notes to an existing deck; answers as anki_add_from_model, which is the usual way.

    Source: AnkiConnect addNote in multi, storeMediaFile, findCards, changeDeck.
    """
    return AddBatch(deck, model, list(notes), strict=True).run()


def _row(texts: list[str], names: list[str]) -> NoteInput | ItemError:
    """A note of texts in the order of `names`; those that are missing at the end are empty."""
    if len(texts) > len(names):
        hint = "A tab or a line break inside a field needs items, or rows as a list."
        return ItemError(f"{len(texts)} texts for {len(names)} fields", hint, code="ROW")
    fields = dict(zip(names, texts, strict=False))
    return NoteInput(fields, tags=fields.pop("tags", "").split())


def _note(item: JsonObject, index: int) -> NoteInput | ItemError:
    if not isinstance(item.get("fields"), dict):
        beside = {name: value for name, value in item.items() if name in BESIDE}
        item = {"fields": {name: value for name, value in item.items() if name not in BESIDE}, **beside}
    for name, value in item["fields"].items():
        if not isinstance(value, str) and (near := did_you_mean(name, BESIDE)):
            return ItemError(f"items.{index}: {name!r} is not the text of a field", near, code="INVALID_ARGUMENTS")
    try:
        return read_value(NoteInput, item, f"items.{index}")
    except ToolError as error:
        return ItemError(error.message, error.hint, code=error.code)
