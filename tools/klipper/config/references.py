"""The rules of names: references to sections and pins, required sections, macros."""

import ast
import re
from collections.abc import Iterator

from ..search.spelling import nearest
from .machine import MEASURING_KINDS, PROBE_KINDS, UNLESS_ELSEWHERE, Machine
from .options import base_kind, known_words, rules, value_rule
from .printer_cfg import HINT, WARNING, ConfigSection, Findings
from .reference import SENSOR

# Options whose pin sections may share (klippy/pins.py: `share_type`).
SHAREABLE_PINS = tuple(
    "enable_pin endstop_pin spi_software_ i2c_software_ uart_pin tx_pin cs_pin select_pins".split()
)
# Options whose pin is taken only through a virtual endstop (klippy/extras/tmc.py).
VIRTUAL_ENDSTOP_PINS = ("diag_pin", "diag0_pin", "diag1_pin")
OVERRIDE = "duplicate_pin_override"
ALIASES = "board_pins"
ANALOG = "analog_range"
# The marks that a pin of each kind may have, in Klipper's words; a pin of another kind may have all.
ALLOWED_MARKS = {"p": "", "p!": "[!] ", "p^": "[^~] "}
# The pins of micro-controllers: AVR, STM32, SAM (PA1), LPC (P1.20), Beaglebone (P8_12, gpio0_23), RP2040
# (gpio4), Linux.
PIN_FORM = (
    r"P[A-L]\d{1,2}(_C)?|P\d[._]\d{1,2}|gpio(chip\d+/gpio)?\d+(_\d+)?|analog[0-7]|PIN_\d+|AIN\d+"
    r"|ADC_TEMPERATURE|None"
)
# The section and the option that use a pin, and the marks before its name.
PinUse = tuple[ConfigSection, str, set[str]]
# The name of a G-Code command with a number, which has rules of its own: `G28`, `M600.1`.
NUMBERED_COMMAND = re.compile(r"[A-Z]\d+(\.\d+)?$")


def findings(machine: Machine) -> Findings:
    """Findings of all rules of names."""
    for section in machine.values():
        if not section.saved and section.kind not in machine.plugins:
            for section_rule in (check_references, check_sensor):
                yield from section_rule(machine, section)
    for printer_rule in (check_needed, check_unique, check_macros, check_pins):
        yield from printer_rule(machine)


def check_needed(machine: Machine) -> Findings:
    """Find a missing [printer] or [mcu].

    Source: klippy/toolhead.py, klippy/mcu.py.
    """
    is_printer = len(machine.sections_of("stepper", "extruder")) > 1 and not machine.unread
    for present, missing, option in (
        ("printer", "mcu", "serial"),
        ("mcu", "printer", "kinematics"),
    ):
        if is_printer and present in machine and missing not in machine:
            place = ConfigSection(missing, machine[present].line, machine[present].file)
            yield place.finding(
                option,
                f"Option '{option}' in section '{missing}' must be specified: there is no such section"
                + UNLESS_ELSEWHERE,
                WARNING,
            )


def check_unique(machine: Machine) -> Findings:
    """Find sections with the same name or option value where Klipper needs different ones, and sections that
    exclude each other."""
    for rule, kinds in known_words("one").items():
        option, _, message = rule.partition(" ")
        owners: dict[str, ConfigSection] = {}  # the first section of each value
        for section in machine.sections_of(*kinds):
            value = section.value(option)
            # The finding stands at the section if it has no such option.
            place = option if value else ""
            if option == "name":
                value = section.label
            elif option == "any":  # all sections of these kinds exclude each other
                value = option
            owner = owners.setdefault(value.lower(), section)
            if value and owner is not section and not section.saved:
                yield section.finding(
                    place, f"{message.format(value[:40])}: also in [{owner.name}]"
                )


