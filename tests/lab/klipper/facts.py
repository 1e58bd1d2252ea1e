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
from collections import deque
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.lab.klipper.needs import Needs, commands, pins

KINDS = {
    "get": "",
    "getint": "i",
    "getfloat": "f",
    "getboolean": "b",
    "getchoice": "c",
    "getlists": "l",
}
LISTS = {"getlist": "l", "getintlist": "li", "getfloatlist": "lf"}
DRIVERS = [f"extras.tmc{number}" for number in (2130, 2208, 2209, 2240, 2660, 5160)]
MISSING = ("cffi", "greenlet", "serial", "can", "numpy", "msgproto")
# The module that reads a section, where it is not named like it.
READERS = {
    "printer": "toolhead",
    "mcu": "mcu",
    "stepper": "stepper",
    "extruder": "kinematics.extruder",
    "carriage": "kinematics.generic_cartesian",
    "extra_carriage": "kinematics.generic_cartesian",
    "dual_carriage": "kinematics.cartesian",
    "display": "extras.display.display",
    "menu": "extras.display.menu",
}
SENSORS = """thermistor adc_temperature spi_temperature bme280 htu21d sht3x aht10 lm75 ds18b20 temperature_host temperature_mcu
temperature_combined""".split()
SENSORS = [f"extras.{name}" for name in SENSORS]
SENSED = ("extruder", "heater_bed", "heater_generic", "temperature_sensor", "temperature_fan")
# Families that a section reaches through the printer's objects, not by an import.
REACHES = {
    "extruder": ["extras.heaters", "stepper", *SENSORS],
    "heater_bed": ["extras.heaters", *SENSORS],
    "heater_generic": ["extras.heaters", *SENSORS],
    "temperature_sensor": SENSORS,
    "temperature_fan": ["extras.fan", *SENSORS],
    "extruder_stepper": ["kinematics.extruder", "stepper"],
    "printer": [
        f"kinematics.{name}"
        for name in ("cartesian", "delta", "deltesian", "polar", "rotary_delta", "winch")
    ],
}
# Options whose names are put together when Klipper runs.
EXTRA = {
    "extras.input_shaper": {
        **{f"shaper_freq_{axis}": "f[0" for axis in "xyz"},
        **dict.fromkeys(
            ("shaper_type", "shaper_type_x", "shaper_type_y", "shaper_type_z"), "c{shapers}"
        ),
        **{f"damping_ratio_{axis}": "f[0,0.99]" for axis in "xyz"},
    },
    "extras.adxl345": {"rate": "c25|50|100|200|400|800|1600|3200"},
    "extras.bed_mesh": {"mesh_pps": "li[0", "probe_count": "li[3"},
    "extras.display.menu": {"type": "ccommand|disabled|input|list|vsdlist"},
    "extras.homing_override": {f"set_position_{axis}": "f" for axis in "xyz"},
    "stepper": {"enable_pin": "p!", "endstop_pin": "p^!"},
    **{f"extras.{name}": {"screw1": "lf2"} for name in ("bed_screws", "screws_tilt_adjust")},
    **{
        f"extras.{name}": {"uart_address": f"i[0,{most}]"}
        for name, most in (("tmc2208", 0), ("tmc2209", 3), ("tmc2240", 7))
    },
}
# What a section has to have beside what its module's set-up says: classes that set it up, and options that are read
# in a way that the syntax does not show.
SET_UP = {
    "printer": ("toolhead", "ToolHead"),
    "extruder": ("kinematics.extruder", "PrinterExtruder"),
}
NEEDED = {
    "gcode_macro": "gcode",
    "kinematics delta": "delta_radius",
    "kinematics rotary_delta": "shoulder_radius shoulder_height",
    "stepper": "step_pin dir_pin microsteps rotation_distance|gear_ratio",
    "extruder_stepper": "step_pin dir_pin microsteps rotation_distance|gear_ratio",
    "bed_mesh": "mesh_min|mesh_radius mesh_max|mesh_radius",
    "output_pin": "pin",
    "tmc2130": "cs_pin",
    "tmc5160": "cs_pin",
    "tmc2240": "cs_pin|uart_pin",
    "mcu": "serial|canbus_uuid",
    "thermistor": "beta|temperature2",
    "duplicate_pin_override": "pins",
    "extra_carriage": "endstop_pin primary_carriage",
    "mcp4451": "i2c_address",
    "sx1509": "i2c_address",
    "display_data": "position text",
    "display_template": "text",
    "adc_scaled": "vref_pin vssa_pin",
    "lcd_type st7920": "cs_pin sclk_pin sid_pin",
    "lcd_type hd44780": "rs_pin e_pin d4_pin d5_pin d6_pin d7_pin",
    "lcd_type uc1701": "a0_pin",
    "control pid": "pid_Kp pid_Ki pid_Kd",
    "spi_software_sclk_pin *": "spi_software_mosi_pin spi_software_miso_pin",
    "spi_software_mosi_pin *": "spi_software_sclk_pin spi_software_miso_pin",
    "i2c_software_scl_pin *": "i2c_software_sda_pin",
    "step_pin *": "dir_pin microsteps rotation_distance|gear_ratio",
    "dir_pin *": "step_pin microsteps rotation_distance|gear_ratio",
}
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
    "bed_mesh": "BED_MESH_CALIBRATE BED_MESH_CLEAR BED_MESH_PROFILE BED_MESH_OUTPUT BED_MESH_MAP BED_MESH_OFFSET",
    "respond": "M118 RESPOND",
    "gcode_arcs": "G2 G3 G17 G18 G19",
}
# Receivers of a call that are another section than the module's own.
OTHERS = ("printer_config", "pconfig", "zconfig", "sconfig", "mconfig", "stepper_config")
# Modules that hand no section of others on, or read nothing of it.
LAST = ("mcu", "toolhead", "extras.load_cell")
# Options that the same name gives another meaning elsewhere in their family: judging them by it would be
# wrong.
MOST_CHOICES = 13
AMBIGUOUS = {"sensor_type", "control_pin"}


