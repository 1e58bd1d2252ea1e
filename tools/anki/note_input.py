"""Notes and images as a client describes them, with their names of fields, tags and files checked."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated

from tools.toolkit import Alias, Limits, ToolError, did_you_mean

from .card_text import TAG

# A schema for models to read; its description says the rest: each property costs four times as much of every
# conversation.
OBJECTS = {"type": "array", "items": {"type": "object"}}
# The texts of a note by the names of their fields.
FieldTexts = dict[str, str]
# Names of fields, decks or note types, or tags.
Names = list[str]
# A text and its replacement.
Pair = Annotated[Names, Limits(min_length=2, max_length=2)]
# Replacements by the names of their fields.
Pairs = dict[str, Pair]
# Line breaks among them: no name may have one.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
OCCLUSION_FORM = (
    "{{c1::image-occlusion:rect:left=.1:top=.1:width=.2:height=.1:oi=1}}, {{c2::…}}: a box a card, "
    "in fractions of the picture; oi=1 hides all boxes on each"
)
# The warning, in the words of the contract, about an image whose target field the note type does not have.
UNKNOWN_TARGET = "unknown_target_field"


class ItemError(ToolError):
    """One item of a batch cannot be done; the others go on. Its code, in lower case, is the reason."""


@dataclass(frozen=True)
class ImageSpec:
    """An image to put at the end of a field."""

    image_base64: str = ""
    image_url: Annotated[str, Alias("url")] = ""
    target_field: str = ""
    filename: str = ""
    max_side: Annotated[int, "pixels", Limits(ge=1)] = 768


@dataclass(frozen=True)
class NoteInput:
    """A note to add."""

    fields: FieldTexts
    tags: Names = field(default_factory=list)
    images: list[ImageSpec] = field(default_factory=list)
    dedup_key: str = ""
    model: str = ""
    deck: str = ""


@dataclass(frozen=True)
class NoteUpdate:
    """Changes to a note."""

    noteId: int
    fields: FieldTexts = field(default_factory=dict)
    addTags: Names = field(default_factory=list)
    removeTags: Names = field(default_factory=list)
    deckName: str = ""
    images: Annotated[list[ImageSpec], Alias("attachments")] = field(default_factory=list)
    replace: Pairs = field(default_factory=dict)
    all: bool = False


def folded(name: str) -> str:
    """Fold a name as Anki does to compare it: upper and lower case do not count."""
    return unicodedata.normalize("NFC", name.strip()).casefold()


def find_name(name: str, names: Iterable[str]) -> str | None:
    """Find the field, deck or note type among `names` that Anki takes for this one."""
    wanted = folded(name)
    return next((other for other in names if folded(other) == wanted), None)


def canonical_fields(values: FieldTexts, model_fields: Names) -> FieldTexts:
    """Key the values by the note type's own names of its fields.

    Raises ItemError for an unknown name, and for one that comes twice: Anki would drop a value and say
    nothing.
    """
    values_by_field: FieldTexts = {}
    for name, value in values.items():
        field_name = find_name(name, model_fields)
        if field_name is None:
            raise ItemError(
                f"unknown field {name[:80]!r}",
                f"{did_you_mean(name, model_fields)} Fields: {', '.join(model_fields)}.".strip(),
                "UNKNOWN_FIELD",
            )
        if field_name in values_by_field:
            raise ItemError(
                f"field {field_name!r} is there twice",
                "Upper and lower case are not distinguished.",
                "UNKNOWN_FIELD",
            )
        values_by_field[field_name] = value
    return values_by_field


def with_breaks(fields: FieldTexts) -> FieldTexts:
    """Write `<br>` for the line breaks of plain text. In HTML and in a picture's base64 they mean nothing."""
    values = {}
    for name, text in fields.items():
        is_plain = not TAG.search(text) and ";base64," not in text
        values[name] = text.replace("\n", "<br>") if is_plain else text
    return values


def checked_clozes(fields: FieldTexts) -> list[str]:
    """Check clozes: a warning for each field in which one ends too early.

    Raises ItemError for a box of an image occlusion that is not within its picture.
    """
    warnings = []
    for name, text in fields.items():
        clozes = re.findall(r"\{\{c\d+::", text)
        # A `}` too early, `{{c1::x^{2}}}`, or one that is left.
        is_cut = re.search(r"(?<!\{)\{[^{}]*\}{3}", text) or text.count("}}") > len(clozes)
        if clozes and is_cut:
            warnings.append(f"{name}: a cloze ends at the first }}}}; inside of it write }} }}")
        for box in re.findall("::image-occlusion:([^}]*)", text):
            for measure, number in re.findall(r"\b(left|top|width|height|rx|ry)=([^:]*)", box):
                # A number from 0 to 1.
                if not re.fullmatch(r"(?=.)0*(\.\d*)?|0*1(\.0*)?", number):
                    raise ItemError(
                        f"{measure}={number[:20]} is not a fraction of the picture, 0 to 1",
                        OCCLUSION_FORM,
                        "OCCLUSION",
                    )
    return warnings


def aim_images(images: list[ImageSpec], model_fields: Names) -> tuple[list[ImageSpec], Names]:
    """Find each image's target field, and list the target fields that the note type does not have.

    By default an image goes to `Back`, or to the second field, or to the only one.
    """
    default = find_name("Back", model_fields) or model_fields[min(1, len(model_fields) - 1)]
    aimed = []
    unknown = []
    for image in images:
        target = find_name(image.target_field or default, model_fields)
        if target is None:
            unknown.append(image.target_field)
        else:
            aimed.append(replace(image, target_field=target))
    return aimed, unknown


def checked_tags(tags: Names) -> Names:
    """Strip the blanks around tags, and keep each tag once.

    Raises ItemError for a tag with a space in it, which Anki would take for two.
    """
    distinct = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    for tag in distinct:
        if re.search(r"\s", tag):
            raise ItemError(
                f"tag {tag[:80]!r} has a space in it",
                "Write `_` in its place, or give two tags.",
                "INVALID_TAG",
            )
    return distinct


def checked_filename(name: str) -> str:
    """Return the name of a file in the form in which Anki keeps it (NFC).

    Raises ItemError for an invalid name: empty, blank, `.`, `..`, with control characters or separators.
    """
    if name.strip() in ("", ".", "..") or CONTROL.search(name) or "/" in name or "\\" in name:
        raise ItemError(
            f"ValueError: {name[:80]!r} is not a media file name: Anki's media folder is flat",
            "Give the bare name of one file, such as `hello.mp3`, without `/`, `\\` or control characters.",
            "INVALID_FILENAME",
        )
    return unicodedata.normalize("NFC", name)
