"""New kinds of mistakes, judged by a real Klipper: what it refuses is found, what it takes is no error."""

import pytest

from tests.conftest import DOCS_MISSING, documentation
from tests.klipper.config.mistakes import edited, rows
from tools.klipper.config import printer_cfg
from tools.klipper.config.checking import current

if not documentation():
    pytest.skip(DOCS_MISSING, allow_module_level=True)

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
"""Kinds that are not found yet."""


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["kind"])
def test_a_mistake_has_klippers_verdict(real_docs, row):
    findings = current().findings(printer_cfg.read(edited(row), {"mainsail.cfg": ""}))
    about = row["about"].lower()
    named = [one for one in findings if about in f"{one.section} {one.option} {one.message}".lower()]
    if row["klipper"]:
        is_found = any(one.level in ("error", "warning") for one in named)
        assert is_found == (row["kind"] not in OPEN), findings
    else:
        assert [one for one in findings if one.level == "error"] == []
