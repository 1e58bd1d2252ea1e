"""What a real Klipper judged, held against the real documentation: what it refuses is found, what it takes is no
error."""

import json
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
    "sensor_pin of the host's sensor",
    "a carriage that is not there",
    "a bus that no board has",
}


def findings_of(text):
    return checker().findings(printer_cfg.from_text(text, {"mainsail.cfg": ""}))


def errors_of(text):
    return [finding for finding in findings_of(text) if finding.level == "error"]


def is_found(row, text):
    """Whether a finding that is more than a hint names what a row is about."""
    about = row["about"].lower()
    named = [
        one
        for one in findings_of(text)
        if about in f"{one.section} {one.option} {one.message}".lower()
    ]
    return any(one.level in ("error", "warning") for one in named)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["kind"])
def test_a_mistake_has_klippers_verdict(real_docs, row):
    text = edited(row)
    if row["klipper"]:
        assert is_found(row, text) == (row["kind"] not in OPEN), findings_of(text)
    else:
        assert errors_of(text) == []


@pytest.mark.parametrize(
    ("rows", "bases"), [("config_mistakes", "config"), ("config_mistakes2", "config2")]
)
def test_mistakes_of_users_are_found_and_nothing_that_klipper_accepts_is_an_error(
    real_docs, rows, bases
):
    """Measured: 160 of 163, the others name a file that the text includes; and 209 of 215."""
    file = MISTAKES / f"{rows}.jsonl"
    if not file.exists():
        pytest.skip("these mistakes are not in a clone (../shared/data)")
    found = []
    for row in map(json.loads, file.read_text("utf-8").splitlines()):
        lines = (MISTAKES / bases / f"{row['base']}.cfg").read_text("utf-8").split("\n")
        for first, last, new in sorted(row["edits"], reverse=True):
            lines[first:last] = new
        text = "\n".join(lines)
        if row["klipper"]:
            found.append(is_found(row, text))
        else:
            assert errors_of(text) == [], row
    assert sum(found) / len(found) >= 0.96


def test_the_base_files_have_no_findings(real_docs):
    bases = sorted(MISTAKES.glob("config*/*.cfg"))
    if not bases:
        pytest.skip("these files are not in a clone (../shared/data)")
    for base in bases:
        assert checker().findings(printer_cfg.from_files(base)) == [], base


PRINTERS = sorted((Path(__file__).parent / "printers").glob("*.cfg"))
# Findings in them that are less than an error, but for what another file may hold.
LESS = {
    "delta_with_calibration": [("warning", "delta_radius")],
    "one_file_of_a_hybrid_with_includes": [("hint", "shaketune")],
}


@pytest.mark.parametrize("file", PRINTERS, ids=lambda file: file.stem)
def test_a_whole_configuration_has_no_error_and_a_misspelt_option_in_it_is_found(real_docs, file):
    text = file.read_text(encoding="utf-8")
    told = [one for one in findings_of(text) if "unless another file" not in one.message]
    assert [(finding.level, finding.option or finding.section) for finding in told] == LESS.get(
        file.stem, []
    )
    assert errors_of(text.replace("\n", "\r\n")) == []

    lines = text.split("\n")
    number = next(
        number
        for number, line in enumerate(lines)
        if line.strip().startswith("[") and "include" not in line
    )
    lines.insert(
        number + 1, "  mispelt_optoin: 1" if lines[number].startswith("  ") else "mispelt_optoin: 1"
    )
    errors = errors_of("\n".join(lines))
    assert [(error.line, error.option) for error in errors] == [(number + 2, "mispelt_optoin")]
