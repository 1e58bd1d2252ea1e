#!/usr/bin/env python3
"""Makes tools/klipper/config/options.txt: kinds and bounds of options, as Klipper's own source reads them.

usage: facts.py CHECKOUT [> tools/klipper/config/options.txt]

tools/klipper/config/options.py says what its lines mean.

CHECKOUT is a git checkout of Klipper; its `klippy/` is read by its syntax (`config.getfloat("max_power", 1.,
above=0.)`), constants are looked up in the imported modules. Only facts are written: names, types, bounds,
choices.
"""

import ast
import importlib
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.lab.klipper.needs import KINDS, Needs, calls, commands, pins
from tests.support.client import cases

DRIVERS = [f"extras.tmc{number}" for number in (2130, 2208, 2209, 2240, 2660, 5160)]
MISSING = ("cffi", "greenlet", "serial", "can", "numpy", "msgproto")
# The module that reads a section, where it is not named like it.
READERS = dict(
    cases("""
printer | toolhead
mcu | mcu
stepper | stepper
extruder | kinematics.extruder
carriage | kinematics.generic_cartesian
extra_carriage | kinematics.generic_cartesian
dual_carriage | kinematics.cartesian
display | extras.display.display
menu | extras.display.menu
""")
)
SENSORS = """extras.thermistor extras.adc_temperature extras.spi_temperature extras.bme280 extras.htu21d extras.sht3x
extras.aht10 extras.lm75 extras.ds18b20 extras.temperature_host extras.temperature_mcu extras.temperature_combined""".split()
SENSED = ("extruder", "heater_bed", "heater_generic", "temperature_sensor", "temperature_fan")
HEATED = ["extras.heaters", *SENSORS]
# Families that a section reaches through the printer's objects, not by an import.
REACHES = {
    "extruder": HEATED,
    "heater_bed": HEATED,
    "heater_generic": HEATED,
    "temperature_sensor": SENSORS,
    "temperature_fan": ["extras.fan", *SENSORS],
    "extruder_stepper": ["kinematics.extruder"],
    "printer": "kinematics.cartesian kinematics.delta kinematics.deltesian kinematics.polar kinematics.rotary_delta".split(),
}
# Options whose names are put together when Klipper runs.
EXTRA = cases("""
extras.input_shaper | shaper_freq_x | f[0
extras.input_shaper | shaper_freq_y | f[0
extras.input_shaper | shaper_freq_z | f[0
extras.input_shaper | damping_ratio_x | f[0,0.99]
extras.input_shaper | damping_ratio_y | f[0,0.99]
extras.input_shaper | damping_ratio_z | f[0,0.99]
extras.adxl345 | rate | c25|50|100|200|400|800|1600|3200
extras.bed_mesh | mesh_pps | li[0
extras.bed_mesh | probe_count | li[3
extras.display.menu | type | ccommand|disabled|input|list|vsdlist
extras.homing_override | set_position_x | f
extras.homing_override | set_position_y | f
extras.homing_override | set_position_z | f
stepper | enable_pin | p!
stepper | endstop_pin | p^!
extras.bed_screws | screw1 | lf2
extras.screws_tilt_adjust | screw1 | lf2
extras.tmc2208 | uart_address | i[0,0]
extras.tmc2209 | uart_address | i[0,3]
extras.tmc2240 | uart_address | i[0,7]
""")
# What a section has to have beside what its module's set-up says: classes that set it up, and options that are read
# in a way that the syntax does not show.
SET_UP = {
    "printer": ("toolhead", "ToolHead"),
    "extruder": ("kinematics.extruder", "PrinterExtruder"),
}
NEEDED = dict(
    cases("""
gcode_macro | gcode
kinematics delta | delta_radius
kinematics rotary_delta | shoulder_radius shoulder_height
stepper | step_pin dir_pin microsteps rotation_distance|gear_ratio
extruder_stepper | step_pin dir_pin microsteps rotation_distance|gear_ratio
bed_mesh | mesh_min|mesh_radius mesh_max|mesh_radius
output_pin | pin
tmc2130 | cs_pin
tmc5160 | cs_pin
tmc2240 | cs_pin|uart_pin
mcu | serial|canbus_uuid
thermistor | beta|temperature2
duplicate_pin_override | pins
extra_carriage | endstop_pin primary_carriage
mcp4451 | i2c_address
sx1509 | i2c_address
display_data | position text
display_template | text
adc_scaled | vref_pin vssa_pin
lcd_type st7920 | cs_pin sclk_pin sid_pin
lcd_type hd44780 | rs_pin e_pin d4_pin d5_pin d6_pin d7_pin
lcd_type uc1701 | a0_pin
control pid | pid_Kp pid_Ki pid_Kd
spi_software_sclk_pin * | spi_software_mosi_pin spi_software_miso_pin
spi_software_mosi_pin * | spi_software_sclk_pin spi_software_miso_pin
i2c_software_scl_pin * | i2c_software_sda_pin
step_pin * | dir_pin microsteps rotation_distance|gear_ratio
dir_pin * | step_pin microsteps rotation_distance|gear_ratio
""")
)
# Modules that are always there, and the commands that they register in a loop.
ALWAYS = """gcode toolhead extras.gcode_move extras.idle_timeout extras.manual_probe extras.tuning_tower extras.homing
extras.query_endstops extras.stepper_enable extras.heaters""".split()
LOOPED = {
    "printer": "G0 G1 G20 G21 G28 G4 G90 G91 G92 M105 M110 M112 M114 M115 M119 M18 M220 M221 M400 M82 M83 M84 ECHO STATUS HELP "
    "RESTART FIRMWARE_RESTART SAVE_CONFIG M204 SET_VELOCITY_LIMIT SET_GCODE_OFFSET SAVE_GCODE_STATE RESTORE_GCODE_STATE "
    "GET_POSITION TURN_OFF_HEATERS TEMPERATURE_WAIT MANUAL_PROBE",
    "extruder": "M104 M109",
    "display": "M73 M117",
    "virtual_sdcard": "SET_PRINT_STATS_INFO M20 M21 M23 M24 M25 M26 M27",
}
# Receivers of a call that are another section than the module's own.
OTHERS = ("pconfig", "zconfig", "sconfig")
# Modules that hand no section of others on, or read nothing of it.
LAST = ("mcu", "toolhead", "extras.load_cell")
# Of more choices a person is told none.
MOST_CHOICES = 13


