"""The error a tool raises for a model and the person behind it."""

from tools.core.json_types import JsonObject


class ToolError(Exception):
    """What happened and what to do next.

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
