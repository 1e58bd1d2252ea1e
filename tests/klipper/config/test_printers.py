"""Whole configurations as people have them: Klipper takes them, so a check finds no error."""

from pathlib import Path

import pytest

from tests.conftest import DOCS_MISSING, documentation
from tools.klipper import check_config
from tools.klipper.config import printer_cfg

if not documentation():
    pytest.skip(DOCS_MISSING, allow_module_level=True)

PRINTERS = sorted((Path(__file__).parent / "printers").glob("*.cfg"))
EXTRUDER = "nozzle_diameter filament_diameter heater_pin sensor_type sensor_pin control min_temp max_temp"
BED = "heater_pin sensor_type sensor_pin min_temp max_temp"
LESS = {
    "can_toolhead": [("hint", "switch_pin")],  # which is one of the accelerometer's, too
    "delta_with_calibration": [("warning", "delta_radius"), ("hint", "manual_probe_thing")],
    "mainsail_macros": [("hint", "update_manager client")],
    "one_file_of_a_hybrid_with_includes": [("hint", name) for name in f"{EXTRUDER} {BED} shaketune".split()],
}
"""What is less than an error in them: level, and option or section. An included file may have what is missing."""


@pytest.fixture
def checker(real_docs):
    return check_config.checker()


@pytest.mark.parametrize("file", PRINTERS, ids=lambda file: file.stem)
def test_a_whole_configuration_has_no_error(checker, file):
    findings = checker.findings(printer_cfg.read(file.read_text(encoding="utf-8"))).worst_first()
    assert [(finding.level, finding.option or finding.section) for finding in findings] == LESS.get(file.stem, [])


@pytest.mark.parametrize("file", PRINTERS, ids=lambda file: file.stem)
def test_the_same_with_line_ends_of_windows_has_none_either(checker, file):
    text = file.read_text(encoding="utf-8").replace("\n", "\r\n")
    assert checker.findings(printer_cfg.read(text)).kept["error"] == []


@pytest.mark.parametrize("file", PRINTERS, ids=lambda file: file.stem)
def test_a_misspelt_option_is_found_in_a_whole_configuration(checker, file):
    lines = file.read_text(encoding="utf-8").split("\n")
    number = next(number for number, line in enumerate(lines) if line.strip().startswith("[") and "include" not in line)
    lines.insert(number + 1, "  mispelt_optoin: 1" if lines[number].startswith("  ") else "mispelt_optoin: 1")
    errors = checker.findings(printer_cfg.read("\n".join(lines))).kept["error"]
    assert [(error.line, error.option) for error in errors] == [(number + 2, "mispelt_optoin")]
