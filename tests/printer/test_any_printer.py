"""Printers elsewhere, by Moonraker, and logs that somebody pastes: the answers are those of a printer here."""

import json
import os
import select
import socketserver
from contextlib import contextmanager, suppress

import pytest

from tests.klipper.asking import call
from tests.printer import klippy
from tests.printer.klippy import CONFIG, RESULTS, STATS, klipper, ran, recorded, speaking, state_of
from tests.printer.moonraker import JOB, RECORDED, Moonraker, serving
from tests.printer.test_printer_log import PRESSED, REFUSED, STOPPED, TWO_BOARDS
from tests.support.web import started
from tools.core import calls, settings
from tools.core.places import SettingsError
from tools.klipper import printers


@pytest.fixture
def web(printer, env):
    """The printer's folder behind a Moonraker called k1; nothing of it is on this machine."""
    moonraker = Moonraker(printer)
    with serving(moonraker) as url:
        env(KLIPPER_PRINTER_DATA="off", PRINTERS=f"k1={url}/")
        yield moonraker


CRASHED = """\
Unhandled exception during connect
Traceback (most recent call last):
  File "/home/pi/klipper/klippy/klippy.py", line 130, in _connect
    self._read_config()
    ~~~~~~~~~~~~~~~~~^^
ModuleNotFoundError: No module named 'numpy'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/home/pi/klipper/klippy/extras/x.py", line 3, in <module>
ImportError: cannot import name 'signature' from 'x' (/home/pi/x.py)
webhooks client 1: Disconnected
Error: of somebody else
"""
LOGS = {
    "a shutdown": klippy.log(),
    "a board that is gone": ran(1, TWO_BOARDS),
    "too late": ran(1, STOPPED),
    "M112": ran(1, PRESSED),
    "refused": klippy.start(1) + REFUSED,
    "a crash": klippy.start(1) + CRASHED,
    "it runs": ran(1),
    "no start": STATS.format(1060) + "\n" + STOPPED,
}


@pytest.mark.parametrize("text", LOGS.values(), ids=LOGS)
def test_a_log_says_the_same_pasted_from_disk_and_by_moonraker(printer, log, env, pages, text):
    log.write_text(text)
    by_disk = call("printer_log")
    with serving(Moonraker(printer)) as url:
        env(PRINTERS=f"k1={url}")
        by_web = call("printer_log", printer="k1")
        assert call("printer_log", printer="here") == by_web == by_disk
    env(KLIPPER_PRINTER_DATA="off")
    by_disk.pop("last_line_hours_ago", None)
    assert call("printer_log", text=text) == by_disk
    quoted = "".join(f"    {line}\r\n" for line in text.splitlines())
    assert call("printer_log", text=quoted) == by_disk


def test_the_stand_in_answers_in_the_forms_of_a_real_moonraker(printer):
    stand_in = Moonraker(printer, jobs=[JOB])
    for path, part in {
        "server/history/list?limit=1": "jobs",
        "server/files/list?root=logs": "",
    }.items():
        status, kind, body, _ = stand_in.answer(f"/{path}", {})
        ours, theirs = (json.loads(text)["result"] for text in (body, RECORDED[path]["body"]))
        entries = [(said[part] if part else said)[0] for said in (ours, theirs)]
        assert entries[0].keys() == entries[1].keys()
        assert (status, kind) == (RECORDED[path]["status"], RECORDED[path]["type"])
    for name, size in {"the end of a log": 20, "a short log": 9_999_999}.items():
        status, kind, body, part = stand_in.answer(
            "/server/files/logs/klippy.log", {"Range": f"bytes=-{size}"}
        )
        assert (status, kind, bool(part)) == (
            RECORDED[name]["status"],
            RECORDED[name]["type"],
            bool(RECORDED[name]["range"]),
        )


def test_of_a_long_text_the_end_is_read_and_the_answer_names_what_was_cut(env):
    env(KLIPPER_PRINTER_DATA="off")
    log = klippy.start(1) + "x" * 1_500_000 + "\n" + ran(2, STOPPED)
    answer = call("printer_log", text=log)
    assert answer["started"].startswith("Sun Aug  2") or answer["started"].startswith("Mon Aug  2")
    assert answer["shutdown"] == "MCU 'mcu' shutdown: Timer too close"
    assert answer["cut"] == f"the first {len(log) - 1_000_000:,} bytes of the log were not read"
    assert call("printer_log", text="nothing of a log")["code"] == "NO_SUCH_START"


