"""The data that the page of a printer draws and no model reads."""

import math
import re
from itertools import chain
from pathlib import Path
from typing import Any

from tools.core.json_types import Answer, JsonObject
from tools.core.mcp_apps import Page
from tools.klipper.config.machine import cut_between_words
from tools.klipper.config.printer_cfg import Finding, PrinterConfig

# The entry of `_meta` with the page's data.
DATA = "pi-mcp/printer"
# Findings that the page lists; the others are counted.
MOST_FINDINGS = 400
LONGEST_VALUE = 60
LONGEST_MESSAGE = 240
# Other lines with the same mistake that are named.
MOST_OTHER_LINES = 8
ALSO_IN_LINES = {"en": "also in lines", "ru": "и в строках"}
# Points of a mesh in one direction.
MOST_POINTS = 60
# Points of a spectrum, and the highest frequency of interest.
MOST_FREQUENCIES = 200
HIGHEST_HZ = 150
# A power is drawn in thousandths of the highest one.
FULL_SCALE = 1000

# A bound without the zeros that Klipper writes after the point.
BOUND = r"(-?\d+(?:\.\d*[1-9])?)\S*"
# The beginning of most messages.
OPTION_IN_MESSAGE = re.compile(
    r"(?:Unable to parse option|Option) '([^']*)' in section '([^']*)':? "
)
RUSSIAN_MESSAGES = {
    r"must be specified.*": "нужно указать",
    rf"must be above {BOUND}.*": "должно быть больше {}",
    rf"must be below {BOUND}.*": "должно быть меньше {}",
    rf"must have minimum of {BOUND}.*": "должно быть не меньше {}",
    rf"must have maximum of {BOUND}.*": "должно быть не больше {}",
    r"must have (\d+) elements, not '(.*)'": "нужно значений: {}, а не «{}»",
    r"expected a number, not '(.*)'": "нужно число, а не «{}»",
    r"expected a whole number, not '(.*)'": "нужно целое число, а не «{}»",
    r"(?:Option '[^']*' )?is not valid.*": "такого параметра здесь нет",
    r"Choice '(.*)' for option .* is not a valid choice: one of (.+)": "«{}» не подходит, можно только {}",
    r"Section '(.*)' is not a valid config section.*": "такого раздела нет",
    r"Unknown config object '(.*)'": "«{}» нигде не описан",
    r"pin (\S+) used multiple times in config.*": "вывод {} занят дважды",
}


class DrawnAnswer(Answer):
    """An answer with the data that only the page draws."""

    def __init__(self, answer: JsonObject, **drawn: Any):
        super().__init__(answer)
        self.drawn = drawn


def _drawn(answer: JsonObject) -> JsonObject:
    return {DATA: answer.drawn} if isinstance(answer, DrawnAnswer) else {}


FILE = Path(__file__).with_name("printer.html")
# One page with two addresses: a client may have one of the toolsets without the other.
CONFIG_PAGE = Page("ui://klipper/printer", FILE, _drawn, notes=())
PRINTER_PAGE = Page("ui://printer/printer", FILE, _drawn, notes=())


def findings(config: PrinterConfig, found: list[Finding]) -> list[JsonObject]:
    """The findings with the values that stand in the file."""
    listed = []
    for finding in found[:MOST_FINDINGS]:
        section = config.sections.get(finding.section)
        value = section.value(finding.option) if section else ""
        text = f"{finding.option}: {cut_between_words(' '.join(value.split()), LONGEST_VALUE)}".removesuffix(
            ": "
        )
        listed.append(
            {
                "line": finding.line,
                "count": 1 + len(finding.also),
                "file": finding.file,
                "level": finding.level,
                "section": finding.section if finding.option else "",
                "text": text if finding.option else f"[{finding.section}]",
                "message": cut_between_words(finding.message, LONGEST_MESSAGE),
                "says": in_words(finding),
            }
        )
    return listed


def in_words(finding: Finding) -> JsonObject:
    """Klipper's message in English and, if it is a common one, in Russian, without the option and section
    that stand beside it."""
    words = finding.message
    name = ""
    if match := OPTION_IN_MESSAGE.match(words):
        option, section = match.groups()
        words = words[match.end() :]
        name = "" if option == finding.option else f"{option}: "
        if section != finding.section:
            name = f"[{section}] {name}"
    says = {"en": words}
    for pattern, russian in RUSSIAN_MESSAGES.items():
        if match := re.fullmatch(pattern, words):
            says["ru"] = russian.format(*match.groups())
    others = ", ".join(map(str, finding.also[:MOST_OTHER_LINES]))
    for language, text in says.items():
        also = f" ({ALSO_IN_LINES[language]} {others})" if others else ""
        says[language] = f"{name}{cut_between_words(text, LONGEST_MESSAGE)}{also}"
    return says


def bed(matrix: Any) -> JsonObject | None:
    """The heights of a mesh in mm, the front first, null for what is not a number; the lowest and the
    highest. None if it is not a mesh, or too large to be drawn."""
    if not isinstance(matrix, list) or not 2 <= len(matrix) <= MOST_POINTS:
        return None
    rows = []
    for row in matrix:
        if (
            not isinstance(row, list)
            or len(row) != len(matrix[0])
            or not 2 <= len(row) <= MOST_POINTS
        ):
            return None
        rows.append(list(map(_height, row)))
    heights = [height for height in chain.from_iterable(rows) if height is not None]
    return {"rows": rows, "low": min(heights), "high": max(heights)} if heights else None


def _height(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return round(value, 4) if is_number and abs(value) < FULL_SCALE else None


def spectrum(powers: list[tuple[float, float]], shaped: list[float]) -> list[list[float]]:
    """Frequency in Hz, power without and with the shaper in thousandths of the highest power; `shaped` is
    empty if none was recommended."""
    highest = max(power for _, power in powers) or 1
    rows = []
    for place, (hz, power) in enumerate(powers):
        if hz <= HIGHEST_HZ:
            left = [round(FULL_SCALE * shaped[place] / highest)] if shaped else []
            rows.append([round(hz, 1), round(FULL_SCALE * power / highest), *left])
    return rows[:: math.ceil(len(rows) / MOST_FREQUENCIES) or 1]
