"""Errors for a model and the person behind it, and what they quote: nearest names, foreign texts.

Our questions, previews and errors quote titles and errors that a person, a model or a foreign service wrote.
Nothing in a quoted text may look like our own words: it stays on its line, in its direction and inside its
quotation marks.
"""

import re
from collections.abc import Iterable

from .json_types import JsonObject

# Characters of a text that a sentence quotes.
QUOTED_CHARS = 60

# Control characters, separators of lines and paragraphs, marks of direction (Arabic letter mark, LRM, RLM,
# embeddings, overrides, isolates), blanks without a width, and tags, which spell text that nobody sees.
# Joiners stay: emoji and Persian are written with them.
LINE_BREAKERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e"
    "\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)


class ToolError(Exception):
    """An error for a model: what happened and what to do next.

    `message` says what happened, `hint` what to do next, `code` is stable and for programs; `data` travels
    beside them in the answer (`available_decks=[…]`).
    """

    def __init__(self, message: str, hint: str, code: str = "FAILED", **data: object):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
        self.data = data

    def answer(self) -> JsonObject:
        """The answer of a call that failed: {"success": false, "error", "hint", "code", …data}."""
        return {
            "success": False,
            "error": self.message,
            "hint": self.hint,
            "code": self.code,
            **self.data,
        }


class Cancelled(ToolError):
    """The client withdrew the call. Raised only at a safe point, never in the middle of a write."""

    def __init__(self) -> None:
        super().__init__("Cancelled", "Call the tool again to start over.", "CANCELLED")


class RpcError(Exception):
    """A refused message: JSON-RPC's code, message and data. `request_id`: the id of a message that cannot be
    read as a request."""

    def __init__(
        self, code: int, message: str, data: object = None, request_id: str | int | None = None
    ):
        super().__init__(message)
        self.code = code
        self.data = data
        self.request_id = request_id

    def answer(self) -> JsonObject:
        """The answer that reports this error, without the id of its request."""
        error = {"code": self.code, "message": str(self)}
        if self.data is not None:
            error["data"] = self.data
        return {"error": error}


def nearest_names(name: str, names: Iterable[str], cutoff: float = 0.6, most: int = 3) -> list[str]:
    """The `names` that are most similar to `name`, best first. `cutoff`: the least similarity, from 0 to
    1."""
    from difflib import get_close_matches

    return get_close_matches(name, names, n=most, cutoff=cutoff)


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """`Did you mean X?` with the nearest name, or "" if none is near."""
    nearest = nearest_names(name, names, cutoff, most=1)
    return f"Did you mean {nearest[0]}?" if nearest else ""


def one_line(text: object, longest: int = 0) -> str:
    """A foreign text on one line, cut after `longest` characters; 0: it is not cut."""
    line = " ".join(LINE_BREAKERS.sub(" ", str(text)).split())
    return cut(line, longest) if longest else line


def cut(text: str, longest: int) -> str:
    """The first `longest` characters of a text, with `…` in place of the rest."""
    return text if len(text) <= longest else f"{text[:longest].rstrip()}…"


def quoted(
    text: object, longest: int = QUOTED_CHARS, *, marks: str = "“”", inner: str = "‘’"
) -> str:
    """A foreign text in quotation marks, which it cannot close: its own marks become `inner` ones."""
    return f"{marks[0]}{one_line(text, longest).translate(str.maketrans(marks, inner))}{marks[1]}"
