"""Public threads about options that Klipper dropped or never had: what was pasted, and what solved it."""

import json
import re

from tests.klipper.asking import answer
from tests.klipper.test_check_config import check
from tests.support.client import json_lines

PRINTER = (
    "[printer]\nkinematics: none\nmax_velocity: 3\nmax_accel: 3\n[mcu]\nserial: /dev/ttyACM0\n[heater_bed]\nheater_pin: PH1\n"
    "sensor_type: Generic 3950\nsensor_pin: PH2\ncontrol: pid\npid_Kp: 1\npid_Ki: 1\npid_Kd: 1\nmin_temp: 0\nmax_temp: 130\n"
)
THREADS = json_lines(r"""
["Arksine/moonraker#683", "[server]\nhost: 0.0.0.0\n", "belongs in moonraker.conf"]
["jschuh/klipper-macros#231", "[bed_mesh]\nrelative_reference_index: 12\n", "zero_reference_position"]
["LeeOtts/Ender3v2-Klipper-Configs#22", "[printer]\nmax_accel_to_decel: 3000\n", "minimum_cruise_ratio"]
["Klipper3d/klipper#4907", "[mcu]\npin_map: arduino\n", "pin_map.* is gone, 2021"]
["Klipper3d/klipper#4867", "[gcode_macro m900]\ndefault_parameter_K: 0\ngcode: G28\n", "is gone, 2021"]
["Klipper3d/klipper#1507", "[heater_bed]\npid_deriv_time: 2\n", "'pid_deriv_time' is not valid"]
["Klipper3d/klipper#3470", "[menu __main __x]\ntype: item\nname: x\n", "Choice 'item'"]
["Klipper3d/klipper#5019", "[heater_bed]\nsensor_pin: analog14\n", "'analog14' is not a valid pin"]
["Klipper3d/klipper#5101", "[extruder1]\nshared_heater: extruder\n", "shared_heater.* is gone"]
["Klipper3d/klipper#5515", "[output_pin x]\npin: PH6\nmaximum_mcu_duration: 5\n", "maximum_mcu_duration.*pwm_tool"]
["Klipper3d/klipper#4312", "[gcode_macro START_PRINT T_BED T_EXTRUDER]\ngcode: G28\n", "illegal whitespace"]
["Frix-x/klippain#294", "[filament_switch_sensor f]\nswitch_pin: PG3\nextruder: extruder\n", "'extruder' is not valid"]
["Frix-x/klippain#429", "[board_pins x]\naliases: MCU_E=EBBCan:PD0\n", "Invalid pin alias 'EBBCan:PD0'"]
["KalicoCrew/kalico#423", "[printer]\nmax_x_accel: 15000\n", "that is Kalico's"]
["Mithrandil/klipper-config-prusa-mk2s#3", "[output_pin x]\npin: PL3\nstatic_value: 540\n", "static_value.*value"]
["teachingtechYT/klipper-configs#1", "[temperature_sensor x]\nsensor_type: rpi_temperature\n", "temperature_host"]
""")


def test_a_configuration_that_was_asked_about_names_what_solved_it(real_docs):
    for thread, lines, solution in THREADS:
        assert re.search(solution, json.dumps(check(PRINTER + lines))), thread


MESSAGES = json_lines(r"""
["zellneralex/klipper_config#29", "Error on 'SET_VELOCITY_LIMIT ACCEL_TO_DECEL=': unable to parse", "2025-08-11"]
["lhndo/LH-Stinger#45", "Value 'STOP_ON_ENDSTOP=2' in command 'MANUAL_STEPPER' is deprecated.", "STOP_ON_ENDSTOP"]
["joakimtoe/KlipperLCD#11", "printer.toolhead.max_accel_to_decel status removed macro", "2024-03-13"]
["Klipper3d/klipper#3727", "step_distance: where is it, how do I calibrate the extruder now", "Rotation_Distance"]
""")


def test_a_message_that_was_asked_about_leads_to_what_solved_it(real_docs):
    for thread, message, solution in MESSAGES:
        assert re.search(solution, json.dumps(answer(message))), thread
