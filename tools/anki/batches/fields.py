"""Fields of a note, and which field of a note type a name means."""

import re
from dataclasses import replace

from tools.anki.batches.note_input import ImageSpec
from tools.anki.batches.outcomes import ItemError
from tools.core.suggest import nearest

UNKNOWN_TARGET = "unknown_target_field"
"""The warning, in the words of the contract, about an image whose target field the note type does not have."""


def find(name: str, model_fields: list[str]) -> str | None:
    """The field of that name as the note type writes it; upper and lower case are one."""
    if name in model_fields:
        return name
    return next((field for field in model_fields if field.casefold() == name.strip().casefold()), None)


def canonical(values: dict[str, str], model_fields: list[str]) -> dict[str, str]:
    """The values under the note type's own names, in its order.

    Raises ItemError for a name that it does not have: Anki would drop the value and say nothing.
    """
    named: dict[str, str] = {}
    for name, value in values.items():
        known = find(name, model_fields)
        if known is None:
            raise _unknown(name, model_fields)
        if known in named:
            raise ItemError(f"field {known!r} is there twice", "Give each field once.", code="UNKNOWN_FIELD")
        named[known] = value
    return {name: named[name] for name in model_fields if name in named}


def aimed(images: list[ImageSpec], model_fields: list[str]) -> tuple[list[ImageSpec], list[str]]:
    """The images with the field each goes to, and the names of target fields that the note type does not have.

    By default that is `Back`, or the second field, or the only one.
    """
    default = find("Back", model_fields) or model_fields[min(1, len(model_fields) - 1)]
    known, unknown = [], []
    for image in images:
        target = find(image.target_field, model_fields) if image.target_field else default
        if target is None:
            unknown.append(image.target_field)
        else:
            known.append(replace(image, target_field=target))
    return known, unknown


def _unknown(name: str, model_fields: list[str]) -> ItemError:
    near = nearest(name, model_fields)
    hint = f"Did you mean {near!r}? " if near else ""
    return ItemError(f"unknown field {name[:80]!r}", f"{hint}Fields: {', '.join(model_fields)}.", code="UNKNOWN_FIELD")


def checked_tags(tags: list[str]) -> list[str]:
    """The tags without blanks around them, once each.

    Raises ItemError for a tag with a space in it, which Anki would take for two.
    """
    distinct = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    if wrong := next((tag for tag in distinct if re.search(r"\s", tag)), None):
        near = re.sub(r"\s+", "_", wrong)
        raise ItemError(
            f"tag {wrong[:80]!r} has a space in it", f"Write {near[:80]!r}, or give two tags.", code="INVALID_TAG"
        )
    return distinct


def folded(tags: list[str]) -> set[str]:
    """The tags as Anki compares them."""
    return {tag.casefold() for tag in tags}


def below(tag: str, tags: set[str]) -> set[str]:
    """Those of the folded tags that Anki removes with `tag`: itself, and what lies below it."""
    name = tag.casefold()
    return {each for each in tags if each == name or each.startswith(f"{name}::")}
