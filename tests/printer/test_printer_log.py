"""printer_log: what Klipper's log tells of a start, in few words and nothing else of it."""

import re
import tracemalloc

from tests.klipper.asking import call, tokens
from tests.printer import klippy
from tests.printer.klippy import CONFIG, TOKEN, TOO_CLOSE, ran, start
from tests.support.client import cases


def test_the_last_start_is_told_with_its_errors_the_link_and_its_configuration(printer, pages):
    answer = call("printer_log")

    error = answer["errors"][0]
    link = answer["link"]
    assert answer["started"] == "Mon Aug  3 10:00:00 2026"
    assert answer["version"] == "v0.13.0-23-g84104bbb"
    assert (answer["starts"], answer["ran_s"]) == (3, 65)
    assert answer["shutdown"] == error["line"] == TOO_CLOSE and error["count"] == 2
    assert "host was too late" in error["means"] and error["read"][0].startswith("FAQ.md#")
    assert link["EBBCan"] == {"retransmitted": 842, "invalid": 3, "received": 9000}
    assert (link["load"], link["memory_free_mb"]) == (0.26, 511)
    assert answer["config"] == {"sections": 4}, "Klipper ran with it"
    assert answer["last_line_hours_ago"] == 0.1
    assert tokens(answer) <= 700


def test_an_earlier_start_is_told_on_request(printer):
    assert call("printer_log", session=-2)["started"].startswith("Mon Aug  2")
    first = call("printer_log", session=1)
    assert (first["version"], first["errors"]) == ("v0.13.0-21-g84104bbb", [])
    assert call("printer_log", session=-9)["code"] == "NO_SUCH_START"


def test_only_known_messages_of_the_log_are_sent(read_log, pages):
    lines = f"error: token {TOKEN} refused\nUnhandled {TOKEN}\n"
    assert TOKEN not in str(read_log(klippy.log() + lines))


REFUSED = "Config error\nTraceback (most recent call last):\n  File \"x.py\", line 1\nconfigparser.Error: Option 'foo' is not valid in section 'fan'\n"


CRASH = """Unhandled exception during connect
Traceback (most recent call last):
  File "/home/pi/klipper/klippy/klippy.py", line 130, in _connect
    self._read_config()
  File "/home/pi/klipper/klippy/extras/scanner.py", line 7, in <module>
    import x
{}
"""


ERRORS = """
ModuleNotFoundError: No module named 'numpy' | package
ImportError: cannot import name 'signature' from 'x' | package
TypeError: __init__() got an unexpected keyword argument 'probe' | plugin
AttributeError: 'NoneType' object has no attribute 'get_status' | plugin
KeyError: 'probe' | fault
"""


def test_a_crash_in_a_module_is_told_by_the_last_line_of_its_traceback(read_log, pages):
    after = "webhooks client 1: New connection\nmcu.error: later\n"
    for error, words in cases(ERRORS):
        answer = read_log(start(1) + CRASH.format(error) + after + start(2), session=1)
        line = f"Unhandled exception during connect: {error} (extras/scanner.py:7)"
        first = answer["errors"][0]
        assert answer["shutdown"] == first["line"] == line
        assert words in first["means"]
        assert error in call("printer_log")["earlier_failures"][0]


def test_a_configuration_error_is_the_line_that_klipper_printed_and_brings_the_others(
    read_log, pages
):
    answer = read_log(start(1) + REFUSED)
    (error,) = answer["errors"]
    assert error["line"] == "Option 'foo' is not valid in section 'fan'"
    assert any("rotation_distance" in text for text in answer["config"]["errors"])
    assert "judged_by" not in answer["config"]
    answer = read_log(start(1).replace("v0.13.0", "v0.8.0") + REFUSED)
    assert "newer than v0.8.0" in answer["config"]["judged_by"]


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
    read_log, pages
):
    config = CONFIG + MESH
    assert read_log(start(1, config) + klippy.STATS.format(1060))["config"] == {"sections": 7}
    refused = str(read_log(start(1, config) + REFUSED)["config"])
    assert not re.search("bed_mesh|skew_correction|position_endstop", refused)
    gone = CONFIG.replace("max_accel = 3000", "max_accel = 3000\nmax_accel_to_decel = 1500")
    (message,) = read_log(start(1, gone) + klippy.STATS.format(1060))["config"]["an_update_breaks"]
    assert "max_accel_to_decel" in message and "is gone, 2025-08-11" in message


TWO_BOARDS = """\
Transition to shutdown state: Lost communication with MCU 'mcu'
MCU 'rpi' shutdown: Command request
Lost communication with MCU 'mcu'
"""
STOPPED = "Transition to shutdown state: MCU shutdown\nMCU 'mcu' shutdown: Timer too close\nMCU 'rpi' shutdown: Command request\n"
PRESSED = "Transition to shutdown state: Shutdown due to M112 command\nMCU 'mcu' shutdown: Command request\n"


def test_a_board_that_is_stopped_because_of_another_is_not_the_cause(read_log):
    for lines, cause in (
        (TWO_BOARDS, "Lost communication with MCU 'mcu'"),
        (STOPPED, TOO_CLOSE),
        (PRESSED, "Shutdown due to M112 command"),
    ):
        answer = read_log(ran(1, lines))
        assert answer["shutdown"] == answer["errors"][0]["line"] == cause
        assert "Command request" not in str(answer)
    (error,) = read_log(ran(1, "MCU 'mcu' shutdown: Command request\n"))["errors"]
    assert "M112" in error["means"], "without another error it is the cause"


