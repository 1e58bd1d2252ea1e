"""The rules of motion: axes and steppers, their drivers, the bed and its screws."""

import operator
from collections.abc import Iterator

from tools.klipper.config.machine import PROBES, ParsedPrinter, finding_at
from tools.klipper.config.options import words_of
from tools.klipper.config.printer_cfg import WARNING, Finding, Section
from tools.klipper.config.reference import AXIS_STEPPER

RELATIONS = {
    "above": ("be above", operator.le),
    "minimum": ("have minimum of", operator.lt),
    "maximum": ("have maximum of", operator.gt),
}
"""How an option bounds another one: Klipper's words, and what is wrong."""
STEPS = "1 2 4 8 16 32 64 128 256".split()
ALGORITHMS = ("lagrange", "bicubic")
Z_PROBE = "z_virtual_endstop"
RECTANGULAR = ("cartesian", "corexy", "corexz")
"""Kinematics whose steppers x and y have the bounds of these axes."""


def findings(machine: ParsedPrinter) -> Iterator[Finding]:
    """Everything that these rules find."""
    for rule in (axes, drivers, levelling, mesh, homing):
        yield from rule(machine)
    for section in machine.sections.values():
        yield from ranges(machine, section)


def axes(machine: ParsedPrinter) -> Iterator[Finding]:
    """The steppers that the kinematics needs, and their options."""
    traits = {}
    for word in words_of("axes").get(machine.kinematics, ()):
        axis, *marks = word.split("+")
        traits[name := f"stepper_{axis}"] = marks
        if name not in machine.sections:
            pin = "step_pin" if "motor" in marks else "endstop_pin"
            missing = f"Option '{pin}' in section '{name}' must be specified"
            message = f"{missing}: there is no such section, and {machine.kinematics} needs it"
            yield machine.absent(machine.sections["printer"], "kinematics", message)
    for section in machine.sections.values():
        if AXIS_STEPPER.fullmatch(section.kind) and not section.saved:
            marks = traits.get(section.name, ["motor"])  # `stepper_z1` is moved by the endstop of `stepper_z`
            yield from machine.missing(section, *_needed(section, marks))
        elif section.kind == "extruder_stepper" or {"step_pin", "dir_pin"} & section.values.keys():
            yield from machine.missing(section, *_needed(section, ["motor"]))


def _needed(section: Section, marks: list[str]) -> Iterator[str]:
    """The options that a stepper has to have."""
    values = section.values
    yield from ("step_pin", "dir_pin", "microsteps")
    if "gear_ratio" not in values:
        yield "gear_ratio" if "gears" in marks else "rotation_distance"
    if "motor" not in marks:
        yield "endstop_pin"
    if "endstop" in marks and not ("endstop_pin" in values and Z_PROBE in values["endstop_pin"].value):
        yield "position_endstop"
    if "range" in marks:
        yield "position_max"


def ranges(machine: ParsedPrinter, section: Section) -> Iterator[Finding]:
    """Options that bound each other, endstops within the axis, gears and steps that cannot be."""
    name = section.name
    for place, (relation, other, *default) in words_of("bound").items():
        kind, option = place.split()
        words, is_wrong = RELATIONS[relation]
        value, bound = machine.number(name, option), machine.number(name, other, *map(float, default))
        is_of_kind = kind in ("*", section.kind)
        if is_of_kind and value is not None and bound is not None and is_wrong(value, bound):
            message = f"Option '{option}' in section '{name}' must {words} {bound}, its {other}"
            yield finding_at(section, option, message)
    for place, others in words_of("beside").items():
        kind, option = place.split()
        if kind == section.kind and option in section.values and others[0] in section.values:
            message = f"Option '{option}' is not valid in section '{name}' beside {others[0]}"
            yield finding_at(section, option, message)
    pairs = machine.value(name, "gear_ratio").replace("\n", ",").split(",")
    for pair in filter(str.strip, pairs):
        teeth = pair.split(":")
        if len(teeth) != 2 or "0" in map(str.strip, teeth):
            message = (
                f"Option 'gear_ratio' in section '{name}' must have 2 elements above 0: '{pair.strip()[:40]}'"
            )
            yield finding_at(section, "gear_ratio", message)
    if (machine.number(name, "full_steps_per_rotation") or 0) % 4:
        yield finding_at(
            section, "full_steps_per_rotation", f"full_steps_per_rotation invalid in section '{name}'"
        )
    if name.startswith("stepper_"):
        yield from _endstop(machine, section)


