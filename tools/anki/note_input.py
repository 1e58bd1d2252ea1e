"""Notes and images as a client describes them, and the names in them: fields, tags, files."""

import re
import unicodedata
from dataclasses import dataclass, field, replace
from typing import Annotated

from tools.core.errors import ToolError, did_you_mean
from tools.core.schema import Alias, Limits

# A schema for models to read; its description says the rest: each property costs four times as much of every
# conversation.
OBJECTS = {"type": "array", "items": {"type": "object"}}
Pair = Annotated[list[str], Limits(min_length=2, max_length=2)]
"""A text and the one that takes its place."""
# Line breaks among them: no name may have one.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
UNKNOWN_TARGET = "unknown_target_field"
"""The warning, in the words of the contract, about an image whose target field the note type does not
have."""


class ItemError(ToolError):
    """One item of a batch cannot be done; the others go on. Its code, in lower case, is the reason."""


@dataclass(frozen=True)
class ImageSpec:
    """An image to put at the end of a field."""

    image_base64: str | None = None
    image_url: Annotated[str | None, Alias("url")] = None
    target_field: str = ""
    filename: str | None = None
    max_side: Annotated[int, "pixels", Limits(ge=1)] = 768


@dataclass(frozen=True)
class NoteInput:
    """A note to add."""

    fields: dict[str, str]
    tags: list[str] = field(default_factory=list)
    images: list[ImageSpec] = field(default_factory=list)
    dedup_key: str | None = None
    model: str = ""


@dataclass(frozen=True)
class NoteUpdate:
    """Changes to a note."""

    noteId: int
    fields: dict[str, str] = field(default_factory=dict)
    addTags: list[str] = field(default_factory=list)
    removeTags: list[str] = field(default_factory=list)
    deckName: str = ""
    images: Annotated[list[ImageSpec], Alias("attachments")] = field(default_factory=list)
    replace: dict[str, Pair] = field(default_factory=dict)
    all: bool | None = None


def find_field(name: str, model_fields: list[str]) -> str | None:
    """The field of that name as the note type writes it; upper and lower case are one."""
    return next((field for field in model_fields if field.casefold() == name.strip().casefold()), None)


def canonical_fields(values: dict[str, str], model_fields: list[str]) -> dict[str, str]:
    """The values under the note type's own names.

    Raises ItemError for a name that it does not have, or that comes twice: Anki would drop a value and say
    nothing.
    """
    values_by_field: dict[str, str] = {}
    for name, value in values.items():
        field_name = find_field(name, model_fields)
        if field_name is None:
            hint = f"{did_you_mean(name, model_fields)} Fields: {', '.join(model_fields)}."
            raise ItemError(f"unknown field {name[:80]!r}", hint.strip(), code="UNKNOWN_FIELD")
        if field_name in values_by_field:
            hint = "Upper and lower case are not distinguished."
            raise ItemError(f"field {field_name!r} is there twice", hint, code="UNKNOWN_FIELD")
        values_by_field[field_name] = value
    return values_by_field


def aim_images(images: list[ImageSpec], model_fields: list[str]) -> tuple[list[ImageSpec], list[str]]:
    """The images with the field each goes to, and the names of target fields that the note type does not
    have.

    By default that is `Back`, or the second field, or the only one.
    """
    default = find_field("Back", model_fields) or model_fields[min(1, len(model_fields) - 1)]
    aimed = []
    unknown = []
    for image in images:
        target = find_field(image.target_field or default, model_fields)
        if target is None:
            unknown.append(image.target_field)
        else:
            aimed.append(replace(image, target_field=target))
    return aimed, unknown


def checked_tags(tags: list[str]) -> list[str]:
    """The tags without blanks around them, once each.

    Raises ItemError for a tag with a space in it, which Anki would take for two.
    """
    distinct = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    for tag in distinct:
        if re.search(r"\s", tag):
            hint = "Write `_` in its place, or give two tags."
            raise ItemError(f"tag {tag[:80]!r} has a space in it", hint, code="INVALID_TAG")
    return distinct


def checked_filename(name: str) -> str:
    """The name in the form Anki keeps it (NFC).

    Raises ItemError for an invalid name: empty, blank, `.`, `..`, with control characters or separators.
    """
    if name.strip() in ("", ".", "..") or CONTROL.search(name) or "/" in name or "\\" in name:
        problem = f"ValueError: {name[:80]!r} is not a media file name: Anki's media folder is flat"
        hint = "Give the bare name of one file, such as `hello.mp3`, without `/`, `\\` or control characters."
        raise ItemError(problem, hint, code="INVALID_FILENAME")
    return unicodedata.normalize("NFC", name)