class Module:
    """A file of klippy: the options that it reads, and the modules that it hands its section to."""

    def __init__(self, name, path):
        self.name = name
        self.tree = ast.parse(path.read_text("utf-8"))
        self.names = {}
        with suppress(Exception):  # it needs a package that is not there
            self.names = vars(importlib.import_module(name))
        self.options = {option: spec for module, option, spec in EXTRA if module == name}
        self.locals = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign):
                self.locals[ast.unparse(node.targets[0])] = node.value
        for node in calls(ast.walk(self.tree), ""):
            self.call(node)
        self.options |= pins(self)

    def call(self, node):
        receiver, _, method = ast.unparse(node.func).rpartition(".")
        kind = KINDS.get(method)
        if kind is None or "config" not in receiver or receiver in OTHERS:
            return
        name = self.option(node.args[0])
        words = {keyword.arg: keyword.value for keyword in node.keywords}
        if not name or "sep" in words:
            return
        values = {word: self.value(value) for word, value in words.items()}
        spec = kind
        if method == "getchoice":
            spec = self.choices(words.get("choices") or node.args[1])
        spec += interval(values)
        if kind.startswith("l") and isinstance(count := values.get("count"), int):
            counts = {None: str(count), (",", "\n"): f"n{count}"}
            spec += counts.get(values.get("seps"), "")
            if parser := words.get("parser"):
                spec = spec.replace("l", "l" + ast.unparse(parser)[0], 1)
        if spec and self.options.get(name, spec) != spec:
            spec = loosest(self.options[name], spec)
        if spec:
            self.options[name] = spec

    def option(self, node):
        """The name that an expression gives, which may have a number in it, as `"z_positions%d" % number`."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            node = node.left
        text = node.value.lower() if isinstance(node, ast.Constant) else ""
        return "" if "%s" in text else text.replace("%d", "1")

    def value(self, node):
        try:
            return eval(ast.unparse(node), dict(self.names))
        except Exception:
            return None

    def choices(self, node):
        value = self.value(self.locals.get(ast.unparse(node), node))  # self.threads
        words = sorted(map(str, value)) if value and len(value) <= MOST_CHOICES else []
        return "c" + "|".join(words) if words else ""

    def imported(self):
        """The modules that it imports."""
        packages = self.name.split(".")
        modules = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                modules += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = packages[: -node.level]
                names = [node.module] if node.module else [alias.name for alias in node.names]
                modules += [".".join([*base, name]) for name in names]
        return modules


def interval(words):
    """The bounds among the words of a call: `[0,1]`, `(0` for what is above 0, `,1]` for at most 1."""
    bounds = {"minval": "[{:g}", "above": "({:g}", "maxval": ",{:g}]", "below": ",{:g})"}
    text = ""
    for word, form in bounds.items():
        if isinstance(words.get(word), int | float):
            text += form.format(words[word])
    return text


def loosest(spec, other):
    """The kind of a number, if two readings of an option differ only in its bounds; else empty."""
    kind = spec[:1]
    return kind if kind == other[:1] and kind in "if" else ""


def fields(modules):
    """The options driver_XXX of the drivers, from the masks of their registers."""
    for name in DRIVERS:
        module = modules[name]
        masks = {}
        # Some use the registers of an older one, too.
        for other in ("extras.tmc2208", name):
            for table in modules[other].names.get("Fields", {}).values():
                masks |= table
        for node in calls(ast.walk(module.tree), "set_config_field"):
            field = ast.literal_eval(node.args[1])
            mask = masks[field]
            most = mask >> ((mask & -mask).bit_length() - 1)
            spec = "b" if most == 1 else f"i[0,{most}]"
            if field in module.names.get("SignedFields", ()):
                spec = f"i[{-(most // 2 + 1)},{most // 2}]"
            module.options[f"driver_{field}"] = spec


def share(modules):
    """Move the options that are alike wherever a driver has them to the module that all drivers reach."""
    tables = [modules[name].options for name in DRIVERS]
    for option in {option for table in tables for option in table if option.startswith("driver_")}:
        having = [table for table in tables if option in table]
        if len({table[option] for table in having}) == 1:
            for table in having:
                modules["extras.tmc"].options[option] = table.pop(option)


def reaches(start, modules, others):
    """The modules that may read a section and have an option that no nearer one has, nearest first."""
    queue = [start, *others]
    visited = set()
    options = set()
    useful = []
    for name in queue:
        if name in modules and name not in visited and (name == start or name not in LAST):
            visited.add(name)
            if start not in LAST:
                queue += modules[name].imported()  # the loop goes on with these
            if modules[name].options.keys() - options:
                useful.append(name)
                options |= modules[name].options.keys()
    return useful


def readers(modules):
    """For each kind of section its module, and whether a name follows: `-` never, `+` always, `?` perhaps."""
    reader_of = {}
    for kind, module in READERS.items():
        reader_of[kind] = (module, "-" if kind in SET_UP else "?")
    for name, module in modules.items():
        functions = {node.name for node in module.tree.body if isinstance(node, ast.FunctionDef)}
        takes_none = "load_config" in functions
        takes_name = "load_config_prefix" in functions
        if name.startswith("extras.") and (takes_none or takes_name):
            sign = "?" if takes_none and takes_name else "+" if takes_name else "-"
            reader_of.setdefault(short(name), (name, sign))
    return reader_of


def sensor_types(klippy, modules):
    """The values of sensor_type that Klipper has without a section of the user's."""
    text = (klippy / "extras/temperature_sensors.cfg").read_text("utf-8")
    types = re.findall(r"(?m)^\[thermistor (.*)\]", text)
    for path in (klippy / "extras").glob("*.py"):
        types += re.findall(r'add_sensor_factory\("([^"]+)"', path.read_text("utf-8"))
    adc = modules["extras.adc_temperature"].names
    types += dict(adc["DefaultVoltageSensors"] + adc["DefaultResistanceSensors"])
    return sorted({*types, *without_options(modules)})


