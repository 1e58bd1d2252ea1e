"""A printer's configuration as a whole: its sections, what is missing, and what the rules find in it."""

import re
from collections.abc import Iterable

from .options import base_kind, known_words
from .printer_cfg import HINT, LEVELS, ConfigSection, Finding, PrinterConfig
from .reference import KINEMATICS, Reference

# Sections that make the object `probe`.
PROBE_KINDS = "probe bltouch smart_effector load_cell_probe probe_eddy_current".split()
# Sections that other options call a heater, and those that measure with any sensor_type.
HEATER_KINDS = ("extruder", "heater_bed", "heater_generic")
MEASURING_KINDS = (*HEATER_KINDS, "temperature_sensor", "temperature_fan")
# Beginnings of names of sections whose pins are not a micro-controller's.
CHIP_PREFIXES = tuple(
    "tmc sx1509 multi_pin adc_scaled replicape ads1x1x mcp4018 mcp4451 mcp4728 ad5206 dac084S085".split()
)
# Sections that only this fork of Klipper has.
KALICO_SECTIONS = ("danger_options", "constants")
UNLESS_ELSEWHERE = ", unless another file has it"


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings: errors first, each level in the order of files and lines; those that differ only in
    their section's name become one."""
    groups: dict[tuple[str, ...], Finding] = {}
    ranked = sorted(findings, key=lambda item: (LEVELS.index(item.level), item.file, item.line))
    for finding in ranked:
        kind = finding.section.partition(" ")[0]
        shared_message = finding.message.replace(f"'{finding.section}'", kind)
        key = (finding.level, finding.file, finding.option, shared_message)
        group = groups.setdefault(key, finding)
        if finding.line not in (group.line, *group.also):
            groups[key] = group._replace(also=(*group.also, finding.line))
    return list(groups.values())


class Machine(dict[str, ConfigSection]):
    """A configuration's sections by their names, with the answers that the rules need."""

    def __init__(self, config: PrinterConfig, reference: Reference, sensors: set[str]):
        """`sensors` are the values of sensor_type that Klipper or the documentation has."""
        super().__init__(config.sections)
        # Includes that are not read.
        self.unread = [*config.missing, *config.absent]
        is_started = {"printer", "mcu"} <= self.keys()
        # True if nothing but macros can stand in another file, one of a program that brings them.
        programs = "mainsail|fluidd|timelapse|moonraker_obico|KAMP"
        self.is_whole = is_started and all(re.search(programs, name) for name in self.unread)
        self.kinematics = self["printer"].value(KINEMATICS)
        # Steppers that this kinematics needs, each with its extra required options.
        self.axes = {}
        for stepper in known_words("axes").get(self.kinematics, ()):
            axis, *needed = stepper.split("+")
            self.axes[f"stepper_{axis}"] = needed
        # Names of the micro-controllers and of the heaters, as pins and options name them.
        self.mcus = {"mcu"}.union(
            section.name.removeprefix("mcu ") for section in self.sections_of("mcu")
        )
        self.heaters = {section.name.split()[-1] for section in self.sections_of(*HEATER_KINDS)}
        # Sections that define a temperature sensor, `[thermistor NAME]`, by its name.
        owners = self.sections_of("thermistor", "adc_temperature")
        self.defined_sensors = {section.label: section.name for section in owners}
        # Sensors that Klipper, the documentation, or a section defines.
        self.sensors = sensors.union(self.defined_sensors)
        kinds = {section.kind for section in self.values()}
        # Kinds of sections that neither the documentation nor Klipper's source has: other programs may
        # bring what they name.
        others = kinds.difference(known_words("kind"))
        self.plugins = {kind for kind in others if not reference.kind_of(kind)}
        # Sections that are a chip, by the names that pins give them: `[sx1509 x]` is `x` or `sx1509_x`,
        # `[tmc2209 stepper_x]` is `tmc2209_stepper_x`.
        self.chips: dict[str, ConfigSection] = {}
        for section in self.values():
            if section.kind.startswith(CHIP_PREFIXES):
                words = section.name.split()
                self.chips |= dict.fromkeys((words[0], words[-1], "_".join(words)), section)

    def __missing__(self, name: str) -> ConfigSection:
        """Give an empty section for one that is not there."""
        return ConfigSection(name)

    def sections_of(self, *kinds: str) -> list[ConfigSection]:
        """Sections of some kinds, in order; those of a series (`extruder1`) are of one kind."""
        return [section for section in self.values() if base_kind(section.kind) in kinds]

    def plugin_brings(self, subject: str) -> bool:
        """True if a plugin's name has a word that says that it may bring a probe or an accelerometer."""
        kinds = " ".join(self.plugins)
        return any(word in kinds for word in known_words("plugin")[subject])

    def kalico_section(self) -> ConfigSection | None:
        """Find the section that shows that this is Kalico's configuration: by its name, a constant in it, or
        many options of that fork."""
        words = set(known_words("kalico")["options"])
        fewest = len(words) - 3  # fewer options may be a mistake
        for section in self.values():
            words -= section.keys()
            is_constant = any("${" in setting.value for setting in section.settings)
            if section.name in KALICO_SECTIONS or is_constant or len(words) <= fewest:
                return section
        return None

    def has_other_probe(self, section: ConfigSection) -> bool:
        """True for [probe] if something else is the probe: Klipper reads the section of another kind all the
        same."""
        others = [probe for probe in self.sections_of(*PROBE_KINDS) if not probe.saved]
        return section.name == PROBE_KINDS[0] and bool(others or self.plugin_brings("probe"))

    def missing_from(self, section: ConfigSection, option: str, message: str) -> Finding:
        """A finding about something missing: a hint if another file may have it."""
        # These may stand in a file that brings macros.
        is_macros = section.kind in ("gcode_macro", "delayed_gcode", "virtual_sdcard")
        if self.is_whole and not (self.unread and is_macros):
            return section.finding(option, message)
        return section.finding(option, message + UNLESS_ELSEWHERE, HINT)


def cut_between_words(text: str, most: int) -> str:
    """Cut a text of more than `most` characters between two words."""
    if len(text) <= most:
        return text
    return text[: most - 1].rpartition(" ")[0].rstrip(",;: ") + "…"