def test_of_a_long_log_elsewhere_only_the_end_is_sent(log, web, monkeypatch):
    log.write_text(klippy.start(1) + "y\n" * 3000 + ran(2, STOPPED))
    monkeypatch.setattr(printers, "MOST_BYTES", 4000)
    answer = call("printer_log")
    assert answer["shutdown"] == "MCU 'mcu' shutdown: Timer too close" and answer["starts"] == 1
    assert (
        answer["cut"] == f"the first {log.stat().st_size - 4000:,} bytes of the log were not read"
    )


def test_a_start_in_yesterday_s_log_is_found_elsewhere_too_and_each_log_is_sent_once(
    printer, log, web
):
    (printer / "logs/klippy.log.2026-08-03").write_text(ran(3))
    log.write_text(f"Log rollover\n{STATS.format(3500)}\n{STOPPED}")
    os.utime(printer / "logs/klippy.log.2026-08-03", (1785751000, 1785751000))
    answer = call("printer_log")
    assert answer["started"].startswith("Mon Aug  3") and answer["ran_s"] == 500
    sent = [path for path in web.requests if "/logs/klippy" in path]
    assert len(sent) == len(set(sent)) == 2


def test_creality_s_log_is_read_behind_what_it_puts_before_each_message(printer, env):
    lines = []
    for line in ran(1, STOPPED).splitlines():
        has_mark = line.startswith(("Start", "Stats", "=====", "Transition", "MCU"))
        mark = "[INFO] 2023-11-29 01:40:54,564 [root] [klippy:run:265] "
        lines.append(f"{mark}{line}\n" if has_mark else f"{line}\n")
    env(KLIPPER_PRINTER_DATA="off")
    answer = call("printer_log", text="".join(lines))
    assert answer["errors"][0]["line"] == "MCU 'mcu' shutdown: Timer too close"
    assert (answer["ran_s"], answer["link"]["mcu"]["received"]) == (60, 291456)


@pytest.mark.parametrize(
    ("version", "age"),
    {
        "v0.10.0-530-g3387a9c2-dirty": "of 2021-09, with files changed by its maker or a plugin; today's is 0.13",
        "v0.12.0-85-gd785b396a": "of 2023-11; today's is 0.13",
        "09faed31-dirty": "its maker's own, of unknown age: messages may be the maker's, too",
        "?": "its maker's own, of unknown age: messages may be the maker's, too",
        "v0.13.0-419-g2e5802370-dirty": None,
    }.items(),
)
def test_a_closed_box_says_how_old_its_klipper_is_and_whose(printer, log, pages, version, age):
    log.write_text(klippy.start(1).replace("v0.13.0-21-g84104bbb", version) + STOPPED)
    assert call("printer_log").get("klipper") == age
    info = {**RESULTS["info"], "software_version": version}
    assert state_of(printer, {**RESULTS, "info": info}).get("klipper") == age


def test_a_message_that_nobody_knows_is_said_as_unknown(printer, log):
    message = "prtouch run pressure check failed on the strain gauge"
    lines = f"Transition to shutdown state: {message}\n"
    log.write_text(ran(1, lines))
    (error,) = call("printer_log")["errors"]
    assert error["line"] == message and error["means"] == "Not one of Klipper's own messages."
    said = klippy.halted("shutdown", f"{message}\nPrinter is shutdown\n")
    assert "Not one of" in state_of(printer, said)["known_message"]["means"]


@pytest.mark.parametrize("state", klippy.RECORDED)
def test_every_state_is_the_same_by_moonraker(printer, env, pages, state):
    by_socket = state_of(printer, recorded(state))
    with serving(Moonraker(printer, recorded(state))) as url:
        env(KLIPPER_PRINTER_DATA="off", PRINTERS=f"k1={url}")
        assert call("printer_state") == by_socket


def test_a_configuration_elsewhere_is_checked_with_its_includes(printer, web, env, pages):
    (printer / "config/more").mkdir()
    (printer / "config/more/fan.cfg").write_text("[output_pin b]\npim: PB2\n[include deep/*.cfg]\n")
    (printer / "config/more/.hidden.cfg").write_text("nonsense\n")
    (printer / "config/more/deep").mkdir()
    (printer / "config/more/deep/a.cfg").write_text("[output_pin a]\npin: PB1\nvalue: 3\n")
    (printer / "config/printer.cfg").write_text(
        "[include more/*.cfg]\n[include none.cfg]\n" + CONFIG
    )
    by_web = call("check_config")
    assert {"more/fan.cfg", "more/deep/a.cfg"} <= {
        finding.get("file") for finding in by_web["findings"]
    }
    fan = call("check_config", path="more/fan.cfg")
    assert fan["sections"] == 2
    assert {finding.get("file") for finding in fan["findings"]} == {None, "deep/a.cfg"}
    assert call("check_config", path="../secret")["code"] == "OUTSIDE"
    assert call("check_config", path="nope.cfg")["code"] == "UNREADABLE"
    env(KLIPPER_PRINTER_DATA=printer, PRINTERS="")
    by_disk = call("check_config")
    assert by_web["options"] == by_disk["options"]
    assert all(
        finding in by_web["findings"]
        for finding in by_disk["findings"]
        if "none.cfg" not in str(finding)
    )