def without_options(modules):
    """Values of sensor_type that are registered in a loop, and demand nothing."""
    spi = modules["extras.spi_temperature"].names
    htu = modules["extras.htu21d"].names
    return [*spi["Sensors"], *htu["HTU21D_DEVICES"]]


def demands(modules):
    """The options that each kind of section has to have, and each sensor_type and lcd_type."""
    needs = Needs(modules)
    demanded = {kind: needs.required(module) for kind, (module, _) in readers(modules).items()}
    for kind, (module, name) in SET_UP.items():
        demanded[kind] = needs.of_class(module, name)
    for name in SENSORS:
        for node in calls(ast.walk(modules[name].tree), "add_sensor_factory"):
            kind, maker = node.args
            if isinstance(kind, ast.Constant):
                demanded[f"sensor_type {kind.value}"] = needs.of_class(name, ast.unparse(maker))
    for kind in without_options(modules):
        demanded[f"sensor_type {kind}"] = set()
    for kind, maker in modules["extras.display.display"].names["LCD_chips"].items():
        demanded[f"lcd_type {kind}"] = needs.of_class(maker.__module__, maker.__name__)
    words = {
        kind: " ".join(sorted(options - {kind.partition(" ")[0]}))
        for kind, options in demanded.items()
    }
    completed = {
        kind: f"{words.get(kind, '')} {options}".strip() for kind, options in NEEDED.items()
    }
    return words | completed