def test_what_a_macro_says_is_its_reason_and_a_known_message_in_it_is_explained(read_log):
    raised = "Error evaluating 'gcode_macro LOAD:gcode': gcode.CommandError: {}\n"
    lines = raised.format("Spool is empty") + raised.format("Must home axis first: 1 2 3 [0]")
    hot = "TMC 'stepper_x' reports error: DRV_STATUS: 1 otpw=1(OvertempWarning!)\n"
    lines += hot.replace("otpw=1", "otpw=0") + hot
    answer = read_log(start(1) + lines + "Got EOF when reading from device\n")
    means = [error["means"] for error in answer["errors"]]
    assert "link to the board broke off" in means[0] and "still works" in means[1]
    assert "not homed" in means[2] or "home" in means[2]
    assert "refused to go on" in means[3]


def test_each_earlier_start_that_failed_has_a_line(read_log):
    starts = [ran(1), start(2), REFUSED, ran(3, STOPPED)]
    starts += [start(5), "mcu 'mcu': Unable to connect\n", ran(6)]
    answer = read_log("".join(starts))
    assert answer["errors"] == []
    assert answer["earlier_failures"] == [
        "Mon Aug  2 10:00:00 2026: Option 'foo' is not valid in section 'fan'",
        "Mon Aug  3 10:00:00 2026: MCU 'mcu' shutdown: Timer too close",
        "Mon Aug  5 10:00:00 2026: mcu 'mcu': Unable to connect",
    ]
    assert {"earlier_failures", "last_line_hours_ago"}.isdisjoint(call("printer_log", session=2))


def test_a_printer_that_runs_on_past_midnight_is_told_with_today_s_errors_and_its_start(printer):
    """Klipper begins a new log each day; a start, its version and configuration may be in the one before."""
    before, close, after = klippy.log().partition(f"{TOO_CLOSE}\n")
    for name, text in {
        "klippy.log.2026-08-01": start(7),
        "klippy.log.2026-08-02": f"{before}{close}Must home axis first\n",
        "klippy.log.2026-08-03": f"Log rollover\n{klippy.STATS.format(3500)}\n{close}",
        "klippy.log": f"Log rollover\n{klippy.STATS.format(4000)}\n{close}{after}",
    }.items():
        (printer / "logs" / name).write_text(text)

    answer = call("printer_log")

    assert answer["started"].startswith("Mon Aug  3") and answer["version"]
    assert answer["config"]["sections"] == 4
    assert (answer["starts"], answer["ran_s"]) == (3, 1000)
    assert [error["count"] for error in answer["errors"]] == [4, 1]
    assert answer["shutdown"] == TOO_CLOSE


def test_a_log_of_60_mb_takes_little_memory(log):
    """A printer writes as much in a day; its start is at the beginning of it."""
    line = klippy.STATS.format(9000) + "\n"
    with log.open("w") as file:
        file.write(start(1))
        file.writelines([line] * 90_000)
        file.writelines(f"unknown x{number} must not x{number}\n" for number in range(40_000))
        file.write(STOPPED + "x" * 5_000_000)
    tracemalloc.start()
    answer = call("printer_log")
    assert tracemalloc.get_traced_memory()[1] < 4_000_000
    tracemalloc.stop()
    assert answer["started"].startswith("Mon Aug  1") and answer["shutdown"] == TOO_CLOSE


def test_the_reason_of_a_shutdown_is_one_line_without_marks_of_direction(read_log):
    reason = "Transition to shutdown state: heater \u202eextruder\u2028 not heating\n"
    assert read_log(start(1) + reason)["shutdown"] == "heater extruder not heating"


STATS = b"Stats x: y=\n" * 100 + b"Stats 1.2.3: bytes_retransmit=1e9999\n"
START = b"Start printer at x (1 1)\n"
LONG = b"Start printer at x (1 N)\nStats N: a: bytes_read=N sysload=N memavail=1\n"
DAMAGED = {
    "long numbers": LONG.replace(b"N", b"9" * 400),
    "many boards": START + b"Stats 1: " + b" a=b:" * 12_900 + b" sysload=1.1 " * 4900 + b"\n",
    "nothing": b"",
    "zeros": b"\0" * 1000,
    "not text": b"\xff" * 1000,
    "a long line": b"x" * 1_000_000,
    "configurations": b"===== Config file =====\n" * 1000,
    "odd figures": STATS,
    "odd starts": b"Start printer at now (1.2.3 4.5.6)\nStart printer at (1 2)\n" + START + STATS,
}


def test_a_damaged_log_is_answered_and_one_that_is_not_there_named(log):
    for name, text in DAMAGED.items():
        log.write_bytes(text)
        answer = call("printer_log")
        assert answer.get("code") in (None, "NO_SUCH_START") and tokens(answer) < 750, name
    log.unlink()
    assert call("printer_log")["code"] == "UNREADABLE"


def test_a_start_whose_configuration_was_cut_by_the_power_is_told_without_it(read_log):
    answer = read_log(start(1).partition("microsteps")[0] + start(2))
    assert (answer["starts"], answer["version"]) == (2, "v0.13.0-22-g84104bbb")
    assert "config" not in call("printer_log", session=1)