def test_the_last_print_is_told_with_the_cause_also_of_an_earlier_start(log, web, pages):
    log.write_text(ran(1, STOPPED))
    web.jobs = [{**JOB, "end_time": 1785751900.0}]
    answer = call("printer_log")
    assert answer["last_print"].pop("ended_hours_ago") > 1000
    assert answer["last_print"] == {
        "file": "benchy.gcode",
        "status": "klippy_shutdown",
        "seconds": 612,
        "filament_m": 1.23,
        "cause": answer["errors"][0],
    }
    log.write_text(ran(1, STOPPED) + ran(9))
    web.jobs = [{**JOB, "end_time": 1785751202.0}]
    answer = call("printer_log")
    assert answer["errors"] == [] and "host was too late" in answer["last_print"]["cause"]["means"]
    assert len(json.dumps(answer, separators=(",", ":"))) / 4 <= 600
    web.jobs = [{**JOB, "status": "completed"}]
    assert "cause" not in call("printer_log")["last_print"]
    for odd in (
        [],
        [None],
        [{}],
        [{**JOB, "end_time": None, "filename": ["x"], "print_duration": float("nan")}],
    ):
        web.jobs = odd
        assert call("printer_log")["starts"] == 2


def test_a_printer_here_is_asked_for_its_last_print_over_moonraker_s_socket(printer, log):
    log.write_text(ran(1, STOPPED))
    with speaking(
        printer / "comms/moonraker.sock", klipper({"server.history.list": {"jobs": [JOB]}})
    ):
        assert (
            call("printer_log")["last_print"]["cause"]["line"]
            == "MCU 'mcu' shutdown: Timer too close"
        )
    assert "last_print" not in call("printer_log")


def test_several_printers_have_a_line_each_and_the_one_here_its_whole_answer(
    printer, web, env, pages
):
    off = "http://127.0.0.1:9"
    with serving(Moonraker(printer, recorded("the board is gone"))) as stopped:
        env(PRINTERS=f"k1={os.environ['PRINTERS'].partition('=')[2]} voron={stopped} old={off}")
        answer = call("printer_state")
        lines = answer.pop("printers")
        assert answer == {} and (lines["k1"]["state"], lines["k1"]["job"]["percent"]) == (
            "ready",
            42,
        )
        assert (
            lines["voron"]["state"] == "shutdown"
            and "Lost communication" in lines["voron"]["message"]
        )
        assert lines["old"] == {
            "state": f"The printer old does not answer at {off}: nothing listens there"
        }
        assert call("printer_state", printer="voron")["state"] == "shutdown"
        for tool in ("printer_log", "check_config"):
            error = call(tool)
            assert error["code"] == "WHICH_PRINTER" and "k1, voron, old" in error["error"]
        env(KLIPPER_PRINTER_DATA=printer)
        assert call("printer_state")["state"].startswith("Klipper is not running")
        answer = state_of(printer)
        assert answer["homed"] == "xyz" and len(answer["printers"]) == 3
        assert call("printer_log")["starts"] == 3, "the printer here"
    error = call("printer_state", printer="nope")
    assert error["code"] == "WHICH_PRINTER" and "here, k1, voron, old" in error["error"]


def test_only_what_reads_is_ever_asked_of_a_moonraker(printer, web, pages):
    web.jobs = [JOB]
    for tool in ("printer_state", "printer_log", "check_config"):
        assert "error" not in call(tool)
    assert {path.partition("?")[0] for path in web.requests} == {
        "/printer/info",
        "/printer/objects/query",
        "/server/files/list",
        "/server/files/logs/klippy.log",
        "/server/files/config/printer.cfg",
        "/server/history/list",
    }


