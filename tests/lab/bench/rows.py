"""A figure beside its anchor, both measured in one run."""

from collections.abc import Iterable
from dataclasses import dataclass


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

    @property
    def ratio(self) -> float:
        return self.ours / self.anchor

    @property
    def promised(self) -> str:
        return self.promise + ("" if self.kept else ", NOT KEPT")

    def cells(self) -> tuple[str, ...]:
        return (
            self.what,
            self.worded(self.ours),
            f"{self.anchor_name}: {self.worded(self.anchor)}",
            short(self.ratio),
            self.promised,
        )

    def sentence(self) -> str:
        compared = f"{1 / self.ratio:.1f} times as much" if self.ratio < 0.5 else f"a ratio of {short(self.ratio)}"
        promised = f" (promised: {self.promised})" if self.promise else ""
        return f"{self.what}: **{self.worded(self.ours)}**; {self.anchor_name}: {self.worded(self.anchor)}, {compared}{promised}"

    def worded(self, value: float) -> str:
        return f"{short(value)} {self.unit}".rstrip()


def short(value: float) -> str:
    """Three digits are more than these figures are certain of."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


HEAD = ("what", "pi-mcp", "anchor", "ratio", "promised")
WIDTHS = (42, 14, 46, 7, 0)


def line(cells: Iterable[str]) -> str:
    return "".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()
