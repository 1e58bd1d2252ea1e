"""What Klipper's sources take though the reference does not say so: each with the file that reads it."""

from collections.abc import Iterator, Mapping
from functools import cache

from tools.klipper.config.blocks import Option

UNDOCUMENTED = """
extruder_stepper: pressure_advance pressure_advance_smooth_time  # kinematics/extruder.py
bed_mesh: version points x_count y_count mesh_x_pps mesh_y_pps algo tension min_x max_x min_y max_y  # extras/bed_mesh.py
skew_correction: xy_skew xz_skew yz_skew  # extras/skew_correction.py
axis_twist_compensation: z_compensations compensation_start_x compensation_end_x  # extras/axis_twist_compensation.py
axis_twist_compensation: zy_compensations compensation_start_y compensation_end_y  # extras/axis_twist_compensation.py
delta_calibrate: height<n> height<n>_pos manual_height<n> distance<n> distance<n>_pos1 distance<n>_pos2  # extras/delta_calibrate.py
probe_eddy_current: calibrate reg_drive_current  # extras/probe_eddy_current.py, extras/ldc1612.py
temperature_probe: calibration_temp drift_calibration drift_calibration_min_temp  # extras/temperature_probe.py
angle: calibrate  # extras/angle.py
"""
"""Options by kind of section; those that calibrations have written may be moved out of what SAVE_CONFIG keeps."""

ALTERNATIVES = {("tmc2240", "cs_pin"): "uart_pin"}
"""A required option, and the one that stands in for it (extras/tmc2240.py)."""


@cache
def _table() -> dict[str, dict[str, Option]]:
    table: dict[str, dict[str, Option]] = {}
    for line in UNDOCUMENTED.strip().splitlines():
        kind, _, names = line.partition("#")[0].partition(": ")
        table.setdefault(kind, {}).update({name: Option(name, "", False, "", 0) for name in names.split()})
    return table


def undocumented(kind: str) -> Mapping[str, Option]:
    """The options that a kind of section takes besides those of the reference."""
    return _table().get(kind, {})


def alternatives(kind: str) -> Iterator[tuple[str, str]]:
    """The required options of a kind that another one stands in for, each with that."""
    return ((option, other) for (owner, option), other in ALTERNATIVES.items() if owner == kind)