def test_a_key_is_sent_where_one_is_set_and_is_never_shown(printer, env, pages):
    with serving(Moonraker(printer, key="secret4711")) as url:
        env(KLIPPER_PRINTER_DATA="off", PRINTERS=f"k1={url}")
        for tool in ("printer_state", "printer_log", "check_config"):
            error = call(tool)
            assert error["code"] == "PRINTER_KEY" and "PRINTER_KEYS" in error["hint"]
        env(PRINTER_KEYS="k1=secret4711")
        assert call("printer_state")["state"] == "ready"
        env(PRINTER_KEYS="k1=wrong4712")
        assert "4712" not in json.dumps(call("printer_state"))
    env(PRINTER_KEYS="secret4711")
    with pytest.raises(SettingsError, match=r"PRINTER_KEYS: expected name=value") as error:
        settings.check()
    assert "4711" not in str(error.value)


def test_who_may_not_see_the_printer_here_may_see_none_elsewhere(web, pages):
    with calls.acting_for(calls.Caller("bob", frozenset({"klipper"}), frozenset(), "token")):
        assert call("check_config", printer="k1")["code"] == "NOT_ALLOWED"
    assert web.requests == []


@contextmanager
def speaking_tcp(speak):
    """A server on loopback: `speak(connection)` is called for each client once it has asked."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(65536)
            with suppress(OSError):
                speak(self.request)

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    with started(server):
        yield f"http://127.0.0.1:{server.server_address[1]}"


def http(status, body, *headers):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", body]
    return lambda connection: connection.sendall("\r\n".join(lines).encode())


def dripping(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while not select.select([connection], [], [], 0.05)[0]:
        connection.sendall(b" ")


def endless(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(1000):
        connection.sendall(b" " * 65536)


NO_GOOD = {
    "a page": (http("200 OK", "<html>Mainsail</html>", "Content-Type: text/html"), "NOT_MOONRAKER"),
    "a page that is not there": (
        http("404 Not Found", "<html>", "Content-Type: text/html"),
        "NOT_MOONRAKER",
    ),
    "other JSON": (http("200 OK", "[1]", "Content-Type: application/json"), "NOT_MOONRAKER"),
    "other JSON with a result": (
        http("200 OK", '{"result": "ok"}', "Content-Type: application/json"),
        "NOT_MOONRAKER",
    ),
    "a redirect": (http("302 Found", "", "Location: http://127.0.0.1:9/secret"), "NOT_MOONRAKER"),
    "not HTTP": (lambda connection: connection.sendall(b"SSH-2.0-dropbear\r\n"), "PRINTER_SILENT"),
    "too much": (endless, "PRINTER_SILENT"),
    "nothing": (lambda connection: None, "PRINTER_SILENT"),
    "a byte now and then": (dripping, "PRINTER_SILENT"),
    "no Klipper": (
        http("503 Service Unavailable", "{}", "Content-Type: application/json"),
        "KLIPPER_OFF",
    ),
    "no Moonraker behind nginx": (
        http("502 Bad Gateway", "", "Content-Type: text/plain"),
        "KLIPPER_OFF",
    ),
}


@pytest.mark.parametrize("what", NO_GOOD)
def test_what_is_no_good_printer_is_one_sentence_within_its_deadline(env, pages, what, monkeypatch):
    speak, code = NO_GOOD[what]
    monkeypatch.setattr(printers, "TIMEOUT_S", 0.4)
    with speaking_tcp(speak) as url:
        env(KLIPPER_PRINTER_DATA="off", PRINTERS=f"k1={url}")
        for tool in ("printer_state", "printer_log", "check_config"):
            answer = call(tool)
            codes = (code, "PRINTER_SILENT") if tool == "printer_state" else (code,)
            assert answer["code"] in codes and "k1" in answer["error"] and answer["hint"], answer
            assert len(answer["error"]) < 200


def test_a_moonraker_without_klipper_says_so_and_still_gives_the_log(printer, web):
    web.results = None
    error = call("printer_state")
    assert error["code"] == "KLIPPER_OFF" and "The printer k1 has no Klipper" in error["error"]
    assert "printer_log" in error["hint"] and call("printer_log")["starts"] == 3


@pytest.mark.parametrize(
    "value",
    [
        "k1",
        "k1=ftp://x",
        "k1=http://a k1=http://b",
        "here=http://a",
        "=http://a",
        "k1=http://u:p@h",
    ],
)
def test_a_wrong_address_ends_the_start_with_a_line_that_names_the_setting(env, value):
    env(PRINTERS=value)
    with pytest.raises(SettingsError, match="PRINTERS"):
        settings.check()


def test_without_any_printer_a_hint_names_what_the_tool_takes_and_no_more(env, pages):
    env(KLIPPER_PRINTER_DATA="off")
    takes = {"printer_log": "`text`", "printer_resonances": "`text`", "check_config": "`config`"}
    for tool, word in takes.items():
        assert "send the " in call(tool)["hint"] and word in call(tool)["hint"]
    assert "send" not in call("printer_state")["hint"]
