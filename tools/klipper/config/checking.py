"""The check of a printer's configuration against the documentation, section by section."""

# The order of the judgement of a section:
# 1. Sections that SAVE_CONFIG or a further source brings are left alone.
# 2. A section that the reference does not have is a plugin's, or misspelt. Its options are not judged.
# 3. An option that the reference does not have is gone (Config_Changes.md says so, with its date), or is
#    Marlin's, or is misspelt.
# 4. The value of an option that it has is held against Klipper's source (options.txt); an option that is not
#    there may have any value.
# 5. What is missing is an error only if no other file can have it.
# Then come the rules that look at several sections: motion.py and references.py.

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, islice

from tools.toolkit import checkpoint

from .. import pages
from ..search.spelling import nearest
from ..settings import sources
from . import changes, motion, options, reference, references, templates
from .machine import (
    KALICO_SECTIONS,
    MEASURING_KINDS,
    UNLESS_ELSEWHERE,
    Machine,
    merged,
)
from .options import known_words
from .printer_cfg import (
    ERROR,
    HINT,
    INCLUDE,
    PROFILE_PREFIXES,
    WARNING,
    ConfigSection,
    Finding,
    Findings,
    PrinterConfig,
    Setting,
)
from .reference import SENSOR, STEPPER, Option, Options, Reference

IS_KALICO = (
    "This configuration is Kalico's: KLIPPER_DOCS_URL=https://github.com/KalicoCrew/kalico.git checks it "
    "against Kalico's documentation; against Klipper's, no finding is certain"
)


def checker() -> "Checker":
    """Give the checker for the documentation as it is now: built once per process, and again after a page
    changed.

    Raises ToolError if a page is missing.
    """
    used = [pages.resolve(path) for path in (reference.REFERENCE_PAGE, changes.CHANGES_PAGE)]
    for source in sources()[1:]:
        if page := pages.page_at(source.prefix + reference.REFERENCE_PAGE):
            used.append(page)
    return _checker_of(tuple((page, os.stat(page.location).st_mtime_ns) for page in used))


@lru_cache(1)
def _checker_of(stamped: tuple[tuple[pages.DocsPage, int], ...]) -> "Checker":
    return Checker(*[pages.page_text(page) for page, _ in stamped])