def _endstop(machine: ParsedPrinter, section: Section) -> Iterator[Finding]:
    """An endstop within the axis, at one of its ends."""
    name = section.name
    least, most = machine.number(name, "position_min", 0.0), machine.number(name, "position_max")
    endstop = machine.number(name, "position_endstop")
    if endstop is None or least is None or most is None or most <= least:
        return
    quarter = (most - least) / 4
    if not least <= endstop <= most:
        message = f"position_endstop in section '{name}' must be between position_min and position_max"
        yield finding_at(section, "position_endstop", message)
    elif not machine.value(name, "homing_positive_dir") and least + quarter < endstop < most - quarter:
        message = (
            f"Unable to infer homing_positive_dir in section '{name}': position_endstop is at neither end"
        )
        yield finding_at(section, "position_endstop", message)


def drivers(machine: ParsedPrinter) -> Iterator[Finding]:
    """The needs of drivers: of their steppers, and of each other on one wire."""
    wires: set[tuple[str, ...]] = set()
    for section in machine.sections.values():
        stepper = section.name.partition(" ")[2]
        if not section.kind.startswith("tmc") or section.saved or not stepper:
            continue
        steps = machine.value(stepper, "microsteps")
        if stepper not in machine.sections:
            yield machine.absent(
                section, "", f"Could not find config section '[{stepper}]' required by tmc driver"
            )
        elif steps not in STEPS and steps.isdigit():
            message = f"Choice '{steps}' for option 'microsteps' in section '{stepper}' is not a valid choice"
            yield finding_at(machine.sections[stepper], "microsteps", f"{message} with a {section.kind}")
        pin = machine.value(section.name, "uart_pin").replace(" ", "").lstrip("^~!")
        address = machine.value(section.name, "uart_address") or "0"
        wire = (pin, machine.value(section.name, "select_pins"), address)
        if pin and wire in wires:
            yield finding_at(
                section, "uart_pin", "Shared TMC uarts need unique address or select_pins polarity"
            )
        wires.add(wire)


def levelling(machine: ParsedPrinter) -> Iterator[Finding]:
    """As many steppers, points and screws as the levelling needs."""
    motors = sum(section.name.startswith("stepper_z") for section in machine.sections.values())
    for name, option in (("z_tilt", "z_positions"), ("quad_gantry_level", "gantry_corners")):
        rows = list(filter(str.strip, machine.value(name, option).split("\n")))
        wanted = 4 if name == "quad_gantry_level" else len(rows)
        if not rows or (motors > 1 and motors == wanted):
            continue
        message = f"{name} {option} needs exactly {motors} items: there are {motors} z steppers, not {wanted}"
        if motors < 2:
            message = f"{name} requires multiple z steppers"
        yield machine.absent(machine.sections[name], option, message)
    for section in machine.of("bed_screws", "screws_tilt_adjust"):
        if section.values and not {"screw1", "screw2", "screw3"} <= section.values.keys():
            yield finding_at(section, "screw3", f"{section.name}: Must have at least three screws")


