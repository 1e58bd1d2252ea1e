"""printer_state: what the printer does now, from a socket that speaks as Klipper's API server."""

import math
import select
from contextlib import suppress

import pytest

from tests.klipper.asking import call, tokens
from tests.printer.klippy import RECORDED, RESULTS, klipper, recorded, results, speaking, state_of
from tests.printer.moonraker import Moonraker, serving
from tools.klipper import printers
from tools.klipper.page.printer_page import bed


def test_a_printing_printer_is_told_in_few_words(printer):
    speak = klipper()
    with speaking(printer / "comms/klippy.sock", speak):
        answer = call("printer_state")

    assert answer == {
        "state": "ready",
        "version": "v0.13.0-21-g84104bbb",
        "job": {
            "file": "benchy.gcode",
            "state": "printing",
            "seconds": 1234,
            "percent": 42,
            "left_s": 1705,
            "layer": "42 of 100",
            "filament_m": 1.23,
        },
        "temperatures": {
            "heater_bed": "59.8 of 60",
            "extruder": "214.6 of 215",
            "temperature_sensor chamber": "31.2",
        },
        "homed": "xyz",
        "position": [10.0, 20.12, 0.3],
        "warnings": ["Option 'x' is deprecated."],
    }
    assert tokens(answer) <= 250
    assert set(speak.methods) == {"info", "objects/query"}, "nothing that acts is ever called"


MISTAKE = "printer.cfg:13: Option 'rotation_distance' in section 'stepper_x' must be above 0.0"


@pytest.mark.parametrize("state", RECORDED)
def test_every_state_of_a_real_klipper_is_shown_in_few_words_and_by_moonraker_too(
    printer, env, pages, state
):
    results = recorded(state)
    answer = state_of(printer, results)

    info = results["info"]
    message = answer.get("message", "Printer is ready")
    assert answer["state"] == info["state"]
    assert message[:16] in info["state_message"]
    assert "Once the underlying issue" not in message
    assert tokens(answer) <= 500
    assert ("known_message" in answer) == (info["state"] in ("error", "shutdown"))
    if "is halted" in info["state_message"]:
        assert MISTAKE in answer["config"] and answer["known_message"]["first"]
    is_running = info["state"] not in ("error", "shutdown")
    has_place = "position" in results["objects/query"]["toolhead"]
    assert ("position" in answer) == (is_running and has_place)
    with serving(Moonraker(printer, results)) as url:
        env(KLIPPER_PRINTER_DATA="off", PRINTERS=f"k1={url}")
        assert call("printer_state") == answer


def test_a_mere_warning_in_the_file_of_a_halted_printer_is_not_its_mistake(printer, pages):
    (printer / "config/printer.cfg").write_text("[display_staus]\n")
    assert "config" not in state_of(printer, recorded("an option is missing"))


def test_jobs_say_how_far_they_are_and_why_they_ended(printer):
    states = ("printing", "paused", "cancelled", "a job: complete", "a job: error")
    jobs = {state: state_of(printer, recorded(state))["job"] for state in states}
    assert jobs["printing"]["layer"] == "10 of 100" and jobs["printing"]["percent"] >= 20
    assert jobs["paused"]["percent"] >= 20
    assert jobs["a job: error"]["message"].endswith("Spool is empty")
    assert "percent" not in jobs["a job: complete"] and "message" not in jobs["cancelled"]


NUMBERS = (None, "x", math.nan, math.inf, -1, 1e200, 10**400, True, [], {})


def test_broken_numbers_are_left_out(printer):
    for odd in NUMBERS:
        job = {"print_duration": odd, "filament_used": odd, "info": {"current_layer": odd}}
        odd_results = results(
            print_stats=RESULTS["objects/query"]["print_stats"] | job,
            virtual_sdcard={"progress": odd},
            extruder={"temperature": odd, "target": 215},
            toolhead={"homed_axes": "xyz", "position": [odd, odd, odd]},
        )
        answer = state_of(printer, odd_results)
        assert (answer["state"], answer["job"]["file"]) == ("ready", "benchy.gcode")


def saying(text):
    """A socket that answers with these bytes and waits until the client is gone."""

    def speak(connection):
        connection.recv(65536)
        connection.sendall(text)
        connection.recv(1)

    return speak


def dripping(connection):
    """Send a byte now and then until the client is gone."""
    connection.recv(65536)
    with suppress(OSError):
        while not select.select([connection], [], [], 0.05)[0]:
            connection.sendall(b" ")


def endless(connection):
    with suppress(OSError):
        connection.sendall(b"x" * 13_000_000)


NO_ANSWERS = (
    b"", b'{"id": 1, "resu', b"HTTP/1.1 400 Bad Request\r\n\r\n\x03", b"[]\x03", b"[" * 100_000 + b"\x03",
    b'{"id": "info", "error": {"message": "no"}}\x03',
)  # fmt: skip


@pytest.mark.parametrize(
    "speak",
    [
        *map(saying, NO_ANSWERS), endless, dripping, lambda connection: connection.recv(10),
        klipper({"info": [], "objects/query": {}}), klipper(RESULTS | {"objects/query": 7}),
    ],
)  # fmt: skip
def test_a_socket_that_is_no_good_is_a_clear_error_within_seconds(printer, speak, monkeypatch):
    monkeypatch.setattr(printers, "PRINTER_TIMEOUT_S", 0.3)
    with speaking(printer / "comms/klippy.sock", speak):
        answer = call("printer_state")
    assert answer["code"] == "PRINTER_SILENT" and "printer_log" in answer["hint"]


def test_the_mesh_that_is_in_use_is_shown(printer):
    for name, heights, words in (
        ("default", [[-0.03, 0.0, 0.02]] * 2, "default, −0.03 to 0.02 mm, 3×2"),
        ("", [[]], "none loaded"),
        (None, None, None),
    ):
        mesh = {"profile_name": name, "probed_matrix": heights}
        assert state_of(printer, results(bed_mesh=mesh)).get("mesh") == words


def test_a_mesh_is_drawn_from_two_rows_and_columns_on():
    assert bed([[1, 2], [3, 4]]) == {"rows": [[1, 2], [3, 4]], "low": 1, "high": 4}
    assert not bed([[1, 2]])


def test_the_progress_is_m73s_where_no_file_on_the_card_has_one(printer):
    by_m73 = results(virtual_sdcard={"progress": 0.0}, display_status={"progress": 0.5})
    assert state_of(printer, by_m73)["job"]["percent"] == 50
