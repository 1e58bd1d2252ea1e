"""Printers elsewhere, by Moonraker, and logs that somebody pastes: the answers are those of a printer here."""

import json
import math
import os
import re

import pytest

from tests.klipper.asking import call, tokens
from tests.printer import klippy
from tests.printer.klippy import (
    CONFIG,
    RESULTS,
    STATS,
    TOO_CLOSE,
    halted,
    klipper,
    ran,
    recorded,
    speaking,
    start,
    state_of,
)
from tests.printer.moonraker import JOB, RECORDED, Moonraker, listing, serving
from tests.printer.test_printer_log import PRESSED, REFUSED, STOPPED, TWO_BOARDS
from tests.support.client import cases
from tests.support.web import dripping, redirect
from tests.support.web import serving as serving_pages
from tools.core import settings
from tools.core.places import SettingsError
from tools.klipper import printers


@pytest.fixture
def moonraker(printer, env):
    """The printer's folder behind a Moonraker called k1; nothing of it is on this machine."""
    moonraker = Moonraker(printer)
    with serving(moonraker) as url:
        env(KLIPPER_PRINTER_DATA="off", PRINTERS=f"k1={url}/")
        yield moonraker


# Each asks a Moonraker.
TOOLS = ("printer_state", "printer_log", "check_config")
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
    "refused": start(1) + REFUSED,
    "a crash": start(1) + CRASHED,
    "it runs": ran(1),
    "no start": STATS.format(1060) + "\n" + STOPPED,
}


@pytest.mark.parametrize("text", LOGS.values(), ids=LOGS)
def test_a_log_says_the_same_pasted_from_disk_and_by_moonraker(printer, read_log, env, pages, text):
    by_disk = read_log(text)
    with serving(Moonraker(printer)) as url:
        env(PRINTERS=f"k1={url}")
        by_web = call("printer_log", printer="k1")
        assert call("printer_log", printer="here") == by_web == by_disk
    env(KLIPPER_PRINTER_DATA="off")
    by_disk.pop("last_line_hours_ago", None)
    assert call("printer_log", text=text) == by_disk
    quoted = "".join(f"    {line}\r\n" for line in text.splitlines())
    assert call("printer_log", text=quoted) == by_disk


def test_the_stand_in_answers_in_the_form_of_a_real_moonraker(printer):
    for name, part in (("the end of a log", "bytes=-20"), ("a short log", "bytes=-9999999")):
        real = RECORDED[name]
        path = "/server/files/logs/klippy.log"
        status, _, headers = Moonraker(printer).answer(path, {"Range": part})
        assert (status, headers["Content-Type"]) == (real["status"], real["type"])
        assert ("Content-Range" in headers) == bool(real["range"])
    files = json.loads(RECORDED["server/files/list?root=logs"]["body"])["result"]
    assert listing(printer)[0].keys() == files[0].keys()


def test_of_a_long_text_the_end_is_read_and_the_answer_names_what_was_cut(env):
    env(KLIPPER_PRINTER_DATA="off")
    log = start(1) + "x" * 1_500_000 + "\n" + ran(2, STOPPED)
    answer = call("printer_log", text=log)
    assert answer["started"].startswith("Mon Aug  2")
    assert answer["shutdown"] == TOO_CLOSE
    assert answer["cut"] == f"the first {len(log) - 1_000_000:,} bytes of the log were not read"
    assert call("printer_log", text="nothing of a log")["code"] == "NO_SUCH_START"


def test_of_a_long_log_elsewhere_only_the_end_is_sent(log, read_log, moonraker, monkeypatch):
    monkeypatch.setattr(printers, "MOST_MOONRAKER_BYTES", 4000)
    answer = read_log(start(1) + "y\n" * 3000 + ran(2, STOPPED))
    assert (answer["shutdown"], answer["starts"]) == (TOO_CLOSE, 1)
    unread = log.stat().st_size - 4000
    assert answer["cut"] == f"the first {unread:,} bytes of the log were not read"


def test_a_start_in_yesterday_s_log_is_found_elsewhere_too_and_each_log_is_sent_once(
    printer, read_log, moonraker
):
    yesterday = printer / "logs/klippy.log.2026-08-03"
    yesterday.write_text(ran(3))
    os.utime(yesterday, (0, 0))
    answer = read_log(f"Log rollover\n{STATS.format(3500)}\n{STOPPED}")
    assert answer["started"].startswith("Mon Aug  3") and answer["ran_s"] == 500
    sent = [path for path in moonraker.requests if "/logs/klippy" in path]
    assert len(sent) == len(set(sent)) == 2


