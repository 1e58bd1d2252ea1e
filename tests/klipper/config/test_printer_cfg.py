"""Reading a printer.cfg as Klipper does."""

import configparser

import pytest

from tests.klipper.config.sample import SAVED
from tests.support.client import json_lines
from tools.klipper.config import printer_cfg


def values(text, **include):
    """{section: {option: value}} as it holds."""
    config = printer_cfg.from_text(text, include)
    return {
        name: {option: setting.value for option, setting in section.items()}
        for name, section in config.sections.items()
    }


def problems(text, **include):
    """The line of each."""
    return [problem.line for problem in printer_cfg.from_text(text, include).problems]


VALUES = json_lines(r"""
["a: 1", "1"]
["a = 1", "1"]
["A=b:c", "b:c"]
["a: 1 # comment", "1"]
["a: 1#2", "1"]
["a: 1 ; comment", "1"]
["a: 1;2", "1;2"]
["a:", ""]
["  a: 1", "1"]
["a:\n  b\n# c\n\n   d", "b\nd"]
["a: 1\n; comment\n  2", "1\n2"]
["a: 1\r\n  2\r", "1\n2"]
["a: 1\n\tb: 2", "1\nb: 2"]
""")


@pytest.mark.parametrize("text, value", VALUES)
def test_a_value_is_what_klipper_takes(text, value):
    assert values("[x]\n" + text) == {"x": {"a": value}}


def test_a_repeated_section_stands_where_it_stood_first_and_its_option_where_it_stands_last():
    text = "[a b]\nx: 1\ny = 2\n  3\n  4\n[c]\n z : 5\n z2: 6\n   7\n[a b]\nx: 9\n"
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    assert values(text) == {name: dict(parser[name]) for name in parser.sections()}
    sections = printer_cfg.from_text(text).sections
    assert [section.line for section in sections.values()] == [1, 6]
    assert sections["a b"]["x"].line == 11


def test_what_save_config_wrote_counts_where_the_file_has_nothing():
    text = f"[x]\na: 1\n\n{SAVED}#*# [x]\n#*# a = 2\n#*# b = 3\n#*# [y default]\n#*# points =\n#*# \t1, 2\n#*# \t3\n\n \n"
    assert values(text) == {"x": {"a": "1", "b": "3"}, "y default": {"points": "1, 2\n3"}}
    sections = printer_cfg.from_text(text).sections
    assert [section.saved for section in sections.values()] == [False, True]


def test_an_include_stands_in_its_place_and_may_be_a_pattern():
    text = "[x]\na: 1\n[include b.cfg]\n[x]\na: 3\n"
    assert values(text, **{"b.cfg": "[x]\na: 2\nb: 2\n"}) == {"x": {"a": "3", "b": "2"}}
    files = {"m/b.cfg": "[x]\na: b\n", "m/a.cfg": "[x]\na: a\n", "n.cfg": "[y]\n"}
    config = printer_cfg.from_text("[include ./m/*.cfg]\n[include ../../etc/passwd]\n", files)
    assert config.sections["x"]["a"].value == "b"
    assert list(config.missing) == ["../../etc/passwd"] and "y" not in config.sections
    circle = {"a": "[include b]\n", "b": "[include a]\n"}
    (problem,) = printer_cfg.from_text("[include a]\n", circle).problems
    assert problem.message == "Recursive include of config file 'a'"


@pytest.mark.parametrize("pattern", ['"macros.cfg"', "Macros.cfg", ".\\macros.cfg", "macro.cfg"])
def test_an_include_of_nearly_the_name_of_a_file_that_was_sent_is_told(pattern):
    files = {"macros.cfg": "", "all.cfg": f"[x]\n[include {pattern}]\n"}
    config = printer_cfg.from_text(f"# {pattern}\n[include all.cfg]\n", files)
    (problem,) = config.problems
    assert (problem.level, problem.nearest) == ("warning", "macros.cfg")
    assert (problem.file, problem.line) == ("all.cfg", 2)


def test_files_that_include_each_other_many_times_are_read_within_bounds():
    twice = "[include f{0}]\n[include f{0}]\n"
    small = {f"f{number}": twice.format(number + 1) for number in range(30)}
    small["f30"] = "[x]\na: 1\n"
    assert 0 < printer_cfg.from_text("[include f0]\n", small).options < printer_cfg.MOST_LINES
    chain = {f"f{number}": f"[include f{number + 1}]\n" for number in range(2000)}
    assert len(printer_cfg.from_text("[include f0]\n", chain).problems) == 1
    comments = "# nothing\n" * 50_000
    large = {name: comments + text for name, text in small.items()}
    config = printer_cfg.from_text("[include f0]\n", large)
    assert config.missing and config.size_bytes < 2 * printer_cfg.LARGEST_CONFIG


def test_files_that_are_included_are_read_up_to_a_bound(tmp_path):
    (tmp_path / "printer.cfg").write_text("[include *.part]\n")
    for number in range(5):
        (tmp_path / f"{number}.part").write_text("# nothing\n" * 120_000)
    config = printer_cfg.from_files(tmp_path / "printer.cfg", tmp_path)
    assert list(config.missing) == ["3.part", "4.part"]
    assert config.size_bytes <= printer_cfg.LARGEST_CONFIG


UNREADABLE = json_lines(r"""
["a: 1\n[x]\n", [1]]
["[x]\nno option\n", [2]]
["[x]\ngcode:\nG28\n", [3]]
["[x]\n[include a]\nb: 1\n", [3]]
["\ufeff[x]\na: 1\n", [1]]
["[x]\n: 1\n", [2]]
""")


@pytest.mark.parametrize("text, lines", UNREADABLE)
def test_a_line_that_klipper_cannot_read_is_a_problem(text, lines):
    assert problems(text, a="") == lines


def test_a_byte_that_is_not_utf_8_is_an_error_with_its_line():
    (problem,) = printer_cfg.from_bytes(b"[fan]\n# velocit\xe0\n", lambda *_: ()).problems
    assert (problem.level, problem.line) == ("error", 2) and "UTF-8" in problem.message


# What breaks the block of this text: what is replaced by what, and the line that is named.
SAVED_TEXT = f"[x]\na: 1\n\n{SAVED}#*# [x]\n#*# b = 3\n"
BROKEN = [
    *json_lines(r"""
["b = 3\n", "b = 3\n[y]\nc: 1\n", 9]
["#*# b", "#*#b", 8]
["#*# b", "b", 8]
["[x]\na", "\n#*# old\n[x]\na", 2]
["BELOW", "below", 4]
"""),
    ["b = 3\n", f"b = 3\n\n{SAVED}", 10],
]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("old, new, line", BROKEN)
def test_a_block_that_klipper_drops_is_a_problem_with_its_line_and_brings_no_value(
    old, new, line, ending
):
    config = printer_cfg.from_text(SAVED_TEXT.replace(old, new).replace("\n", ending))
    (problem,) = config.problems
    assert problem.line == line and "SAVE_CONFIG" in problem.message
    assert not any(setting.saved for setting in config.sections["x"].settings)


def test_only_the_file_that_klipper_starts_with_has_a_block():
    block = "[y]\n\n" + SAVED + "#*# [x]\n#*# b = 3\n"
    assert values("[include a]\n", a=block) == {"y": {}}
    assert problems("[include a]\n", a=block) == [3]
    assert problems("[include a]\n\n" + SAVED, a=block) == [], "a block that was left in a copy"
