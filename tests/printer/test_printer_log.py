"""printer_log: what Klipper's log tells of a start, in few words and nothing else of it."""

import json
import os
import tracemalloc

import pytest

from tests.klipper.asking import call
from tests.printer import klippy
from tools.core.errors import Cancelled
from tools.printer import printer_log


def test_the_last_start_is_told_with_its_errors_the_link_and_its_configuration(printer, pages):
    answer = call("printer_log")

    assert (
        answer["started"] == "Mon Aug  3 10:00:00 2026"
        and answer["version"] == "v0.13.0-23-g84104bbb"
    )
    assert answer["starts"] == 3 and answer["ran_s"] == 65
    assert answer["shutdown"] == "MCU 'mcu' shutdown: Timer too close"
    (error, *_) = answer["errors"]
    assert error["line"] == "MCU 'mcu' shutdown: Timer too close" and error["count"] == 2
    assert "host was too late" in error["means"] and error["read"][0].startswith("FAQ.md#")
    assert answer["link"]["EBBCan"] == {"retransmitted": 842, "invalid": 3, "received": 9000}
    assert (answer["link"]["load"], answer["link"]["memory_free_mb"]) == (0.26, 511)
    assert answer["config"] == {"sections": 4}, "Klipper ran with it"
    assert answer["last_line_hours_ago"] == 0.1
    assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":"))) / 4 <= 700


def test_a_log_that_is_rotated_away_while_it_is_read_is_told(log, pages, monkeypatch):
    monkeypatch.setattr(printer_log, "checkpoint", lambda: log.unlink(missing_ok=True))
    assert call("printer_log")["shutdown"] == "MCU 'mcu' shutdown: Timer too close"


def test_an_earlier_start_is_told_on_request(printer):
    assert call("printer_log", session=-2)["started"].startswith("Mon Aug  2")
    assert call("printer_log", session=1)["version"] == "v0.13.0-21-g84104bbb"
    assert call("printer_log", session=1)["errors"] == []
    assert call("printer_log", session=-9)["code"] == "NO_SUCH_START"


def test_only_known_messages_of_the_log_are_sent(log, pages):
    lines = f"error: token {klippy.TOKEN} refused\nUnhandled {klippy.TOKEN}\n"
    log.write_text(klippy.log() + lines)
    assert klippy.TOKEN not in json.dumps(call("printer_log"))


REFUSED = "Config error\nTraceback (most recent call last):\n  File \"x.py\", line 1\nconfigparser.Error: Option 'foo' is not valid in section 'fan'\n"


def crash(error):
    return (
        "Unhandled exception during connect\nTraceback (most recent call last):\n"
        '  File "/home/pi/klipper/klippy/klippy.py", line 130, in _connect\n    self._read_config()\n'
        f'  File "/home/pi/klipper/klippy/extras/scanner.py", line 7, in <module>\n    import x\n{error}\n'
    )


@pytest.mark.parametrize(
    ("error", "words"),
    {
        "ModuleNotFoundError: No module named 'numpy'": "package",
        "ImportError: cannot import name 'signature' from 'x'": "package",
        "TypeError: __init__() got an unexpected keyword argument 'probe'": "plugin",
        "AttributeError: 'NoneType' object has no attribute 'get_status'": "plugin",
        "KeyError: 'probe'": "fault",
    }.items(),
)
def test_a_crash_in_a_module_is_told_by_the_last_line_of_its_traceback(log, pages, error, words):
    after = "webhooks client 1: New connection\nmcu.error: later\n"
    log.write_text(klippy.start(1) + crash(error) + after + klippy.start(2))
    answer = call("printer_log", session=1)
    told = f"Unhandled exception during connect: {error} (extras/scanner.py:7)"
    assert answer["shutdown"] == answer["errors"][0]["line"] == told
    assert words in answer["errors"][0]["means"]
    assert error in call("printer_log")["earlier_failures"][0]


def test_a_configuration_error_is_the_line_that_klipper_printed_and_brings_the_others(log, pages):
    log.write_text(klippy.start(1) + REFUSED)
    answer = call("printer_log")
    (error,) = answer["errors"]
    assert error["line"] == "Option 'foo' is not valid in section 'fan'"
    assert any("rotation_distance" in text for text in answer["config"]["errors"])
    assert "judged_by" not in answer["config"]


def test_an_old_log_says_by_what_its_configuration_is_judged(log, pages):
    log.write_text(klippy.start(1).replace("v0.13.0", "v0.8.0") + REFUSED)
    assert "newer than v0.8.0" in call("printer_log")["config"]["judged_by"]


