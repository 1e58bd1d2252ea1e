"""What a check finds in a configuration, and what it leaves alone."""

import pytest

from tests.klipper.config.sample import checker
from tools.klipper.config import printer_cfg
from tools.klipper.config.findings import nearest

EXTRUDER = """\
[extruder]
step_pin: PA1
nozzle_diameter: 0.4
heater_pin: PA2
sensor_type: Generic 3950
sensor_pin: PA3
control: watermark
min_temp: 0
"""


def found(text, **include):
    """Each finding as (level, line, option or section, what may have been meant)."""
    findings = checker().findings(printer_cfg.read(text, include)).worst_first()
    return [(one.level, one.line, one.option or one.section, nearest(one)) for one in findings]


def messages(text, **include):
    return [one.message for one in checker().findings(printer_cfg.read(text, include)).worst_first()]


def test_a_sound_configuration_has_no_findings():
    assert found(EXTRUDER + "[fan]\npin: PB1\nhardware_pwm: on\nscale: 1, 2\n[display_status]\n") == []


def test_an_unknown_option_is_an_error_with_the_nearest():
    assert found("[fan]\npin: PB1\nhardwar_pwm: True\n") == [("error", 3, "hardwar_pwm", "hardware_pwm")]
    assert messages("[fan]\npin: PB1\nhardwar_pwm: 1\n") == ["Option 'hardwar_pwm' is not valid in section 'fan'"]


def test_an_option_of_another_section_is_an_error_that_names_it():
    (message,) = messages("[fan]\npin: PB1\nnozzle_diameter: 0.4\n")
    assert message == "Option 'nozzle_diameter' is not valid in section 'fan'; it is one of [extruder]"


def test_option_names_are_compared_in_lower_case():
    assert found(EXTRUDER + "PID_KP: 2\npid_ki: 1\n") == []


def test_an_option_that_is_gone_is_an_error_with_date_and_successor():
    assert found("[printer]\nkinematics: cartesian\nmax_hop: 3\n") == [("error", 3, "max_hop", "max_jump")]
    (message,) = messages("[printer]\nkinematics: cartesian\nmax_hop: 3\n")
    assert message.startswith("Option 'max_hop' in section 'printer' is gone, 2025-08-11: Support for")


def test_of_two_options_that_are_gone_each_has_its_successor():
    text = "[fan]\npin: PB1\nscl_pin: PB2\nsda_pin: PB3\n"
    assert found(text) == [("error", 3, "scl_pin", "soft_scl_pin"), ("error", 4, "sda_pin", "soft_sda_pin")]


def test_a_pattern_that_is_gone_is_an_error():
    (finding,) = found("[gcode_macro x]\ndefault_parameter_speed: 3\ngcode:\n  G28\n")
    assert finding[:3] == ("error", 2, "default_parameter_speed")


def test_what_is_only_deprecated_is_a_warning():
    assert [finding[:3] for finding in found("[fan]\npin: PB1\nloud: 1\n")] == [("warning", 3, "loud")]
    assert found("[fan]\npin: PB1\nwhirl: 1\n") == [("warning", 3, "whirl", "spin")]


def test_a_value_that_is_gone_is_an_error():
    (finding,) = found(EXTRUDER.replace("Generic 3950", "NTC 100K"))
    assert finding[:3] == ("error", 5, "sensor_type")


def test_a_sensor_that_the_file_defines_may_have_a_name_that_is_gone():
    text = EXTRUDER.replace("Generic 3950", "NTC 100K") + "[thermistor NTC 100K]\ntemperature1: 25\n"
    assert [finding for finding in found(text) if finding[0] == "error"] == []


def test_a_missing_option_is_an_error_at_the_section():
    assert found("\n[fan]\nhardware_pwm: 0\n") == [("error", 2, "pin", "")]
    assert messages("[fan]\n") == ["Option 'pin' in section 'fan' must be specified"]


def test_a_missing_option_is_a_hint_while_an_include_was_not_given():
    assert found("[include more.cfg]\n[fan]\n") == [("hint", 2, "pin", "")]
    assert found("[include more.cfg]\n[fan]\n", **{"more.cfg": "[fan]\npin: PB1\n"}) == []


def test_nothing_is_missing_where_the_reference_describes_several_kinds():
    assert found("[printer]\nmax_jump: 3\n[stepper_x]\ngear_ratio: 5:1\n") == []


def test_a_sensor_that_has_no_pin_needs_none():
    assert found(EXTRUDER.replace("Generic 3950", "temperature_host").replace("sensor_pin: PA3\n", "")) == []
    assert found(EXTRUDER.replace("sensor_pin: PA3\n", "")) == [("error", 1, "sensor_pin", "")]


def test_a_value_of_the_wrong_kind_is_a_warning():
    text = "[fan]\npin: PB1\nhardware_pwm: maybe\nkick_start: soon\nscale: 1, x\n"
    assert [finding[:3] for finding in found(text)] == [
        ("warning", 3, "hardware_pwm"),
        ("warning", 4, "kick_start"),
        ("warning", 5, "scale"),
    ]


