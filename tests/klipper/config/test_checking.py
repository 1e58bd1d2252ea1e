"""What a check finds in a configuration, and what it leaves alone."""

import pytest

from tests.klipper.config.sample import SAVED, WHOLE, checker
from tests.support.client import json_lines
from tools.klipper.config import printer_cfg
from tools.klipper.page import printer_page


def findings(text, **include):
    return checker().findings(printer_cfg.from_text(text, include))


def summaries(text, **include):
    """Each finding as `level line option-or-section nearest`, but what another file may hold."""
    lines = []
    for finding in findings(text, **include):
        if "unless another file" not in finding.message:
            place = finding.option or finding.section
            lines.append(f"{finding.level} {finding.line} {place} {finding.nearest}".strip())
    return lines


# A configuration, and what is found in it. `loud` and `whirl` are deprecated, Klipper's source does not know
# `kick_start`, names are compared in lower case, and [heater_bed] has the options of a heater in [extruder].
# The last rows are pins that are used twice: an enable_pin may be shared, and so may an endstop_pin of one axis,
# not one of each.
FOUND = json_lines(r"""
["[extruder]\nsensor_pin: PA3\nmin_temp: 0\n[fan]\npin: PB1\nhardware_pwm: on\nratios: 1, 2\n[display_status]\n", ""]
["[fan]\npin: PB1\nhardwar_pwm: True\n", "error 3 hardwar_pwm hardware_pwm"]
["[extruder]\ncontrol: pid\nPID_KP: 2\npid_ki: 1\n", ""]
["[printer]\nkinematics: cartesian\nmax_hop: 3\n", "error 3 max_hop max_jump"]
["[fan]\nscl_pin: PB2\nsda_pin: PB3\n", "error 2 scl_pin soft_scl_pin; error 3 sda_pin soft_sda_pin"]
["[gcode_macro x]\ndefault_parameter_speed: 3\ngcode:\n  G28\n", "error 2 default_parameter_speed"]
["[fan]\npin: PB1\nloud: 1\n", "warning 3 loud"]
["[fan]\npin: PB1\nwhirl: 1\n", "warning 3 whirl spin"]
["[extruder]\nsensor_type: NTC 100K\n", "error 2 sensor_type"]
["[extruder]\nsensor_type: NTC 100K\n[display_status]\n[thermistor NTC 100K]\ntemperature1: 25\n", ""]
["\n[fan]\nhardware_pwm: 0\n[printer]\nkinematics: none\n[mcu]\nserial: /dev/ttyACM0\n", "error 2 pin"]
["[printer]\nmax_jump: 3\n[stepper_x]\ngear_ratio: 5:1\n", ""]
["[extruder]\nsensor_type: temperature_host\ncontrol: watermark\n", ""]
["[temperature_sensor x]\nsensor_type: Newest 104\n[printer]\nkinematics: none\n[mcu]\nserial: /dev/ttyACM0\n", ""]
["[fan]\npin: PB1\nhardware_pwm: maybe\nkick_start: soon\n", "error 3 hardware_pwm"]
["[fan]\npin: PB1\n\n[fan]\npin: PB2\n", "warning 5 pin"]
["[fan]\npin: PB1\n\n[fan]\npin: PB1\n", "warning 5 pin"]
["[fan]\npin: PB1\n\n<saved>#*# [fan]\n#*# pin = PB9\n", "warning 8 pin"]
["[fan]\npin: PB1\n\n<saved>#*# [fan]\n#*# pin = PB1\n", ""]
["\n<saved>#*# [fan]\n#*# anything = 9\n", ""]
["[beacon]\nserial: x\n[mmu]\n", "hint 1 beacon; hint 3 mmu"]
["[heater_fna hotend]\npin: PA1\n", "warning 1 heater_fna hotend heater_fan hotend"]
["[heater_f hotend]\n", "warning 1 heater_f hotend heater_fan hotend"]
["[extruder2]\nnozzle_diameter: 1\nmax_power: 0.5\n[stepper_z3]\nstep_pin: PA1\n", ""]
["[extruder2]\nnozle_diameter: 1\n", "error 2 nozle_diameter nozzle_diameter"]
["[bed_screws]\nscrew1: 1, 2\nscrew2: 1, 2\nscrew3: 1, 2\nscrew7_name: x\n", ""]
["[gcode_macro x]\nvariable_y: 1\ngcode:\n", ""]
["[heater_bed]\nheater_pin: PA1\nsensor_type: Generic 3950\nmin_temp: 0\nmax_power: 1\n", ""]
["[heater_bed]\nnozzle_diameter: 1\n", "error 2 nozzle_diameter"]
["[extruder]\ninline_resistor: 4\nsensor_path: /sys/x\n", ""]
["[printer]\nkinematics: delta\n[stepper_b]\narm_length: 3\nhoming_speed: 3\n", ""]
["[printer]\nkinematics: cartesian\n[stepper_b]\narm_length: 3\nhoming_speed: 3\n", "error 4 arm_length"]
["[stepper_b]\narm_length: 3\nhoming_speed: 3\n", ""]
["[printer]\nkinematics: corexyz\n", "error 2 kinematics"]
["[fan]\npin: PB1\n[heater_fan x]\npin: !PB1\n", "error 4 pin"]
["[fan]\npin: mcu:PB1\n[heater_fan x]\npin: PB1\n", "error 4 pin"]
["[fan]\npin: PB1\n[heater_fan x]\npin: rpi:PB1\n", ""]
["[fan]\npin: PB1\n[heater_fan x]\npin: PB1\n[duplicate_pin_override]\npins: PB1\n", ""]
["[stepper_x]\nstep_pin: PA1\nendstop_pin: PC1\n[stepper_x1]\nstep_pin: PA2\nendstop_pin: PC1\n", ""]
["[stepper_x]\nstep_pin: PA1\nendstop_pin: PC1\n[stepper_y]\nstep_pin: PA2\nendstop_pin: PC1\n", "error 6 endstop_pin"]
["[stepper_x]\nstep_pin: PA1\n[stepper_y]\nstep_pin: PA1\n", "error 4 step_pin"]
["[stepper_x]\nstep_pin: PA1\nendstop_pin: PA1\n", "error 3 endstop_pin"]
["[fan]\npin: PB1\n[display]\nup_pin: PC1\nanalog_range_up_pin: 1, 2\ndown_pin: PC1\nanalog_range_down_pin: 3, 4\nd4_pin: PB1\n", "error 4 up_pin; error 5 analog_range_up_pin; error 6 down_pin; error 7 analog_range_down_pin; error 8 d4_pin; error 8 d4_pin"]
["[stepper_x]\nenable_pin: PC1\n[stepper_y]\nendstop_pin: PC1\n", "error 2 enable_pin; error 4 endstop_pin"]
["[board_pins]\naliases: E1=PB1, E2=<GND>\n[fan]\npin: E1\n[heater_fan x]\npin: PB1\n", "error 6 pin"]
""")