class Checker:
    """Checks configurations against one state of the reference and of the page on changes."""

    def __init__(self, text: str, changes_text: str, *further: str):
        """`text` and `changes_text` are the two pages. Sections in the headings of `further` texts are known,
        too, though not their options."""
        self.reference = Reference(text)
        section_names = re.findall(r"(?m)^#+ `?\[(\w+)", "\n".join(further))
        self.further_kinds = set(section_names).difference(self.reference.kinds)
        self.entries = list(changes.entries_of_page(changes_text))
        # Values of `sensor_type` that Klipper or the reference has.
        self.sensors = set(known_words("sensor"))
        for option in self.reference.described(self.reference.blocks):
            if option.key == SENSOR:  # beside it, or in quotes
                self.sensors.update((option.default, *option.text.split('"')[1::2]))
        self.sensors.discard("")
        # A section's options are the same for all of a kind.
        self.options_of = lru_cache(self._options_of)

    def findings(self, config: PrinterConfig) -> list[Finding]:
        """All findings of a configuration, worst first."""
        machine = Machine(config, self.reference, self.sensors)
        findings: Findings = chain(
            config.problems,
            *[self._check_section(machine, section) for section in machine.values()],
            motion.findings(machine),
            references.findings(machine),
        )
        kalico = machine.kalico_section()
        if kalico and not self.reference.kind_of(KALICO_SECTIONS[0]):
            warning = kalico.finding("", IS_KALICO, WARNING)
            findings = chain([warning], map(as_warning, findings))
        if config.absent:  # findings that only follow from the missing include are dropped
            findings = (
                finding for finding in findings if not finding.message.endswith(UNLESS_ELSEWHERE)
            )
        return merged(islice(findings, 1000))  # nobody reads a tenth of them

    def errors(self, config: PrinterConfig) -> list[Finding]:
        """Findings with which Klipper would refuse to start."""
        return [finding for finding in self.findings(config) if finding.level == ERROR]

    def _options_of(self, kind: str, kinematics: str) -> Options:
        described = self.reference.options_of(kind, kinematics)
        for name in known_words("takes").get(kind, ()):
            described.setdefault(name, Option(name))
        return described

    def _check_section(self, machine: Machine, section: ConfigSection) -> Findings:
        """Judge a section; those that SAVE_CONFIG wrote are left to Klipper."""
        checkpoint()
        kind = self.reference.kind_of(" ".join(section.name.split()))
        if section.kind in self.further_kinds or section.name.startswith(PROFILE_PREFIXES):
            return
        if not kind or section.kind == INCLUDE.strip():
            yield from self._check_unknown_section(machine, section)
            return
        kind_options = self.options_of(kind, machine.kinematics)
        yield from _check_repeated(section)
        sensor = section.value(SENSOR)
        # A sensor that a plugin brings has options of its own.
        is_plugin = sensor and sensor not in self.sensors and machine.plugins
        for setting in section.values():
            checkpoint()
            option = kind_options.option_named(setting.name)
            if option:
                yield from self._check_setting(machine, section, setting, option)
            elif not is_plugin and not setting.saved:
                yield self.unknown_option(section, setting.name, kind_options)
        if not section.saved or not machine.has_other_probe(section):
            yield from _check_required(machine, section, kind_options)

    def _check_unknown_section(self, machine: Machine, section: ConfigSection) -> Findings:
        """Judge a section that the reference does not have."""
        if section.kind in known_words("bare")["sections"]:
            yield from (self.unknown_option(section, name, Options()) for name in section)
        elif machine.is_whole and section.kind in known_words("moonraker")["sections"]:
            yield section.finding(
                "",
                f"Section '{section.name}' is not a valid config section: it belongs in moonraker.conf",
            )
        elif not section.saved and section.kind not in known_words("kind"):
            suggestion = self._respelt(section)
            message = f"Section '{section.name}' is not in Klipper's documentation: "
            message += "misspelt?" if suggestion else "a plugin's, or misspelt; not judged"
            yield section.finding("", message, WARNING if suggestion else HINT, suggestion)

    def _respelt(self, section: ConfigSection) -> str:
        """Guess the name that a misspelt section was meant to have; "" if none is near."""
        if section.name.endswith(".cfg"):
            return INCLUDE + section.name.rpartition(INCLUDE.strip())[2].strip("_=: \t")
        kinds = {*self.reference.kinds, *known_words("bare")["sections"]}
        name = section.name.lower()
        words = name.split()
        # `[heater fan x]`, `[filament switch sensor x]`
        for count in (1, 2, 3):
            kind = "_".join(words[:count])
            suggestion = kind if kind in kinds else options.meant_by_marlin(kind)
            if suggestion := suggestion or nearest(kind, kinds):
                return " ".join([suggestion, *section.name.split()[count:]])
        # `[heater_fan_x]`
        for kind in sorted(kinds - {STEPPER}, reverse=True):
            if "-" not in known_words("kind").get(kind, "-") and name.startswith(f"{kind}_"):
                is_plugins = section.label or section.keys() - self.options_of(kind, "").keys()
                return "" if is_plugins else f"{kind} {section.name[len(kind) + 1 :]}"
        return ""

    def _check_setting(
        self, machine: Machine, section: ConfigSection, setting: Setting, option: Option
    ) -> Findings:
        """Judge a documented option: whether it is deprecated, and its value."""
        name = setting.name
        value = setting.value
        fate = None
        # Sensors once had other names.
        if "deprecated" in option.text:
            fate = changes.fate_of(self.entries, section.kind, name)
        elif name == SENSOR and value not in machine.sensors:
            fate = changes.fate_of(self.entries, "", value)
        if fate:
            yield _fate_finding(section, name, fate)
        elif message := options.value_problem(section, option, setting):
            yield section.finding(name, message)
        # In some sections any option may be a template.
        templated = ("menu", "display_template", "display_data")
        is_template = name.endswith("gcode") or section.kind in templated
        if is_template and "{" in value and (mistake := templates.mistake(value)):
            yield section.finding(
                name, f"Error loading template '{section.name}:{name}': {mistake}"
            )

    def unknown_option(self, section: ConfigSection, name: str, kind_options: Options) -> Finding:
        """Say of an option that the section does not have: gone, of another firmware, or misspelt."""
        message = f"Option '{name}' is not valid in section '{section.name}'"
        if fate := changes.fate_of(self.entries, section.kind, name):
            return _fate_finding(section, name, fate)
        if name in known_words("kalico")["options"]:
            return section.finding(name, f"{message}: that is Kalico's")
        if klipper_name := options.meant_by_marlin(name):
            return section.finding(name, f"{message}: that is Marlin's", ERROR, klipper_name)
        names = [key for key in kind_options if "<" not in key]
        return section.finding(name, message, ERROR, nearest(name, names))


