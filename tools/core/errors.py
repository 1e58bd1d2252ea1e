"""The error a tool raises for a model and the person behind it, and the nearest names for its hint."""

from collections.abc import Iterable

from tools.core.json_types import JsonObject


class ToolError(Exception):
    """An error for a model: what happened and what to do next.

    `message` says what happened, `hint` what to do next, `code` is stable and for programs; `data` travels
    beside them in the answer (`available_decks=[…]`).
    """

    def __init__(self, message: str, hint: str, *, code: str = "FAILED", **data: object):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code
        self.data = data

    def answer(self) -> JsonObject:
        """The answer of a call that failed: {"success": false, "error", "hint", "code", …data}."""
        return {"success": False, "error": self.message, "hint": self.hint, "code": self.code, **self.data}


class Cancelled(ToolError):
    """The client withdrew the call; raised at a safe point only, never in the middle of a write."""

    def __init__(self, message: str = "Cancelled"):
        super().__init__(message, "Call the tool again to start over.", code="CANCELLED")


class InvalidMessage(Exception):
    """A line or a body is not a JSON-RPC message; `code` and text are those of the JSON-RPC error to send."""

    def __init__(self, code: int, text: str, request_id: str | int | None = None):
        super().__init__(text)
        self.code, self.request_id = code, request_id


def several(name: str, names: Iterable[str], cutoff: float = 0.6, most: int = 3) -> list[str]:
    """Those of `names` that are most like `name`, best first. `cutoff`: how alike they must be, from 0 to 1."""
    from difflib import get_close_matches

    return get_close_matches(name, list(names), n=most, cutoff=cutoff)


def nearest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """The one of `names` that is most like `name`, or ""."""
    return next(iter(several(name, names, cutoff, most=1)), "")


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """`Did you mean X?` with the nearest name, or "" if none is near."""
    near = nearest(name, names, cutoff)
    return f"Did you mean {near}?" if near else ""