MESH = """
[stepper_z]
endstop_pin = probe:z_virtual_endstop
position_endstop = 0.5
[bed_mesh default]
version = 1
points =
\t-0.1, 0.05, 0.1
\t0.0, 0.0, 0.1
x_count = 3
[skew_correction my_profile]
xy_skew = 0.001
"""


def test_what_save_config_wrote_is_no_error_of_the_log_and_what_an_update_breaks_is_said(
    log, pages
):
    config = klippy.CONFIG + MESH
    log.write_text(klippy.start(1, config) + klippy.STATS.format(1060))
    assert call("printer_log")["config"] == {"sections": 7}
    log.write_text(klippy.start(1, config) + REFUSED)
    errors = call("printer_log")["config"]["errors"]
    assert not any(
        word in text
        for text in errors
        for word in ("bed_mesh", "skew_correction", "position_endstop")
    )
    gone = klippy.CONFIG.replace("max_accel = 3000", "max_accel = 3000\nmax_accel_to_decel = 1500")
    log.write_text(klippy.start(1, gone) + klippy.STATS.format(1060))
    (message,) = call("printer_log")["config"]["an_update_breaks"]
    assert "max_accel_to_decel" in message and "is gone, 2025-08-11" in message


TWO_BOARDS = """\
Transition to shutdown state: Lost communication with MCU 'mcu'
MCU 'rpi' shutdown: Command request
Lost communication with MCU 'mcu'
"""
STOPPED = "Transition to shutdown state: MCU shutdown\nMCU 'mcu' shutdown: Timer too close\nMCU 'rpi' shutdown: Command request\n"
PRESSED = "Transition to shutdown state: Shutdown due to M112 command\nMCU 'mcu' shutdown: Command request\n"


@pytest.mark.parametrize(
    ("lines", "cause"),
    {
        TWO_BOARDS: "Lost communication with MCU 'mcu'",
        STOPPED: "MCU 'mcu' shutdown: Timer too close",
        PRESSED: "Shutdown due to M112 command",
    }.items(),
)
def test_a_board_that_is_stopped_because_of_another_is_not_the_cause(log, lines, cause):
    log.write_text(klippy.ran(1, lines))
    answer = call("printer_log")
    assert answer["shutdown"] == answer["errors"][0]["line"] == cause
    assert "Command request" not in json.dumps(answer)


def test_what_a_macro_says_is_its_reason_and_a_known_message_in_it_is_explained(log):
    raised = "Error evaluating 'gcode_macro LOAD:gcode': gcode.CommandError: {}\n"
    lines = raised.format("Spool is empty") + raised.format("Must home axis first: 1 2 3 [0]")
    hot = "TMC 'stepper_x' reports error: DRV_STATUS: 1 otpw=1(OvertempWarning!)\n"
    log.write_text(klippy.start(1) + lines + hot + "Got EOF when reading from device\n")
    means = [error["means"] for error in call("printer_log")["errors"]]
    assert "link to the board broke off" in means[0] and "still works" in means[1]
    assert "not homed" in means[2] or "home" in means[2]
    assert "refused to go on" in means[3]


def test_each_earlier_start_that_failed_has_a_line(log):
    log.write_text(
        klippy.ran(1) + klippy.start(2) + REFUSED + klippy.ran(3, STOPPED) + klippy.ran(4)
    )
    answer = call("printer_log")
    assert answer["errors"] == []
    assert answer["earlier_failures"] == [
        "Mon Aug  2 10:00:00 2026: Option 'foo' is not valid in section 'fan'",
        "Mon Aug  3 10:00:00 2026: MCU 'mcu' shutdown: Timer too close",
    ]
    assert "earlier_failures" not in call(
        "printer_log", session=2
    ) and "last_line_hours_ago" not in call("printer_log", session=2)


def test_40_000_different_lines_take_bounded_memory_and_stop_when_the_call_is_withdrawn(
    log, monkeypatch
):
    lines = []
    for number in range(40_000):
        name = "".join(chr(97 + int(digit)) for digit in str(number))
        lines.append(f"unknown {name} must not {name}\n")
    log.write_text("".join([klippy.start(1), *lines, STOPPED]))
    monkeypatch.setattr(printer_log, "MOST_DIFFERENT", 2000)
    tracemalloc.start()
    answer = call("printer_log")
    assert tracemalloc.get_traced_memory()[1] < 4_000_000
    tracemalloc.stop()
    assert answer["errors"][0]["line"] == "MCU 'mcu' shutdown: Timer too close"

    def withdrawn():
        raise Cancelled

    monkeypatch.setattr(printer_log, "checkpoint", withdrawn)
    assert call("printer_log")["code"] == "CANCELLED"


