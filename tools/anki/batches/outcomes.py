"""What became of each item of a batch."""

from tools.anki.replies import Refused, Unanswered
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject

REASONS = {
    "is a duplicate": "duplicate",
    "it is empty": "empty",
    "model was not found": "model",
    "deck was not found": "deck",
    "was not found": "missing",
}
"""What AnkiConnect's texts come down to."""


class ItemError(ToolError):
    """One item of a batch cannot be done; the others go on. Its code, in lower case, is the reason."""


class Outcomes:
    """One detail per item, in order. `done` is what the answer calls the number of items that went well.

    A detail's `status` is ok, duplicate, error, not_sent or unknown; duplicate and error have a `reason`. What holds
    for the whole call is said once, in `warnings` of the answer.
    """

    def __init__(self, count: int, done: str, known: list[JsonObject] | None = None):
        self.done = done
        self.details: list[JsonObject] = [
            {"index": index, **(known[index] if known else {}), "status": "not_sent"} for index in range(count)
        ]
        self.warnings: list[str] = []

    def ok(self, index: int, **more: object) -> None:
        self._set(index, "ok", more)

    def duplicate(self, index: int, note: int | None = None, **more: object) -> None:
        """A note like it is there; `note` is its id, if it is known."""
        self._set(index, "duplicate", {"reason": "duplicate", **({"noteId": note} if note else {}), **more})

    def bad(self, index: int, reason: str, error: str, hint: str = "", **more: object) -> None:
        if reason == "duplicate":
            return self._set(index, "duplicate", {"reason": reason, **more})
        return self._set(index, "error", {"reason": reason, "error": error, **({"hint": hint} if hint else {}), **more})

    def failed(self, index: int, error: ToolError, reason: str = "other", **more: object) -> None:
        """The item failed by itself; AnkiConnect's own texts tell the reason."""
        if isinstance(error, Refused):
            reason = next((word for part, word in REASONS.items() if part in error.text), reason)
        self.bad(index, reason, getattr(error, "text", error.message), error.hint, **more)

    def unknown(self, indexes: list[int]) -> None:
        """They were sent, and no answer came."""
        for index in indexes:
            self._set(index, "unknown", {})

    def _set(self, index: int, status: str, more: JsonObject) -> None:
        known = {name: value for name, value in self.details[index].items() if name in ("index", "noteId")}
        self.details[index] = {**known, "status": status, **more}

    def warn(self, text: str) -> None:
        """Something that holds for the whole call."""
        if text not in self.warnings:
            self.warnings.append(text)

    def indexes(self, status: str) -> list[int]:
        return [index for index, detail in enumerate(self.details) if detail["status"] == status]

    def count(self, status: str) -> int:
        return len(self.indexes(status))

    def answer(self) -> JsonObject:
        ok = self.count("ok")
        self._say_once()
        warnings = {"warnings": self.warnings} if self.warnings else {}
        return {self.done: ok, "skipped": len(self.details) - ok, "details": self.details, **warnings}

    def _say_once(self) -> None:
        """A warning about several pictures of a call, `name: text`, stays at the first."""
        seen: set[str] = set()
        for detail in self.details:
            texts = [text for text in detail.get("warnings", ()) if text.partition(": ")[2] not in seen]
            seen.update(filter(None, (text.partition(": ")[2] for text in texts)))
            if texts:
                detail["warnings"] = texts
            else:
                detail.pop("warnings", None)

    def interrupted(self, error: ToolError, indexes: list[int], advice: str) -> ToolError:
        """The error that ends the batch while `indexes` were being sent, with what is known of every item."""
        if isinstance(error, Unanswered):
            self.unknown([index for index in indexes if self.details[index]["status"] == "not_sent"])
        counts = f"{self.done} {self.count('ok')}, not known {self.count('unknown')}, not sent {self.count('not_sent')}"
        error.message = f"{error.message}. Of {len(self.details)} notes: {counts}; `details` says which"
        error.hint = f"{error.hint} {advice}"
        error.data.update(self.answer())
        return error
