"""printer_log: what Klipper's log tells of a start, in few words and nothing else of it."""

import json
import os
import time
import tracemalloc

import pytest

from tests.klipper.asking import call
from tests.printer import klippy


def test_the_last_start_is_told_with_its_errors_the_link_and_its_configuration(printer, real_docs):
    answer = call("printer_log")

    assert answer["started"] == "Mon Aug  3 10:00:00 2026" and answer["version"] == "v0.13.0-23-g84104bbb"
    assert answer["starts"] == 3 and answer["ran_s"] == 65
    assert answer["shutdown"] == "MCU 'mcu' shutdown: Timer too close"
    (error, *_) = answer["errors"]
    assert error["line"] == "MCU 'mcu' shutdown: Timer too close" and error["count"] == 2
    assert "host was too late" in error["means"] and error["read"][0].startswith("FAQ.md#")
    assert answer["link"]["EBBCan"] == {"retransmitted": 842, "invalid": 3, "received": 9000}
    assert (answer["link"]["load"], answer["link"]["memory_free_mb"]) == (0.26, 511)
    assert answer["config"]["errors"] >= 2
    assert any("rotation_distance" in text for text in answer["config"]["findings"])
    assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":"))) / 4 <= 700


def test_an_earlier_start_is_told_on_request(printer):
    assert call("printer_log", session=-2)["started"].startswith("Mon Aug  2")
    assert call("printer_log", session=1)["version"] == "v0.13.0-21-g84104bbb"
    assert call("printer_log", session=1)["errors"] == []
    assert call("printer_log", session=-9)["code"] == "NO_SUCH_START"


def test_only_known_messages_of_the_log_are_sent(printer, real_docs):
    lines = f"error: token {klippy.TOKEN} refused\nUnhandled {klippy.TOKEN}\n"
    (printer / "logs/klippy.log").write_text(klippy.log() + lines)
    assert klippy.TOKEN not in json.dumps(call("printer_log"))


def test_a_configuration_error_is_the_line_that_klipper_printed(printer):
    lines = "Config error\nTraceback (most recent call last):\n  File \"x.py\", line 1\nconfigparser.Error: Option 'foo' is not valid in section 'fan'\n"
    (printer / "logs/klippy.log").write_text(klippy.start(1) + lines)
    (error,) = call("printer_log")["errors"]
    assert error["line"] == "Option 'foo' is not valid in section 'fan'"


def test_a_printer_that_runs_on_past_midnight_is_told_with_today_s_errors_and_its_start(printer):
    """Klipper begins a new log each day; a start, its version and configuration may be in the one before."""
    logs = printer / "logs"
    before, close, after = (
        logs.joinpath("klippy.log").read_text().partition("MCU 'mcu' shutdown: Timer too close\n")
    )
    (logs / "klippy.log.2026-08-01").write_text(klippy.start(7))
    (logs / "klippy.log.2026-08-02").write_text(f"{before}{close}Must home axis first\n")
    (logs / "klippy.log.2026-08-03").write_text(f"Log rollover\n{klippy.STATS.format(3500)}\n{close}")
    (logs / "klippy.log").write_text(f"Log rollover\n{klippy.STATS.format(4000)}\n{close}{after}")

    answer = call("printer_log")

    assert (
        answer["started"].startswith("Mon Aug  3") and answer["version"] and answer["config"]["sections"] == 4
    )
    assert (answer["starts"], answer["ran_s"]) == (3, 1000)
    assert [error["count"] for error in answer["errors"]] == [4, 1] and "Timer too close" in answer[
        "shutdown"
    ]


def test_20_000_lines_take_little_time_and_a_log_of_60_mb_little_memory(printer):
    """A printer writes as much in a day; its start is at the beginning of it."""
    log = printer / "logs/klippy.log"
    log.write_text(klippy.log(20_000))
    call("printer_log")
    begun = time.process_time()
    call("printer_log")
    assert time.process_time() - begun < 1  # 60 ms on a free machine
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
def test_what_is_no_plain_log_is_an_error_at_once(printer, what):
    log = printer / "logs/klippy.log"
    log.unlink()
    NO_LOGS[what](log)
    answer = call("printer_log")
    assert answer["success"] is False and answer["hint"] and answer["code"] in ("UNREADABLE", "OUTSIDE")


def test_a_damaged_log_is_answered(printer):
    config, stats = b"===== Config file =====\n" * 1000, b"Stats x: y=\n" * 100
    for text in (b"", b"\0" * 1000, b"\xff" * 1000, b"x" * 1_000_000, config, stats):
        (printer / "logs/klippy.log").write_bytes(text)
        answer = call("printer_log")
        assert answer.get("code") in (None, "NO_SUCH_START") and len(json.dumps(answer)) < 3000
    cut = klippy.start(1).partition("microsteps")[0]  # by the power, in its configuration
    (printer / "logs/klippy.log").write_text(cut + klippy.start(2))
    assert (call("printer_log")["starts"], call("printer_log")["version"]) == (2, "v0.13.0-22-g84104bbb")
    assert "config" not in call("printer_log", session=1)