def test_creality_s_log_is_read_behind_what_it_puts_before_each_message(printer, env):
    mark = r"[INFO] 2023-11-29 01:40:54,564 [root] [klippy:run:265] \1"
    text = re.sub("(?m)^(Start|Stats|=====|Transition|MCU)", mark, ran(1, STOPPED))
    env(KLIPPER_PRINTER_DATA="off")
    answer = call("printer_log", text=text)
    assert answer["errors"][0]["line"] == TOO_CLOSE
    assert (answer["ran_s"], answer["link"]["mcu"]["received"]) == (60, 291456)


AGES = """
v0.10.0-530-g3387a9c2-dirty | of 2021-09, with files changed by its maker or a plugin; today's is 0.13
v0.12.0-85-gd785b396a | of 2023-11; today's is 0.13
09faed31-dirty | its maker's own, of unknown age: messages may be the maker's, too
? | its maker's own, of unknown age: messages may be the maker's, too
v0.13.0-419-g2e5802370-dirty | newest
"""


def test_a_closed_box_says_how_old_its_klipper_is_and_whose(printer, read_log, pages):
    for version, age in cases(AGES):
        log = read_log(start(1).replace("v0.13.0-21-g84104bbb", version) + STOPPED)
        info = RESULTS["info"] | {"software_version": version}
        state = state_of(printer, RESULTS | {"info": info})
        assert log.get("klipper", "newest") == state.get("klipper", "newest") == age


def test_a_message_that_nobody_knows_is_said_as_unknown(printer, read_log):
    message = "prtouch run pressure check failed on the strain gauge"
    (error,) = read_log(ran(1, f"Transition to shutdown state: {message}\n"))["errors"]
    assert (error["line"], error["means"]) == (message, "Not one of Klipper's own messages.")
    state = state_of(printer, halted("shutdown", f"{message}\nPrinter is shutdown\n"))
    assert "Not one of" in state["known_message"]["means"]


def test_a_configuration_elsewhere_is_checked_with_its_includes(printer, moonraker, env, pages):
    config = printer / "config"
    (config / "more/deep").mkdir(parents=True)
    (config / "more/fan.cfg").write_text("[output_pin b]\npim: PB2\n[include deep/*.cfg]\n")
    (config / "more/.hidden.cfg").write_text("nonsense\n")
    (config / "more/deep/a.cfg").write_text("[output_pin a]\npin: PB1\nvalue: 3\n")
    (config / "printer.cfg").write_text("[include more/*.cfg]\n[include none.cfg]\n" + CONFIG)
    by_web, fan = call("check_config"), call("check_config", path="more/fan.cfg")
    assert fan["sections"] == 2 and files_of(fan) == {None, "deep/a.cfg"}
    assert call("check_config", path="../secret")["code"] == "OUTSIDE"
    assert call("check_config", path="nope.cfg")["code"] == "UNREADABLE"
    env(KLIPPER_PRINTER_DATA=printer, PRINTERS="")
    by_disk = call("check_config", config="", include={})
    assert call("check_config", path="more/fan.cfg") == fan
    assert by_web["options"] == by_disk["options"]
    for answer in (by_web, by_disk):
        assert {"more/fan.cfg", "more/deep/a.cfg"} <= files_of(answer)
        assert "more/.hidden.cfg" not in files_of(answer)
    for finding in by_disk["findings"]:
        assert finding in by_web["findings"] or "none.cfg" in str(finding)


def files_of(answer):
    return {finding.get("file") for finding in answer["findings"]}


def test_the_last_print_is_told_with_the_cause_also_of_an_earlier_start(read_log, moonraker, pages):
    moonraker.jobs = [JOB]
    answer = read_log(ran(1, STOPPED))
    assert answer["last_print"].pop("ended_hours_ago") > 1000
    assert answer["last_print"] == {
        "file": "benchy.gcode",
        "status": "klippy_shutdown",
        "seconds": 612,
        "filament_m": 1.23,
        "cause": answer["errors"][0],
    }
    moonraker.jobs = [JOB | {"end_time": 1785751202.0}]
    answer = read_log(ran(1, STOPPED) + ran(9))
    assert answer["errors"] == [] and "host was too late" in answer["last_print"]["cause"]["means"]
    assert tokens(answer) <= 600
    moonraker.jobs = [JOB | {"status": "completed"}]
    assert "cause" not in call("printer_log")["last_print"]
    broken = JOB | {"end_time": None, "filename": ["x"], "print_duration": math.nan}
    for odd in ([], [None], [{}], [broken]):
        moonraker.jobs = odd
        assert call("printer_log")["starts"] == 2