def brought(kind, module, modules):
    """The commands that a kind of section brings."""
    readers = [module]
    if kind == "printer":
        readers += ALWAYS
    if kind.startswith("tmc"):
        readers.append("extras.tmc")
    return set(LOOPED.get(kind, "").split()).union(*(commands(modules[name]) for name in readers))


def main():
    checkout = Path(sys.argv[1])
    klippy = checkout / "klippy"
    sys.path.insert(0, str(klippy))
    for name in MISSING:  # reading the constants of the other modules needs none of them
        sys.modules.setdefault(name, mock.MagicMock())
    modules = {}
    for path in sorted(klippy.rglob("*.py")):
        name = ".".join(path.relative_to(klippy).with_suffix("").parts).removesuffix(".__init__")
        modules[name] = Module(name, path)
    shapers = [shaper.name for shaper in modules["extras.shaper_defs"].names["INPUT_SHAPERS"]]
    types = ("shaper_type", "shaper_type_x", "shaper_type_y", "shaper_type_z")
    modules["extras.input_shaper"].options |= dict.fromkeys(types, f"c{'|'.join(shapers)}")
    fields(modules)
    share(modules)
    kinds = {
        kind: (module, sign, reaches(module, modules, REACHES.get(kind, [])))
        for kind, (module, sign) in sorted(readers(modules).items())
    }
    used = {name for *_, names in kinds.values() for name in names}
    command = ["git", "-C", checkout, "log", "-1", "--format=%(describe:tags) %cs"]
    version = subprocess.check_output(command, text=True).strip()
    print(
        f"# Klipper {version}: made by tests/lab/klipper/facts.py; options.py says what the signs mean."
    )
    for name in sorted(used):
        print(f"of {short(name)}:", *map("=".join, sorted(modules[name].options.items())))
    print(f"sensor {'|'.join(sensor_types(klippy, modules))}:")
    sensors = [name for name in SENSORS if name in used]
    demanded = demands(modules)
    for kind, (module, sign, names) in kinds.items():
        if kind in SENSED:
            names = [name for name in names if name not in sensors] + sensors
        print(f"kind {kind}:", sign, *map(short, names))
        if options := demanded.pop(kind, ""):
            print(f"needs {kind}: {options}")
        if gcodes := brought(kind, module, modules):
            print(f"gives {kind}:", *sorted(gcodes))
    for owner, options in demanded.items():
        if " " in owner:
            print(f"needs {owner}: {options}".rstrip())


def short(name):
    """The name of a module without its package."""
    return name.rpartition(".")[2]


if __name__ == "__main__":
    main()
