"""How well search_docs finds, on the real documentation with real questions."""

import json
import re

import pytest

from tests.conftest import DOCS_MISSING, PROJECT, SHARED, documentation
from tests.klipper.asking import paths, search

if not documentation():
    pytest.skip(DOCS_MISSING, allow_module_level=True)

QUESTIONS = {
    "z probe repeatability": "Probe_Calibrate.md",
    "sensorless homing": "TMC_Drivers.md",
    "canbus termination resistor": "CANBUS.md",
    "lost steps during a print": "FAQ.md",
    "adaptive mesh": "Bed_Mesh.md",
    "how can I donate": "FAQ.md Sponsors.md",
    "convert steps per mm from Marlin": "Rotation_Distance.md FAQ.md",
    "skew profile": "Skew_Correction.md",
    "firmware_retraction": "Config_Reference.md G-Codes.md",
    "[gcode_button] press_gcode": "Config_Reference.md",
    "samples_tolerance_retries": "Config_Reference.md",
    "QUAD_GANTRY_LEVEL": "G-Codes.md Config_Reference.md",
    "SET_VELOCITY_LIMIT": "G-Codes.md",
    "TEST_RESONANCES AXIS=X": "Measuring_Resonances.md G-Codes.md",
    "BLTouch failed to verify sensor state": "BLTouch.md",
    "Unable to write tmc spi 'stepper_x' register": "TMC_Drivers.md",
    "LoadCell Endstop timed out waiting on ADC data": "Load_Cell.md",
    "raspbery pi microcontroler": "RPi_microcontroller.md",
    "InputShaper": "Resonance_Compensation.md Measuring_Resonances.md",
    "octo print": "OctoPrint.md",
    "bed tramming screws": "Manual_Level.md",
    "компенсация резонансов": "Resonance_Compensation.md",
    "бездатчиковая парковка": "TMC_Drivers.md",
    "датчик ширины филамента": "Hall_Filament_Width_Sensor.md TSL1401CL_Filament_Width_Sensor.md",
    "как обновить прошивку через sd карту": "SDCard_Updates.md",
    "шина CAN терминатор 120 ом": "CANBUS.md",
    "пропуск шагов при печати": "FAQ.md",
}
"""Questions as people ask them, and the pages that answer."""


@pytest.fixture(autouse=True)
def docs(real_docs):
    return real_docs


def places(questions):
    """For each question the place of the first page that answers it, 0 where there is none."""
    for query, gold in questions:
        yield next((place for place, path in enumerate(dict.fromkeys(paths(query)), 1) if path in gold), 0)


def scores(found):
    found = list(found)
    return [
        sum(place == 1 for place in found) / len(found),
        sum(place > 0 for place in found) / len(found),
        sum(1 / place for place in found if place) / len(found),
    ]


def test_real_questions_find_their_page():
    file = SHARED / "klipper_queries_dev.json"
    if not file.exists():
        pytest.skip("these questions are not in a clone (../shared/data)")
    questions = json.loads(file.read_text(encoding="utf-8"))
    first, any_place, rank = scores(places((one["query"], one["gold"]) for one in questions))
    assert first >= 0.93
    assert any_place == 1.0
    assert rank >= 0.96


def test_further_questions_find_their_page():
    first, any_place, rank = scores(places((query, gold.split()) for query, gold in QUESTIONS.items()))
    assert first >= 0.9
    assert any_place == 1.0
    assert rank >= 0.94


@pytest.mark.parametrize(("part", "floors"), [("tuned", (0.94, 1.0, 0.97)), ("held out", (0.92, 1.0, 0.95))])
def test_questions_from_issues_and_guides_find_their_page(part, floors):
    """Nothing was tuned on the questions held out, but that their error messages are among the known ones."""
    asked = json.loads((PROJECT / "tests" / "klipper" / "questions.json").read_text(encoding="utf-8"))
    found = scores(places((one["query"], one["gold"]) for one in asked if one["set"] == part))
    assert [score >= floor for score, floor in zip(found, floors, strict=True)] == [True] * 3, found


def test_every_result_is_as_documented(docs):
    for query in QUESTIONS:
        check_results(docs, query)


def check_results(docs, query):
    results = search(query)
    assert 1 <= len({(result["path"], result["offset"]) for result in results}) == len(results) <= 7
    for result in results:
        text = (docs / result["path"]).read_text(encoding="utf-8")
        line = text.split("\n")[result["line"] - 1]
        assert line.startswith("#") or result["line"] == 1 or "date" in result
        assert text[result["offset"] :].startswith(line)
        assert re.sub(r"\W", "", result["heading"]) in re.sub(r"\W", "", line) or result["line"] == 1
        assert 150 <= len(result["snippet"]) <= 200 or len(text) < 200
        assert result["snippet"].strip("…") in " ".join(text.split())
