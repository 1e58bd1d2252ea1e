"""Notes and images as a client describes them."""

from dataclasses import dataclass, field
from typing import Annotated

from tools.core.schema import Alias, Limits, Published

Fields = Annotated[dict[str, str], Published({"type": "object"}), "name: HTML"]
Tags = list[str]
IMAGES = {"type": "array", "items": {"type": "object"}, "description": "as in anki_add_from_model"}
"""How `images` is listed where another tool tells what an image is."""


@dataclass(frozen=True)
class ImageSpec:
    """An image to put at the end of a field."""

    image_base64: str | None = None
    image_url: Annotated[str | None, Alias("url")] = None
    target_field: Annotated[str, "default Back, or the second"] = ""
    filename: str | None = None
    max_side: Annotated[int, "pixels", Limits(ge=1)] = 768


@dataclass(frozen=True)
class NoteInput:
    """A note to add."""

    fields: Fields
    tags: Tags = field(default_factory=list)
    images: Annotated[list[ImageSpec], Published(IMAGES)] = field(default_factory=list)
    dedup_key: Annotated[str | None, "used before: the note is skipped"] = None


@dataclass(frozen=True)
class NoteUpdate:
    """Changes to a note."""

    noteId: Annotated[int, Alias("note_id")]
    fields: Annotated[dict[str, str] | None, Published({"type": "object"}), "only those to change"] = None
    addTags: Annotated[Tags, Alias("add_tags")] = field(default_factory=list)
    removeTags: Annotated[Tags, Alias("remove_tags")] = field(default_factory=list)
    deckName: Annotated[str | None, Alias("deck_name")] = None
    images: Annotated[list[ImageSpec], Published(IMAGES), Alias("attachments")] = field(default_factory=list)
