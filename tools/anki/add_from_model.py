"""The tool that adds notes and fits them to their note type."""

from typing import Annotated

from tools.anki.batches import adding
from tools.anki.batches.note_input import ImageSpec, NoteInput
from tools.anki.batches.outcomes import ItemError
from tools.core import schema
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.parameters import read_value
from tools.core.schema import Limits, Published
from tools.core.suggest import did_you_mean
from tools.core.tool import Tool

BESIDE = ("tags", "images", "dedup_key")
"""Names in a flat item that are not fields of the note type."""

ITEM = {
    "type": "object",
    "properties": {**schema.of_dataclass(NoteInput)["properties"], "images": schema.of(list[ImageSpec])},
}


@Tool("anki.add_from_model", write=True, open_world=True, raw=True)
def add_from_model(
    items: Annotated[
        list[JsonObject],
        'also flat: {"Front": "…", "tags": […]}',
        Limits(min_length=1),
        Published({"type": "array", "items": ITEM}),
    ],
    deck: Annotated[str, "ANKI_DEFAULT_DECK by default"] = "",
    model: Annotated[str, "ANKI_DEFAULT_MODEL by default"] = "",
) -> JsonObject:
    """Add notes, the usual way: {added, skipped, details: [{index, status, noteId, reason, error}]}. Good notes are added
    beside bad ones, the deck is made. anki_model_info shows the fields; values may hold data:image/… URLs.

    Source: AnkiConnect createDeck and addNote in multi, storeMediaFile, findCards, changeDeck.
    """
    return adding.add(deck, model, [_note(item, index) for index, item in enumerate(items)], strict=False)


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
