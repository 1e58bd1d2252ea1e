"""What became of each item of a batch."""

from typing import Any

from tools.anki.replies import Refused, Unanswered
from tools.errors import ToolError

REASONS = {
    "is a duplicate": "duplicate",
    "it is empty": "empty",
    "model was not found": "model",
    "deck was not found": "deck",
    "was not found": "missing",
}
"""What AnkiConnect's texts come down to."""


class Unfit(ToolError):
    """One item of a batch cannot be done; the others go on. Its code, in lower case, is the reason."""


class Outcomes:
    """One detail an item, in order. `done` is what the answer calls the number of items that went well.

    A detail's `status` is ok, duplicate, error, not_sent or unknown; duplicate and error have `reason` and `error`.
    """

    def __init__(self, count: int, done: str, known: list[dict[str, Any]] | None = None):
        self.done = done
        self.details: list[dict[str, Any]] = [
            {"index": index, **(known[index] if known else {}), "status": "not_sent"} for index in range(count)
        ]

    def ok(self, index: int, **more: Any) -> None:
        self._set(index, "ok", more)

    def bad(self, index: int, reason: str, error: str, hint: str = "", **more: Any) -> None:
        if reason == "duplicate":
            return self._set(index, "duplicate", {"reason": reason, "error": error, **more})
        return self._set(index, "error", {"reason": reason, "error": error, **({"hint": hint} if hint else {}), **more})

    def failed(self, index: int, error: ToolError, reason: str = "other", **more: Any) -> None:
        """The item failed by itself; AnkiConnect's own texts tell the reason."""
        if isinstance(error, Refused):
            reason = next((word for part, word in REASONS.items() if part in error.text), reason)
        self.bad(index, reason, getattr(error, "text", error.message), error.hint, **more)

    def unknown(self, indexes: list[int]) -> None:
        """They were sent, and no answer came."""
        for index in indexes:
            self._set(index, "unknown", {})

    def _set(self, index: int, status: str, more: dict[str, Any]) -> None:
        known = {name: self.details[index][name] for name in ("index", "noteId") if name in self.details[index]}
        self.details[index] = {**known, "status": status, **more}

    def warn(self, index: int, text: str) -> None:
        self.details[index].setdefault("warnings", []).append(text)

    def count(self, status: str) -> int:
        return sum(one["status"] == status for one in self.details)

    def answer(self) -> dict[str, Any]:
        ok = self.count("ok")
        return {self.done: ok, "skipped": len(self.details) - ok, "details": self.details}

    def interrupted(self, error: ToolError, indexes: list[int], advice: str) -> ToolError:
        """The error that ends the batch while `indexes` were being sent, with what is known of every item."""
        if isinstance(error, Unanswered):
            self.unknown(indexes)
        counts = f"{self.done} {self.count('ok')}, not known {self.count('unknown')}, not sent {self.count('not_sent')}"
        error.message = f"{error.message}. Of {len(self.details)} notes: {counts}; `details` says which"
        error.hint = f"{error.hint} {advice}"
        error.data.update(self.answer())
        return error


def chunks(indexes: list[int], parts: int) -> list[list[int]]:
    """Indexes in at most so many parts, of 50 or more where there are as many: requests that still show progress."""
    size = max(50, -(-len(indexes) // parts))
    return [indexes[at : at + size] for at in range(0, len(indexes), size)]
