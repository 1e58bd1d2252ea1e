"""Kinds of values: whether one is of the kind that a default has."""

import re

TRUTHS = ("1", "yes", "true", "on", "0", "no", "false", "off")
"""What Klipper takes as a boolean, in any case."""

DEFAULT = re.compile(
    r"[Tt]he default is:? '?(-?[\d.]+|True|False)'?(?:%|°|[a-z/]+\d?\b)?(?: \([^)]*\))?(?:\.(?!\d)|,|$)"
)
"""A default in the text of an option: `The default is 5mm/s.`"""

MOST = 400
"""Characters of a value that are looked at: a longer one is no number."""


def kind(default: str, text: str) -> str:
    """The kind of the values that an option takes, by its default: "boolean", "number", "numbers", or "" for any."""
    if not default and text.count("efault") == 1 and (match := DEFAULT.search(text)):
        default = match[1]
    if default in ("True", "False"):
        return "boolean"
    parts = default.split(",")
    if not default or not all(is_number(part) for part in parts):
        return ""
    return "number" if len(parts) == 1 else "numbers"


def fits(value: str, kind: str) -> bool:
    """Whether Klipper could take the value: an empty one is a matter of each option."""
    if not kind or not value:
        return True
    if len(value) > MOST:
        return False
    if kind == "boolean":
        return value.lower() in TRUTHS
    if kind == "number":
        return is_number(value)
    return all(is_number(part) for part in value.replace("\n", ",").split(",") if part.strip())


def is_number(text: str) -> bool:
    """Whether Klipper can take the text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def expected(kind: str) -> str:
    """What people are told is expected."""
    return {"boolean": "True or False", "number": "a number", "numbers": "numbers with commas between"}.get(kind, "")