def test_a_printer_that_runs_on_past_midnight_is_told_with_today_s_errors_and_its_start(printer):
    """Klipper begins a new log each day; a start, its version and configuration may be in the one before."""
    logs = printer / "logs"
    before, close, after = (
        logs.joinpath("klippy.log").read_text().partition("MCU 'mcu' shutdown: Timer too close\n")
    )
    (logs / "klippy.log.2026-08-01").write_text(klippy.start(7))
    (logs / "klippy.log.2026-08-02").write_text(f"{before}{close}Must home axis first\n")
    (logs / "klippy.log.2026-08-03").write_text(
        f"Log rollover\n{klippy.STATS.format(3500)}\n{close}"
    )
    (logs / "klippy.log").write_text(f"Log rollover\n{klippy.STATS.format(4000)}\n{close}{after}")

    answer = call("printer_log")

    assert (
        answer["started"].startswith("Mon Aug  3")
        and answer["version"]
        and answer["config"]["sections"] == 4
    )
    assert (answer["starts"], answer["ran_s"]) == (3, 1000)
    assert [error["count"] for error in answer["errors"]] == [4, 1] and "Timer too close" in answer[
        "shutdown"
    ]


def test_a_log_of_60_mb_takes_little_memory(log):
    """A printer writes as much in a day; its start is at the beginning of it."""
    line = klippy.STATS.format(9000) + "\n"
    with log.open("w") as file:
        file.write(klippy.start(1))
        for _ in range(60):
            file.write(line * (1_000_000 // len(line)))
        file.write("x" * 5_000_000)
    tracemalloc.start()
    answer = call("printer_log")
    assert tracemalloc.get_traced_memory()[1] < 4_000_000
    tracemalloc.stop()
    assert answer["started"].startswith("Mon Aug  1")


NO_LOGS = {
    "nothing": lambda log: None,
    "a folder": lambda log: log.mkdir(),
    "a pipe": lambda log: os.mkfifo(log),
    "a link out": lambda log: log.symlink_to("/etc/passwd"),
    "a device": lambda log: log.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("what", NO_LOGS)
def test_what_is_no_plain_log_is_an_error_at_once(log, what):
    log.unlink()
    NO_LOGS[what](log)
    answer = call("printer_log")
    assert (
        answer["success"] is False
        and answer["hint"]
        and answer["code"] in ("UNREADABLE", "OUTSIDE")
    )


def test_the_reason_of_a_shutdown_is_one_line_without_marks_of_direction(log):
    reason = "Transition to shutdown state: heater \u202eextruder\u2028 not heating\n"
    log.write_text(klippy.start(1) + reason)
    assert call("printer_log")["shutdown"] == "heater extruder not heating"


def test_a_damaged_log_is_answered(log):
    config, stats = (
        b"===== Config file =====\n" * 1000,
        b"Stats x: y=\n" * 100 + b"Stats 1.2.3: bytes_retransmit=1e9999\n",
    )
    odd = (
        b"Start printer at now (1.2.3 4.5.6)\nStart printer at (1 2)\nStart printer at x (1 1)\n"
        + stats
    )
    many = b"9" * 400
    long = b"Start printer at x (1 %s)\nStats %s: a: bytes_read=%s sysload=%s memavail=1\n" % (
        many,
        many,
        many,
        many,
    )
    boards = (
        b"Start printer at x (1 1)\nStats 1: " + b" a=b:" * 12_900 + b" sysload=1.1 " * 4900 + b"\n"
    )
    for text in (
        long,
        boards,
        b"",
        b"\0" * 1000,
        b"\xff" * 1000,
        b"x" * 1_000_000,
        config,
        stats,
        odd,
    ):
        log.write_bytes(text)
        answer = call("printer_log")
        assert answer.get("code") in (None, "NO_SUCH_START") and len(json.dumps(answer)) < 3000
    cut = klippy.start(1).partition("microsteps")[0]  # by the power, in its configuration
    log.write_text(cut + klippy.start(2))
    assert (call("printer_log")["starts"], call("printer_log")["version"]) == (
        2,
        "v0.13.0-22-g84104bbb",
    )
    assert "config" not in call("printer_log", session=1)
