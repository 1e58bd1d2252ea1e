"""The printer's own files: read by who may, and nothing outside of their folder."""

import os
import re

import pytest

from tests.klipper.asking import call, tokens
from tests.printer import accelerometer, klippy
from tests.printer.klippy import CONFIG
from tests.support.client import cases
from tools.core import calls
from tools.klipper.config import printer_cfg
from tools.printer.printer_state import health


@pytest.fixture
def config(printer):
    """The folder of the printer's configuration."""
    return printer / "config"


def test_no_path_leads_out_of_the_configuration(config, pages):
    (config / "more").mkdir()
    paths = "../../etc/passwd;/etc/passwd;more;gone.cfg;\0".split(";")
    for path in (*paths, "x" * 900):
        assert call("check_config", path=path)["code"] in ("OUTSIDE", "UNREADABLE"), path


def test_each_tool_that_reads_files_follows_no_link_out_waits_for_no_pipe_and_reads_none_too_long(
    log, folder, pages
):
    for tool, path in (
        ("check_config", log.parent.with_name("config") / "printer.cfg"),
        ("printer_log", log),
        ("printer_resonances", folder / "calibration_data_x_1.csv"),
    ):
        path.unlink(missing_ok=True)
        path.symlink_to("/etc/passwd")
        assert call(tool)["code"] == "OUTSIDE"
        path.unlink()
        os.mkfifo(path)
        assert call(tool)["code"] == "UNREADABLE"
        path.unlink()
        path.write_bytes(b"#" * 4_000_001)
        assert tool == "printer_log" or call(tool)["code"] == "TOO_LONG"


def test_an_include_tells_no_names_of_files_elsewhere(printer, config, tmp_path):
    (tmp_path / "secret.txt").touch()
    (config / "more").mkdir()
    (config / "link").symlink_to(tmp_path)
    (config / "out.cfg").symlink_to("/etc/passwd")
    outside = ["/root/*", "../../../*", f"{str(printer)[:-1]}*", "link/*", "/root/.*"]
    for pattern in [*outside, "more/../../../*", "out.cfg"]:
        (config / "printer.cfg").write_text(f"[include {pattern}]\n")
        read = printer_cfg.from_files(config / "printer.cfg", printer)
        assert (list(read.missing), read.problems) == ([pattern], [])


def test_an_include_of_the_printers_own_folder_is_read(printer, config, tmp_path):
    (config / "fan.cfg").write_text("[fan]\n")
    (tmp_path / "link").symlink_to(printer)
    for pattern in (f"{printer}/config/f*.cfg", f"{printer}/config/fan.cfg", "../config/f*.cfg"):
        (config / "printer.cfg").write_text(f"[include {pattern}]\n[include none/*.cfg]\n")
        for folder in (printer, tmp_path / "link"):
            read = printer_cfg.from_files(folder / "config/printer.cfg", folder)
            assert "fan" in read.sections and not (read.missing or read.problems)


def test_a_tool_over_its_budget_is_an_error_that_says_what_to_do(printer, monkeypatch):
    monkeypatch.setattr(calls, "MOST_COMPUTED_S", -1.0)
    resonances = accelerometer.calibration({50: 1e4}, {"mzv": 40.0})
    for name, text in (("printer_log", klippy.log()), ("printer_resonances", resonances)):
        with calls.calling(calls.RunningCall()):
            answer = call(name, text=text)
        assert answer["code"] == "OUT_OF_TIME" and "at a time" in answer["hint"]


def test_a_link_to_a_cfg_of_another_program_is_followed_and_a_path_out_is_not(
    config, pages, tmp_path
):
    client = tmp_path / "client.cfg"
    client.write_text("[heater_fan hotend]\nfan_speed: 2\n")
    (config / "mainsail.cfg").symlink_to(client)
    (config / "KAMP").symlink_to(tmp_path)
    for name in ("mainsail.cfg", "KAMP/*.cfg"):
        (config / "printer.cfg").write_text(f"[include {name}]\n" + CONFIG)
        answer = call("check_config")
        assert "fan_speed" in str(answer["findings"])
        assert "were not given" not in str(answer["not_checked"])
    assert call("check_config", path=os.path.relpath(client, config))["code"] == "OUTSIDE"


def remote(*scopes):
    """A caller over HTTP with these scopes."""
    return calls.acting_for(calls.Caller("bob", frozenset(scopes), frozenset(), "token"))


def test_a_remote_caller_needs_the_scope_of_the_printer_here_and_elsewhere(printer, env, pages):
    env(PRINTERS="k1=http://127.0.0.1:9")
    tools = ("printer_log", "printer_resonances", "printer_state")
    with remote("klipper"):
        for tool in tools:
            with pytest.raises(Exception, match="Unknown tool"):
                call(tool)
        for name in ("here", "k1"):  # it is not even asked
            assert call("check_config", printer=name)["code"] == "NOT_ALLOWED"
    with remote("klipper", "printer"):
        for tool in tools:
            assert call(tool).get("code") != "NOT_ALLOWED"
        assert call("check_config")["success"]


TAKES = """
printer_log | send the .*`text`
printer_resonances | send the .*`text`
check_config | send the .*`config`
printer_state | ^(?!.*send)
"""


def test_without_any_printer_a_hint_names_what_to_set_and_what_the_tool_takes(env, pages):
    env(KLIPPER_PRINTER_DATA="off")
    for tool, words in cases(TAKES):
        answer = call(tool)
        assert answer["code"] == "NO_PRINTER" and "KLIPPER_PRINTER_DATA" in answer["hint"]
        assert re.search(words, answer["hint"])
    assert health().state == "unset"


def test_the_folder_in_the_home_is_the_default(env, pages):
    folder = env() / "home/printer_data/config"
    folder.mkdir(parents=True)
    (folder / "printer.cfg").write_text(CONFIG)
    env()
    assert call("check_config")["sections"] == 4 and health().state == "ok"
    assert health().summary.endswith(": config/printer.cfg; only read")


def test_what_is_wrong_with_the_printer_takes_two_calls_and_900_tokens(printer, pages):
    assert tokens(call("printer_log")) + tokens(call("check_config")) <= 900
