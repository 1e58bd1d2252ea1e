"""Checks of names: references to sections and pins, required sections, macros."""

import ast
import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from tools.klipper.config.machine import HEATERS, PROBES, ParsedPrinter, cut, finding_at
from tools.klipper.config.options import table, words_of
from tools.klipper.config.printer_cfg import HINT, WARNING, Finding, Section, Setting
from tools.klipper.config.reference import SENSOR
from tools.klipper.search.spelling import nearest

OWN_SENSORS = ("thermistor", "adc_temperature")
"""Sections that define a sensor by the name behind."""
MEASURING = (*HEATERS, "temperature_sensor", "temperature_fan")
CAN_UUID = re.compile(r"[0-9a-f]{12}$")
# The name of a sensor that only a plugin can have brought: a module's, `temperature_oams`.
MODULE = re.compile(r"[a-z][a-z_]*$")

SIGNS = "^~! "
"""Before the name of a pin: pulled up, pulled down, inverted."""
SHARED = tuple(
    "enable_pin endstop_pin spi_software_ i2c_software_ uart_pin tx_pin cs_pin select_pins".split()
)
"""Options whose pin several sections may name alike (klippy/pins.py: `share_type`)."""
UNUSED = ("diag_pin", "diag0_pin", "diag1_pin")
"""Options whose pin is taken only through a virtual endstop (klippy/extras/tmc.py)."""
# An option that names pins: `pin`, `step_pin`, `encoder_pins`.
PIN, LONGEST = re.compile(r"(^|_)pins?$"), 1000
OVERRIDE, ALIASES, ANALOG = "duplicate_pin_override", "board_pins", "analog_range"
PRIMARY = "mcu:"
# The pins of micro-controllers: AVR, STM32, SAM (PA1), LPC (P1.20), Beaglebone (P8_12, gpio0_23), RP2040
# (gpio4), Linux, Arduino.
FORM = re.compile(
    r"P[A-L]\d{1,2}(_C)?|P\d\.\d{1,2}|P\d_\d{1,2}|gpio(chip\d+/gpio)?\d+(_\d+)?|(ar|analog)\d{1,2}|PIN_\d+|AIN\d+|ADC_TEMPERATURE|None"
)
VARIABLE = "variable_"
# The name of a G-Code command with a number, which has rules of its own: `G28`, `M600.1`.
NUMBER = re.compile(r"[A-Z]\d+(\.\d+)?$")


# A command at the beginning of a line, long enough to be misspelt.
COMMAND = re.compile(r"^\s*([A-Z][A-Z_]{5,})(?=\s|$)", re.MULTILINE)


class Use(NamedTuple):
    """A pin where it is used: `chip` and `pin`, by its own name if it has an alias."""

    chip: str
    pin: str
    section: Section
    setting: Setting


def findings(machine: ParsedPrinter, sensors: set[str]) -> Iterator[Finding]:
    """Everything that these rules find; `sensors` are the documentation's sensor types."""
    yield from needed(machine)
    facts = table()
    kinds = {facts.base(section.kind) for section in machine.sections.values()}
    taken: set[str] = set()
    for kind in kinds & facts.commands.keys():
        taken.update(facts.commands[kind])
    macros: dict[str, Section] = {}
    for section in machine.sections.values():
        if section.kind == "gcode_macro":
            yield from macro(section, taken)
            before = macros.setdefault(section.name.upper(), section)
            if before is not section:
                name = section.name.upper().partition(" ")[2]
                message = f"gcode command {cut(name)} already registered: also in [{cut(before.name)}]"
                yield finding_at(section, "", message)
        if not section.saved and section.kind not in machine.plugins:
            yield from check_name(section)
            yield from check_references(machine, section)
            yield from check_components(machine, section, sensors)
    commands = set(chain.from_iterable(facts.commands.values()))
    commands.update(name.partition(" ")[2] for name in macros)
    for section in macros.values():
        yield from misspelt(section, machine.value(section.name, "gcode"), commands)
    probes = [section for section in machine.of(*PROBES) if not section.saved]
    for section in probes[1:]:
        already = f"Printer object 'probe' already created: there is [{probes[0].name}], too"
        yield finding_at(section, "", f"{already}; only one may be there")
    yield from pins(machine)


def needed(machine: ParsedPrinter) -> Iterator[Finding]:
    """`[printer]` and `[mcu]`, and the way to each micro-controller."""
    option, gone, there = "serial", "mcu", machine.sections.get("printer")
    if not there:
        option, gone, there = "kinematics", "printer", machine.sections.get("mcu")
    moving = machine.of("stepper", "extruder")
    if there and gone not in machine.sections and len(moving) > 1 and not machine.config.missing:
        message = f"Option '{option}' in section '{gone}' must be specified: there is no such section, unless another file has it"
        yield finding_at(there, option, message, WARNING)._replace(section=gone)
    for section in machine.of("mcu"):
        uuid = machine.value(section.name, "canbus_uuid")
        if uuid and not CAN_UUID.match(uuid.lower()):
            message = f"canbus_uuid in section '{section.name}' is not 12 hexadecimal digits: '{uuid[:40]}'"
            yield finding_at(section, "canbus_uuid", message, WARNING)


