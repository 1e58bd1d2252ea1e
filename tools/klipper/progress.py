"""How far a sync is, told in steps that only grow."""

import re
from collections.abc import Callable

from tools import calls

STEP = 10
"""Per cent of one source between two reports."""

PHASES = {
    "Counting objects": (0.0, 0.05),
    "Compressing objects": (0.05, 0.1),
    "Receiving objects": (0.1, 0.9),
    "Resolving deltas": (0.9, 1.0),
}
"""Which part of a fetch each of git's phases takes."""

LINE = re.compile(r"(?:remote: )?(\w+ \w+): +(\d+)%")


class Progress:
    """The part that one of `count` sources has in the whole call."""

    def __init__(self, label: str, index: int = 0, count: int = 1):
        self.label = label
        self.before = 100 * index
        self.total = 100 * count
        self.told = -1.0

    def at(self, percent: float, what: str) -> None:
        """This source is `percent` done and now at `what`."""
        if percent > self.told:
            self.told = percent
            calls.report(round(self.before + percent), self.total, f"{self.label}: {what}")

    def listener(self, start: float, end: float) -> Callable[[bytes], None]:
        """What hears git's stderr while it takes this source from `start` to `end` per cent."""
        rest = ""

        def hear(data: bytes) -> None:
            nonlocal rest
            *lines, rest = re.split(r"[\r\n]", rest + data.decode("ascii", "replace"))
            for line in lines:
                self._hear(line, start, end)

        return hear

    def _hear(self, line: str, start: float, end: float) -> None:
        match = LINE.match(line)
        if not match or match[1] not in PHASES:
            return
        first, last = PHASES[match[1]]
        percent = start + (end - start) * (first + (last - first) * int(match[2]) / 100)
        if percent >= self.told + STEP:
            self.at(percent, match[1].lower())
