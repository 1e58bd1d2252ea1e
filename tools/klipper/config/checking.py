"""A printer's configuration held against the reference."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from tools.klipper.config import changes, known, pins, values
from tools.klipper.config.blocks import KINEMATICS, STEPPER, Option
from tools.klipper.config.changes import Change, Entry
from tools.klipper.config.findings import ERROR, HINT, WARNING, Finding, Findings
from tools.klipper.config.printer_cfg import PrinterConfig, Section, Setting
from tools.klipper.config.reference import AXIS_STEPPER, SENSOR, SENSORS, Options, Reference

LONGEST_NAME = 60
# A word of the page on changes, among which an option's name may be.
WORD = re.compile(r"\w+")

# What stands before the placeholder of a name: `default_parameter_` of `default_parameter_<name>`.
BEFORE_PLACEHOLDER = re.compile(r"(\w+_)<\w+>")

# A text in quotes or backticks.
QUOTED = re.compile(r"[`\"]([^`\"\n]{1,60})[`\"]")

VIRTUAL = "z_virtual_endstop"
SENSOR_PIN = "sensor_pin"
NAMES = (SENSOR, "lcd_type")
"""Options whose values have been removed now and then."""

OWN_SENSORS = ("thermistor", "adc_temperature")
"""Sections that define a sensor by the name behind: it may have the name of one that Klipper had."""


class Checker:
    """Holds configurations against one state of the reference and of the page on changes."""

    def __init__(self, reference: Reference, entries: Sequence[Entry], others: Collection[str] = ()):
        """`others` are the sections that other pages name."""
        self.reference = reference
        self.others = frozenset(others) - set(reference.kinds)
        self.entries = entries
        self._changes: dict[tuple[str, str], Change | None] = {}

    def findings(self, config: PrinterConfig) -> Findings:
        """Everything there is to say of a configuration."""
        findings = Findings()
        for finding in self._all(config):
            findings.add(finding)
            if findings.full:
                break
        return findings

    def _all(self, config: PrinterConfig) -> Iterator[Finding]:
        for problem in config.problems:
            yield Finding(problem.line, problem.file, problem.section, "", ERROR, problem.message)
        check = _Check(self, config)
        for section in config.sections.values():
            yield from check.section(section)
        for before, use in pins.used_twice(config):
            message = f"pin {use.pin[:LONGEST_NAME]} used multiple times in config: also in [{_cut(before.section)}]"
            yield _finding(use.section, use.setting, HINT, message)

    def change(self, kind: str, option: str) -> Change | None:
        """What became of an option, looked for only if the page on changes has its name."""
        if option not in self.changed:
            option = next((pattern for pattern in self.patterns if option.startswith(pattern)), "")
        if not option:
            return None
        key = changes.subject(kind), option
        if key not in self._changes:
            self._changes[key] = changes.change(self.entries, kind, option)
        return self._changes[key]

    def gone(self, value: str) -> Change | None:
        """What became of a value, looked for only if the page on changes quotes it."""
        if value.lower() not in self.quoted:
            return None
        if ("", value) not in self._changes:
            self._changes["", value] = changes.change(self.entries, "", value)
        return self._changes["", value]

    @cached_property
    def quoted(self) -> set[str]:
        """What stands in quotes on the page on changes."""
        return {text.lower() for entry in self.entries for text in QUOTED.findall(entry.text)}

    @cached_property
    def changed(self) -> set[str]:
        """The words of the page on changes."""
        return {word.lower() for entry in self.entries for word in WORD.findall(entry.text)}

    @cached_property
    def patterns(self) -> list[str]:
        """How the names with a placeholder begin there: `default_parameter_`."""
        return [name for entry in self.entries for name in BEFORE_PLACEHOLDER.findall(entry.text)]

    @cached_property
    def names(self) -> set[str]:
        """What the reference gives as values of NAMES."""
        options = [option for block in self.reference.blocks for option in block.options if option.key in NAMES]
        return {name for option in options for name in (option.default, *option.text.split('"')[1::2])}

    @cached_property
    def owners(self) -> dict[str, list[str]]:
        """The kinds of sections that list an option by themselves."""
        owners: dict[str, list[str]] = {}
        for kind, blocks in self.reference.kinds.items():
            for option in {option.key for block in blocks for option in block.options}:
                owners.setdefault(option, []).append(kind)
        return owners

    @cached_property
    def sensors_without_pin(self) -> set[str]:
        """The values of `sensor_type` for which there is no `sensor_pin`."""
        blocks = [block for block in self.reference.blocks if block.group == SENSORS]
        options = [
            option
            for block in blocks
            if not any(option.key == SENSOR_PIN for option in block.options)
            for option in block.options
            if option.key == SENSOR
        ]
        return {name for option in options for name in (option.default, *option.text.split('"')[1::2])}


class _Check:
    """The check of one configuration."""

    def __init__(self, checker: Checker, config: PrinterConfig):
        self.checker = checker
        self.reference = checker.reference
        self.config = config
        printer = config.sections.get("printer")
        setting = printer.values().get(KINEMATICS) if printer else None
        self.kinematics = setting.value if setting else ""
        self.options: dict[tuple[str, bool], Options] = {}
        self.kinds: dict[str, str] = {}

    def section(self, section: Section) -> Iterator[Finding]:
        """What there is to say of a section; SAVE_CONFIG's own are Klipper's business."""
        if section.saved:
            return
        kind = self.kind(section.kind)
        if section.kind in self.checker.others:
            return
        if not kind or (kind == STEPPER and " " not in section.name):
            message = f"Section '{_cut(section.name)}' is not in Klipper's documentation: misspelt, or an extension's"
            yield Finding(section.line, section.file, _cut(section.name), "", HINT, message, self.reference.kinds)
            return
        options = self.options_of(section.kind)
        yield from self.twice(section)
        for setting in section.values().values():
            if not setting.saved:
                yield from self.setting(section, setting, options)
        yield from self.required(section, kind, options)

    def kind(self, word: str) -> str:
        """The documented kind of a section."""
        if word not in self.kinds:
            self.kinds[word] = self.reference.kind(word + " x")
        return self.kinds[word]

    def options_of(self, word: str) -> Options:
        """The options of the sections that begin with a word: the same for all words of a kind, axes aside."""
        kind = self.kind(word)
        key = kind, bool(AXIS_STEPPER.fullmatch(word))
        if key not in self.options:
            options = self.reference.options_of(word + " x", self.kinematics)
            self.options[key] = Options({**known.undocumented(kind), **options})
        return self.options[key]

    def setting(self, section: Section, setting: Setting, options: Options) -> Iterator[Finding]:
        """What there is to say of an option: whether it is one of the section's, then of its value."""
        option = options.find(setting.name)
        if option is None:
            yield self.unknown(section, setting, options)
            return
        if option.deprecated and (change := self.checker.change(section.kind, setting.name)):
            yield _changed(section, setting, change)
            return
        yield from self.special(section, setting)
        kind = values.kind(option.default, option.text)
        if not values.fits(setting.value, kind):
            message = f"Unable to parse option '{setting.name}' in section '{_cut(section.name)}': expected "
            shown = f"{values.expected(kind)}, not '{setting.value[:40]}'"
            yield _finding(section.name, setting, WARNING, message + shown)

    def unknown(self, section: Section, setting: Setting, options: Options) -> Finding:
        """An option that the section does not have: gone, or another one's, or misspelt."""
        name = setting.name
        if change := self.checker.change(section.kind, name):
            return _changed(section, setting, change)
        message = f"Option '{_cut(name)}' is not valid in section '{_cut(section.name)}'"
        if owners := self.checker.owners.get(name):
            message += f"; it is one of [{'], ['.join(owners[:3])}]{' and others' if len(owners) > 3 else ''}"
        return _finding(section.name, setting, ERROR, message, options.names)

    def special(self, section: Section, setting: Setting) -> Iterator[Finding]:
        """What there is to say of a few values that the reference describes in words."""
        if (section.kind, setting.name) == ("stepper_z", "position_endstop"):
            endstop = section.values().get("endstop_pin")
            if endstop and VIRTUAL in endstop.value:  # the probe knows where the bed is (Config_Changes, 2020-12-13)
                message = f"Option 'position_endstop' is not valid in section 'stepper_z' with {VIRTUAL}: remove it"
                yield _finding(section.name, setting, ERROR, message)
        elif (section.kind, setting.name) == ("printer", KINEMATICS):
            names = {block.kinematics for block in self.reference.blocks} - {""}
            if setting.value not in names:
                message = f"Kinematics '{_cut(setting.value)}' is not in Klipper's documentation: one of {', '.join(sorted(names))}"
                yield _finding(section.name, setting, WARNING, message)
        elif change := self.gone(setting):
            yield _changed(section, setting, change, f"Value '{setting.value}' of option")

    def gone(self, setting: Setting) -> Change | None:
        """What became of a value, such as a sensor's name, that the reference does not have."""
        if setting.name not in NAMES or len(setting.value) > LONGEST_NAME or setting.value in self.checker.names:
            return None
        if any(f"{kind} {setting.value}" in self.config.sections for kind in OWN_SENSORS):
            return None
        return self.checker.gone(setting.value)

    def twice(self, section: Section) -> Iterator[Finding]:
        """The options that stand in a file twice; in an included file and in the one that includes it, it is meant so."""
        first: dict[tuple[str, str], Setting] = {}
        for setting in section.settings:
            before = first.setdefault((setting.name, setting.file), setting)
            if before is setting or (before.value == setting.value and setting.saved):
                continue
            holds = "the saved value is not used" if setting.saved and not before.saved else "the last one holds"
            message = f"Option '{_cut(setting.name)}' stands twice in section '{_cut(section.name)}'"
            yield _finding(section.name, setting, WARNING, f"{message}, first in line {before.line}: {holds}")

    def required(self, section: Section, kind: str, options: Options) -> Iterator[Finding]:
        """The options that are missing, for a kind that the reference describes in one place."""
        level, unless = (HINT, ", unless an included file has it") if self.config.missing else (ERROR, "")
        present = {setting.name for setting in section.settings}
        for option in self.must(kind):
            if option.key in present or self.spared(section, kind, option.key, present):
                continue
            message = f"Option '{option.name}' in section '{_cut(section.name)}' must be specified{unless}"
            yield Finding(section.line, section.file, _cut(section.name), option.name, level, message)

    def must(self, kind: str) -> Iterator[Option]:
        """The options that a section of a kind has to have: asked for in one place, and given in every example."""
        blocks = self.reference.kinds[kind]
        described = [block for block in blocks if any(option.text for option in block.options)]
        if len(described) == 1 and (len(blocks) == 1 or not AXIS_STEPPER.fullmatch(kind)):
            everywhere = set.intersection(*({option.key for option in block.options} for block in blocks))
            yield from (option for option in described[0].options if option.required and option.key in everywhere)

    def spared(self, section: Section, kind: str, key: str, present: Collection[str]) -> bool:
        """Whether a required option is not needed because of another one."""
        if key == SENSOR_PIN and SENSOR in present:
            return section.values()[SENSOR].value in self.checker.sensors_without_pin
        return any(key == option and other in present for option, other in known.alternatives(kind))


def _changed(section: Section, setting: Setting, change: Change, subject: str = "Option") -> Finding:
    level = WARNING if change.deprecated else ERROR
    what = "is deprecated" if change.deprecated else "is gone"
    where = f"{subject} '{_cut(setting.name)}' in section '{_cut(section.name)}'"
    message = f"{where} {what}, {change.date}: {change.sentence}"
    return _finding(section.name, setting, level, message)._replace(nearest=change.successor)


def _finding(section: str, setting: Setting, level: str, message: str, names: Collection[str] = ()) -> Finding:
    return Finding(setting.line, setting.file, _cut(section), _cut(setting.name), level, message, names)


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
