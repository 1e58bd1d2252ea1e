"""The check of a printer's configuration against the documentation, its findings worst first."""

from collections import Counter
from pathlib import Path
from typing import Annotated

from tools.toolkit import JsonObject, Limits, TextOutput, command, compact_json

from . import pages, printers
from .config import checking, moonraker, printer_cfg
from .config.machine import cut_between_words
from .config.printer_cfg import ERROR, LEVELS, Finding, PrinterConfig
from .page import printer_page

# Findings that are tried in an answer; more never fit.
MOST_FINDINGS = 40
# Bytes of an answer.
LARGEST_ANSWER_BYTES = 3000
# Characters of the names of includes that were not given.
LONGEST_NAMES = 240
# Mistakes that are named in the answer of another tool.
MOST_MISTAKES = 4
# Characters of such a mistake.
LONGEST_MISTAKE = 140


@pages.DocsTool(
    "check_config",
    title="Check printer.cfg",
    page=printer_page.CONFIG_PAGE,
)
def check_config(
    config: Annotated[
        str,
        "the file's text; without it the printer's own file",
        Limits(max_length=printer_cfg.LARGEST_CONFIG),
    ] = "",
    include: Annotated[dict[str, str] | None, "included files: name → text"] = None,
    path: Annotated[str, "another file beside printer.cfg", Limits(max_length=1000)] = "",
    printer: printers.PrinterName = "",
) -> JsonObject:
    """Check a printer.cfg as Klipper would: options, values, pins, what is missing, what names something that
    is not there; worst first. Without `config` the printer's own printer.cfg and its includes. Also a
    moonraker.conf. No findings is not an all-clear: see `not_checked`.

    Source: Config_Reference.md and Config_Changes.md as they are in the checkout, kinds and bounds from
    Klipper's source. A finding is {line, file (of an include), section, option, level: error | warning |
    hint, message, nearest, also_in_lines}; at most 3,000 bytes, `more` counts the others.
    """
    if not config:
        source = printers.printer_named(printer, "; or send the file's text as `config`")
        parsed = source.config(path or "printer.cfg")
    else:
        parsed = printer_cfg.from_text(config, include)
    findings = _findings(parsed)
    # As many of them as fit, worst first, and how many more there are.
    entries = [printer_page.finding_entry(finding) for finding in findings[:MOST_FINDINGS]]
    report = {
        "success": True,
        "sections": len(parsed.sections),
        "options": parsed.options,
        **Counter(f"{finding.level}s" for finding in findings),
        "findings": entries,
        "not_checked": not_checked(parsed),
    }
    while len(compact_json(report).encode("utf-8", "replace")) > LARGEST_ANSWER_BYTES:
        entries.pop()
        report["more"] = len(findings) - len(entries)
    return printer_page.DrawnAnswer(report, findings=printer_page.drawn_findings(parsed, findings))


@command("check")
def check_file(file: str) -> TextOutput:
    """Check a printer.cfg and the files it includes: a line for each finding; exit status 1 if there are
    errors."""
    pages.require_docs()
    config = printer_cfg.from_files(Path(file))
    findings = _findings(config)
    # `file:line: level: [section] message`, a line for each.
    lines = []
    for finding in findings:
        message = finding.message
        if finding.section not in message:
            message = f"[{finding.section}] {message}"
        if finding.nearest:
            message += f" (did you mean {finding.nearest}?)"
        if finding.also:
            message += f" (also in lines {', '.join(map(str, finding.also))})"
        message = "".join(char if char.isprintable() else "?" for char in message)
        lines.append(f"{finding.file or file}:{finding.line}: {finding.level}: {message}")
    # The counts, and what was left out.
    counts = Counter(finding.level for finding in findings)
    summary = ", ".join(f"{counts[level]} {level}s" for level in LEVELS)
    lines.append(f"{len(config.sections)} sections, {config.options} options: {summary}")
    lines += [f"not checked: {subject}" for subject in not_checked(config)]
    return TextOutput("\n".join(lines), int(counts[ERROR] > 0))


def _findings(config: PrinterConfig) -> list[Finding]:
    if moonraker.is_moonrakers(config):
        return moonraker.findings(config)
    return checking.checker().findings(config)


def not_checked(config: PrinterConfig) -> list[str]:
    """Say what a check leaves out, in a few words each: an empty list of findings is not an all-clear."""
    if moonraker.is_moonrakers(config):
        return ["the values of its options, and components that are not Moonraker's own"]
    left_out = [
        "whether the board has each pin, the wiring, and values that Klipper takes but your printer does not",
        "the commands in G-Code options, and sections that only SAVE_CONFIG wrote",
    ]
    if config.missing:
        names = cut_between_words(", ".join(config.missing), LONGEST_NAMES)
        left_out.append(f"includes that were not given: {names}")
    elif not {"printer", "mcu"} <= config.sections.keys():
        left_out.append(
            "what other files of this configuration hold: it has no [printer] or no [mcu]"
        )
    return left_out


def mistake_lines(findings: list[Finding], *, placed: bool = True) -> list[str]:
    """Write a line for each of the first findings, with its place in the files if `placed`, and a line that
    counts the others."""
    lines = []
    for finding in findings[:MOST_MISTAKES]:
        place = f"{finding.file or 'printer.cfg'}:{finding.line}: " if placed else ""
        lines.append(place + cut_between_words(finding.message, LONGEST_MISTAKE))
    if len(findings) > MOST_MISTAKES:
        lines.append(f"and {len(findings) - MOST_MISTAKES} more: check_config shows them")
    return lines
