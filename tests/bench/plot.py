"""Bars as an SVG, drawn by hand: it must read well on GitHub's light and dark pages, with no script and no font."""

from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, LABELS, ROW, BAR, PADDING = 760, 250, 24, 14, 16
LONGEST = WIDTH - LABELS - 90
STYLE = """text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 }
.ours { fill: #1f6feb }
.anchor { fill: #8c959f }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .anchor { fill: #6e7681 } }"""


@dataclass(frozen=True)
class Panel:
    """`bars` are (label, value, whether it is pi-mcp's)."""

    title: str
    unit: str
    bars: list[tuple[str, float, bool]]


def svg(panels: list[Panel], about: str) -> str:
    """`about` says in words what is to be seen."""
    parts, top = [], PADDING
    for panel in panels:
        drawn, top = _draw(panel, top)
        parts += drawn
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" role="img">'
    return "\n".join([head, f"<title>{escape(about)}</title>", f"<style>{STYLE}</style>", *parts, "</svg>"]) + "\n"


def _draw(panel: Panel, top: int) -> tuple[list[str], int]:
    """The elements, and where the next panel may begin."""
    longest = max(value for _, value, _ in panel.bars)
    parts = [f'<text class="title" x="0" y="{top + 12}">{escape(panel.title)}</text>']
    top += ROW + 4
    for label, value, ours in panel.bars:
        length = max(1, round(value / longest * LONGEST))
        parts += [
            f'<text x="{LABELS - 8}" y="{top + 12}" text-anchor="end">{escape(label)}</text>',
            f'<rect class="{"ours" if ours else "anchor"}" x="{LABELS}" y="{top}" width="{length}" height="{BAR}" rx="2"/>',
            f'<text x="{LABELS + length + 8}" y="{top + 12}">{value:,.0f} {escape(panel.unit)}</text>',
        ]
        top += ROW
    return parts, top + PADDING
