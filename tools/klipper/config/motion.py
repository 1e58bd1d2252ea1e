"""The rules of motion: axes and steppers, their drivers, the bed and its screws."""

import operator
import re

from .machine import PROBE_KINDS, Machine
from .options import BOOLEANS, out_of_bounds, rules
from .printer_cfg import ERROR, WARNING, ConfigSection, Findings

# Numbered names that need the one with the number before.
NUMBERED = re.compile(
    r"(stepper_[a-z]+|extruder|screw|faulty_region_|temperature|voltage)(\d+)(_min|_max|)"
)


def findings(machine: Machine) -> Findings:
    """Findings of all rules of motion."""
    for printer_rule in (
        check_axes,
        check_drivers,
        check_levelling,
        check_mesh,
        check_reach,
        check_homing,
    ):
        yield from printer_rule(machine)
    for section in machine.values():
        for section_rule in (check_rail, check_numbered, check_bounds, check_forms, check_endstop):
            yield from section_rule(machine, section)


def check_axes(machine: Machine) -> Findings:
    """Find steppers that the kinematics needs and that are not there.

    Source: klippy/toolhead.py, klippy/kinematics/.
    """
    for name, needed in machine.axes.items():
        if name not in machine:
            option = (*needed, "step_pin")[0]
            yield machine.missing_from(
                machine["printer"],
                "kinematics",
                f"Option '{option}' in section '{name}' must be specified: there is no such section, and "
                f"{machine.kinematics} needs it",
            )


def check_rail(machine: Machine, section: ConfigSection) -> Findings:
    """Find a stepper that the kinematics does not have, and options that only the first stepper of an axis
    takes."""
    # The stepper of an axis, and the number of a further one.
    match = re.fullmatch(r"(stepper_(?:[a-z]|left|right|bed|arm))(\d*)", section.name)
    if not match or len(machine.axes) < 2:
        return
    if match[1] not in machine.axes:
        if not machine.plugins and machine.axes.keys() <= machine.keys():
            yield section.finding(
                "",
                f"Section '{section.name}' is not a valid config section with {machine.kinematics}",
            )
    elif match[2] or machine.kinematics in ("delta", "rotary_delta"):  # these compute their range
        # The beginnings of options of an axis as a whole.
        refused = ("position_", "homing_", "second_homing_") if match[2] else "position_m"
        for name in section:
            if name.startswith(refused):
                yield section.finding(
                    name, f"Option '{name}' is not valid in section '{section.name}'"
                )


def check_numbered(machine: Machine, section: ConfigSection) -> Findings:
    """Find numbered sections and options that Klipper never reads: it stops at the first that is not there.

    Source: LookupMultiRail in klippy/stepper.py, klippy/extras/bed_mesh.py, bed_screws.py.
    """
    for name in (section.name, *section):
        match = NUMBERED.fullmatch(name)
        if not match:
            continue
        base, number, end = match.groups()
        needed = {name.replace("_min", "_max"), name.replace("_max", "_min")}
        if int(number) > 1:
            needed.add(f"{base}{int(number) - 1}{end}")
        elif base.startswith(("stepper_", "extruder")):
            needed.add(base)
        message = f"'{name}' is not valid in section '{section.name}'"
        for missing in needed:
            if missing not in machine and missing not in section:
                yield machine.missing_from(
                    section, name, f"{message}: it needs {missing}, which is not there"
                )


def check_bounds(machine: Machine, section: ConfigSection) -> Findings:
    """Find options outside of the bounds that another option sets, or excluded by another option.

    Source: the readers of each option, such as klippy/extras/heaters.py for max_temp.
    """
    for option, (sign, other, *default) in rules("bound", section.kind):
        bound = section.number(other, *map(float, default))
        if problem := out_of_bounds(section.numbers(option), sign, bound):
            yield section.finding(
                option, f"Option '{option}' in section '{section.name}' must {problem}, its {other}"
            )
    for option, (other, *values) in rules("goes", section.kind):
        setting = section.get(option)
        if not setting or setting.saved:
            continue
        value = section.value(other).lower()
        if not any(re.fullmatch(pattern, value or "-") for pattern in values):
            message = f"Option '{option}' is not valid in section '{section.name}'"
            if value:
                yield section.finding(option, f"{message} beside {other}: {value[:40]}")
            else:
                yield machine.missing_from(section, option, f"{message} without {other}")


def check_forms(_: Machine, section: ConfigSection) -> Findings:
    """Find words of a list, or lines, that do not have the form that their option needs.

    Source: each option's reader.
    """
    for sort, level in (("form", ERROR), ("warn", WARNING), ("lines", ERROR)):
        for option, (pattern, *words) in rules(sort, section.kind):
            texts = section.words(option)
            if sort == "lines":
                texts = [section.value(option)] if texts else []
            for text in texts:
                if not re.fullmatch(pattern, text):
                    message = " ".join(words).format(text[:40], section=section.name)
                    yield section.finding(option, message, level)


def check_endstop(_: Machine, section: ConfigSection) -> Findings:
    """Find an endstop outside of its axis, or at neither end of it.

    Source: GenericPrinterRail in klippy/stepper.py.
    """
    position = section.number("position_endstop")
    least = section.number("position_min", 0.0)
    most = section.number("position_max")
    quarter = (most - least) / 4
    if least < most and (position < least or position > most):
        yield section.finding(
            "position_endstop",
            f"position_endstop in section '{section.name}' must be between position_min and position_max",
        )
    elif direction := section.value("homing_positive_dir"):
        is_positive = direction.lower() in BOOLEANS[:4]
        if position == (least if is_positive else most):
            yield section.finding(
                "homing_positive_dir",
                f"Invalid homing_positive_dir / position_endstop in '{section.name}'",
            )
    elif least + quarter < position < most - quarter:
        yield section.finding(
            "position_endstop",
            f"Unable to infer homing_positive_dir in section '{section.name}': "
            "position_endstop is at neither end",
        )


