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


def assert_at_least(floors, questions):
    """Floors of hit@1, hit@7 and mean reciprocal rank, over questions with the pages that answer each."""
    found = []
    for query, gold in questions:
        ranks = [rank for rank, path in enumerate(dict.fromkeys(paths(query)), 1) if path in gold]
        found.append(1 / ranks[0] if ranks else 0)
    scores = (found.count(1), sum(map(bool, found)), sum(found))
    assert [score / len(found) >= floor for score, floor in zip(scores, floors, strict=True)] == [True] * 3, scores


def test_real_questions_find_their_page():
    assert_at_least((0.9, 1.0, 0.94), ((query, gold.split()) for query, gold in QUESTIONS.items()))
    if not (file := SHARED / "klipper_queries_dev.json").exists():
        pytest.skip("some of these questions are not in a clone (../shared/data)")
    questions = json.loads(file.read_text(encoding="utf-8"))
    assert_at_least((0.93, 1.0, 0.96), ((one["query"], one["gold"]) for one in questions))


@pytest.mark.parametrize(("part", "floors"), [("tuned", (0.92, 1.0, 0.95)), ("held out", (0.88, 1.0, 0.93))])
def test_questions_from_issues_and_guides_find_their_page(part, floors):
    """Nothing was tuned on the questions held out, but that their error messages are among the known ones."""
    asked = json.loads((PROJECT / "tests" / "klipper" / "questions.json").read_text(encoding="utf-8"))
    assert_at_least(floors, ((one["query"], one["gold"]) for one in asked if one["set"] == part))


@pytest.mark.parametrize("query", QUESTIONS)
def test_every_result_is_as_documented(docs, query):
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
