"""Batches of notes: each item prepared, then sent to Anki in parts, each with its outcome."""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Generic, TypeVar

from tools.core import calls
from tools.toolkit import JsonObject, ToolError, filled

from .client import NO_ANSWER, Refused, Unanswered
from .images.pictures import Pictures
from .note_input import ItemError, NoteInput, NoteUpdate

Member = TypeVar("Member")
Item = TypeVar("Item", NoteInput, NoteUpdate)
Prepared = TypeVar("Prepared")

# Reasons, by a phrase of AnkiConnect's errors.
REASONS = {
    "is a duplicate": "duplicate",
    "it is empty": "empty",
    "model was not found": "model",
    "deck was not found": "deck",
    "was not found": "missing",
}
# Notes in the first part, by which the speed is measured.
FIRST_PART_NOTES = 30
# Time that a part should take: Anki does not react meanwhile.
PART_S = 1.2
# A part is at most so many times as large as the one before: the Browser may be opened at any time.
GROWTH = 8
LARGEST_PART_NOTES = 500
# Items that a brief answer names; the others are counted.
MOST_DUPLICATES = 5
# Weight of an item if AnkiConnect takes many in one action.
TOGETHER = 0.02


def timed_parts(
    items: Collection[Member],
    work: str,
    weight: float = 1,
    *,
    part_s: float = 0,
    earlier: int = 0,
    total: int = 0,
) -> Iterator[list[Member]]:
    """Split items into parts that take Anki about `part_s` each, however slow it is at the moment.

    AnkiConnect redraws Anki's window for every note: 5 ms with only the deck list open, 290 ms with the
    Browser. Between two parts the call can be cancelled, and the client hears how far it is.

    - `work`: the words of the progress, such as "writing notes";
    - `weight`: the cost of an item in notes;
    - `part_s`: the time that a part should take, PART_S by default;
    - `earlier`: items that the call has done before, and `total`: those that it does in all, for the
      progress.
    """
    members = iter(items)
    total = total or earlier + len(items)
    size = FIRST_PART_NOTES / weight
    while part := list(islice(members, max(1, int(size)))):
        calls.checkpoint()
        began = time.monotonic()
        yield part
        fitting = (part_s or PART_S) * len(part) / max(time.monotonic() - began, 0.001)
        size = min(fitting, GROWTH * len(part), LARGEST_PART_NOTES / weight)
        earlier += len(part)
        calls.report(earlier, total, work)


# The contract of a batch if requests fail:
# - While the items are prepared nothing of them is sent; an error there ends the call.
# - Unreachable: nothing went out; its items stay `not_sent`.
# - Unanswered: the part went out and its answer was lost; its items are `unknown`, Anki may have done any of
#   them.
# - Refused: Anki answered that it did not do it; that item fails with Anki's reason, the others go on.
# - A cancelled call stops between two parts; no part takes Anki longer than about ten seconds.
class Batch(Generic[Item, Prepared]):
    """One call for many notes, with one detail per item, in order.

    A detail's `status` is ok, duplicate, error, not_sent or unknown; duplicate and error have a `reason`.
    Warnings about the whole call are given once, in `warnings` of the answer.
    """

    # The answer's key for the number of items that went well.
    count_key: str
    # Details only of items that failed or have a warning; the others are a range of ids.
    brief = False

    def __init__(self) -> None:
        self.pictures = Pictures()
        self.warnings: list[str] = []
        self.details: list[JsonObject] = []
        # The items that can be sent, by their index.
        self.ready: dict[int, Prepared] = {}

    def prepare(self, index: int, item: Item) -> Prepared:
        """Check an item and store its pictures. Raises ItemError or Refused if it cannot be sent."""
        raise NotImplementedError

    def send(self, part: list[int]) -> None:
        """Send one part and set the outcomes of its items."""
        raise NotImplementedError

    def end(self) -> None:
        """Check the outcomes, even after an error; not while Anki hangs."""
        raise NotImplementedError

    def prepare_all(self, items: Sequence[Item | ToolError]) -> None:
        """Fill `ready` and `details`. An error in place of an item is reported as its failure."""
        for index, item in enumerate(items):
            calls.checkpoint()
            self.details.append({"index": index, "status": "not_sent"})
            try:
                if isinstance(item, ToolError):
                    self.set_failed(index, item)
                    continue
                self.ready[index] = self.prepare(index, item)
                if item.images:
                    calls.report(index + 1, 2 * len(items), "placing images")
            except (ItemError, Refused) as error:
                self.set_failed(index, error)

    def send_all(self, weight: float, advice: str) -> JsonObject:
        """Send the prepared items, and answer for the whole batch.

        Raises the ToolError that ends it, with the known outcome of every item, and `advice` in its hint.
        """
        part: list[int] = []
        try:
            for part in timed_parts(self.ready, "writing notes", weight, earlier=len(self.details)):
                self.send(part)
        except ToolError as error:
            if error.code == NO_ANSWER:
                self.warnings.append("not read back: Anki does not answer")
            else:
                self.end()
            if isinstance(error, Unanswered):
                for index in part:
                    self.set_detail(index, "unknown")
            count = Counter(detail["status"] for detail in self.details)
            counts = f"{self.count_key} {count['ok']}, not known {count['unknown']}, not sent {count['not_sent']}"
            error.message += f". Of {len(self.details)} notes: {counts}; `details` says which"
            error.hint += f" {advice}"
            error.data.update(self.answer())
            raise
        self.end()
        return self.answer()

    def set_detail(self, index: int, status: str, **more: object) -> None:
        self.details[index].update(status=status, **more)

    def set_failed(self, index: int, error: ToolError, **more: object) -> None:
        """Record that one item failed; the reason of a Refused is in AnkiConnect's own text."""
        text = error.message
        reason = error.code.lower()
        if isinstance(error, Refused):
            text = error.text
            reason = next((word for phrase, word in REASONS.items() if phrase in text), "other")
        if reason == "duplicate":
            self.set_detail(index, reason, reason=reason, **error.data, **more)
        else:
            self.set_detail(index, "error", reason=reason, error=text, hint=error.hint, **more)

    def indexes_with(self, status: str) -> list[int]:
        return [index for index, detail in enumerate(self.details) if detail["status"] == status]

    def answer(self) -> JsonObject:
        ok = self.indexes_with("ok")
        outcomes: JsonObject = {"details": self.details}
        if self.brief:
            ids = [self.details[index]["noteId"] for index in ok]
            duplicates = self.indexes_with("duplicate")
            summarized = {"ok"}
            if len(duplicates) > MOST_DUPLICATES:
                summarized.add("duplicate")
                rows = f"{min(duplicates)}-{max(duplicates)}"
                outcomes["duplicates"] = f"{len(duplicates)} of the rows {rows}"
            outcomes["details"] = [
                detail
                for detail in self.details
                if detail["status"] not in summarized or "warnings" in detail
            ]
            outcomes["noteIds"] = ids and f"{min(ids)}-{max(ids)}"
        outcomes = filled(**outcomes, warnings=self.warnings)
        return {self.count_key: len(ok), "skipped": len(self.details) - len(ok), **outcomes}
