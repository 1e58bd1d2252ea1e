"""The configuration of Moonraker (moonraker.conf), held against Moonraker's own documentation if that is a
further source."""

import re
from datetime import datetime

from .. import pages
from ..settings import sources
from .checking import Checker, as_warning, repeated
from .machine import Remark, merged
from .options import known_words
from .printer_cfg import HINT, Finding, Findings, PrinterConfig

PAGE = "configuration.md"
CHANGES = "user_changes.md"
SETTING = "KLIPPER_DOCS_EXTRA=moonraker=https://github.com/Arksine/moonraker.git"
# The mark of an option that Moonraker warns of.
DEPRECATED = r"\*DEPRECATED|\* DEPRECATED (?!FOR NEW)"
# The heading of a day's changes: `### October 14th 2022`.
DAY_HEADING = r"(?m)^### (\w+ \d+)\w+ (\d{4})$"


def is_moonrakers(config: PrinterConfig) -> bool:
    """True for a moonraker.conf or a part of one: it has a section that only Moonraker has, and none of
    another program."""
    kinds = {section.kind for section in config.sections.values()}
    # Sections of a printer, or of a program that connects to Moonraker.
    others = kinds.intersection("printer mcu gcode_macro stepper_x moonraker relay".split())
    return not others and not kinds.isdisjoint(known_words("moonraker")["sections"])


def findings(config: PrinterConfig) -> list[Finding]:
    """The findings of a moonraker.conf. If Moonraker's documentation is not among the sources, the only
    finding says which setting adds it."""
    for source in sources()[1:]:
        page, dated = (pages.at(source.prefix + name) for name in (PAGE, CHANGES))
        if page and dated:
            # The last chapter has examples of mistakes.
            text = pages.page_text(page).partition("# Option Moved Deprecations")[0]
            entries = re.sub(DAY_HEADING, _entry_date, pages.page_text(dated))
            judge = Checker(text, entries, f"{text}\n# [history]")
            return merged([*config.problems, *_findings(judge, config)])
    message = f"This is Moonraker's configuration, not Klipper's: {SETTING} judges it by Moonraker's documentation"
    section = next(iter(config.sections.values()))
    return [Remark(section, "", message, HINT).finding()]


def _entry_date(heading: re.Match[str]) -> str:
    """The heading of a day as the date of an entry in Klipper's page: `20221014: `."""
    day = datetime.strptime(f"{heading[1]} {heading[2]}", "%B %d %Y")
    return day.strftime("%Y%m%d: ")


def _findings(checker: Checker, config: PrinterConfig) -> Findings:
    """The findings: options that stand twice in a file keep Moonraker from starting; of unknown or deprecated
    sections and options it only warns."""
    for section in config.sections.values():
        for setting, _ in repeated(section):
            message = f"Duplicate option '{setting.name}' in section '{section.name}'"
            yield Remark(section, setting.name, message).finding()
        kind = checker.reference.kind(section.name)
        if not kind and section.kind not in checker.others:
            message = f"Section '{section.name}' is not in Moonraker's documentation: not its own, or misspelt"
            yield Remark(section, "", message, HINT).finding()
            continue
        options = checker.options_of(kind, "")
        for name in section:
            option = options.option_named(name)
            if option and not re.search(DEPRECATED, option.text):
                continue
            finding = as_warning(checker.unknown(section, name, options).finding())
            described = checker.reference.described(checker.reference.blocks)
            owners = [other.owner for other in described if other.key == name]
            if owners and not option:
                finding = finding._replace(nearest=f"{owners[0]} {name}")
            yield finding
