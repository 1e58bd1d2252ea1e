"""Checking a printer's configuration against the documentation."""

from pathlib import Path
from typing import Annotated

from tools.core.json_types import JsonObject
from tools.core.registry import TextOutput, command
from tools.core.schema import Limits
from tools.core.tool import Tool
from tools.klipper import pages, printer_data
from tools.klipper.config import checking, findings, printer_cfg

LONGEST = 4_000_000
"""Characters of a configuration."""


@Tool("check_config", title="Check printer.cfg", requires=pages.require_docs, envelope=True)
def check_config(
    config: Annotated[
        str | None, "the file's text; without it the printer's own file", Limits(max_length=LONGEST)
    ] = None,
    include: Annotated[dict[str, str] | None, "included files: name → text"] = None,
    path: Annotated[str | None, "another file beside printer.cfg", Limits(max_length=1000)] = None,
) -> JsonObject:
    """Check a printer.cfg as Klipper would: options, values, pins, what is missing, what names something that is not there;
    worst first. Without `config` the printer's own printer.cfg and its includes. No findings is not an all-clear: see
    `not_checked`.

    Source: Config_Reference.md and Config_Changes.md as they are in the checkout, kinds and bounds from Klipper's source. A
    finding is {line, file (of an include), section, option, level: error | warning | hint, message, nearest, also_in_lines};
    at most 3,000 bytes, `more` counts the others.
    """
    if config is None:
        inside = printer_data.folder()
        read = printer_cfg.read_files(inside / "config" / (path or "printer.cfg"), inside)
    else:
        read = printer_cfg.read(config, include)
    return findings.answer(read, checking.current().findings(read))


@command("check")
def check(file: str) -> TextOutput:
    """Check a printer.cfg and the files it includes: a line for each finding; exit status 1 if there are errors."""
    pages.require_docs()
    read = printer_cfg.read_files(Path(file))
    told = checking.current().findings(read)
    return TextOutput(findings.lines(file, read, told), 1 if findings.count(told, findings.ERROR) else 0)
