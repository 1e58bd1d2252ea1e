"""What a real Klipper judged, held against the real documentation: what it refuses is found, what it takes is no
error."""

import json
import re
from pathlib import Path

import pytest

from tests.conftest import DOCS_MISSING, SHARED, documentation
from tests.klipper.config.mistakes import edited, rows
from tools.klipper.config import printer_cfg
from tools.klipper.config.checking import checker

if not documentation():
    pytest.skip(DOCS_MISSING, allow_module_level=True)

MISTAKES = SHARED / "klipper"
# Kinds that are not found yet.
OPEN = {
    "delta: arm shorter than the radius",
    "a heater and a temperature_fan of one name",
    "one encoder pin",
    "a display_group that is not there",
    "a position of one number",
    "a glyph of 15 lines",
    "a neopixel chain too long",
    "a carriage that is not there",
    "a bus that no board has",
}


def findings_of(text):
    return checker().findings(printer_cfg.from_text(text, {"mainsail.cfg": ""}))


def errors_of(text):
    return [finding for finding in findings_of(text) if finding.level == "error"]


def is_found(row, text):
    """Whether a finding that is more than a hint names what a row is about."""
    lines = [
        f"{finding.section} {finding.option} {finding.message}"
        for finding in findings_of(text)
        if finding.level != "hint"
    ]
    return row["about"].lower() in "\n".join(lines).lower()


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["kind"])
def test_a_mistake_has_klippers_verdict(real_docs, row):
    text = edited(row)
    if row["klipper"]:
        assert is_found(row, text) == (row["kind"] not in OPEN), findings_of(text)
    else:
        assert errors_of(text) == []


@pytest.fixture(params=["", "2"])
def of_users(request):
    """What ends the names of mistakes and their base files."""
    if not (MISTAKES / f"config_mistakes{request.param}.jsonl").exists():
        pytest.skip("these mistakes are not in a clone (../shared/data)")
    return request.param


def test_mistakes_of_users_are_found_and_nothing_that_klipper_accepts_is_an_error(
    real_docs, of_users
):
    """Measured: 160 of 163, the others name a file that the text includes; and 209 of 215."""
    rows = (MISTAKES / f"config_mistakes{of_users}.jsonl").read_text("utf-8").splitlines()
    verdicts = []
    for row in map(json.loads, rows):
        base = MISTAKES / f"config{of_users}/{row['base']}.cfg"
        lines = base.read_text("utf-8").split("\n")
        for first, last, new in sorted(row["edits"], reverse=True):
            lines[first:last] = new
        text = "\n".join(lines)
        if row["klipper"]:
            verdicts.append(is_found(row, text))
        else:
            assert errors_of(text) == [], row
    assert sum(verdicts) / len(verdicts) >= 0.96


def test_the_base_files_have_no_findings(real_docs, of_users):
    for base in MISTAKES.glob(f"config{of_users}/*.cfg"):
        assert checker().findings(printer_cfg.from_files(base)) == [], base


PRINTERS = sorted((Path(__file__).parent / "printers").glob("*.cfg"))
# Findings in them that are less than an error, but for what another file may hold.
LESS = {
    "delta_with_calibration": [("warning", "delta_radius")],
    "one_file_of_a_hybrid_with_includes": [("hint", "shaketune")],
}


@pytest.mark.parametrize("file", PRINTERS, ids=lambda file: file.stem)
def test_a_whole_configuration_has_no_error_and_a_misspelt_option_in_it_is_found(real_docs, file):
    text = file.read_text("utf-8")
    findings = [
        (finding.level, finding.option or finding.section)
        for finding in findings_of(text)
        if "unless another file" not in finding.message
    ]
    assert findings == LESS.get(file.stem, [])
    assert errors_of(text.replace("\n", "\r\n")) == []

    section = re.search(r"(?m)^( *)\[(?!include).*\n", text)
    before, after = text[: section.end()], text[section.end() :]
    (error,) = errors_of(f"{before}{section[1]}mispelt_optoin: 1\n{after}")
    assert (error.line, error.option) == (before.count("\n") + 1, "mispelt_optoin")
