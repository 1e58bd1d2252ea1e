"""The rules of motion: axes and steppers, their drivers, the bed and its screws."""

import re

from .machine import PROBES, ParsedPrinter, finding_at
from .options import TRUTHS, out_of_bounds, rules
from .printer_cfg import ERROR, WARNING, ConfigSection, Findings

# The microsteps that a TMC driver can make; the option itself may have any number.
MICROSTEPS = "1 2 4 8 16 32 64 128 256".split()
# Numbered names that need the one with the number before.
NUMBERED = re.compile(
    r"(stepper_[a-z]+|extruder|screw|faulty_region_|temperature|voltage)(\d+)(_min|_max|)"
)
# The stepper of an axis, and the number of a further one.
STEPPER_NAME = re.compile(r"(stepper_(?:[a-z]|left|right|bed|arm))(\d*)")
# The beginnings of options of an axis as a whole.
OF_FIRST = ("position_", "homing_", "second_homing_")
# Sections that move the z steppers one by one, and the option with their places.
LEVELLING = {"z_tilt": "z_positions", "quad_gantry_level": "gantry_corners"}


def findings(machine: ParsedPrinter) -> Findings:
    """The findings of these rules."""
    for check in (
        check_axes,
        check_numbered,
        check_drivers,
        check_levelling,
        check_mesh,
        check_homing,
    ):
        yield from check(machine)
    for section in machine.values():
        yield from check_bounds(machine, section)
        yield from check_forms(section)
        yield from check_endstop(section)


def check_axes(machine: ParsedPrinter) -> Findings:
    """The steppers that the kinematics needs.

    Source: klippy/toolhead.py, klippy/kinematics/.
    """
    for name, needed in machine.axes.items():
        if name not in machine:
            option = (*needed, "step_pin")[0]
            missing = f"Option '{option}' in section '{name}' must be specified"
            message = f"{missing}: there is no such section, and {machine.kinematics} needs it"
            yield machine.absent(machine["printer"], "kinematics", message)
    for section in machine.of("stepper") if len(machine.axes) > 1 else ():
        yield from _check_rail(machine, section)


def _check_rail(machine: ParsedPrinter, section: ConfigSection) -> Findings:
    """A stepper that the kinematics does not have, and options of an axis that only its first stepper has."""
    match = STEPPER_NAME.fullmatch(section.name)
    if not match or match[1] not in machine.axes:
        if match and not machine.plugins and machine.axes.keys() <= machine.keys():
            message = (
                f"Section '{section.name}' is not a valid config section with {machine.kinematics}"
            )
            yield finding_at(section, "", message)
        return
    if match[2] or machine.kinematics in ("delta", "rotary_delta"):  # these compute their range
        refused = OF_FIRST if match[2] else "position_m"
        for name in section.values:
            if name.startswith(refused):
                yield finding_at(
                    section, name, f"Option '{name}' is not valid in section '{section.name}'"
                )


def check_numbered(machine: ParsedPrinter) -> Findings:
    """Sections and options with a number: Klipper reads them up to the first that is not there.

    Source: LookupMultiRail in klippy/stepper.py, klippy/extras/bed_mesh.py, bed_screws.py.
    """
    for section in machine.values():
        for name in (section.name, *section.values):
            match = NUMBERED.fullmatch(name)
            if not match:
                continue
            base, number, end = match.groups()
            needed = {name.replace("_min", "_max")}
            if int(number) > 1:
                needed.add(f"{base}{int(number) - 1}{end}")
            elif base.startswith(("stepper_", "extruder")):
                needed.add(base)
            for missing in needed:
                if missing not in machine and missing not in section.values:
                    needs = f"it needs {missing}, which is not there"
                    yield machine.absent(
                        section, name, f"'{name}' is not valid in section '{section.name}': {needs}"
                    )


def check_bounds(machine: ParsedPrinter, section: ConfigSection) -> Findings:
    """Options that bound each other, or that exclude each other.

    Source: the readers of each option, such as klippy/extras/heaters.py for max_temp.
    """
    for option, (sign, other, *default) in rules("bound", section.kind):
        bound = section.number(other, *map(float, default))
        if problem := out_of_bounds(section.numbers(option), sign, bound):
            message = f"Option '{option}' in section '{section.name}' must {problem}, its {other}"
            yield finding_at(section, option, message)
    for option, (other, *values) in rules("goes", section.kind):
        setting = section.values.get(option)
        if not setting or setting.saved:
            continue
        value = section.value(other).lower()
        if not any(re.fullmatch(pattern, value or "-") for pattern in values):
            message = f"Option '{option}' is not valid in section '{section.name}'"
            if value:
                yield finding_at(section, option, f"{message} beside {other}: {value[:40]}")
            else:
                yield machine.absent(section, option, f"{message} without {other}")


