"""A printer's configuration as a whole: its sections, what is missing, and what the rules find in it."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .options import base, known_words
from .printer_cfg import ERROR, HINT, LEVELS, ConfigSection, Finding, PrinterConfig
from .reference import KINEMATICS, Reference

# The sections that make the object `probe`.
PROBES = "probe bltouch smart_effector load_cell_probe probe_eddy_current".split()
# The sections that other options call a heater, and those that measure with any sensor_type.
HEATERS = ("extruder", "heater_bed", "heater_generic")
MEASURING = (*HEATERS, "temperature_sensor", "temperature_fan")
# The beginnings of names of sections whose pins are not a micro-controller's.
CHIPS = tuple(
    "tmc sx1509 multi_pin adc_scaled replicape ads1x1x mcp4018 mcp4451 mcp4728 ad5206 dac084S085".split()
)
# Sections that only this fork of Klipper has.
KALICO = ("danger_options", "constants")
UNLESS = ", unless another file has it"


class Remark(NamedTuple):
    """A rule's judgement of an option of a section; `nearest` is the name that may have been meant."""

    section: ConfigSection
    option: str
    message: str
    level: str = ERROR
    nearest: str = ""

    def finding(self) -> Finding:
        """The finding: it stands at the option, or at the section if that has no such option."""
        section, option, message, level, nearest = self
        holder = section.get(option) or section
        return Finding(holder.line, holder.file, section.name, option, level, message, nearest)


Remarks = Iterator[Remark]


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, errors first, each level in the order of files and lines; one for those that differ only
    in their section's name."""
    groups: dict[tuple[str, ...], Finding] = {}
    for finding in sorted(findings, key=lambda one: (LEVELS.index(one.level), one.file, one.line)):
        kind = finding.section.partition(" ")[0]
        alike = finding.message.replace(f"'{finding.section}'", kind)
        key = (finding.level, finding.file, finding.option, alike)
        first = groups.setdefault(key, finding)
        if finding.line not in (first.line, *first.also):
            groups[key] = first._replace(also=(*first.also, finding.line))
    return list(groups.values())


class ParsedPrinter(dict[str, ConfigSection]):
    """The sections of a configuration by their names, with the questions that the rules ask of them."""

    def __init__(self, config: PrinterConfig, reference: Reference, sensors: set[str]):
        """`sensors` are the values of sensor_type that Klipper or the documentation has."""
        super().__init__(config.sections)
        # The includes that are not read.
        self.unread = [*config.missing, *config.absent]
        is_started = {"printer", "mcu"} <= self.keys()
        # True if nothing but macros can stand in another file, one of a program that brings them.
        programs = "mainsail|fluidd|timelapse|moonraker_obico|KAMP"
        self.is_whole = is_started and all(re.search(programs, name) for name in self.unread)
        self.kinematics = self["printer"].value(KINEMATICS)
        # The steppers that this kinematics needs, each with its extra required options.
        self.axes: dict[str, list[str]] = {}
        for stepper in known_words("axes").get(self.kinematics, ()):
            axis, *needed = stepper.split("+")
            self.axes[f"stepper_{axis}"] = needed
        # The names of the micro-controllers and of the heaters, as pins and options name them.
        self.mcus = {"mcu"}.union(section.name.removeprefix("mcu ") for section in self.of("mcu"))
        self.heaters = {section.name.split()[-1] for section in self.of(*HEATERS)}
        # The sections that define a temperature sensor, `[thermistor NAME]`, by its name.
        owners = self.of("thermistor", "adc_temperature")
        self.own_sensors = {section.label: section.name for section in owners}
        # The sensors that Klipper, the documentation, or a section defines.
        self.sensors = sensors.union(self.own_sensors)
        kinds = {section.kind for section in self.values()}
        # The kinds of sections that neither the documentation nor Klipper's source has: other programs may
        # bring what they name.
        others = kinds.difference(known_words("kind"))
        self.plugins = {kind for kind in others if not reference.kind(kind)}
        # The sections that are a chip, by the names that pins give them: `[sx1509 x]` is `x` or `sx1509_x`,
        # `[tmc2209 stepper_x]` is `tmc2209_stepper_x`.
        self.chips: dict[str, ConfigSection] = {}
        for section in self.values():
            if section.kind.startswith(CHIPS):
                words = section.name.split()
                self.chips |= dict.fromkeys((words[0], words[-1], "_".join(words)), section)

    def __missing__(self, name: str) -> ConfigSection:
        """An empty section in the place of one that is not there."""
        return ConfigSection(name)

    def of(self, *kinds: str) -> list[ConfigSection]:
        """The sections of some kinds, in order; those of a series (`extruder1`) are of one kind."""
        return [section for section in self.values() if base(section.kind) in kinds]

    def plugin_brings(self, what: str) -> bool:
        """True if a plugin may be the probe or accelerometer that is named, by the words in its name."""
        kinds = " ".join(self.plugins)
        return any(word in kinds for word in known_words("plugin")[what])

    def of_kalico(self) -> ConfigSection | None:
        """The section that shows that the configuration is Kalico's, by its name, a constant in it, or many
        options of that fork."""
        words = set(known_words("kalico")["options"])
        fewest = len(words) - 3  # fewer options may be a mistake
        for section in self.values():
            words -= section.keys()
            is_constant = any("${" in setting.value for setting in section.settings)
            if section.name in KALICO or is_constant or len(words) <= fewest:
                return section
        return None

    def has_other_probe(self, section: ConfigSection) -> bool:
        """True for a probe's section if something else is the probe."""
        others = [probe for probe in self.of(*PROBES) if not probe.saved]
        return section.kind in PROBES and bool(others or self.plugin_brings("probe"))

    def absent(
        self, section: ConfigSection, option: str, message: str, level: str = ERROR
    ) -> Remark:
        """The remark on something missing: a hint if another file may have it."""
        # These may stand in a file that brings macros.
        is_macros = section.kind in ("gcode_macro", "delayed_gcode", "virtual_sdcard")
        if self.is_whole and not (self.unread and is_macros):
            return Remark(section, option, message, level)
        return Remark(section, option, message + UNLESS, HINT)


def cut_between_words(text: str, most: int) -> str:
    """A text, cut between words if it is longer than `most` characters."""
    if len(text) <= most:
        return text
    return text[: most - 1].rpartition(" ")[0].rstrip(",;: ") + "…"