def mesh(machine: ParsedPrinter) -> Iterator[Finding]:
    """The points of the mesh: where, how many, how they are joined."""
    section = machine.sections.get("bed_mesh")
    if not section or section.saved:
        return
    counts = machine.numbers("bed_mesh", "probe_count", "3") or [3.0]
    if "mesh_radius" in section.values:
        counts = machine.numbers("bed_mesh", "round_probe_count", "5") or [5.0]
        if counts[0] % 2 == 0:
            yield finding_at(section, "round_probe_count", "bed_mesh: probe_count must be odd for round beds")
    else:
        yield from machine.missing(section, "mesh_min", "mesh_max")
        least, most = machine.numbers("bed_mesh", "mesh_min"), machine.numbers("bed_mesh", "mesh_max")
        if len(least) == len(most) == 2 and (most[0] <= least[0] or most[1] <= least[1]):
            yield finding_at(
                section, "mesh_min", "bed_mesh: invalid min/max points: mesh_min is not below mesh_max"
            )
        yield from _reach(machine, section)
    if min(counts) < 3:
        yield finding_at(
            section, "probe_count", "Option 'probe_count' in section bed_mesh must have a minimum of 3"
        )
    points_between = machine.numbers("bed_mesh", "mesh_pps", "2")
    if any(number < 0 for number in points_between):
        yield finding_at(
            section, "mesh_pps", "Option 'mesh_pps' in section bed_mesh must have a minimum of 0"
        )
    algorithm = machine.value("bed_mesh", "algorithm").lower() or ALGORITHMS[0]
    if algorithm not in ALGORITHMS:
        yield finding_at(section, "algorithm", f"bed_mesh: Unknown algorithm <{algorithm[:40]}>")
    elif algorithm == "lagrange" and max(counts) > 6 and any(points_between):
        message = "bed_mesh: cannot exceed a probe_count of 6 when using lagrange interpolation; use algorithm: bicubic"
        yield finding_at(section, "probe_count", message)


def _reach(machine: ParsedPrinter, section: Section) -> Iterator[Finding]:
    """Corners of the mesh where the probe would take the nozzle off an axis."""
    probes = machine.of(*PROBES)
    if not probes or machine.kinematics not in RECTANGULAR:
        return
    for option in ("mesh_min", "mesh_max"):
        for axis, place in zip("xy", machine.numbers("bed_mesh", option), strict=False):
            offset = machine.number(probes[0].name, f"{axis}_offset", 0.0)
            least = machine.number(f"stepper_{axis}", "position_min", 0.0)
            most = machine.number(f"stepper_{axis}", "position_max")
            if offset is None or least is None or most is None or least <= place - offset <= most:
                continue
            message = f"{option} takes the nozzle to {axis} = {place - offset:g}, but stepper_{axis} goes from {least:g} to {most:g}"
            yield finding_at(section, option, f"{message} (the probe's {axis}_offset is {offset:g})", WARNING)


def homing(machine: ParsedPrinter) -> Iterator[Finding]:
    """Homing by the probe, and the two sections that replace G28."""
    if stepper := machine.sections.get("stepper_z"):
        setting = stepper.values.get("position_endstop")
        if setting and not setting.saved and Z_PROBE in machine.value("stepper_z", "endstop_pin"):
            message = (
                f"Option 'position_endstop' is not valid in section 'stepper_z' with {Z_PROBE}: remove it"
            )
            yield finding_at(stepper, "position_endstop", message)
    if not (section := machine.sections.get("safe_z_home")):
        return
    if "homing_override" in machine.sections:
        yield finding_at(section, "", "homing_override and safe_z_homing cannot be used simultaneously")
    if not stepper:
        yield machine.absent(section, "", "Missing Z endstop config for safe_z_homing")
    point = machine.numbers("safe_z_home", "home_xy_position")
    for axis, place in zip("xy", point, strict=False):
        most = machine.number(f"stepper_{axis}", "position_max")
        if most is not None and place > most and machine.kinematics in RECTANGULAR:
            yield finding_at(
                section, "home_xy_position", f"home_xy_position lies beyond stepper_{axis}", WARNING
            )