def check_references(machine: Machine, section: ConfigSection) -> Findings:
    """Find a section with a name that must have none, or without one that it needs; and names of heaters,
    steppers, micro-controllers and accelerometers that are not there.

    Source: check_unused_options in klippy/configfile.py; each option's reader; known.txt has the messages.
    """
    # An extruder is found by its exact name, without a blank around it.
    is_named = section.label or (
        base_kind(section.kind) == "extruder" and section.name != section.kind
    )
    mark, rule = ("-", "takes no name") if is_named else ("+", "needs a name behind it")
    if mark in known_words("kind").get(base_kind(section.kind), ()):
        yield section.finding(
            "", f"Section '{section.name}' is not a valid config section: [{section.kind}] {rule}"
        )
    names_by_kind = {"heater": machine.heaters, "mcu": machine.mcus, "chip": machine.mcus}
    for option, (target, *default) in rules("names", section.kind):
        if target == "accelerometer" and machine.plugin_brings(target):
            continue
        names = section.words(option) or default
        if option == "name":  # that of the section itself
            names = [section.label] if section.label else []
            option = ""
        for name in names:
            if name not in names_by_kind.get(target, machine):
                message = " ".join(known_words("unknown")[target])
                yield machine.missing_from(section, option, message.format(name))


def check_sensor(machine: Machine, section: ConfigSection) -> Findings:
    """Find a temperature sensor that Klipper does not know, or not yet.

    Source: klippy/extras/heaters.py.
    """
    if SENSOR not in section or not section.kind.startswith(MEASURING_KINDS):
        return
    sensor = section.value(SENSOR)
    # Only a plugin brings a sensor that is named as a module: `temperature_oams`.
    may_be_plugin = machine.plugins and re.fullmatch("[a-z][a-z_]*", sensor)
    if sensor not in machine.sensors and not may_be_plugin:
        yield machine.missing_from(section, SENSOR, f"Unknown temperature sensor '{sensor}'")
    # Klipper reads sections in order, extruders last.
    names = list(machine)
    owner = machine.defined_sensors.get(sensor, section.name)
    if names.index(owner) > names.index(section.name) and base_kind(section.kind) != "extruder":
        yield section.finding(
            SENSOR, f"Unknown temperature sensor '{sensor}': [{owner}] has to stand before"
        )


def check_macros(machine: Machine) -> Findings:
    """Find mistakes in names of macros, in their variables, and in commands that they rename or misspell.

    Source: handle_connect in klippy/extras/gcode_macro.py.
    """
    # The commands of the loaded modules: a macro may take one of them only with rename_existing.
    taken: set[str] = set()
    for section in machine.values():
        taken.update(known_words("gives").get(base_kind(section.kind), ()))
    # Each macro by itself, and two of one name.
    by_name: dict[str, ConfigSection] = {}
    for section in machine.sections_of("gcode_macro"):
        name = section.label.upper()
        first = by_name.setdefault(name, section)
        if first is not section and "rename_existing" not in {*section, *first}:
            yield section.finding(
                "", f"gcode command {name} already registered: also in [{first.name}]"
            )
        yield from _check_macro(section, name, taken)
    # Klipper does not have the command of a filament change.
    for section in machine.sections_of("filament_switch_sensor", "filament_motion_sensor"):
        if re.search(r"(?m)^\s*M600\b", section.value("runout_gcode")) and "M600" not in by_name:
            finding = machine.missing_from(section, "runout_gcode", 'Unknown command:"M600"')
            yield finding._replace(level=HINT)
    yield from _check_commands(machine, by_name, taken)


def _check_commands(
    machine: Machine, by_name: dict[str, ConfigSection], taken: set[str]
) -> Findings:
    """Find mistakes in the commands that macros rename or call; `by_name` has the macros."""
    kinds_by_command = known_words("brings")
    commands = set(kinds_by_command).union(*known_words("gives").values())
    command_names = commands.union(by_name)
    for name, section in by_name.items():
        # The new name of a command that it renames, and a command that does not exist to be renamed.
        renamed = section.value("rename_existing")
        if renamed and (renamed in by_name or renamed in taken):
            yield section.finding(
                "rename_existing",
                f"gcode command {renamed[:40]} already registered: rename_existing needs a name of its own",
            )
        kinds = kinds_by_command.get(name, [])
        is_there = kinds == ["*"] or (name in commands and not kinds)
        if renamed and not (is_there or machine.plugins or machine.sections_of(*kinds)):
            yield machine.missing_from(
                section,
                "rename_existing",
                f"Existing command '{name}' not found in gcode_macro rename",
            )
        # A command at the beginning of a line that is nearly a known one is misspelt, if it is long enough.
        gcode = section.value("gcode").upper()
        words = set(re.findall(r"(?m)^\s*([A-Z][A-Z_]{5,})(?=\s|$)", gcode))
        for word in sorted(words - command_names):
            if suggestion := nearest(word, command_names):
                yield section.finding("gcode", f'Unknown command:"{word}"', HINT, suggestion)