def test_a_printer_here_is_asked_for_its_last_print_over_moonraker_s_socket(printer, read_log):
    history = klipper({"server.history.list": {"jobs": [JOB]}})
    with speaking(printer / "comms/moonraker.sock", history):
        assert read_log(ran(1, STOPPED))["last_print"]["cause"]["line"] == TOO_CLOSE
    assert "last_print" not in call("printer_log")


def test_several_printers_have_a_line_each_and_the_one_here_its_whole_answer(
    printer, moonraker, env, pages
):
    off = "http://127.0.0.1:9"
    with serving(Moonraker(printer, recorded("the board is gone"))) as stopped:
        env(PRINTERS=f"{os.environ['PRINTERS']} voron={stopped} old={off}")
        answer = call("printer_state")
        assert answer.keys() == {"printers"}
        k1, voron, old = answer["printers"].values()
        assert (k1["state"], k1["job"]["percent"]) == ("ready", 42)
        assert voron["state"] == "shutdown" and "Lost communication" in voron["message"]
        silent = f"The printer old does not answer at {off}: nothing listens there"
        assert old == {"state": silent}
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


def test_only_what_reads_is_ever_asked_of_a_moonraker(printer, moonraker, pages):
    moonraker.jobs = [JOB]
    for tool in TOOLS:
        assert "error" not in call(tool)
    paths = {path.partition("?")[0] for path in moonraker.requests}
    reading = """/printer/info /printer/objects/query /server/files/config/printer.cfg /server/files/list
        /server/files/logs/klippy.log /server/history/list"""
    assert paths == set(reading.split())


def test_a_key_is_sent_where_one_is_set_and_is_never_shown(printer, env, pages):
    with serving(Moonraker(printer, key="secret4711")) as url:
        env(KLIPPER_PRINTER_DATA="off", PRINTERS=f"k1={url}")
        for tool in TOOLS:
            error = call(tool)
            assert error["code"] == "PRINTER_KEY" and "PRINTER_KEYS" in error["hint"]
        env(PRINTER_KEYS="k1=secret4711")
        assert call("printer_state")["state"] == "ready"
        env(PRINTER_KEYS="k1=wrong4712")
        assert "4712" not in json.dumps(call("printer_state"))
    env(PRINTER_KEYS="secret4711")
    with pytest.raises(SettingsError, match=r"PRINTER_KEYS: expected name=value") as error:
        settings.check_all()
    assert "4711" not in str(error.value)


def page(text, kind="application/json", status=200):
    """A function of a handler, which answers with this page."""
    return lambda handler: handler.send(status, text, {"Content-Type": kind})


NO_GOOD = {
    "a page": (page(b"<html>Mainsail</html>", "text/html"), "NOT_MOONRAKER"),
    "a page that is not there": (page(b"<html>", "text/html", 404), "NOT_MOONRAKER"),
    "other JSON": (page(b"[1]"), "NOT_MOONRAKER"),
    "other JSON with a result": (page(b'{"result": "ok"}'), "NOT_MOONRAKER"),
    "a redirect": (redirect("http://127.0.0.1:9/secret"), "NOT_MOONRAKER"),
    "not HTTP": (lambda handler: handler.wfile.write(b"SSH-2.0-dropbear\r\n"), "PRINTER_SILENT"),
    "a byte now and then": (dripping, "PRINTER_SILENT"),
    "no Klipper": (page(b"{}", status=503), "KLIPPER_OFF"),
    "no Moonraker behind nginx": (page(b"", "text/plain", 502), "KLIPPER_OFF"),
}


@pytest.mark.parametrize("speak, code", NO_GOOD.values(), ids=NO_GOOD)
def test_what_is_no_good_printer_is_one_sentence_within_its_deadline(
    env, pages, speak, code, monkeypatch
):
    if code == "PRINTER_SILENT":
        monkeypatch.setattr(printers, "PRINTER_TIMEOUT_S", 0.4)
    with serving_pages() as server:
        server.otherwise = speak
        env(KLIPPER_PRINTER_DATA="off", PRINTERS=f"k1={server.url()}")
        for tool in TOOLS:
            answer = call(tool)
            codes = (code, "PRINTER_SILENT") if tool == "printer_state" else (code,)
            assert answer["code"] in codes and "k1" in answer["error"], answer
            assert len(answer["error"]) < 200


def test_a_moonraker_without_klipper_says_so_and_still_gives_the_log(printer, moonraker):
    moonraker.results = None
    error = call("printer_state")
    assert error["code"] == "KLIPPER_OFF" and "The printer k1 has no Klipper" in error["error"]
    assert "printer_log" in error["hint"] and call("printer_log")["starts"] == 3