@pytest.mark.parametrize("text, expected", FOUND)
def test_what_is_found(text, expected):
    assert "; ".join(summaries(text.replace("<saved>", SAVED))) == expected


def test_an_option_that_an_entry_merely_names_is_not_gone():
    (finding,) = findings("[fan]\npin: PB1\nsoft_scl_pin: PA1\n")
    assert finding.option == "soft_scl_pin" and "gone" not in finding.message


def test_a_missing_option_is_a_hint_where_another_file_may_have_it():
    for others in ("", "[include more.cfg]\n" + WHOLE, WHOLE.partition("[mcu]")[0]):
        (finding,) = [each for each in findings(others + "[fan]\n") if each.option == "pin"]
        assert finding.level == "hint" and finding.message.endswith("unless another file has it")


def test_an_included_file_has_what_is_missing_and_may_be_overwritten():
    fan = "[fan]\npin: PB1\n"
    assert summaries("[include a]\n[fan]\n" + WHOLE, a=fan) == []
    assert summaries("[include a]\n[fan]\npin: PB2\n", a=fan) == []
    assert summaries("[include a]\n[include ?]\n", a=fan) == []  # one file by two patterns


def test_findings_alike_in_many_sections_are_one_with_their_lines():
    options = "".join(f"opt{number}: 1\n" for number in range(5000))
    assert len(findings("[fan]\n" + options)) == 1000, "nobody reads more"
    (finding,) = findings("".join(f"[led_effect e{number}]\nlayers: x\n" for number in range(12)))
    assert finding.line == 1 and finding.also == tuple(range(3, 25, 2)) and finding.level == "hint"
    (entry,) = printer_page.drawn_findings(printer_cfg.from_text(""), [finding])
    assert entry["count"] == 12
    (finding,) = findings("[include a]\n[include a]\n", a="[display_status]\nodd\nodd\n")
    assert (finding.line, finding.also) == (2, (3,)), "a file that is read twice has each line once"


def test_what_is_missing_is_an_error_if_only_files_of_macros_are_not_read():
    for name in ("mainsail.cfg", "KAMP/Settings.cfg"):
        config = f"[include {name}]\n[fan]\n[gcode_macro x]\n" + WHOLE
        levels = {finding.option: finding.level for finding in findings(config)}
        assert levels == {"pin": "error", "gcode": "hint"}, "a macro may be in that file"