def test_an_option_that_stands_twice_is_a_warning_at_the_second():
    assert found("[fan]\npin: PB1\n\n[fan]\npin: PB2\n") == [("warning", 5, "pin", "")]


def test_a_file_may_overwrite_what_it_includes():
    assert found("[include a]\n[fan]\npin: PB2\n", a="[fan]\npin: PB1\n") == []


def test_a_saved_value_beside_one_of_the_file_is_a_warning():
    saved = "\n#*# <---------------------- SAVE_CONFIG ---------------------->\n#*# [fan]\n#*# pin = PB9\n"
    (message,) = messages("[fan]\npin: PB1\n" + saved)
    assert "the saved value is not used" in message


def test_what_only_save_config_wrote_is_not_checked():
    saved = "\n#*# <---------------------- SAVE_CONFIG ---------------------->\n#*# [fan]\n#*# anything = 9\n"
    assert found(saved) == []


def test_an_unknown_section_is_a_hint_with_the_nearest():
    assert found("[heater_fna hotend]\npin: 1\n") == [("hint", 1, "heater_fna hotend", "heater_fan hotend")]


def test_sections_of_a_series_have_the_options_of_the_first():
    assert found("[extruder2]\nnozzle_diameter: 1\nmax_power: 0.5\n[stepper_z3]\nstep_pin: PA1\n") == []
    assert [finding[0] for finding in found("[extruder2]\nnozle_diameter: 1\n")] == ["error"]


def test_options_of_a_series_and_of_a_pattern_are_known():
    assert found("[bed_screws]\nscrew7: 1, 2\nscrew7_name: x\n[gcode_macro x]\nvariable_y: 1\ngcode:\n") == []


def test_a_section_has_the_part_of_another_that_it_refers_to():
    sound = "[heater_bed]\nheater_pin: PA1\nsensor_type: Generic 3950\nsensor_pin: PA2\nmin_temp: 0\nmax_power: 1\n"
    assert found(sound) == []
    assert [finding[:3] for finding in found(sound + "nozzle_diameter: 1\n")] == [("error", 7, "nozzle_diameter")]


def test_a_heater_has_the_options_of_every_sensor():
    assert found(EXTRUDER + "inline_resistor: 4\nsensor_path: /sys/x\n") == []


def test_an_axis_has_what_its_kinematics_have():
    delta = "[printer]\nkinematics: delta\n[stepper_b]\narm_length: 3\nhoming_speed: 3\n"
    assert found(delta) == []
    assert [finding[:3] for finding in found(delta.replace("delta", "cartesian"))] == [("error", 4, "arm_length")]
    assert found(delta.removeprefix("[printer]\nkinematics: delta\n")) == []


def test_kinematics_that_there_are_not_are_a_warning():
    assert [finding[:3] for finding in found("[printer]\nkinematics: corexyz\n")] == [("warning", 2, "kinematics")]


def test_a_probe_as_z_endstop_has_no_position_endstop():
    text = "[stepper_z]\nendstop_pin: probe:z_virtual_endstop\nposition_endstop: 0\n"
    reference = checker()
    reference.reference.blocks[1].options.append(
        reference.reference.blocks[1].options[0]._replace(name="position_endstop")
    )
    findings = reference.findings(printer_cfg.read(text)).worst_first()
    assert [(one.level, one.line) for one in findings] == [("error", 3)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("[fan]\npin: ^PB1\n[heater_fan x]\npin: !PB1\n", [4]),
        ("[fan]\npin: mcu:PB1\n[heater_fan x]\npin: PB1\n", [4]),
        ("[fan]\npin: PB1\n[heater_fan x]\npin: rpi:PB1\n", []),
        ("[fan]\npin: PB1\n[heater_fan x]\npin: PB1\n[duplicate_pin_override]\npins: PB1\n", []),
        ("[stepper_x]\nstep_pin: PA1\nendstop_pin: PC1\n[stepper_y]\nstep_pin: PA2\nendstop_pin: PC1\n", []),
        ("[stepper_x]\nstep_pin: PA1\n[stepper_y]\nstep_pin: PA1\n", [4]),
        ("[board_pins]\naliases: E1=PB1, E2=<GND>\n[fan]\npin: E1\n[heater_fan x]\npin: PB1\n", [6]),
    ],
)
def test_a_pin_that_is_used_twice_is_a_hint(text, lines):
    findings = checker().findings(printer_cfg.read(text)).kept["hint"]
    assert [one.line for one in findings if one.message.startswith("pin ")] == lines


def test_a_check_ends_after_a_thousand_findings():
    findings = checker().findings(printer_cfg.read("[fan]\n" + "".join(f"opt{n}: 1\n" for n in range(5000))))
    assert findings.full
    assert findings.count("error") == 1000
