"""The data that the page of a printer draws and no model reads."""

import math
from itertools import chain
from pathlib import Path
from typing import Any

from tools.core.mcp_apps import Page
from tools.toolkit import Answer, JsonObject, filled

from ..config.machine import cut_between_words
from ..config.printer_cfg import Finding, PrinterConfig

# The entry of `_meta` with the page's data.
DATA = "pi-mcp/printer"
# A power is drawn in thousandths of the highest one.
FULL_SCALE = 1000


class DrawnAnswer(Answer):
    """An answer with the data that only the page draws."""

    def __init__(self, answer: JsonObject, **drawn: Any):
        super().__init__(answer)
        self.drawn = drawn


def _page_data(answer: JsonObject) -> JsonObject:
    return {DATA: answer.drawn} if isinstance(answer, DrawnAnswer) else {}


FILE = Path(__file__).with_name("printer.html")
# One page with two addresses: a client may have one of the toolsets without the other.
CONFIG_PAGE = Page("ui://klipper/printer", FILE, _page_data, notes=())
PRINTER_PAGE = Page("ui://printer/printer", FILE, _page_data, notes=())


def finding_entry(finding: Finding) -> JsonObject:
    """Write a finding as it is answered and drawn."""
    fields = finding._asdict()
    fields["message"] = cut_between_words(finding.message, 240)
    fields["also_in_lines"] = fields.pop("also")[:8]
    return filled(**fields)


def drawn_findings(config: PrinterConfig, findings: list[Finding]) -> list[JsonObject]:
    """Write findings for the page: each with the number of its lines and the value that stands in the
    file."""
    entries = []
    for finding in findings[:400]:
        section = config.sections.get(finding.section)
        value = section.value(finding.option) if section else ""
        shortened = cut_between_words(" ".join(value.split()), 60)
        entries.append(
            {**finding_entry(finding), "value": shortened, "count": 1 + len(finding.also)}
        )
    return entries


def bed(matrix: Any) -> JsonObject | None:
    """Round the heights of a mesh in mm, the front first, null for what is not a number; with the lowest and
    the highest. None if it is not a mesh, or too large to be drawn."""
    try:
        rows = [list(map(_height, row)) for row in matrix]
    except TypeError:
        return None
    heights = [height for height in chain.from_iterable(rows) if height is not None]
    widths = set(map(len, rows))
    sizes = {len(rows), *widths}
    if not heights or len(widths) > 1 or min(sizes) < 2 or max(sizes) > 60:
        return None
    return {"rows": rows, "low": min(heights), "high": max(heights)}


def _height(value: Any) -> float | None:
    is_height = isinstance(value, int | float) and abs(value) < 1000  # mm
    return round(value, 4) if is_height else None


def spectrum(powers: list[tuple[float, float]], shaped: list[float]) -> list[list[float]]:
    """List frequency in Hz, power without and with the shaper in thousandths of the highest power; `shaped`
    is empty if none was recommended."""
    highest = max(power for _, power in powers)
    rows = []
    for index, (hz, power) in enumerate(powers):
        if hz <= 150:  # higher ones are of no interest
            row = [round(hz, 1), round(FULL_SCALE * power / highest)]
            if shaped:
                row.append(round(FULL_SCALE * shaped[index] / highest))
            rows.append(row)
    # At most 200 points.
    return rows[:: math.ceil(len(rows) / 200) or 1]
