"""The printer's present state, as Klipper itself says, and for `server.py --check` the files that are
here."""

import json
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from tools.core.errors import ToolError, one_line
from tools.core.health import Health, check
from tools.core.json_types import JsonObject
from tools.core.tool import Tool
from tools.klipper import check_config, printer_data
from tools.klipper.config import checking, printer_cfg
from tools.klipper.config.machine import short
from tools.klipper.search import messages

# The two methods of Klipper's API (API_Server.md) that this server ever calls: both only read.
INFO, QUERY = "info", "objects/query"
END = b"\x03"
"""Ends each message."""
TIMEOUT_S, MOST_BYTES = 4.0, 1_000_000
"""The wait for all answers, and the bytes of a message: Klipper's have a few thousand."""
MOST_HEATERS, MOST_WARNINGS = 6, 3
# The fields that are asked for (Status_Reference.md).
OBJECTS: JsonObject = {
    "print_stats": "filename state message print_duration filament_used info".split(),
    "virtual_sdcard": ["progress"],
    "display_status": ["progress"],
    "bed_mesh": ["profile_name", "probed_matrix"],
    "toolhead": ["homed_axes", "position"],
    "heaters": ["available_heaters", "available_sensors"],
    "configfile": ["warnings", "save_config_pending"],
}
ENDED, ACTIVE = ("error", "shutdown"), ("printing", "paused")
# What Klipper adds to every message: how to restart. `Printer is halted` ends those about the configuration.
ADVICE = re.compile(
    r"\s*(?:Once the underlying issue is corrected|Printer is (?:ready|halted|shutdown)).*", re.DOTALL
)
HALTED = "Printer is halted"


@Tool("printer_state")
def printer_state() -> JsonObject:
    """Show what the printer does now: state, job with time left and layer, temperatures, position, warnings;
    when it stopped, why, what to do first, and the mistakes in its printer.cfg. Read only.

    Source: Klipper's socket comms/klippy.sock in KLIPPER_PRINTER_DATA, methods info and objects/query
    (API_Server.md).
    """
    folder = printer_data.folder()
    path = os.fspath(folder / "comms" / "klippy.sock")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(TIMEOUT_S)
            connection.connect(path)
            call = partial(_call, connection, _messages(connection))
            info = call(INFO, {})
            status = call(QUERY, {"objects": OBJECTS})["status"]
            heaters = _part(status, "heaters")
            names = heaters.get("available_heaters") or []
            names += heaters.get("available_sensors") or []
            wanted = {str(name): ["temperature", "target"] for name in names[:MOST_HEATERS]}
            degrees = call(QUERY, {"objects": wanted})["status"]
            answer = _answer(info, status, degrees)
    except TimeoutError:
        message = "Klipper did not answer in time; it may be starting or hanging"
    except OSError as error:
        message = f"Klipper is not running: nothing answers at {path} ({error.strerror or error})"
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        message = f"What answers at klippy.sock is not Klipper ({error})"
    else:
        if answer["state"] in ENDED:
            answer |= _cause(str(info.get("state_message")), folder)
        return {name: value for name, value in answer.items() if value}
    hint = "printer_log shows what happened; start Klipper, or check its service."
    raise ToolError(message, hint, code="PRINTER_SILENT") from None


def _cause(state_message: str, folder: Path) -> JsonObject:
    """What is known of a message that Klipper stopped with, and the mistakes in the configuration if that is
    the cause."""
    cause: JsonObject = {}
    matches = messages.messages_in(state_message)
    if matches:
        cause["known_message"] = messages.explained(matches[0])
    if HALTED in state_message:
        with suppress(ToolError):  # its message says that the file cannot be read
            config = printer_cfg.read_files(folder / "config/printer.cfg", folder)
            cause["config"] = check_config.mistakes(checking.current().errors(config))
    return cause


def _answer(info: JsonObject, status: JsonObject, degrees: JsonObject) -> JsonObject:
    """The parts of the answer; what Klipper does not have is empty."""
    message = ADVICE.sub("", str(info.get("state_message", "")))
    answer: JsonObject = {
        "state": _text(info, "state", 40),
        "message": short(one_line(message), 300),
        "version": _text(info, "software_version", 60),
        "job": _job(status),
        "temperatures": _temperatures(degrees),
    }
    config = _part(status, "configfile")
    answer["save_config_pending"] = config.get("save_config_pending") is True
    if answer["state"] in ENDED:
        return answer
    toolhead = _part(status, "toolhead")
    homed = toolhead.get("homed_axes")
    answer["homed"] = "" if homed is None else str(homed)[:10] or "none"
    position = [_number(place) for place in toolhead.get("position") or []]
    answer["position"] = [round(place, 2) for place in position[:3] if place is not None]
    warnings = [_text(warning, "message", 120) for warning in config.get("warnings") or []]
    answer["warnings"] = warnings[:MOST_WARNINGS]
    answer["mesh"] = _mesh(_part(status, "bed_mesh"))
    return answer


