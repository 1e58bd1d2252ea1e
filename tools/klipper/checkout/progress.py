"""How far a sync is, told in steps that only grow."""

import re
from collections.abc import Callable

from tools.core import calls

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
"""A line of git's progress: `Receiving objects:  42% (5/12)`."""


class Progress:
    """The part that one of `count` sources has in the whole call."""

    def __init__(self, label: str, index: int = 0, count: int = 1):
        self.label = label
        self.before = 100 * index
        self.total = 100 * count
        self.last = -1.0

    def at(self, percent: float, step: str) -> None:
        """This source is `percent` done and now at `step`."""
        if percent > self.last:
            self.last = percent
            calls.report(round(self.before + percent), self.total, f"{self.label}: {step}")

    def listener(self, start: float, end: float) -> Callable[[bytes], None]:
        """What reads git's stderr while it takes this source from `start` to `end` per cent."""
        rest = ""

        def read(data: bytes) -> None:
            nonlocal rest
            *lines, rest = re.split(r"[\r\n]", rest + data.decode("ascii", "replace"))
            for match in filter(None, map(LINE.match, lines)):
                first, last = PHASES.get(match[1], (0.0, 0.0))
                percent = start + (end - start) * (first + (last - first) * int(match[2]) / 100)
                if percent >= self.last + STEP:
                    self.at(percent, match[1].lower())

        return read
