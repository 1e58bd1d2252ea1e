"""Whole configurations as people have them: Klipper takes them, so a check finds no error."""

from pathlib import Path

import pytest

from tests.conftest import DOCS_MISSING, documentation
from tools.klipper.config import printer_cfg
from tools.klipper.config.checking import current

if not documentation():
    pytest.skip(DOCS_MISSING, allow_module_level=True)

PRINTERS = sorted((Path(__file__).parent / "printers").glob("*.cfg"))
LESS = {
    "delta_with_calibration": [("warning", "delta_radius"), ("hint", "manual_probe_thing")],
    "mainsail_macros": [("hint", "update_manager client")],
    "one_file_of_a_hybrid_with_includes": [("hint", "shaketune")],
}
"""Findings in them that are less than an error, but for what another file may hold."""


@pytest.fixture
def checker(real_docs):
    return current()


@pytest.mark.parametrize("file", PRINTERS, ids=lambda file: file.stem)
def test_a_whole_configuration_has_no_error_and_a_misspelt_option_in_it_is_found(checker, file):
    text = file.read_text(encoding="utf-8")
    told = [one for one in checker.findings(printer_cfg.read(text)) if "unless another file" not in one.message]
    assert [(finding.level, finding.option or finding.section) for finding in told] == LESS.get(file.stem, [])
    windows = checker.findings(printer_cfg.read(text.replace("\n", "\r\n")))
    assert [finding for finding in windows if finding.level == "error"] == []

    lines = text.split("\n")
    number = next(number for number, line in enumerate(lines) if line.strip().startswith("[") and "include" not in line)
    lines.insert(number + 1, "  mispelt_optoin: 1" if lines[number].startswith("  ") else "mispelt_optoin: 1")
    errors = [one for one in checker.findings(printer_cfg.read("\n".join(lines))) if one.level == "error"]
    assert [(error.line, error.option) for error in errors] == [(number + 2, "mispelt_optoin")]