def _mesh(mesh: JsonObject) -> str:
    """The mesh that is in use: its profile, lowest and highest point, size; "" without [bed_mesh]."""
    if mesh.get("profile_name") is None:
        return ""
    matrix = mesh.get("probed_matrix") or []
    heights = list(chain.from_iterable(matrix))
    if not heights:
        return "none loaded"
    name = _text(mesh, "profile_name", 40) or "unnamed"
    return f"{name}, {min(heights):.2f} to {max(heights):.2f} mm, {len(matrix[0])}×{len(matrix)}"


def _job(status: JsonObject) -> JsonObject:
    """The job that is printed or was the last: how far, how long, and why it ended."""
    job = _part(status, "print_stats")
    if not job.get("filename"):
        return {}
    # The part of the file that was read, or else what M73 told.
    card, told = (_part(status, name).get("progress") for name in ("virtual_sdcard", "display_status"))
    progress = _number(card) or _number(told)
    state = _text(job, "state", 20)
    shown: JsonObject = {"file": _text(job, "filename", 80), "state": state}
    if message := _text(job, "message", 160):
        shown["message"] = message
    seconds = _number(job.get("print_duration"))
    if seconds is not None:
        shown["seconds"] = round(seconds)
    if progress is not None and state in ACTIVE:
        shown["percent"] = round(100 * progress)
        if seconds and 0 < progress <= 1:
            shown["left_s"] = round(seconds / progress - seconds)
    layers = _part(job, "info")
    layer, total = _number(layers.get("current_layer")), _number(layers.get("total_layer"))
    if layer is not None:
        shown["layer"] = f"{layer:g} of {total:g}" if total else f"{layer:g}"
    if filament := _number(job.get("filament_used")):
        shown["filament_m"] = round(filament / 1000, 2)
    return shown


def _temperatures(degrees: JsonObject) -> JsonObject:
    shown = {}
    for name in degrees:
        heater = _part(degrees, name)
        temperature, target = _number(heater.get("temperature")), _number(heater.get("target"))
        if temperature is not None:
            goal = f" of {target:g}" if target else ""
            shown[name[:40]] = f"{temperature:.1f}{goal}"
    return shown


def _part(status: JsonObject, name: str) -> JsonObject:
    """A part of what Klipper says. It says null for what is not loaded, such as the toolhead before the
    configuration is read."""
    part = status.get(name)
    return part if isinstance(part, dict) else {}


def _text(part: JsonObject, name: str, most: int) -> str:
    value = part.get(name)
    return "" if value is None else one_line(value)[:most]


def _number(value: Any) -> float | None:
    """A number that can be shown; None for anything else, also for NaN."""
    return float(value) if isinstance(value, int | float) and abs(value) < 1e9 else None


def _messages(connection: socket.socket) -> Iterator[Any]:
    """The messages that come over a connection until one deadline.

    Raises TimeoutError, and several others for what is not Klipper.
    """
    deadline = time.monotonic() + TIMEOUT_S
    data = b""
    while (left_s := deadline - time.monotonic()) > 0:
        connection.settimeout(left_s)
        part = connection.recv(65_536)
        if not part or len(data) > MOST_BYTES:
            raise ValueError("it ends, or does not end")
        *whole, data = (data + part).split(END)
        yield from map(json.loads, whole)
    raise TimeoutError


def _call(connection: socket.socket, messages: Iterator[Any], method: str, params: JsonObject) -> Any:
    """The result of a method; messages of other kinds before it are notifications."""
    connection.sendall(json.dumps({"id": method, "method": method, "params": params}).encode() + END)
    answer = next(message for message in messages if message.get("id") == method)
    return answer["result"]


@check
def health() -> Health:
    """The folder and its parts. Nothing is asked of Klipper."""
    try:
        folder = printer_data.folder()
    except ToolError as error:
        return Health("unset", error.message, "Set KLIPPER_PRINTER_DATA if Klipper runs on this machine")
    names = ("config/printer.cfg", "logs/klippy.log", "comms/klippy.sock")
    parts = [name for name in names if (folder / name).exists()]
    return Health("ok", f"{folder}: {', '.join(parts) or 'nothing in it yet'}; only read")
