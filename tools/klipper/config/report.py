"""What a check found, for a program in few characters and for a person a line each."""

from collections.abc import Sequence
from typing import Any

from tools.core.files import compact_json
from tools.core.json_types import JsonObject
from tools.klipper.config.findings import ERROR, HINT, LEVELS, MOST_FINDINGS, WARNING, Finding, Findings, nearest
from tools.klipper.config.printer_cfg import MOST_LINES, PrinterConfig

LIMIT = 3000
"""Characters of an answer as JSON."""

LONGEST_MESSAGE = 240
MOST_NAMES = 5
COLOURS = {ERROR: "31", WARNING: "33", HINT: "36"}


def answer(config: PrinterConfig, findings: Findings) -> JsonObject:
    """The answer of check_config: as many findings as fit into LIMIT, worst first, and how many more there are."""
    report: JsonObject = {
        "sections": len(config.sections),
        "options": config.options,
        **{f"{level}s": count for level in LEVELS if (count := findings.count(level))},
        "findings": [],
        "not_checked": not_checked(config, findings),
    }
    left = LIMIT - _size(report) - len(',"more":99999999')
    ordered = findings.worst_first()
    for finding in ordered:
        entry = _entry(finding)
        left -= _size(entry) + 1
        if left < 0:
            break
        report["findings"].append(entry)
    if more := len(ordered) - len(report["findings"]):
        report["more"] = more
    return report


def _size(value: Any) -> int:
    """The bytes of a value as compact JSON."""
    return len(compact_json(value).encode("utf-8", "replace"))


def _entry(finding: Finding) -> JsonObject:
    entry = {
        "line": finding.line,
        "file": finding.file[:80],
        "section": finding.section,
        "option": finding.option,
        "level": finding.level,
        "message": short(finding.message, LONGEST_MESSAGE),
        "nearest": nearest(finding),
    }
    return {name: value for name, value in entry.items() if value}


def not_checked(config: PrinterConfig, findings: Findings) -> list[str]:
    """What a check leaves out, each in a few words."""
    templates = sum(s.name.endswith("gcode") for section in config.sections.values() for s in section.settings)
    saved = sum(section.saved for section in config.sections.values())
    left_out = []
    if config.missing:
        left_out.append(f"includes that were not given: {_names(config.missing)}")
    if config.unused:
        left_out.append(f"given, but not included: {_names(config.unused)}")
    if templates:
        left_out.append(f"the commands in {templates} G-Code options")
    if saved:
        left_out.append(f"{saved} sections that only SAVE_CONFIG wrote")
    if config.cut:
        left_out.append(f"what follows the first {MOST_LINES} lines")
    if findings.full:
        left_out.append(f"what follows the first {MOST_FINDINGS} findings")
    return left_out


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(name[:60] for name in names[:MOST_NAMES]) + more


def lines(file: str, config: PrinterConfig, findings: Findings, *, colours: bool) -> str:
    """For people: `file:line: level: [section] message`, a line for each, then what was counted and what was left out."""
    shown = [_line(file, finding, colours) for finding in findings.worst_first()]
    counts = ", ".join(f"{findings.count(level)} {level}s" for level in LEVELS)
    total = f"{len(config.sections)} sections, {config.options} options: {counts}"
    left_out = [f"not checked: {part}" for part in not_checked(config, findings)]
    return "\n".join([*shown, total, *left_out])


def _line(file: str, finding: Finding, colours: bool) -> str:
    level = f"\033[{COLOURS[finding.level]}m{finding.level}\033[0m" if colours else finding.level
    meant = f" (did you mean {name}?)" if (name := nearest(finding)) else ""
    section = f"[{finding.section}] " if finding.section not in finding.message else ""
    message = "".join(char if char.isprintable() else "?" for char in section + finding.message + meant)
    return f"{finding.file or file}:{finding.line}: {level}: {message}"


def short(text: str, most: int) -> str:
    """A text cut between words."""
    if len(text) <= most:
        return text
    return text[: most - 1].rpartition(" ")[0].rstrip(",;: ") + "…"
