"""The states in which a person asks what is wrong, each on a real Klipper; what it says there, recorded for the
stand-in of the tests, and what printer_state makes of it."""

import json
import os
from pathlib import Path

from tests.klipper.asking import call
from tests.lab.klipper.running import printer, wait_until
from tools.core import registry, settings

RECORDED = Path(__file__).resolve().parents[2] / "printer/recorded.json"
OBJECTS = "print_stats virtual_sdcard display_status bed_mesh toolhead heaters configfile".split()
CONFIGFILE = ("warnings", "save_config_pending")
BOARD = """\
[mcu]
serial: {port}
[printer]
kinematics: none
max_velocity: 300
max_accel: 3000
"""
PRINTING = """\
[virtual_sdcard]
path: {folder}/gcodes
[pause_resume]
[display_status]
[temperature_sensor chamber]
sensor_type: temperature_host
sensor_path: {folder}/degrees
[gcode_macro LOAD_FILAMENT]
gcode:
  {{action_raise_error("Spool is empty")}}
"""
MESH = """\
[bed_mesh]
mesh_min: 10, 10
mesh_max: 90, 90
probe_count: 3, 3
#*# <---------------------- SAVE_CONFIG ---------------------->
#*# DO NOT EDIT THIS BLOCK OR BELOW. The contents are auto-generated.
#*#
#*# [bed_mesh default]
#*# version = 1
#*# points =
#*# \t-0.031, 0.004, 0.021
#*# \t-0.012, 0.000, 0.012
#*# \t0.018, 0.022, 0.009
#*# x_count = 3
#*# y_count = 3
#*# mesh_x_pps = 2
#*# mesh_y_pps = 2
#*# algo = lagrange
#*# tension = 0.2
#*# min_x = 10.0
#*# max_x = 90.0
#*# min_y = 10.0
#*# max_y = 90.0
"""
LAYERS = "SET_PRINT_STATS_INFO TOTAL_LAYER=100 CURRENT_LAYER=10\n" + "G4 P300\n" * 40
MISTAKES = {
    "an include is missing": "[include nope.cfg]\n",
    "a sensor's file is missing": "[temperature_sensor a]\nsensor_type: temperature_host\nsensor_path: /none\n",
    "an option is missing": "[output_pin a]\n",
    "a value is out of range": "[output_pin a]\npin: gpio1\nvalue: 3\n",
    "a pin is used twice": "[output_pin a]\npin: gpio1\n[output_pin b]\npin: gpio1\n",
    "a sensor is unknown": "[temperature_sensor a]\nsensor_type: nope\n",
    "an option is unknown": "[output_pin a]\npin: gpio1\nvalu: 1\n",
    "a section is unknown": "[output_pi a]\npin: gpio1\n",
    "a line cannot be read": "[output_pin a]\npin\n",
}


def states(klipper):
    """Bring Klipper into one state after the other, and give the name of each."""
    paths = {"port": klipper.port, "folder": klipper.folder}
    board = BOARD.format(**paths)
    full = (BOARD + PRINTING).format(**paths)
    (klipper.folder / "degrees").write_text("31200")
    for name, mistake in MISTAKES.items():
        klipper.start(board + mistake, "error")
        yield name
    klipper.start(board.replace(str(klipper.port), "/dev/none"))
    yield "it is starting"
    klipper.wait_for("error")
    yield "the board's port is not there"
    klipper.start(board, "ready")
    yield "ready, without heaters"
    klipper.start(board + MESH, "ready")
    yield "no mesh is loaded"
    klipper.send("BED_MESH_PROFILE LOAD=default")
    yield "a mesh is loaded"
    klipper.start(full, "ready")
    yield from jobs(klipper)
    klipper.send("M112")
    klipper.wait_for("shutdown")
    yield "M112"
    klipper.start(full, "ready")
    klipper.processes[0].kill()
    klipper.wait_for("shutdown")
    yield "the board is gone"


def jobs(klipper):
    """A job that prints, is paused, cancelled, ends, and ends in an error."""
    files = {"long.gcode": LAYERS, "short.gcode": "G4 P10\n", "bad.gcode": "LOAD_FILAMENT\n"}
    for name, text in files.items():
        (klipper.folder / "gcodes" / name).write_text(text)
    klipper.send("SDCARD_PRINT_FILE FILENAME=long.gcode")
    wait_until(lambda: status(klipper, "virtual_sdcard", "progress") > 0.2)
    yield "printing"
    klipper.send("PAUSE")
    yield "paused"
    klipper.send("CANCEL_PRINT")
    yield "cancelled"
    for name, state in (("short.gcode", "complete"), ("bad.gcode", "error")):
        klipper.send(f"SDCARD_PRINT_FILE FILENAME={name}")
        wait_until(lambda state=state: status(klipper, "print_stats", "state") == state)
        yield f"a job: {state}"


def status(klipper, name, field):
    return klipper.ask("objects/query", objects={name: None})["status"][name][field]


def recording(klipper):
    """The status that Klipper reports: all fields of what is loaded, nothing of what is not."""
    about = klipper.ask("info")
    sensors = [name for name in klipper.ask("objects/list")["objects"] if "sensor" in name]
    objects = dict.fromkeys((*OBJECTS, *sensors)) | {"configfile": CONFIGFILE}
    status = klipper.ask("objects/query", objects=objects)["status"]
    about_klipper = {key: about[key] for key in ("state", "state_message", "software_version")}
    text = json.dumps({"info": about_klipper, "status": status})
    return json.loads(text.replace(str(klipper.folder), "/home/pi/printer_data"))


def record(show, save):
    """Show the answer of printer_state in each state; save what Klipper said."""
    registry.load()
    recorded = {}
    with printer() as klipper:
        os.environ["KLIPPER_PRINTER_DATA"] = str(klipper.folder)
        settings.forget()
        for name in states(klipper):
            recorded[name] = recording(klipper)
            show(name, call("printer_state"))
            show(f"{name}: the log", call("printer_log"))
        klipper.stop()
        show("Klipper does not run", call("printer_state"))
    if save:
        write(RECORDED, recorded)


def write(file, recorded):
    """Write what was recorded, one line for each state."""
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in recorded.items()]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
