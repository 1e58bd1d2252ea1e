"""The printer's own files: read by who may, and nothing outside of their folder."""

import json
import os

import pytest

from tests.klipper.asking import call
from tests.printer import accelerometer
from tests.printer.klippy import CONFIG
from tools.core import calls
from tools.klipper.config import printer_cfg
from tools.printer.printer_state import health


def test_check_config_without_a_text_reads_the_printers_own_file_and_its_includes(printer, pages):
    (printer / "config/more").mkdir()
    (printer / "config/more/fan.cfg").write_text("[heater_fan hotend]\nfan_speed: 2\n")
    (printer / "config/printer.cfg").write_text("[include more/*.cfg]\n" + CONFIG)

    answer = call("check_config")

    assert any("rotation_distance" in finding["message"] for finding in answer["findings"])
    assert any(finding.get("file") == "more/fan.cfg" for finding in answer["findings"])
    assert call("check_config", path="more/fan.cfg")["sections"] == 1


def test_nothing_outside_and_no_special_file_is_read(printer, pages):
    (printer / "config/link.cfg").symlink_to("/etc/passwd")
    (printer / "config/more").mkdir()
    os.mkfifo(printer / "config/pipe")
    for path in (
        "../../etc/passwd",
        "/etc/passwd",
        "link.cfg",
        "more",
        "pipe",
        "gone.cfg",
        "\0",
        "x" * 900,
    ):
        answer = call("check_config", path=path)
        assert answer["success"] is False and answer["code"] in ("OUTSIDE", "UNREADABLE"), answer
    (printer / "config/printer.cfg").write_bytes(b"#" * 10_000_000)
    assert call("check_config")["code"] == "TOO_LONG"


def test_an_include_that_leads_out_is_named_and_not_read(printer, pages):
    (printer / "config/out.cfg").symlink_to("/etc/passwd")
    (printer / "config/printer.cfg").write_text("[include out.cfg]\n" + CONFIG)
    assert "includes that were not given: out.cfg" in call("check_config")["not_checked"]


@pytest.mark.parametrize(
    "pattern", ["/root/*", "../../../*", "{printer}*", "link/*", "/root/.*", "more/../../../*"]
)
def test_an_include_tells_no_names_of_files_elsewhere(printer, pattern, tmp_path):
    pattern = pattern.format(printer=str(printer)[:-1])
    (tmp_path / "secret.txt").touch()
    (printer / "config/more").mkdir()
    (printer / "config/link").symlink_to(tmp_path)
    (printer / "config/printer.cfg").write_text(f"[include {pattern}]\n")
    config = printer_cfg.from_files(printer / "config/printer.cfg", printer)
    assert (config.missing, config.problems) == ([pattern], [])


def test_an_absolute_include_of_the_printers_own_folder_is_read(printer, tmp_path):
    (printer / "config/fan.cfg").write_text("[fan]\n")
    link = tmp_path / "link"
    link.symlink_to(printer)
    for folder in (printer, link):
        for pattern in (
            f"{printer}/config/f*.cfg",
            f"{printer}/config/fan.cfg",
            "../config/f*.cfg",
        ):
            (printer / "config/printer.cfg").write_text(f"[include {pattern}]\n")
            assert "fan" in printer_cfg.from_files(folder / "config/printer.cfg", folder).sections


def test_a_tool_over_its_budget_is_an_error_that_says_what_to_do(printer, monkeypatch):
    monkeypatch.setattr(calls, "MOST_COMPUTED_S", -1.0)
    resonances = accelerometer.calibration({50: 1e4}, {"mzv": 40.0})
    for name, arguments in (("printer_log", {}), ("printer_resonances", {"text": resonances})):
        with calls.calling(lambda *_: None, lambda: False):
            answer = call(name, **arguments)
        assert (answer["code"], "at a time" in answer["hint"]) == ("OUT_OF_TIME", True)


def test_a_link_to_a_cfg_of_another_program_is_followed_and_a_path_out_is_not(
    printer, pages, tmp_path
):
    client = tmp_path / "mainsail-config/client.cfg"
    client.parent.mkdir()
    client.write_text("[heater_fan hotend]\nfan_speed: 2\n")
    (printer / "config/mainsail.cfg").symlink_to(client)
    (printer / "config/KAMP").symlink_to(client.parent)
    for name in ("mainsail.cfg", "KAMP/*.cfg"):
        (printer / "config/printer.cfg").write_text(f"[include {name}]\n" + CONFIG)
        answer = call("check_config")
        assert any("fan_speed" in finding["message"] for finding in answer["findings"])
        assert not any("were not given" in part for part in answer["not_checked"])
    assert call("check_config", path=f"../{os.path.relpath(client, printer)}")["code"] == "OUTSIDE"


def test_a_remote_caller_needs_the_scope_of_the_printer(printer, pages):
    anna = calls.Caller("anna", frozenset({"klipper", "printer"}), frozenset(), "token")
    bob = calls.Caller("bob", frozenset({"klipper"}), frozenset(), "token")
    for tool in ("printer_log", "printer_resonances", "printer_state"):
        with calls.acting_for(bob), pytest.raises(Exception, match="Unknown tool"):
            call(tool)
        with calls.acting_for(anna):
            assert call(tool).get("code") != "NOT_ALLOWED"
    with calls.acting_for(bob):
        assert call("check_config")["code"] == "NOT_ALLOWED"
    with calls.acting_for(anna):
        assert call("check_config")["success"]


def test_without_a_folder_the_tools_say_what_to_set(env, pages):
    env(KLIPPER_PRINTER_DATA="off")
    for tool in ("check_config", "printer_log", "printer_resonances", "printer_state"):
        assert call(tool)["code"] == "NO_PRINTER" and "KLIPPER_PRINTER_DATA" in call(tool)["hint"]
    assert health().state == "unset"


def test_the_folder_in_the_home_is_the_default(env, pages):
    (env() / "home/printer_data/config").mkdir(parents=True)
    (env() / "home/printer_data/config/printer.cfg").write_text(CONFIG)
    env()
    assert call("check_config")["sections"] == 4 and health().state == "ok"


def test_what_is_wrong_with_the_printer_takes_two_calls_and_900_tokens(printer, pages):
    answers = [call("printer_log"), call("check_config")]
    assert (
        sum(
            len(json.dumps(answer, ensure_ascii=False, separators=(",", ":"))) for answer in answers
        )
        / 4
        <= 900
    )
