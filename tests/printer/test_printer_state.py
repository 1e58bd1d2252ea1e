"""printer_state: what the printer does now, from a socket that speaks as Klipper's API server."""

import json
import time
from contextlib import suppress

import pytest

from tests.klipper.asking import call
from tests.printer.klippy import RESULTS, klipper, speaking
from tools.printer import printer_state


def test_a_printing_printer_is_told_in_few_words(printer):
    requests = []
    with speaking(printer / "comms/klippy.sock", klipper(requests=requests)):
        answer = call("printer_state")

    assert answer == {
        "state": "ready",
        "version": "v0.13.0-21-g84104bbb",
        "job": {"file": "benchy.gcode", "state": "printing", "seconds": 1234, "percent": 42},
        "temperatures": {
            "heater_bed": "59.8 of 60",
            "extruder": "214.6 of 215",
            "temperature_sensor chamber": "31.2",
        },
        "homed": "xyz",
        "position": [10.0, 20.12, 0.3],
        "warnings": ["Option 'x' is deprecated."],
    }
    assert len(json.dumps(answer)) / 4 <= 250
    assert {request["method"] for request in requests} == {"info", "objects/query"}, (
        "nothing that acts is ever called"
    )


def test_a_printer_that_stopped_says_why_and_one_that_is_not_there_what_to_do(printer):
    answer = call("printer_state")
    assert answer["code"] == "PRINTER_SILENT" and "Klipper does not run" in answer["error"]
    info = {
        "state": "shutdown",
        "state_message": "MCU 'mcu' shutdown: Timer too close\nPrinter is shutdown\n",
    }
    with speaking(printer / "comms/klippy.sock", klipper({"info": info, "objects/query": {}})):
        answer = call("printer_state")
    assert answer["state"] == "shutdown" and answer["message"].startswith(
        "MCU 'mcu' shutdown: Timer too close"
    )


def saying(text):
    """A socket that answers with these bytes and waits until the client is gone."""

    def speak(connection):
        connection.recv(65536)
        connection.sendall(text)
        connection.recv(1)

    return speak


def endless(connection):
    with suppress(OSError):
        for _ in range(200):
            connection.sendall(b"x" * 65536)


ODD = {**RESULTS, "objects/query": {"toolhead": 7, "heaters": {"available_heaters": 3}}}


@pytest.mark.parametrize(
    "speak",
    [
        saying(b""), saying(b'{"id": 1, "resu'), saying(b"HTTP/1.1 400 Bad Request\r\n\r\n\x03"), saying(b"[]\x03"), endless,
        lambda connection: connection.recv(10), saying(b'{"id": "info", "error": {"message": "no"}}\x03'),
        klipper({"info": [], "objects/query": {}}), klipper(ODD),
    ],
)  # fmt: skip
def test_a_socket_that_is_no_good_is_a_clear_error_within_seconds(printer, speak, monkeypatch):
    monkeypatch.setattr(printer_state, "TIMEOUT_S", 0.3)
    begun = time.monotonic()
    with speaking(printer / "comms/klippy.sock", speak):
        answer = call("printer_state")
    assert answer["code"] == "PRINTER_SILENT" and "printer_log" in answer["hint"]
    assert time.monotonic() - begun < 5