def imported(name: str) -> dict:
    try:
        return vars(importlib.import_module(name))
    except Exception as error:
        print(f"{name}: {error}", file=sys.stderr)
        return {}


class Module:
    """A file of klippy: the options that it reads, and the modules that it hands its section to."""

    def __init__(self, name: str, path: Path):
        self.name = name
        self.tree = ast.parse(path.read_text("utf-8"))
        self.names = imported(name)
        self.options: dict[str, str] = dict(EXTRA.get(name, {}))
        self.locals: dict[str, ast.expr] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.locals[node.targets[0].id] = node.value
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                self.call(node)
        for option, spec in pins(self).items():
            self.options.setdefault(option, spec)

    def call(self, node: ast.Call) -> None:
        kind = {**KINDS, **LISTS}.get(node.func.attr)
        receiver = ast.unparse(node.func.value)
        if kind is None or "config" not in receiver or not node.args or receiver in OTHERS:
            return
        name = self.option(node.args[0])
        if not name or name in AMBIGUOUS:
            return
        words = {keyword.arg: keyword.value for keyword in node.keywords}
        spec = kind
        if node.func.attr == "getchoice":
            spec = self.choices(words.get("choices") or node.args[1])
        spec += interval({word: self.value(value) for word, value in words.items()})
        if "sep" in words:
            return
        if kind.startswith("l") and isinstance(count := self.value(words.get("count")), int):
            separators = self.value(words.get("seps"))
            if not separators:
                spec += str(count)
            elif separators == (",", "\n"):
                spec += f"n{count}"
            parser = words.get("parser")
            if parser is not None and ast.unparse(parser) in ("float", "int"):
                spec = spec.replace("l", "l" + ast.unparse(parser)[0], 1)
        if spec and self.options.get(name, spec) != spec:
            spec = loosest(self.options[name], spec)
        if spec:
            self.options[name] = spec

    def option(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value.lower()
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Mod)
            and isinstance(node.left, ast.Constant)
        ):
            text = node.left.value.lower()
            return text.replace("%d", "1") if "%s" not in text else ""
        return ""

    def value(self, node: ast.expr | None):
        if node is None:
            return None
        if isinstance(node, ast.Name) and node.id not in self.names:
            node = self.locals.get(node.id, node)
        try:
            return eval(
                compile(ast.Expression(ast.fix_missing_locations(node)), "", "eval"),
                dict(self.names),
            )
        except Exception:
            return None

    def choices(self, node: ast.expr) -> str:
        value = self.value(node)
        if isinstance(node, ast.Attribute) and value is None:  # self.threads
            for assign in ast.walk(self.tree):
                if isinstance(assign, ast.Assign) and ast.unparse(assign.targets[0]) == ast.unparse(
                    node
                ):
                    value = self.value(assign.value)
        words = sorted(map(str, value)) if value and len(value) <= MOST_CHOICES else []
        return "c" + "|".join(words) if words else ""

    def next(self) -> list[str]:
        package = self.name.rpartition(".")[0]
        found = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = ".".join(
                    filter(
                        None,
                        [package if node.level == 1 else package.rpartition(".")[0], node.module],
                    )
                )
                found += [
                    f"{base}.{alias.name}" if node.level and not node.module else base
                    for alias in node.names
                ]
        return found