def check_forms(section: ConfigSection) -> Findings:
    """Words of a list, or lines, that do not have the form of their option.

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
                    yield finding_at(section, option, message, level)


def check_endstop(section: ConfigSection) -> Findings:
    """An endstop outside of its axis, or at neither end of it.

    Source: GenericPrinterRail in klippy/stepper.py.
    """
    position = section.number("position_endstop")
    least = section.number("position_min", 0.0)
    most = section.number("position_max")
    quarter = (most - least) / 4
    if least < most and (position < least or position > most):
        message = f"position_endstop in section '{section.name}' must be between position_min and position_max"
        yield finding_at(section, "position_endstop", message)
    elif direction := section.value("homing_positive_dir"):
        is_positive = direction.lower() in TRUTHS[:4]
        if position == (least if is_positive else most):
            message = f"Invalid homing_positive_dir / position_endstop in '{section.name}'"
            yield finding_at(section, "homing_positive_dir", message)
    elif least + quarter < position < most - quarter:
        message = f"Unable to infer homing_positive_dir in section '{section.name}'"
        yield finding_at(
            section, "position_endstop", f"{message}: position_endstop is at neither end"
        )


def check_drivers(machine: ParsedPrinter) -> Findings:
    """The steps that a driver can make, and its address on a shared wire.

    Source: klippy/extras/tmc.py, klippy/extras/tmc_uart.py.
    """
    addresses = set()
    for section in machine.values():
        if not section.kind.startswith("tmc") or section.saved:
            continue
        stepper = machine[section.label]
        steps = stepper.value("microsteps")
        if steps not in MICROSTEPS and steps.isdigit():
            message = f"Choice '{steps}' for option 'microsteps' in section '{stepper.name}' is not a valid choice"
            yield finding_at(stepper, "microsteps", f"{message} with a {section.kind}")
        pin = section.value("uart_pin").lstrip("^~! ")
        address = (pin, section.value("select_pins"), section.value("uart_address") or "0")
        if pin and address in addresses:
            yield finding_at(
                section, "uart_pin", "Shared TMC uarts need unique address or select_pins polarity"
            )
        addresses.add(address)


def check_levelling(machine: ParsedPrinter) -> Findings:
    """The numbers of steppers and screws that the levelling needs.

    Source: klippy/extras/z_tilt.py, quad_gantry_level.py, bed_screws.py.
    """
    # In a CoreXZ the steppers of x move z, too.
    axes = ("stepper_z", "stepper_x") if machine.kinematics.endswith("corexz") else "stepper_z"
    motors = sum(name.startswith(axes) for name in machine)
    for name, option in LEVELLING.items():
        section = machine[name]
        rows = len(section.value(option).splitlines())
        wanted = 4 if name == "quad_gantry_level" else rows
        if not rows or (motors > 1 and motors == wanted):
            continue
        message = f"{name} {option} needs exactly {motors} items: there are {motors} z steppers, not {wanted}"
        if motors < 2:
            message = f"{name} requires multiple z steppers"
        yield machine.absent(section, option, message)
    for section in machine.of("bed_screws", "screws_tilt_adjust"):
        if section.values and not {"screw1", "screw2", "screw3"} <= section.values.keys():
            yield finding_at(section, "screw3", f"{section.name}: Must have at least three screws")


def check_mesh(machine: ParsedPrinter) -> Findings:
    """The points of the mesh: where, how many, how they are joined.

    Source: klippy/extras/bed_mesh.py.
    """
    section = machine["bed_mesh"]
    counts = section.numbers("probe_count") + section.numbers("round_probe_count")
    corners = zip(section.numbers("mesh_min"), section.numbers("mesh_max"), strict=False)
    if any(most <= least for least, most in corners):
        yield finding_at(
            section, "mesh_min", "bed_mesh: invalid min/max points: mesh_min is not below mesh_max"
        )
    algorithm = section.value("algorithm").lower() or "lagrange"
    if (
        algorithm == "lagrange"
        and max(counts, default=0) > 6
        and any(section.numbers("mesh_pps") or [2])
    ):
        message = "bed_mesh: cannot exceed a probe_count of 6 when using lagrange interpolation; use algorithm: bicubic"
        yield finding_at(section, "probe_count", message)
    elif algorithm == "bicubic" and counts and min(counts) < 4 and max(counts) > 6:
        message = "bed_mesh: invalid probe_count option when using bicubic interpolation"
        message += ": 3 points on one axis do not go with more than 6 on the other"
        yield finding_at(section, "probe_count", message)
    # Their steppers x and y have the bounds of these axes.
    if machine.kinematics in ("cartesian", "corexy", "corexz"):
        for probe in machine.of(*PROBES)[:1]:
            for option in ("mesh_min", "mesh_max"):
                yield from _check_reach(machine, section, option, probe)


def _check_reach(
    machine: ParsedPrinter, mesh: ConfigSection, option: str, probe: ConfigSection
) -> Findings:
    """A corner of the mesh that the probe reaches only with the nozzle out of range. Klipper starts with it,
    and the calibration ends with "Move out of range".
    """
    for axis, corner in zip("xy", mesh.numbers(option), strict=False):
        stepper = machine[f"stepper_{axis}"]
        least = stepper.number("position_min", 0.0)
        most = stepper.number("position_max")
        offset = probe.number(f"{axis}_offset", 0.0)
        nozzle = corner - offset
        if nozzle < least or nozzle > most:
            message = (
                f"{option} takes the nozzle to {axis} = {nozzle:g}, but stepper_{axis} goes from "
                f"{least:g} to {most:g} (the probe's {axis}_offset is {offset:g})"
            )
            yield finding_at(mesh, option, message, WARNING)


def check_homing(machine: ParsedPrinter) -> Findings:
    """The endstop and the place for homing z.

    Source: klippy/extras/safe_z_home.py.
    """
    for section in machine.of("safe_z_home"):
        if machine.keys().isdisjoint(("stepper_z", "carriage z")):
            yield machine.absent(section, "", "Missing Z endstop config for safe_z_homing")
        for axis, home in zip("xy", section.numbers("home_xy_position"), strict=False):
            if home > machine[f"stepper_{axis}"].number("position_max"):
                message = f"home_xy_position lies beyond stepper_{axis}"
                yield finding_at(section, "home_xy_position", message, WARNING)
