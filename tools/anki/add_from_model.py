"""The tool that adds notes and fits them to their note type."""

from typing import Annotated, Any

from tools import schema, validation
from tools.anki import adding
from tools.anki.note_input import NoteInput
from tools.anki.outcomes import Unfit
from tools.errors import ToolError
from tools.registry import Tool
from tools.schema import Limits, Published

BESIDE = ("tags", "images", "dedup_key")
"""Names in a flat item that are no fields of the note type."""

ITEM = {
    "type": "object",
    "properties": schema.of_dataclass(NoteInput)["properties"],
    "additionalProperties": {"type": "string"},
}


@Tool("anki.add_from_model", write=True, open_world=True, bare=True)
def add_from_model(
    items: Annotated[
        list[dict[str, Any]],
        'fields at the top level, {"Front": "…", "tags": […]}, or in `fields`',
        Limits(min_length=1),
        Published({"type": "array", "items": ITEM}),
    ],
    deck: Annotated[str, "made where it is missing; ANKI_DEFAULT_DECK by default"] = "",
    model: Annotated[str, "a note type; ANKI_DEFAULT_MODEL by default"] = "",
) -> dict[str, Any]:
    """Add notes, the usual way: {added, skipped, details}. details has {index, status, noteId} for each note, and
    reason and error where it was not added; the others are added all the same. anki.model_info shows the field names.

    Source: AnkiConnect createDeck and addNote in multi, storeMediaFile, findCards, changeDeck.
    """
    return adding.add(deck, model, [_note(item, index) for index, item in enumerate(items)], strict=False)


def _note(item: dict[str, Any], index: int) -> NoteInput | Unfit:
    if not isinstance(item.get("fields"), dict):
        beside = {name: value for name, value in item.items() if name in BESIDE}
        item = {"fields": {name: value for name, value in item.items() if name not in BESIDE}, **beside}
    try:
        return validation.one(NoteInput, item, f"items.{index}")
    except ToolError as error:
        return Unfit(error.message, error.hint, code=error.code)