def interval(words: dict) -> str:
    """The bounds among the words of a call: `[0,1]`, `(0` for what is above 0, `,1]` for at most 1."""
    number = {word: f"{value:g}" for word, value in words.items() if type(value) in (int, float)}
    below = (
        f"[{number['minval']}"
        if "minval" in number
        else f"({number['above']}"
        if "above" in number
        else ""
    )
    above = (
        f",{number['maxval']}]"
        if "maxval" in number
        else f",{number['below']})"
        if "below" in number
        else ""
    )
    return below + above


def loosest(one: str, other: str) -> str:
    """What both readings of an option allow: the kind alone, if they differ in bounds."""
    kind = one[:1]
    return kind if kind == other[:1] and kind in "if" else ""


def fields(modules: dict[str, Module]) -> None:
    """The options driver_XXX of the drivers, from the masks of their registers."""
    for name in (driver.partition(".")[2] for driver in DRIVERS):
        module = modules[f"extras.{name}"]
        masks = {}
        for other in ("tmc2130", "tmc2208", name):
            for table in (modules[f"extras.{other}"].names.get("Fields") or {}).values():
                masks.update(
                    table if other == name or name in ("tmc2209", "tmc2240", "tmc5160") else {}
                )
        signed = set(module.names.get("SignedFields") or ())
        for node in ast.walk(module.tree):
            is_call = (
                isinstance(node, ast.Call)
                and len(node.args) >= 2
                and ast.unparse(node.args[0]) == "config"
            )
            if is_call and ast.unparse(node.func).endswith("set_config_field"):
                field = ast.literal_eval(node.args[1])
                if mask := masks.get(field):
                    most = mask >> ((mask & -mask).bit_length() - 1)
                    spec = "b" if most == 1 else f"i[0,{most}]"
                    spec = f"i[{-(most // 2 + 1)},{most // 2}]" if field in signed else spec
                    module.options[f"driver_{field}"] = spec


def share(modules: dict[str, Module]) -> None:
    """Move the options that are alike wherever a driver has them to the module that all drivers reach."""
    for option in {option for name in DRIVERS for option in modules[name].options}:
        specs = {
            modules[name].options[option] for name in DRIVERS if option in modules[name].options
        }
        if len(specs) == 1 and option.startswith("driver_"):
            modules["extras.tmc"].options[option] = specs.pop()
            for name in DRIVERS:
                modules[name].options.pop(option, None)


def reaches(start: str, modules: dict[str, Module], more: list[str]) -> list[str]:
    """The modules that may read a section, nearest first, of those that say something new of an option."""
    queue, seen, known, useful = deque([start, *more]), set(), set(), []
    while queue:
        name = queue.popleft()
        if name in modules and name not in seen and (name == start or name not in LAST):
            seen.add(name)
            if start not in LAST:
                queue.extend(modules[name].next())
            if modules[name].options.keys() - known:
                useful.append(name)
                known |= modules[name].options.keys()
    return useful


def readers(modules: dict[str, Module]) -> dict[str, tuple[str, str]]:
    """For each kind of section its module, and whether a name follows: `-` never, `+` always, `?` perhaps."""
    found = {
        kind: (module, "-" if kind in ("printer", "extruder") else "?")
        for kind, module in READERS.items()
    }
    for name, module in modules.items():
        functions = {node.name for node in module.tree.body if isinstance(node, ast.FunctionDef)}
        plain, named = "load_config" in functions, "load_config_prefix" in functions
        if name.startswith("extras.") and (plain or named):
            found.setdefault(
                name.rpartition(".")[2], (name, "?" if plain and named else "+" if named else "-")
            )
    return found


def sensor_types(klippy: Path, modules: dict[str, Module]) -> list[str]:
    """The values of sensor_type that Klipper has without a section of the user's."""
    named = re.findall(
        r"^\[thermistor (.*)\]",
        (klippy / "extras/temperature_sensors.cfg").read_text("utf-8"),
        re.MULTILINE,
    )
    for path in (klippy / "extras").glob("*.py"):
        named += re.findall(r'add_sensor_factory\("([^"]+)"', path.read_text("utf-8"))
    adc = modules["extras.adc_temperature"].names
    named += [
        name
        for table in ("DefaultVoltageSensors", "DefaultResistanceSensors")
        for name, _ in adc[table]
    ]
    return sorted(
        {
            *named,
            *modules["extras.spi_temperature"].names["Sensors"],
            *modules["extras.htu21d"].names["HTU21D_DEVICES"],
        }
    )