def check_name(section: Section) -> Iterator[Finding]:
    """A name behind the kind of section where there must be none, or none where there must be one."""
    kind, space, _ = section.name.partition(" ")
    sign = table().signs.get(table().base(kind), "?")
    if sign == ("-" if space else "+"):
        what = "takes no name" if space else "needs a name behind it"
        yield finding_at(
            section, "", f"Section '{cut(section.name)}' is not a valid config section: [{kind}] {what}"
        )


def check_references(machine: ParsedPrinter, section: Section) -> Iterator[Finding]:
    """Names of heaters, steppers, micro-controllers and accelerometers that are not there."""
    there = {"heater": machine.heaters, "mcu": machine.mcus, "chip": machine.mcus}
    for place, (what, *default) in words_of("names").items():
        owner, option = place.split()
        if owner not in ("*", section.kind) or (what == "accelerometer" and machine.plugin_brings(what)):
            continue
        for name in _words(machine.value(section.name, option) or "".join(default)):
            if name not in there.get(what, machine.sections):
                yield machine.absent(section, option, _unknown_name(what, name))
    heater = section.name.partition(" ")[2]
    if section.kind == "verify_heater" and heater not in machine.heaters:
        yield machine.absent(section, "", _unknown_name("heater", heater))


def _unknown_name(what: str, name: str) -> str:
    return " ".join(words_of("unknown")[what]).format(name)


def _words(value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]


def check_components(machine: ParsedPrinter, section: Section, sensors: set[str]) -> Iterator[Finding]:
    """A temperature sensor that Klipper does not know or that has no pin, the colours of LEDs."""
    setting = section.values.get(SENSOR)
    if setting and section.kind.startswith(MEASURING):
        own = {f"{kind} {setting.value}" for kind in OWN_SENSORS}
        if setting.value in sensors or own & machine.sections.keys():
            if f"{SENSOR} {setting.value}" not in table().required:  # it is on an analog pin
                yield from machine.missing(section, "sensor_pin")
        elif not (machine.plugins and MODULE.match(setting.value)):
            yield machine.absent(section, SENSOR, f"Unknown temperature sensor '{cut(setting.value)}'")
    order = machine.value(section.name, "color_order")
    if not all("".join(sorted(word)) in ("BGR", "BGRW") for word in _words(order)):
        yield finding_at(section, "color_order", f"Invalid color_order '{order[:40]}'")


def macro(section: Section, taken: set[str]) -> Iterator[Finding]:
    """The name of a macro, whether it takes a command's, and its variables."""
    words = section.name.split()
    if len(words) > 2:
        yield finding_at(section, "", f"Name of section '{cut(section.name)}' contains illegal whitespace")
    name = words[1].upper() if len(words) > 1 else ""
    renamed = section.values.get("rename_existing")
    is_number = bool(NUMBER.match(name))
    if name in taken and not renamed:
        message = f"gcode command {name} already registered: a macro in the place of a command needs rename_existing"
        yield finding_at(section, "", message)
    elif renamed and name and is_number != bool(NUMBER.match(renamed.value.upper())):
        message = f"G-Code macro rename of different types ('{name}' vs '{renamed.value[:40]}')"
        yield finding_at(section, "rename_existing", message)
    elif name and not is_number and not (name.replace("_", "A").isalnum() and not re.match(r".?\d", name)):
        yield finding_at(section, "", f"Can't register '{cut(name)}' as it is an invalid name")
    for setting in section.values.values():
        if setting.name.startswith(VARIABLE):
            try:
                ast.literal_eval(setting.value)
            except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
                message = f"Option '{setting.name}' in section '{cut(section.name)}' is not a valid literal"
                yield finding_at(section, setting.name, f"{message}: a text needs quotes ('…')")


def misspelt(section: Section, code: str, commands: set[str]) -> Iterator[Finding]:
    """Commands in a macro that nothing has and that are nearly a known one."""
    for word in sorted(set(COMMAND.findall(code.upper())) - commands):
        if near := nearest(word, commands):
            yield finding_at(section, "gcode", f'Unknown command:"{word}"', HINT, near)


