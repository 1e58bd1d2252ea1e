"""check_config and config_reference as a client calls them, and the command for people."""

import json
import sys

import pytest

from tests.klipper.asking import call
from tests.klipper.config.sample import CHANGES, REFERENCE
from tests.support.client import PROJECT, cases, finished, json_lines
from tools.core.json_types import compact_json
from tools.klipper import config_reference
from tools.klipper.config.reference import Option


def check(config, **arguments):
    return call("check_config", config=config, **arguments)


@pytest.fixture
def docs(small_docs):
    return small_docs(
        {
            "Config_Reference.md": REFERENCE,
            "Config_Changes.md": CHANGES,
            "G-Codes.md": "# G-Codes\n",
        }
    )


def test_findings_are_counted_and_listed_worst_first(docs):
    answer = check(
        "[fan]\nhardware_pwm: maybe\n[whatever]\n[include x.cfg]\n[gcode_macro a]\ngcode: G28\n[heater_fam]\n"
    )
    assert (answer["sections"], answer["options"]) == (4, 2)
    levels = [finding["level"] for finding in answer["findings"]]
    assert levels == ["error", "warning", "hint", "hint"]
    assert answer["findings"][1] == {
        "line": 7,
        "section": "heater_fam",
        "level": "warning",
        "message": "Section 'heater_fam' is not in Klipper's documentation: misspelt?",
        "nearest": "heater_fan",
    }
    (included,) = check("[include a.cfg]\n", include={"a.cfg": "\n[fan]\n"})["findings"]
    assert (included["file"], included["line"]) == ("a.cfg", 2)
    assert answer["not_checked"][1:] == [
        "the commands in G-Code options, and sections that only SAVE_CONFIG wrote",
        "includes that were not given: x.cfg",
    ]


# How a hostile file begins, what it repeats with its number, how often, and how it ends.
HOSTILE = json_lines(r"""
["[fan]\n", "pin: PA1\n", 200000, ""]
["[gcode_macro x]\ngcode:\n", "  G1\n", 400000, ""]
["[", "a", 2000000, "]\nb: 1\n"]
["[a]\n", "b", 2000000, ": 1\n"]
["", "[heater_fan f{0}]\npin: PA1\n", 50000, ""]
["", "[include ../../etc/passwd]\n[include /etc/*]\n", 30000, ""]
["[gcode_macro x]\n", "_0", 900000, ": 1\n"]
["", "[stepper_q{0}]\nstep_pin: PA1\n", 25000, ""]
["[gcode_macro x]\n", "default_parameter_p{0}: 1\n", 50000, ""]
["[include ", "*a", 2000, "]\n"]
""")


@pytest.mark.parametrize("head, part, times, end", HOSTILE)
def test_a_hostile_file_gets_a_short_answer_soon(docs, head, part, times, end):
    config = head + "".join(map(part.format, range(times))) + end
    answer = check(config, include={"a" * 4000: "[include *]\n"})
    assert len(compact_json(answer).encode()) <= 3100


def command_check(file):
    """The command for people, on a file."""
    return finished([sys.executable, "-m", "tools", "klipper", "check", str(file)], cwd=PROJECT)


@pytest.mark.slow
def test_the_command_prints_a_line_for_each_finding_and_fails_with_errors(docs, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more/a.cfg").write_text(
        "[heater_fan x]\nheater: extruder\nfan_spede: 1\n[extruder]\n"
    )
    file = tmp_path / "printer.cfg"
    file.write_text("[include more/*.cfg]\n[fan]\npin: PB1\nhardware_pwm: \x1b[31mmaybe\n")
    process = command_check(file)
    assert process.returncode == 1, process.stderr
    first, second, *others = process.stdout.splitlines()
    assert first.startswith(f"{file}:4: error: ") and "\x1b" not in first
    assert second.startswith(
        "more/a.cfg:3: error: Option 'fan_spede' is not valid in section 'heater_fan x'"
    )
    assert "3 sections, 4 options: 2 errors, 0 warnings, 2 hints" in others
    file.write_text("[fan]\npin: PB1\n")
    assert command_check(file).returncode == 0
    process = command_check("none.cfg")
    assert (process.returncode, json.loads(process.stdout)["code"]) == (1, "UNREADABLE")


def look_up(**arguments):
    return call("config_reference", **arguments)


# What is looked up, a part of the answer, and what stands there.
LOOKED_UP = json_lines(r"""
[{"section": "[fan]"}, "heading", "[fan]"]
[{"section": "[fan]"}, "options", "['pin (required): This parameter must be provided.', 'hardware_pwm"]
[{"section": "[fan]"}, "options", "'hardware_pwm (False): The default is False.'"]
[{"section": "[fan]"}, "options", "'kick_start (0): One blank after the mark.'"]
[{"section": "[fan]"}, "changes", "['2025-07-21: The `[fan]` and `[heater_fan]` modules no longer accept"]
[{"section": "heater_fan"}, "section", "heater_fan cooling_fan"]
[{"section": "[heater_fan hotend]"}, "section", "heater_fan cooling_fan"]
[{"section": "HEATER_FAN"}, "section", "heater_fan cooling_fan"]
[{"section": "printer"}, "variants", "[{'of': '[printer]', "]
[{"section": "printer"}, "variants", "}, {'of': '[printer], Cartesian Kinematics', "]
[{"section": "printer"}, "variants", "}, {'of': '[printer], Delta Kinematics', "]
[{"option": "gear_ratio"}, "sections", "[{'in': ['[stepper_x]'], 'text': 'As \"5:1\".'}, {'in': ['[ex"]
[{"section": "heater_fan", "option": "hardware_pwm"}, "sections", "[{'in': ['[fan] (False)'], 'text': 'The"]
[{"section": "printer", "option": "max_hop"}, "changes", "['2025-08-11: Support for"]
[{"section": "printer", "option": "max_jump"}, "changes", "['2024-03-13: Use the max_jump parameter"]
[{"section": "heater_bed", "option": "nozzle_diameter"}, "code", "NOT_FOUND"]
[{"section": "heater_fam"}, "code", "NOT_FOUND"]
[{"section": "heater_fam"}, "hint", "Nearest: heater_fan, heater_bed."]
[{"section": "steppe"}, "hint", "Nearest: stepper_x"]
[{"section": "stepper_y2"}, "section", "stepper_z1"]
[{"section": "fan", "option": "hardware_pmw"}, "hint", "hardware_pwm"]
[{}, "sections", "'bed_screws'"]
""")


@pytest.mark.parametrize("arguments, part, expected", LOOKED_UP)
def test_a_section_or_an_option_is_looked_up_and_near_names_are_given(
    docs, arguments, part, expected
):
    assert expected in str(look_up(**arguments)[part])


def test_of_an_option_the_text_of_most_sections_comes_first_and_a_reference_last():
    options = [
        Option("pin", lines=[text], owner=owner)
        for text, owner in cases("See the x | a\nSee the x | b\nOne. | c\nTwo. | d\nTwo. | e")
    ]
    texts = config_reference._texts_with_sections(options)
    assert [text["in"] for text in texts] == [["d", "e"], ["c"], ["a", "b"]]