def _check_macro(section: ConfigSection, name: str, taken: set[str]) -> Findings:
    """Find a name that a macro cannot have, or takes from a command, and variables that are no literals.

    Source: klippy/gcode.py, klippy/extras/gcode_macro.py.
    """
    if len(name.split()) > 1:
        yield section.finding("", f"Name of section '{section.name}' contains illegal whitespace")
    renamed = section.value("rename_existing")
    is_number = bool(NUMBERED_COMMAND.match(name))
    if name in taken and not renamed:
        yield section.finding(
            "",
            f"gcode command {name} already registered: "
            "a macro in the place of a command needs rename_existing",
        )
    elif renamed and is_number != bool(NUMBERED_COMMAND.match(renamed.upper())):
        yield section.finding(
            "rename_existing",
            f"G-Code macro rename of different types ('{name}' vs '{renamed[:40]}')",
        )
    elif not is_number and not re.match(r"[^\W\d]([^\W\d]\w*)?(\s|$)", name):
        yield section.finding("", f"Can't register '{name}' as it is an invalid name")
    for setting in section.values():
        if setting.name.startswith("variable_"):
            try:
                ast.literal_eval(setting.value)
            except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
                yield section.finding(
                    setting.name,
                    f"Option '{setting.name}' in section '{section.name}' is not a valid literal: "
                    "a text needs quotes ('…')",
                )


# A pin may stand in any option whose name ends in `pin` or `pins`. It is compared under its own name, with
# the chip it is on: aliases of [board_pins] are resolved. Klipper lets sections share a pin under the same
# option (SHAREABLE_PINS), or if [duplicate_pin_override] lists it. A driver's diag_pin is taken only through
# its virtual endstop. Pins without a digit are not compared: they are names that a board or a plugin defines.
def check_pins(machine: Machine) -> Findings:
    """Find pins of a wrong form, on an unknown chip, or used more than once where Klipper does not allow it.

    Source: klippy/pins.py.
    """
    aliases: dict[str, str] = {}
    for section in machine.sections_of(ALIASES):
        yield from _add_aliases(section, aliases)
    first_uses: dict[str, PinUse] = {}
    override = machine[OVERRIDE].words("pins")
    allowed = {aliases.get(word, word).removeprefix("mcu:") for word in override}
    for section, option, description in _pins(machine):
        form = ALLOWED_MARKS.get(value_rule(section.kind, option), "[^~] [!] ")
        marks = set("^~!").intersection(description)
        # Marks, the chip, and the pin.
        match = re.fullmatch(r"[\^~]?\s*!?\s*(?:([^\s^~!:]*)\s*:\s*)?([^\s^~!:]+)", description)
        if not match or not marks <= set(form):
            yield section.finding(
                option,
                f"Invalid pin description '{description[:40]}': format is {form}[chip_name:] pin_name",
            )
            continue
        if marks and "virtual_endstop" in description:
            yield section.finding(
                option, f"Can not pullup/invert a virtual endstop: '{description[:40]}'"
            )
        chip = match[1] or "mcu"
        pin = aliases.get(match[2], match[2])
        if not pin.isascii():
            yield section.finding(
                option,
                f"Pin '{pin[:40]}' is not a valid pin name on mcu '{chip}': "
                "it has letters that are not ASCII",
            )
        elif message := _pin_problem(machine, chip, pin):
            # An alias or a chip may be in another file.
            yield machine.missing_from(section, option, message)
        if option in VIRTUAL_ENDSTOP_PINS or not re.search(r"\d", pin):
            continue
        full_name = f"{chip}:{pin}".removeprefix("mcu:")
        use = (section, option, marks)
        first_use = first_uses.setdefault(full_name, use)
        if first_use[:2] == use[:2] or full_name in allowed:
            continue
        if message := _sharing_problem(pin[:60], use, first_use):
            yield section.finding(option, message)


