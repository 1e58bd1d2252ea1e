"""Checking a printer's configuration against the documentation."""

import glob
import os
import re
import sys
from pathlib import Path
from typing import Annotated

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.registry import Printed, command
from tools.core.schema import Limits
from tools.core.tool import Tool
from tools.klipper import pages
from tools.klipper.config import changes, printer_cfg, reference, report
from tools.klipper.config.checking import Checker
from tools.klipper.config.findings import ERROR

COMMANDS = "G-Codes.md"
SECTION = re.compile(r"^#+ \[(\w+)\]", re.MULTILINE)
"""A heading that names a section: some have commands and no options (`### [display_status]`)."""

LONGEST = 4_000_000
"""Characters of a configuration; its includes together may have as many."""

MOST_FILES = 200
# A line that includes other files, with their pattern as a group.
INCLUDE = re.compile(r"^\[include ([^\]\n]{1,500})\]", re.MULTILINE)


@Tool("check_config", requires=pages.require_docs)
def check_config(
    config: Annotated[str, "the file's text", Limits(max_length=LONGEST)],
    include: Annotated[dict[str, str] | None, "included files: name → text"] = None,
) -> JsonObject:
    """Check a printer.cfg against the Klipper docs: unknown, removed, missing, double options, values, pins; worst first.

    Source: Config_Reference.md and Config_Changes.md as they are in the checkout. A finding is {line, file (of an include),
    section, option, level: error | warning | hint, message, nearest}; at most 3,000 bytes, `more` counts the others.
    """
    files = include or {}
    if sum(map(len, files.values())) > LONGEST:
        raise ToolError(
            f"The included files have more than {LONGEST} characters together",
            "Send the files of the configuration only.",
            code="TOO_LONG",
        )
    read = printer_cfg.read(config, files)
    return report.answer(read, checker().findings(read))


@command("check")
def check(file: str) -> Printed:
    """Check a printer.cfg and the files it includes: a line for each finding; exit status 1 if there are errors."""
    pages.require_docs()
    path = Path(file)
    text = _text(path)
    read = printer_cfg.read(text, _included(text, path.parent))
    findings = checker().findings(read)
    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return Printed(report.lines(file, read, findings, colours=colours), 1 if findings.count(ERROR) else 0)


def checker() -> Checker:
    """The check by the pages as they are now.

    Raises ToolError if a page is missing.
    """
    parsed = reference.Reference(pages.read(pages.resolve(reference.PAGE)))
    entries = changes.entries(pages.read(pages.resolve(changes.PAGE)))
    return Checker(parsed, entries, SECTION.findall(pages.read(pages.resolve(COMMANDS))))


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            text = file.read(LONGEST + 1)
    except OSError as error:
        raise ToolError(
            f"{path} cannot be read: {error.strerror}", "Name the printer.cfg to check.", code="UNREADABLE"
        ) from error
    if len(text) > LONGEST:
        raise ToolError(
            f"{path} has more than {LONGEST} characters",
            "No printer.cfg is that long: name another file.",
            code="TOO_LONG",
        )
    return text


def _included(text: str, folder: Path) -> dict[str, str]:
    """The files that a configuration includes, by what Klipper would look for in its folder, and those they include."""
    included: dict[str, str] = {}
    texts = [text]
    for text in texts:
        for pattern in INCLUDE.findall(text):
            for name in sorted(glob.glob(pattern.strip(), root_dir=folder))[:MOST_FILES]:
                path = folder / name
                if name not in included and len(included) < MOST_FILES and path.is_file():
                    included[name] = _text(path)
                    texts.append(included[name])
    return included