# A pin may stand in any option whose name ends in `pin` or `pins`. It is compared under its own name, with the
# chip it is on: aliases of [board_pins] are resolved, marks (SIGNS) and `mcu:` are left out. Klipper lets
# several sections name one pin if it is shared under the same option (SHARED), or if [duplicate_pin_override]
# lists it. A driver's diag_pin is taken only through its virtual endstop. Pins without a digit are not compared:
# they are names that a board or a plugin defines.
def pins(machine: ParsedPrinter) -> Iterator[Finding]:
    """Pins: their form, the chip they are on, and who else uses them where Klipper does not allow it."""
    aliases: dict[str, str] = {}
    for section in machine.of(ALIASES):
        yield from _aliases(section, aliases)
    words = (word.lstrip(SIGNS).removeprefix(PRIMARY) for word in _words(machine.value(OVERRIDE, "pins")))
    allowed = {aliases.get(word, word) for word in words}
    first: dict[tuple[str, str], Use] = {}
    uses = (_uses(machine, section, aliases) for section in machine.sections.values())
    for use in chain.from_iterable(uses):
        name = use.setting.name
        if message := _misformed(use):
            yield finding_at(use.section, name, message)
        elif message := _unknown(machine, use):  # an alias or a chip may be in another file
            yield machine.absent(use.section, name, message)
        if "virtual" in use.pin or name in UNUSED or not any(char.isdigit() for char in use.pin):
            continue
        before = first.setdefault((use.chip, use.pin), use)
        same = before.setting.name == name and name.startswith(SHARED)
        full = use.pin if use.chip == "mcu" else f"{use.chip}:{use.pin}"
        if before.section is not use.section and not same and full not in allowed:
            message = (
                f"pin {use.pin[:60]} used multiple times in config: also in [{cut(before.section.name)}]"
            )
            yield finding_at(use.section, name, message)


def _aliases(section: Section, aliases: dict[str, str]) -> Iterator[Finding]:
    """Add the aliases of a section, `EXP1_1=PE8`; `<GND>` is none. Finds one that has two pins."""
    own: dict[str, str] = {}
    for name, setting in section.values.items():
        for part in setting.value.split(",") if name.startswith("aliases") else ():
            alias, _, pin = (word.strip() for word in part.partition("="))
            if own.setdefault(alias, pin) != pin:
                message = f"Alias {cut(alias)} mapped to {cut(own[alias])} - can't alias to {cut(pin)}"
                yield finding_at(section, name, message)
    aliases.update((alias, pin.removeprefix(PRIMARY)) for alias, pin in own.items() if "<" not in pin)


def _uses(machine: ParsedPrinter, section: Section, aliases: dict[str, str]) -> Iterator[Use]:
    is_analog = any(name.startswith(ANALOG) for name in section.values)  # buttons share such a pin
    if is_analog or section.kind in (OVERRIDE, ALIASES, *machine.plugins):
        return
    for setting in section.values.values():
        if not PIN.search(setting.name) or len(setting.value) > LONGEST:
            continue
        for part in setting.value.split(","):
            chip, colon, pin = part.strip().lstrip(SIGNS).rpartition(":")
            if pin:
                name = pin.strip()
                yield Use(chip.strip() if colon else "mcu", aliases.get(name, name), section, setting)


def _misformed(use: Use) -> str:
    """The mistake in a pin as it is written, whatever the board; "" if nothing is."""
    if not use.pin.isascii():
        return f"Pin '{use.pin[:40]}' is not a valid pin name on mcu '{use.chip}': it has letters that are not ASCII"
    if len(use.pin.split()) > 1 or set(use.pin) & set("^~!:"):
        return f"Invalid pin description '{use.setting.value[:40]}': format is [^~] [!] [chip_name:] pin_name"
    return ""


def _unknown(machine: ParsedPrinter, use: Use) -> str:
    """Klipper's words for a chip that is not there, or a pin that no chip has; "" if it may be."""
    if use.chip in machine.mcus:
        good = FORM.fullmatch(use.pin) or use.section.kind == OVERRIDE
        return "" if good else f"Pin '{use.pin[:40]}' is not a valid pin name on mcu '{use.chip}'"
    unknown = f"Unknown pin chip name '{use.chip[:40]}'"
    if use.chip.startswith("tmc") and use.pin == "virtual_endstop":  # homing without a switch
        driver = machine.chips.get(use.chip)
        if not driver:
            return f"{unknown}: there is no such driver with a diag_pin"
        return "" if set(UNUSED) & driver.values.keys() else "tmc virtual endstop requires diag pin config"
    if use.chip in machine.chips or any(use.chip.startswith(kind.lower()) for kind in machine.plugins):
        return ""
    if use.chip != "probe":
        return unknown
    if machine.of(*PROBES) or machine.plugin_brings("probe"):
        return ""
    return f"{unknown}: z_virtual_endstop needs a probe's section"