def demands(modules: dict[str, Module]) -> dict[str, str]:
    """The options that each kind of section has to have, and each sensor_type and lcd_type."""
    needs = Needs(modules)
    found = {kind: needs.required(module) for kind, (module, _) in readers(modules).items()}
    for kind, (module, name) in SET_UP.items():
        found[kind] = needs.of_class(module, name)
    for name in SENSORS:
        for node in ast.walk(modules[name].tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("add_sensor_factory"):
                kind, made = node.args
                if isinstance(kind, ast.Constant):
                    found[f"sensor_type {kind.value}"] = needs.of_class(name, ast.unparse(made))
    for kind in modules["extras.spi_temperature"].names["Sensors"]:
        found[f"sensor_type {kind}"] = set()
    for kind in modules["extras.htu21d"].names["HTU21D_DEVICES"]:
        found[f"sensor_type {kind}"] = set()
    for kind, made in modules["extras.display.display"].names["LCD_chips"].items():
        module = made.__module__.removeprefix("klippy.")
        found[f"lcd_type {kind}"] = needs.of_class(module, made.__name__)
    words = {
        kind: " ".join(sorted(options - {kind.partition(" ")[0]}))
        for kind, options in found.items()
    }
    for kind, options in NEEDED.items():
        words[kind] = f"{words.get(kind, '')} {options}".strip()
    return words


def brought(kind: str, module: str, modules: dict[str, Module]) -> str:
    """The commands of a kind of section."""
    own = [module, *(ALWAYS if kind == "printer" else ())]
    own += ["extras.tmc"] if kind.startswith("tmc") else []
    names = {name for module in own for name in commands(modules[module])}
    return " ".join(sorted(names | set(LOOPED.get(kind, "").split())))


def main() -> None:
    checkout = Path(sys.argv[1])
    klippy = checkout / "klippy"
    sys.path.insert(0, str(klippy))
    for name in MISSING:  # reading the constants of the other modules needs none of them
        sys.modules.setdefault(name, mock.MagicMock())
    paths = {
        ".".join(path.relative_to(klippy).with_suffix("").parts): path
        for path in sorted(klippy.rglob("*.py"))
    }
    modules = {
        name: Module(name, path)
        for name, path in ((n.removesuffix(".__init__"), p) for n, p in paths.items())
    }
    shapers = "|".join(
        shaper.name for shaper in modules["extras.shaper_defs"].names["INPUT_SHAPERS"]
    )
    shaper = modules["extras.input_shaper"].options
    shaper.update({option: spec.format(shapers=shapers) for option, spec in shaper.items()})
    fields(modules)
    share(modules)
    kinds = {
        kind: (sign, reaches(module, modules, REACHES.get(kind, [])))
        for kind, (module, sign) in sorted(readers(modules).items())
    }
    used = {name for _, names in kinds.values() for name in names}
    version, date = (
        subprocess.check_output(["git", "-C", checkout, *words], text=True).strip()
        for words in (["describe", "--tags", "--long"], ["log", "-1", "--format=%cs"])
    )
    print(
        f"# Klipper {version} {date}: made by tests/lab/klipper/facts.py; options.py says what the signs mean."
    )
    for name in sorted(used):
        options = " ".join(
            f"{option}={spec}" for option, spec in sorted(modules[name].options.items())
        )
        print(f"of {name.rpartition('.')[2]}: {options}")
    print(f"sensor {'|'.join(sensor_types(klippy, modules))}:")
    sensors = [name.rpartition(".")[2] for name in SENSORS if name in used]
    needed = demands(modules)
    for kind, (sign, names) in kinds.items():
        short = [name.rpartition(".")[2] for name in names]
        if kind in SENSED:
            short = [name for name in short if name not in sensors] + sensors
        print(" ".join((f"kind {kind}:", sign, *short)))
        if options := needed.pop(kind, ""):
            print(f"needs {kind}: {options}")
        if own := brought(kind, READERS.get(kind, f"extras.{kind}"), modules):
            print(f"gives {kind}: {own}")
    for what, options in needed.items():
        if " " in what:
            print(f"needs {what}: {options}".rstrip())


if __name__ == "__main__":
    main()