def as_warning(finding: Finding) -> Finding:
    """Lower an error to a warning."""
    return finding._replace(level=WARNING) if finding.level == ERROR else finding


def _check_required(machine: Machine, section: ConfigSection, kind_options: Options) -> Findings:
    """Find missing options; one that the reference no longer has is not missing."""
    stepper = section.name
    if section.kind == "dual_carriage":  # it needs what the stepper of its axis needs
        stepper = f"stepper_{section.value('axis')}"
    needed = options.required_options(section) + machine.axes.get(stepper, [])
    written = {*section}
    if "z_virtual_endstop" in section.value("endstop_pin"):  # the probe knows its position
        written.add("position_endstop")
    # A sensor that the table does not know is on an analog pin.
    sensor = section.value(SENSOR)
    is_analog = f"{SENSOR} {sensor}" not in known_words("needs") and sensor in machine.sensors
    if is_analog and section.kind.startswith(MEASURING_KINDS):
        needed.append("sensor_pin")
    missing = []
    for option in needed:
        names = option.lower().split("|")  # one of these
        if kind_options.option_named(names[0]) and written.isdisjoint(names):
            missing.append(option.partition("|")[0])
    demand = f"in section '{section.name}' must be specified"
    if len(missing) > 1 and not machine.is_whole:  # another file may have them
        yield machine.missing_from(section, missing[0], f"Options {', '.join(missing)} {demand}")
        return
    if section.saved:
        demand += ": only SAVE_CONFIG's block has this section"
    for option in missing:
        yield machine.missing_from(section, option, f"Option '{option}' {demand}")


def repeated_settings(section: ConfigSection) -> Iterator[tuple[Setting, Setting]]:
    """Yield settings of options that stand twice in one file, each with the first one; twice in an included
    file and its includer is deliberate."""
    by_place: dict[tuple[str, str], Setting] = {}
    for setting in section.settings:
        first = by_place.setdefault((setting.name, setting.file), setting)
        if first != setting:  # a file may be included twice
            yield setting, first


def _check_repeated(section: ConfigSection) -> Findings:
    for setting, first in repeated_settings(section):
        if first.value == setting.value and setting.saved:
            continue
        is_unused = setting.saved and not first.saved
        holds = "the saved value is not used" if is_unused else "the last one holds"
        message = f"Option '{setting.name}' is defined twice in section '{section.name}'"
        message += f", first in line {first.line}: {holds}"
        place = ConfigSection(section.name, setting.line, setting.file)
        yield place.finding(setting.name, message, WARNING)


def _fate_finding(section: ConfigSection, name: str, fate: changes.Fate) -> Finding:
    level, verdict = (WARNING, "is deprecated") if fate.deprecated else (ERROR, "is gone")
    return section.finding(
        name,
        f"Option '{name}' in section '{section.name}' {verdict}, {fate.entry.date}: {fate.sentence}",
        level,
        fate.successor,
    )
