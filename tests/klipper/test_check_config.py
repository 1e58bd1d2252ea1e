"""check_config as a client calls it, and the command for people."""

import json
import subprocess
import sys
import time

import pytest

from tests.conftest import PROJECT
from tests.klipper.config.sample import CHANGES, REFERENCE
from tools.core import registry, settings

MEGABYTES = 2_000_000


def check(config, **arguments):
    tool = registry.find("check_config", registry.listed(settings.current()).values())
    return tool.call({"config": config, **arguments})


@pytest.fixture
def docs(small_docs):
    return small_docs({"Config_Reference.md": REFERENCE, "Config_Changes.md": CHANGES, "G-Codes.md": "# G-Codes\n"})


def test_findings_are_counted_and_listed_worst_first(docs):
    answer = check("[fan]\nhardware_pwm: maybe\n[whatever]\n[include x.cfg]\n[gcode_macro a]\ngcode: G28\n[fna]\n")
    assert answer["success"] is True
    assert (answer["sections"], answer["options"]) == (4, 2)
    assert [finding["level"] for finding in answer["findings"]] == ["warning", "hint", "hint", "hint"]
    assert answer["findings"][-1] == {
        "line": 7,
        "section": "fna",
        "level": "hint",
        "message": "Section 'fna' is not in Klipper's documentation: misspelt, or an extension's",
        "nearest": "fan",
    }
    assert answer["not_checked"] == ["includes that were not given: x.cfg", "the commands in 1 G-Code options"]


def test_a_finding_in_an_included_file_names_it(docs):
    (finding,) = check("[include a.cfg]\n", include={"a.cfg": "\n[fan]\n"})["findings"]
    assert (finding["file"], finding["line"]) == ("a.cfg", 2)


def test_without_the_pages_it_says_how_to_get_them(env):
    assert check("[fan]\n")["code"] == "DOCS_MISSING"


HOSTILE = {
    "two megabytes of sections": "".join(f"[a {number}]\nb: 1\n" for number in range(130_000))[:MEGABYTES],
    "50,000 known sections": "".join(f"[heater_fan f{number}]\nb: 1\n" for number in range(50_000)),
    "unknown options": "[extruder]\n" + "".join(f"opt{number}: 1\n" for number in range(150_000)),
    "one option for ever": "[fan]\n" + "pin: PA1\n" * 200_000,
    "endless continuation": "[gcode_macro x]\ngcode:\n" + "  G1\n" * 400_000,
    "one endless line": "[printer]\nmax_jump: " + "9" * MEGABYTES,
    "endless names": "[" + "a" * MEGABYTES + "]\n" + "b" * MEGABYTES + ": 1\n",
    "NUL": "\0" * MEGABYTES,
    "NUL in names": "[fan]\n\0: 1\npin: \0\n",
    "BOM and CRLF": "\ufeff[fan]\r\npin: PA1\r\n",
    "half a surrogate": "[fan]\n\ud83d: \ud83d\n",
    "one pin everywhere": "".join(f"[heater_fan f{number}]\npin: PA1\n" for number in range(50_000)),
    "includes that lead out": "[include ../../etc/passwd]\n[include /etc/*]\n" * 30_000,
    "brackets": "[" * MEGABYTES,
    "numbers in a name": "[gcode_macro x]\n" + "_0" * 900_000 + ": 1\n",
    "25,000 steppers of their own": "".join(f"[stepper_q{number}]\nstep_pin: PA1\n" for number in range(25_000)),
    "25,000 sensors that are not there": "".join(
        f"[heater_generic h{number}]\nsensor_type: s{number}\n" for number in range(25_000)
    ),
    "options of a pattern that is gone": "[gcode_macro x]\n"
    + "".join(f"default_parameter_p{number}: 1\n" for number in range(50_000)),
    "an endless pattern": "[include " + "*a" * 2000 + "]\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_gets_a_short_answer_soon(docs, name):
    start = time.process_time()
    answer = check(HOSTILE[name], include={"a" * 4000: "[include *]\n"})
    assert time.process_time() - start < 5  # a second on a free machine; minutes if something is quadratic
    assert len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")) <= 3100


def command(docs, *words):
    return subprocess.run(
        [sys.executable, "-m", "tools", "klipper", *words],
        cwd=PROJECT,
        env={"PATH": "/usr/bin:/bin", "KLIPPER_DOCS_DIR": str(docs.parent), "HOME": str(docs.parent)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_command_prints_a_line_for_each_finding_and_fails_with_errors(docs, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.cfg").write_text("[heater_fan x]\nfan_spede: 1\n")
    file = tmp_path / "printer.cfg"
    file.write_text("[include more/*.cfg]\n[fan]\npin: PB1\nhardware_pwm: \x1b[31mmaybe\n")
    done = command(docs, "check", str(file))
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("more/a.cfg:2: error: Option 'fan_spede' is not valid in section 'heater_fan x'")
    assert lines[1].startswith(f"{file}:4: warning: ")
    assert "\x1b" not in done.stdout
    assert lines[2] == "2 sections, 3 options: 1 errors, 1 warnings, 0 hints"


def test_the_command_is_content_without_errors(docs, tmp_path):
    file = tmp_path / "printer.cfg"
    file.write_text("[fan]\npin: PB1\n")
    assert command(docs, "check", str(file)).returncode == 0


def test_the_command_says_what_it_cannot_read(docs, tmp_path):
    done = command(docs, "check", str(tmp_path / "none.cfg"))
    assert done.returncode == 1
    assert json.loads(done.stdout)["code"] == "UNREADABLE"
