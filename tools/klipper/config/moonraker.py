"""The check of a moonraker.conf against Moonraker's own documentation, if that is a further source."""

import re
from datetime import datetime

from .. import pages
from ..settings import sources
from .checking import Checker, as_warning, repeated_settings
from .machine import merged
from .options import known_words
from .printer_cfg import HINT, Finding, Findings, PrinterConfig

CONFIGURATION_PAGE = "configuration.md"
CHANGES_PAGE = "user_changes.md"
SETTING = "KLIPPER_DOCS_EXTRA=moonraker=https://github.com/Arksine/moonraker.git"
# Marks of an option that Moonraker warns of.
DEPRECATED_MARK = r"\*DEPRECATED|\* DEPRECATED (?!FOR NEW)"
# The heading of a day's changes: `### October 14th 2022`.
DAY_HEADING = r"(?m)^### (\w+ \d+)\w+ (\d{4})$"


def is_moonrakers(config: PrinterConfig) -> bool:
    """True for a moonraker.conf or a part of one: it has a section that only Moonraker has, and none of
    another program."""
    kinds = {section.kind for section in config.sections.values()}
    # Sections of a printer, or of a program that connects to Moonraker.
    foreign = kinds.intersection("printer mcu gcode_macro stepper_x moonraker relay".split())
    return not foreign and not kinds.isdisjoint(known_words("moonraker")["sections"])


def findings(config: PrinterConfig) -> list[Finding]:
    """Check a moonraker.conf. If Moonraker's documentation is not among the sources, the only finding says
    which setting adds it."""
    for source in sources()[1:]:
        page, dated = (
            pages.page_at(source.prefix + name) for name in (CONFIGURATION_PAGE, CHANGES_PAGE)
        )
        if page and dated:
            # The last chapter has examples of mistakes.
            text = pages.page_text(page).partition("# Option Moved Deprecations")[0]
            entries = re.sub(DAY_HEADING, _entry_date, pages.page_text(dated))
            checker = Checker(text, entries, f"{text}\n# [history]")
            return merged([*config.problems, *_section_findings(checker, config)])
    message = f"This is Moonraker's configuration, not Klipper's: {SETTING} judges it by Moonraker's documentation"
    section = next(iter(config.sections.values()))
    return [section.finding("", message, HINT)]


def _entry_date(heading: re.Match[str]) -> str:
    """Write the heading of a day as Klipper's page dates an entry: `20221014: `."""
    return datetime.strptime(f"{heading[1]} {heading[2]}", "%B %d %Y").strftime("%Y%m%d: ")


def _section_findings(checker: Checker, config: PrinterConfig) -> Findings:
    """Judge each section: options that stand twice in a file keep Moonraker from starting; of unknown or
    deprecated sections and options it only warns."""
    for section in config.sections.values():
        for setting, _ in repeated_settings(section):
            yield section.finding(
                setting.name, f"Duplicate option '{setting.name}' in section '{section.name}'"
            )
        kind = checker.reference.kind_of(section.name)
        if not kind and section.kind not in checker.further_kinds:
            yield section.finding(
                "",
                f"Section '{section.name}' is not in Moonraker's documentation: not its own, or misspelt",
                HINT,
            )
            continue
        options = checker.options_of(kind, "")
        for name in section:
            option = options.option_named(name)
            if option and not re.search(DEPRECATED_MARK, option.text):
                continue
            finding = as_warning(checker.unknown_option(section, name, options))
            described = checker.reference.described(checker.reference.blocks)
            owners = [other.owner for other in described if other.key == name]
            if owners and not option:
                finding = finding._replace(nearest=f"{owners[0]} {name}")
            yield finding
