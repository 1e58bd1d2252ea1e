"""Parts of a batch that take Anki some seconds each, however slow it is at the moment.

AnkiConnect draws Anki's window anew for every note: 5 ms with only the deck list open, 290 ms with the Browser.
"""

import time
from collections.abc import Callable, Iterable, Iterator

FIRST = 30
"""Notes in the first part, by which the speed is measured."""
PART_S = 10
"""What a part should take: Anki does not react meanwhile."""
GROWTH = 8
"""How much larger than the one before a part may be: the Browser may be opened at any time."""
MOST = 500


class Parts:
    """Hands out indexes part by part. `weigh`: what an index costs, in notes; 0 comes along for nothing."""

    def __init__(self, indexes: Iterable[int], weigh: Callable[[int], float] = lambda index: 1):
        self.left = list(indexes)
        self.weigh = weigh
        self.size = FIRST

    def __iter__(self) -> Iterator[list[int]]:
        while self.left:
            part = self._next()
            began = time.monotonic()
            yield part
            self._learn(sum(map(self.weigh, part)), time.monotonic() - began)

    def drop(self, indexes: Iterable[int]) -> None:
        """Those need not be handed out any more."""
        gone = set(indexes)
        self.left = [index for index in self.left if index not in gone]

    def _next(self) -> list[int]:
        weight: float = 0
        count = 0
        for index in self.left:
            weight += self.weigh(index)
            if weight > self.size:
                break
            count += 1
        part, self.left = self.left[: max(count, 1)], self.left[max(count, 1) :]
        return part

    def _learn(self, weight: float, spent_s: float) -> None:
        fitting = int(PART_S * max(weight, 1) / max(spent_s, 0.001))
        self.size = max(1, min(fitting, int(GROWTH * max(weight, 1 if weight else FIRST)), MOST))
