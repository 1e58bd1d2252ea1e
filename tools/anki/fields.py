"""Fields of a note, and which field of a note type a name means."""

import re
from difflib import get_close_matches

from tools.anki.outcomes import Unfit


def find(name: str, model_fields: list[str]) -> str | None:
    """The field of that name as the note type writes it; upper and lower case are one."""
    if name in model_fields:
        return name
    return next((one for one in model_fields if one.casefold() == name.strip().casefold()), None)


def canonical(given: dict[str, str], model_fields: list[str]) -> dict[str, str]:
    """The values under the note type's own names, in its order.

    Raises ToolError for a name that it does not have: Anki would drop the value and say nothing.
    """
    named: dict[str, str] = {}
    for name, value in given.items():
        known = find(name, model_fields)
        if known is None:
            raise _unknown(name, model_fields)
        if known in named:
            raise Unfit(f"field {known!r} is there twice", "Give each field once.", code="UNKNOWN_FIELD")
        named[known] = value
    return {name: named[name] for name in model_fields if name in named}


def _unknown(name: str, model_fields: list[str]) -> Unfit:
    near = get_close_matches(name, model_fields, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return Unfit(f"unknown field {name[:80]!r}", f"{hint}Fields: {', '.join(model_fields)}.", code="UNKNOWN_FIELD")


def checked_tags(tags: list[str]) -> list[str]:
    """The tags without blanks around them, once each.

    Raises ToolError for a tag with a space in it, which Anki would take for two.
    """
    found = list(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    if wrong := next((tag for tag in found if re.search(r"\s", tag)), None):
        near = re.sub(r"\s+", "_", wrong)
        raise Unfit(
            f"tag {wrong[:80]!r} has a space in it", f"Write {near[:80]!r}, or give two tags.", code="INVALID_TAG"
        )
    return found