def check_drivers(machine: Machine) -> Findings:
    """Find microsteps that a driver cannot make, and drivers of one address on a shared wire.

    Source: klippy/extras/tmc.py, klippy/extras/tmc_uart.py.
    """
    addresses = set()
    for section in machine.values():
        if not section.kind.startswith("tmc") or section.saved:
            continue
        stepper = machine[section.label]
        steps = stepper.value("microsteps")
        # A driver can make these; the option itself may have any number.
        if steps not in "1 2 4 8 16 32 64 128 256".split() and steps.isdigit():
            yield stepper.finding(
                "microsteps",
                f"Choice '{steps}' for option 'microsteps' in section '{stepper.name}' is not a valid "
                f"choice with a {section.kind}",
            )
        pin = section.value("uart_pin").lstrip("^~! ")
        address = (pin, section.value("select_pins"), section.value("uart_address") or "0")
        if pin and address in addresses:
            yield section.finding(
                "uart_pin",
                "Shared TMC uarts need unique address or select_pins polarity",
            )
        addresses.add(address)


def check_levelling(machine: Machine) -> Findings:
    """Find sections for levelling that have too few steppers or screws.

    Source: klippy/extras/z_tilt.py, quad_gantry_level.py, bed_screws.py.
    """
    # In a CoreXZ the steppers of x move z, too.
    axes = ("stepper_z", "stepper_x") if machine.kinematics.endswith("corexz") else "stepper_z"
    motors = sum(name.startswith(axes) for name in machine)
    # Sections that move these one by one, and the option with their places.
    for name, option in (("z_tilt", "z_positions"), ("quad_gantry_level", "gantry_corners")):
        section = machine[name]
        rows = len(section.value(option).splitlines())
        needed = 4 if name == "quad_gantry_level" else rows
        if not rows or (motors > 1 and motors == needed):
            continue
        message = f"{name} {option} needs exactly {motors} items: there are {motors} z steppers, not {needed}"
        if motors < 2:
            message = f"{name} requires multiple z steppers"
        yield machine.missing_from(section, option, message)
    for section in machine.sections_of("bed_screws", "screws_tilt_adjust"):
        if not {"screw1", "screw2", "screw3"} <= section.keys():
            yield section.finding("screw3", f"{section.name}: Must have at least three screws")


def check_mesh(machine: Machine) -> Findings:
    """Find mistakes in the points of the mesh: where, how many, how they are joined.

    Source: klippy/extras/bed_mesh.py.
    """
    section = machine["bed_mesh"]
    if any(map(operator.le, section.numbers("mesh_max"), section.numbers("mesh_min"))):
        yield section.finding(
            "mesh_min", "bed_mesh: invalid min/max points: mesh_min is not below mesh_max"
        )
    counts = section.numbers("probe_count") + section.numbers("round_probe_count")
    algorithm = section.value("algorithm").lower() or "lagrange"
    is_interpolated = any(section.numbers("mesh_pps") or [2])
    if algorithm == "lagrange" and max(counts, default=0) > 6 and is_interpolated:
        yield section.finding(
            "probe_count",
            "bed_mesh: cannot exceed a probe_count of 6 when using lagrange interpolation; use algorithm: bicubic",
        )
    elif algorithm == "bicubic" and counts and min(counts) < 4 and max(counts) > 6:
        yield section.finding(
            "probe_count",
            "bed_mesh: invalid probe_count option when using bicubic interpolation: "
            "3 points on one axis do not go with more than 6 on the other",
        )


def check_reach(machine: Machine) -> Findings:
    """Find a corner of the mesh that the probe reaches only with the nozzle out of range. Klipper starts with
    it, and the calibration ends with "Move out of range".
    """
    probes = machine.sections_of(*PROBE_KINDS)
    # The kinematics whose steppers x and y have the bounds of these axes.
    if not probes or machine.kinematics not in ("cartesian", "corexy", "corexz"):
        return
    mesh = machine["bed_mesh"]
    for option in ("mesh_min", "mesh_max"):
        for axis, corner in zip("xy", mesh.numbers(option)):
            stepper = machine[f"stepper_{axis}"]
            least = stepper.number("position_min", 0.0)
            most = stepper.number("position_max")
            offset = probes[0].number(f"{axis}_offset", 0.0)
            nozzle = corner - offset
            if nozzle < least or nozzle > most:
                yield mesh.finding(
                    option,
                    f"{option} takes the nozzle to {axis} = {nozzle:g}, but stepper_{axis} goes from "
                    f"{least:g} to {most:g} (the probe's {axis}_offset is {offset:g})",
                    WARNING,
                )


def check_homing(machine: Machine) -> Findings:
    """Find a missing endstop, and a place beyond an axis, for homing z.

    Source: klippy/extras/safe_z_home.py.
    """
    for section in machine.sections_of("safe_z_home"):
        if machine.keys().isdisjoint(("stepper_z", "carriage z")):
            yield machine.missing_from(section, "", "Missing Z endstop config for safe_z_homing")
        for axis, home in zip("xy", section.numbers("home_xy_position")):
            if home > machine[f"stepper_{axis}"].number("position_max"):
                yield section.finding(
                    "home_xy_position", f"home_xy_position lies beyond stepper_{axis}", WARNING
                )
