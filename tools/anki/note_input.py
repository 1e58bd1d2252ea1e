"""Notes and images as a client describes them."""

from dataclasses import dataclass, field
from typing import Annotated

from tools.schema import Alias, Limits

Fields = Annotated[dict[str, str], "field name: HTML; a value may be, or contain, data:image/…;base64,…"]
Tags = Annotated[list[str], "without spaces"]


@dataclass(frozen=True)
class ImageSpec:
    """An image to put at the end of a field."""

    image_base64: Annotated[str | None, "base64 or a data URL"] = None
    image_url: Annotated[str | None, "http(s), used without image_base64", Alias("url")] = None
    target_field: str = "Back"
    filename: Annotated[str | None, "by default made from the content"] = None
    max_side: Annotated[int, "pixels of the longer side, at most", Limits(ge=1)] = 768


@dataclass(frozen=True)
class NoteInput:
    """A note to add."""

    fields: Fields
    tags: Tags = field(default_factory=list)
    images: list[ImageSpec] = field(default_factory=list)
    dedup_key: Annotated[str | None, "a note with a key used before is skipped"] = None


@dataclass(frozen=True)
class NoteUpdate:
    """Changes to a note."""

    noteId: Annotated[int, Alias("note_id")]
    fields: Annotated[dict[str, str] | None, "only those to change"] = None
    addTags: Annotated[Tags, Alias("add_tags")] = field(default_factory=list)
    removeTags: Annotated[Tags, Alias("remove_tags")] = field(default_factory=list)
    deckName: Annotated[str | None, "move all its cards there", Alias("deck_name")] = None
    images: Annotated[list[ImageSpec], Alias("attachments")] = field(default_factory=list)
