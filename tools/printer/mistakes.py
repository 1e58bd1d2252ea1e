"""Mistakes in a printer's configuration, in few words."""

from collections.abc import Sequence

from tools.core.errors import ToolError
from tools.klipper.config import checking
from tools.klipper.config.machine import short
from tools.klipper.config.printer_cfg import ERROR, Finding, PrinterConfig

MOST, LONGEST = 4, 140
NO_DOCS = "not checked: the Klipper documentation is not here, call sync_docs"


def errors(config: PrinterConfig) -> list[Finding] | None:
    """The errors in a configuration, None while there is no documentation to check it by."""
    try:
        findings = checking.current().findings(config)
    except ToolError:
        return None
    return [finding for finding in findings if finding.level == ERROR]


def lines(findings: Sequence[Finding] | None, *, placed: bool = True) -> list[str]:
    """A line for each of the first findings, with its place in the files if that is `placed`, and one that
    counts the others."""
    if findings is None:
        return [NO_DOCS]
    listed = []
    for finding in findings[:MOST]:
        place = f"{finding.file or 'printer.cfg'}:{finding.line}: " if placed else ""
        listed.append(place + short(finding.message, LONGEST))
    if len(findings) > MOST:
        listed.append(f"and {len(findings) - MOST} more: check_config shows them")
    return listed
