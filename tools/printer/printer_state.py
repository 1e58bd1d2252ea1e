"""The printer's present state, as Klipper itself says, and for `server.py --check` the files that are
here."""

import json
import os
import socket
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from tools.core.errors import ToolError
from tools.core.health import Health, check
from tools.core.json_types import JsonObject
from tools.core.tool import Tool
from tools.klipper import printer_data

# The two methods of Klipper's API (API_Server.md) that this server ever calls: both only read.
INFO, QUERY = "info", "objects/query"
END = b"\x03"
"""Ends each message."""
TIMEOUT_S, MOST_BYTES = 4.0, 1_000_000
MOST_HEATERS, MOST_WARNINGS = 6, 3
OBJECTS: JsonObject = {
    "print_stats": ["filename", "state", "print_duration"],
    "virtual_sdcard": ["progress"],
    "toolhead": ["homed_axes", "position"],
    "heaters": ["available_heaters", "available_sensors"],
    "configfile": ["warnings", "save_config_pending"],
}


@Tool("printer_state")
def printer_state() -> JsonObject:
    """Tell what the printer does now: state and its message, job and progress, temperatures with targets,
    position and what is homed, warnings of the configuration. Read only.

    Source: Klipper's socket comms/klippy.sock in KLIPPER_PRINTER_DATA, methods info and objects/query
    (API_Server.md).
    """
    path = os.fspath(printer_data.folder() / "comms" / "klippy.sock")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(TIMEOUT_S)
            connection.connect(path)
            call = partial(_call, connection, _messages(connection))
            info = call(INFO, {})
            status = call(QUERY, {"objects": OBJECTS})["status"]
            heaters = status.get("heaters") or {}
            names = [*heaters.get("available_heaters", ()), *heaters.get("available_sensors", ())][
                :MOST_HEATERS
            ]
            wanted = {key: ["temperature", "target"] for key in names}
            degrees = call(QUERY, {"objects": wanted})["status"]
        return {name: value for name, value in _answer(info, status, degrees).items() if value}
    except TimeoutError:
        message = "Klipper did not answer in time; it may be starting or hang"
    except OSError as error:
        message = f"Klipper does not run: nothing answers at {path} ({error.strerror or error})"
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        message = f"What answers at klippy.sock is not Klipper ({error})"
    hint = "printer_log tells what happened; start Klipper, or check its service."
    raise ToolError(message, hint, code="PRINTER_SILENT") from None


def _answer(info: JsonObject, status: JsonObject, degrees: JsonObject) -> JsonObject:
    """The parts of the answer; what is not there is empty."""
    message = " ".join(str(info.get("state_message", "")).split())
    job, card, toolhead, config = (
        status.get(name) or {} for name in ("print_stats", "virtual_sdcard", "toolhead", "configfile")
    )
    shown = {"file": str(job.get("filename"))[:80], "state": job.get("state")}
    shown |= {"seconds": round(job.get("print_duration", 0)), "percent": round(100 * card.get("progress", 0))}
    temperatures = {}
    for name, part in degrees.items():
        if part.get("temperature"):
            target = f" of {part['target']:g}" if part.get("target") else ""
            temperatures[name[:40]] = f"{part['temperature']:.1f}{target}"
    return {
        "state": str(info.get("state", ""))[:40],
        "message": message[:300] if message != "Printer is ready" else "",
        "version": str(info.get("software_version", ""))[:60],
        "job": shown if job.get("filename") else None,
        "temperatures": temperatures,
        "homed": (toolhead.get("homed_axes") or "none") if toolhead else "",
        "position": [round(place, 2) for place in toolhead.get("position", ())[:3]],
        "warnings": [
            str(warning.get("message"))[:120] for warning in config.get("warnings", ())[:MOST_WARNINGS]
        ],
        "save_config_pending": config.get("save_config_pending") is True,
    }


def _messages(connection: socket.socket) -> Iterator[Any]:
    """The messages that come over a connection; one deadline and one bound hold for all of them.

    Raises TimeoutError, and several others for what is not Klipper.
    """
    deadline, data = time.monotonic() + TIMEOUT_S, b""
    while True:
        while END not in data:
            if (left := deadline - time.monotonic()) <= 0:
                raise TimeoutError
            connection.settimeout(left)
            part = connection.recv(65_536)
            if not part or len(data) > MOST_BYTES:
                raise ValueError("it ends, or does not end")
            data += part
        message, _, data = data.partition(END)
        yield json.loads(message)


def _call(connection: socket.socket, messages: Iterator[Any], method: str, params: JsonObject) -> JsonObject:
    """The result of a method; messages of other kinds before it are notifications."""
    connection.sendall(json.dumps({"id": method, "method": method, "params": params}).encode() + END)
    answer = next(message for message in messages if message.get("id") == method and "method" not in message)
    if not isinstance(answer.get("result"), dict):
        raise ValueError(str(answer.get("error"))[:200])
    result: JsonObject = answer["result"]
    return result


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
