"""config_reference as a client calls it."""

import pytest

from tests.klipper.config.sample import CHANGES, REFERENCE
from tools.core import registry, settings


def look_up(**arguments):
    tool = registry.find("config_reference", registry.listed(settings.current()).values())
    return tool.call(arguments)


@pytest.fixture
def docs(small_docs):
    return small_docs({"Config_Reference.md": REFERENCE, "Config_Changes.md": CHANGES})


def test_a_section_gives_its_options_with_default_and_text(docs):
    answer = look_up(section="[fan]")
    assert answer["heading"] == "[fan]"
    assert answer["options"][:3] == [
        "pin (required): This parameter must be provided.",
        "hardware_pwm (False): The default is False.",
        "kick_start (0): One blank after the mark.",
    ]
    assert answer["changes"][0].startswith("2025-07-21: The `[fan]` and `[heater_fan]` modules no longer accept")
    for name in ("heater_fan", "[heater_fan hotend]", "HEATER_FAN"):
        assert look_up(section=name)["section"] == "heater_fan cooling_fan" and look_up(section=name)["see"] == ["fan"]
    variants = look_up(section="printer")["variants"]
    assert list(variants) == ["[printer]", "[printer], Cartesian Kinematics", "[printer], Delta Kinematics"]


def test_an_option_gives_every_section_that_has_it_or_what_became_of_it(docs):
    answer = look_up(option="gear_ratio")
    assert [owner for entry in answer["sections"] for owner in entry["in"]] == ["[stepper_x]", "[extruder]"]
    answer = look_up(section="heater_fan", option="hardware_pwm")  # described in another section
    assert answer["sections"] == [{"in": ["[fan] (False)"], "text": "The default is False."}]
    assert look_up(section="printer", option="max_hop")["changes"][0].startswith("2025-08-11: Support for")


def test_near_misses_are_named_and_without_a_name_all_sections(docs):
    missing = look_up(section="heater_fam")
    assert (missing["code"], missing["hint"]) == ("NOT_FOUND", "Nearest: heater_fan, heater_bed.")
    assert "hardware_pwm" in look_up(section="fan", option="hardware_pmw")["hint"]
    answer = look_up()
    assert "bed_screws" in answer["sections"] and "Common SPI settings" in answer["common"]
