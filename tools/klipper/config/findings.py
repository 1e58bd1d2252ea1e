"""The findings of a check, and how they are told: worst first, those alike together."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from tools.core.json_types import JsonObject, compact_json
from tools.klipper.config.printer_cfg import PrinterConfig, Section

ERROR, WARNING, HINT = LEVELS = ("error", "warning", "hint")
MOST_FINDINGS = 1000
"""A check ends after so many: nobody reads a tenth of them."""
LONGEST_NAME = 60
MOST_MISTAKES = 2
"""Letters by which a name may differ from one that was meant; a wrong advice is worse than none."""

LIMIT = 3000
"""Characters of an answer as JSON."""
LONGEST_MESSAGE = 240
MOST_NAMES, MOST_LINES_TOLD = 5, 8
ALWAYS = "whether the board has each pin, the wiring, and values that Klipper takes but your printer does not"


class Finding(NamedTuple):
    """Something to look at: where, how bad, what, and a name that may have been meant. `also`: lines with the same."""

    line: int
    file: str
    section: str
    option: str
    level: str
    message: str
    nearest: str = ""
    also: tuple[int, ...] = ()


def at(section: Section, option: str, message: str, level: str = ERROR, near: str = "") -> Finding:
    """A finding about an option, or, if the section has none of that name, about the section."""
    place = section.values.get(option) or section
    return Finding(place.line, place.file, cut(section.name), cut(option), level, message, near)


def together(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, errors first, each level in the order of files and lines; one for those that differ only in their
    section's name."""
    groups: dict[tuple[str, str, str, str], list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: finding.line):
        kind = finding.section.partition(" ")[0]
        message = finding.message.replace(finding.section, kind) if finding.section else finding.message
        groups.setdefault((finding.level, finding.file, finding.option, message), []).append(finding)
    ordered = [first._replace(also=tuple(dict.fromkeys(e.line for e in others))) for first, *others in groups.values()]
    return sorted(ordered, key=lambda finding: (LEVELS.index(finding.level), finding.file, finding.line))


def count(findings: Sequence[Finding], level: str) -> int:
    """The number of findings of a level, those told together as one."""
    return sum(finding.level == level for finding in findings)


def nearest(name: str, names: Collection[str], most: int = MOST_MISTAKES) -> str:
    """The name that differs from this one by so few letters that it was meant: none of at most three letters is."""
    from tools.klipper.search.spelling import distance

    most = min(most, (len(name) - 1) // 3)
    near = [(distance(name.lower(), other, most), other) for other in names if abs(len(other) - len(name)) <= most]
    return min(((steps, other) for steps, other in near if steps <= most), default=(0, ""))[1]


def cut(name: str) -> str:
    """A name that is not too long to be told."""
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def answer(config: PrinterConfig, findings: Sequence[Finding]) -> JsonObject:
    """The answer of check_config: as many findings as fit into LIMIT, worst first, and how many more there are."""
    report: JsonObject = {
        "sections": len(config.sections),
        "options": _options(config),
        **{f"{level}s": number for level in LEVELS if (number := count(findings, level))},
        "findings": [],
        "not_checked": not_checked(config),
    }
    left = LIMIT - _size(report) - len(',"more":99999999')
    for number, finding in enumerate(findings):
        also = finding.also
        entry = {
            **finding._asdict(),
            "file": finding.file[:80],
            "message": short(finding.message, LONGEST_MESSAGE),
            "also_in_lines": list(also[:MOST_LINES_TOLD]),
            "sections": len(also) + 1 if len(also) > MOST_LINES_TOLD else 0,
            "also": None,
        }
        entry = {name: value for name, value in entry.items() if value}
        left -= _size(entry) + 1
        if left < 0:
            return report | {"more": len(findings) - number}
        report["findings"].append(entry)
    return report


def _options(config: PrinterConfig) -> int:
    return sum(len(section.settings) for section in config.sections.values())


def _size(value: Any) -> int:
    """The bytes of a value as compact JSON."""
    return len(compact_json(value).encode("utf-8", "replace"))


def not_checked(config: PrinterConfig) -> list[str]:
    """The things that a check leaves out, each in a few words: an empty list of findings is no all-clear."""
    templates = sum(s.name.endswith("gcode") for section in config.sections.values() for s in section.settings)
    saved = sum(section.saved for section in config.sections.values())
    left_out = [ALWAYS]
    if config.missing:
        left_out.append(f"includes that were not given: {_names(config.missing)}")
    elif not {"printer", "mcu"} <= config.sections.keys():
        left_out.append("what other files of this configuration hold: it has no [printer] or no [mcu]")
    if config.unused:
        left_out.append(f"given, but not included: {_names(config.unused)}")
    if templates:
        left_out.append(f"the commands in {templates} G-Code options")
    if saved:
        left_out.append(f"{saved} sections that only SAVE_CONFIG wrote")
    return left_out


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(name[:60] for name in names[:MOST_NAMES]) + more


def lines(file: str, config: PrinterConfig, findings: Sequence[Finding]) -> str:
    """For people: `file:line: level: [section] message`, a line for each, then what was counted and what was left out."""
    shown = [_line(file, finding) for finding in findings]
    counts = ", ".join(f"{count(findings, level)} {level}s" for level in LEVELS)
    total = f"{len(config.sections)} sections, {_options(config)} options: {counts}"
    left_out = [f"not checked: {part}" for part in not_checked(config)]
    return "\n".join([*shown, total, *left_out])


def _line(file: str, finding: Finding) -> str:
    meant = f" (did you mean {finding.nearest}?)" if finding.nearest else ""
    also = f" (also in lines {', '.join(map(str, finding.also))})" if finding.also else ""
    section = f"[{finding.section}] " if finding.section not in finding.message else ""
    message = "".join(char if char.isprintable() else "?" for char in section + finding.message + meant + also)
    return f"{finding.file or file}:{finding.line}: {finding.level}: {message}"


def short(text: str, most: int) -> str:
    """A text cut between words."""
    if len(text) <= most:
        return text
    return text[: most - 1].rpartition(" ")[0].rstrip(",;: ") + "…"
