"""A figure beside its anchor, both measured in one run."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

HEAD = ("what", "pi-mcp", "anchor", "ratio", "promised")


@dataclass(frozen=True)
class Row:
    """What was measured: `ours` and the `anchor`, in one unit. `promise` is the limit in words, `kept` whether it holds."""

    what: str
    ours: float
    unit: str
    anchor: float
    anchor_name: str
    promise: str = ""
    kept: bool = True

    def cells(self) -> tuple[str, ...]:
        ours, anchor = (f"{short(value)} {self.unit}".rstrip() for value in (self.ours, self.anchor))
        promise = self.promise + ("" if self.kept else ", NOT KEPT")
        return self.what, ours, f"{self.anchor_name}: {anchor}", short(self.ours / self.anchor), promise


def short(value: float) -> str:
    """Three digits are more than these figures are certain of."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def medians(times: int, *sides: Callable[[], float]) -> list[float]:
    """The medians of measurements that take turns, so that a slow moment of the machine meets each."""
    turns = [[measure() for measure in sides] for _ in range(times)]
    return [statistics.median(column) for column in zip(*turns, strict=True)]