def _sharing_problem(pin: str, use: PinUse, first_use: PinUse) -> str:
    """Klipper's message for a pin that is used twice; "" if both uses may share it."""
    section, option, marks = use
    other, name, other_marks = first_use
    # An endstop_pin by one axis alone: stepper_z and stepper_z1, a carriage and its extra one
    # (klippy/stepper.py).
    axes = {re.sub(r"\d+$|(extra_)?carriage .*", "", user.name) for user in (section, other)}
    is_one_axis = option != "endstop_pin" or len(axes) == 1
    if name != option or not option.startswith(SHAREABLE_PINS) or not is_one_axis:
        return f"pin {pin} used multiple times in config: also {name} of [{other.name}]"
    if marks != other_marks:
        return f"Shared pin {pin} must have same polarity: not so in [{other.name}]"
    return ""


def _add_aliases(section: ConfigSection, aliases: dict[str, str]) -> Findings:
    """Add a section's aliases, `EXP1_1=PE8`, but not `<GND>`. Yields findings: an alias with two pins, or one
    for more than a bare pin."""
    pins_by_alias: dict[str, str] = {}
    for name in section:
        for word in section.words(name) if name.startswith("aliases") else ():
            alias, _, pin = map(str.strip, word.partition("="))
            if pins_by_alias.setdefault(alias, pin) != pin:
                yield section.finding(
                    name, f"Alias {alias} mapped to {pins_by_alias[alias]} - can't alias to {pin}"
                )
            if set(pin) & set("^~!: "):
                yield section.finding(
                    name, f"Invalid pin alias '{pin[:40]}': it is a bare pin of one board"
                )
            if not pin.startswith("<"):
                aliases[alias] = pin


def _pins(machine: Machine) -> Iterator[tuple[ConfigSection, str, str]]:
    """Yield every pin as it is written, with its section and option."""
    for section in machine.values():
        if section.kind in (OVERRIDE, ALIASES, *machine.plugins):
            continue
        for setting in section.values():
            # Buttons share an analog pin.
            is_analog = {ANALOG, f"{ANALOG}_{setting.name}"} & section.keys()
            # `pin`, `step_pin`, `encoder_pins`; not `analog_range_up_pin`.
            is_pin = re.match(r"(?!analog_range)(.*_)?pins?$", setting.name)
            if is_pin and not is_analog:
                is_list = not value_rule(section.kind, setting.name).startswith("p")
                for description in section.words(setting.name) if is_list else [setting.value]:
                    yield section, setting.name, description


def _pin_problem(machine: Machine, chip: str, pin: str) -> str:
    """Klipper's message for a chip or pin that does not exist; "" if it may exist."""
    if chip in machine.mcus:
        problem = f"Pin '{pin[:40]}' is not a valid pin name on mcu '{chip}'"
        return "" if re.fullmatch(PIN_FORM, pin) else problem
    unknown = f"Unknown pin chip name '{chip[:40]}'"
    owner = machine.chips.get(chip)
    if chip.startswith("tmc") and pin == "virtual_endstop":  # homing without a switch
        if not owner:
            return f"{unknown}: there is no such driver with a diag_pin"
        has_pin = set(VIRTUAL_ENDSTOP_PINS) & owner.keys()
        return "" if has_pin else "tmc virtual endstop requires diag pin config"
    is_probe = chip == "probe" and (
        machine.sections_of(*PROBE_KINDS) or machine.plugin_brings("probe")
    )
    if owner or is_probe or chip.startswith(tuple(map(str.lower, machine.plugins))):
        return ""
    return f"{unknown}: z_virtual_endstop needs a probe's section" if chip == "probe" else unknown
