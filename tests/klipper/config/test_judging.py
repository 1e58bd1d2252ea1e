"""What a check says of the mistakes that Klipper refuses, in Klipper's words, and of what it accepts."""

import pytest

from tests.klipper.asking import call
from tests.klipper.config.sample import SAVED
from tests.support.client import json_lines
from tools.klipper.config import printer_cfg
from tools.klipper.config.checking import checker

STEPPER = (
    "step_pin: P{0}1\ndir_pin: P{0}2\nmicrosteps: 16\nrotation_distance: 40\nendstop_pin: P{0}3\n"
)
RANGE = "position_endstop: 0\nposition_max: 200\n"
HEATER = (
    "heater_pin: P{0}1\nsensor_type: Generic 3950\nsensor_pin: P{0}2\ncontrol: watermark\n"
    "min_temp: 0\nmax_temp: 130\n"
)
PRINTER = (
    "[printer]\nkinematics: cartesian\nmax_velocity: 300\nmax_accel: 3000\n[mcu]\nserial: /dev/ttyACM0\n"
    + "".join(
        f"[stepper_{axis}]\n{STEPPER.format(port)}{RANGE}"
        for axis, port in zip("xyz", "ABC", strict=True)
    )
    + f"[heater_bed]\n{HEATER.format('D')}[fan]\npin: PE1\n"
)
EXTRUDER = (
    "[extruder]\nstep_pin: PG1\ndir_pin: PG2\nmicrosteps: 16\nrotation_distance: 9\nnozzle_diameter: 0.4\n"
    f"filament_diameter: 1.75\n{HEATER.format('H')}"
)


# What stands for a text in the rows below.
PARTS = {
    "<extruder>": EXTRUDER,
    "<extruder1>": EXTRUDER.replace("extruder", "extruder1"),
    "<extruder >": EXTRUDER.replace("[extruder]", "[ extruder ]"),
    "<tmc>": "[tmc2209 stepper_x]\nuart_pin: PF1\nrun_current: 0.8\n",
    "<z>": "[stepper_z]\nendstop_pin: probe:z_virtual_endstop\n",
    "<stepper>": STEPPER.format("G"),
    "<pause>": "[gcode_macro PAUSE]\nrename_existing: BASE\ngcode: G28\n",
    "<probed mesh>": "[probe]\npin: PG1\nz_offset: 1\nx_offset: 20\n[bed_mesh]\nmesh_min: 20, 0\n",
    "<saved>": f"\n{SAVED}",
}


def findings(config):
    """[level, message] of each."""
    return [[finding.level, finding.message] for finding in checker().findings(config)]


def printer_with(more):
    """A sound printer with some lines more."""
    for name, part in PARTS.items():
        more = more.replace(name, part)
    return printer_cfg.from_text(PRINTER + more)


@pytest.fixture
def judged(any_docs):
    """A function that gives the findings of a sound printer with some lines more: a text, or its parts."""
    return lambda more: findings(printer_with("".join(more)))


def test_a_sound_printer_has_no_findings_and_what_was_not_checked_is_said(any_docs):
    answer = call("check_config", config=PRINTER)
    assert answer["findings"] == []
    assert "whether the board has each pin" in answer["not_checked"][0]


# Lines more, and a part of what is said of them. Klipper's own sections that the reference does not have, and
# plugins that bring no probe, silence nothing.
REFUSED = json_lines(r"""
["[fan]\nmax_power: 1.5\n", "Option 'max_power' in section 'fan' must have maximum of 1.0"]
["[fan]\nmax_power: 0\n", "must be above 0.0"]
["<extruder>pid_integral_max: 255\n", "is gone, 2021-11-02: "]
["[fan]\nmax_power: full\n", "Unable to parse option 'max_power' in section 'fan': expected a number"]
["[stepper_x]\nmicrosteps: 16.5\n", "expected a whole number"]
["[stepper_x]\nhoming_positive_dir: yes please\n", "expected True or False"]
["[stepper_x]\nposition_max: -1\n", "must be above 0.0, its position_min"]
["[stepper_x]\nposition_endstop: 300\n", "must be between position_min and position_max"]
["[stepper_x]\nposition_endstop: 100\n", "Unable to infer homing_positive_dir"]
["[heater_bed]\nmin_temp: 200\n", "must be above 200.0"]
["[heater_bed]\ncontrol: pid\npid_Kp: 1\npid_Ki: 1\n", "Option 'pid_Kd' in section 'heater_bed' must"]
["[heater_bed]\nsensor_type: EPCOS 100K\n", "Unknown temperature sensor 'EPCOS 100K'"]
["[stepper_z1]\nstep_pin: PG1\n", "Option 'dir_pin' in section 'stepper_z1' must be specified"]
["[printer]\nkinematics: delta\n", "Option 'endstop_pin' in section 'stepper_a' must be specified"]
["[printer]\nkinematics: corexyz\n", "Kinematics 'corexyz' is not one of"]
["[mcu toolhead]\nbaud: 250000\n", "Option 'serial' in section 'mcu toolhead' must be specified"]
["[fan]\npin: PZ99\n", "Pin 'PZ99' is not a valid pin name on mcu 'mcu'"]
["[fan]\npin: РА1\n", "letters that are not ASCII"]
["[fan]\npin: PB5 PB6\n", "Invalid pin description"]
["[fan]\npin: toolboard:PA1\n", "Unknown pin chip name 'toolboard'"]
["[fan]\npin: PA1\n", "pin PA1 used multiple times in config: also step_pin of [stepper_x]"]
["[stepper_y]\nendstop_pin: PA3\n", "pin PA3 used multiple times in config: also endstop_pin of [stepper_x]"]
["[stepper_x]\ndir_pin: PA1\n", "pin PA1 used multiple times in config: also step_pin of [stepper_x]"]
["[stepper_x]\nenable_pin: !PG1\n[stepper_y]\nenable_pin: PG1\n", "Shared pin PG1 must have same polarity"]
["[stepper_x]\nhoming_positive_dir: true\n", "Invalid homing_positive_dir / position_endstop in 'stepper_x'"]
["[bltouch]\nsensor_pin: PG1\ncontrol_pin: PG2\n", "Option 'z_offset' in section 'bltouch' must be specified"]
["[probe]\npin: PG1\nz_offset: 1\n[bltouch]\nsensor_pin: PG2\ncontrol_pin: PG3\nz_offset: 1\n",
 "Printer object 'probe'"]
["[verify_heater chamber]\n", "Unknown heater 'chamber'"]
["[controller_fan x]\npin: PG1\nheater: heater_bed\nstepper: stepper_q\n", "steppers are unknown: stepper_q"]
["[resonance_tester]\naccel_chip: adxl345\nprobe_points: 1,1,1\n", "Unknown config object 'adxl345'"]
["[bed_mesh]\nmesh_max: 9, 9\n", "Option 'mesh_min' in section 'bed_mesh' must be specified"]
["[bed_mesh]\nmesh_min: 1, 1\nmesh_max: 9, 9\nmesh_origin: 0,0\n",
 "'mesh_origin' is not valid in section 'bed_mesh' beside"]
["[bed_mesh]\nmesh_min: 9, 9\nmesh_max: 9, 9\n", "bed_mesh: invalid min/max points"]
["[bed_mesh]\nmesh_min: 0, 0\nmesh_max: 9, 9\nprobe_count: 7\n", "cannot exceed a probe_count of 6"]
["[bed_mesh]\nmesh_min: 0, 0\nmesh_max: 9, 9\nalgorithm: bicubic\nprobe_count: 3, 7\n",
 "3 points on one axis"]
["[safe_z_home]\nhome_xy_position: 9\n", "must have 2 elements"]
["[safe_z_home]\nhome_xy_position: 9,9\n[homing_override]\ngcode: G28\n", "cannot be used simultaneously"]
["[bed_screws]\nscrew1: 1,1\n", "bed_screws: Must have at least three screws"]
["[z_tilt]\nz_positions: 1,1\n  2,2\npoints: 1,1\n", "z_tilt requires multiple z steppers"]
["[z_tilt]\nz_positions: 1,1\npoints: 1,1\n  2,2\n", "z_tilt requires multiple z steppers"]
["[neopixel x]\npin: PG1\ncolor_order: RGBX\n", "Invalid color_order 'RGBX'"]
["[input_shaper]\nshaper_type: mzvv\n", "Choice 'mzvv' for option 'shaper_type'"]
["[gcode_macro start print]\ngcode:\n  G28\n", "contains illegal whitespace"]
["[gcode_macro G28]\ngcode:\n  G28\n", "gcode command G28 already registered"]
["[gcode_macro A]\nvariable_x: abc\ngcode:\n  G28\n", "is not a valid literal"]
["[gcode_macro A]\ngcode:\n  {% if x %}\n  G28\n", "{% if %} without {% endif %}"]
["[gcode_macro A]\ngcode:\n  {% set x = params.X|default(1 %}\n",
 "Error loading template 'gcode_macro A:gcode'"]
["[gcode_macro A]\ngcode:\nG28\nG1 X1\nM117 a: b\n", "G-Code of a macro must be indented"]
["[stepper_x]\nendstop_pin: PA3\n  homing_speed: 50\n", "Invalid pin description 'PA3\nhoming_speed: 50'"]
["[gcode_macro A]\ngcode:\n  {% if 1 %}\n  {% else %}\n  {% elif 2 %}\n  {% endif %}\n",
 "{% elif 2 %} fits no tag"]
["[heater_bed]\nsensor_type: mine\n[thermistor mine]\ntemperature1: 25\nresistance1: 1\nbeta: 1\n",
 "has to stand before"]
["[endstop_phase stepper_q]\n", "One or more of these steppers are unknown: stepper_q"]
["[heater_fan]\npin: PG1\n", "[heater_fan] needs a name behind it"]
["<extruder>min_extrude_temp: 300\n", "must have maximum of 130.0, its max_temp"]
["<extruder>filament_diameter: 0.3\n", "must have minimum of 0.4, its nozzle_diameter"]
["<z>", "Unknown pin chip name 'probe'"]
["<tmc>[stepper_x]\nmicrosteps: 15\n", "Choice '15' for option 'microsteps'"]
["<tmc>[tmc2209 stepper_q]\nuart_pin: PF2\nrun_current: 1\n", "Could not find config section '[stepper_q]'"]
["<tmc>[tmc2209 stepper_y]\nuart_pin: PF1\nrun_current: 1\n", "Shared TMC uarts need unique address"]
["<tmc>[stepper_x]\nendstop_pin: tmc2209_stepper_x:virtual_endstop\n", "requires diag pin config"]
["[tmc2209 stepper_x]\n[stepper_x]\nendstop_pin: tmc2209_stepper_x:virtual_endstop\n",
 "requires diag pin config"]
["<tmc>driver_SGTHRS: 300\n", "must have maximum of 255"]
["<tmc>uart_address: 7\n", "must have maximum of 3"]
["<extruder1>", "it needs extruder, which is not there"]
["[gcode_macro A]\ndescription: x\n", "Option 'gcode' in section 'gcode_macro A' must be specified"]
["[temperature_sensor x]\nmin_temp: 0\n", "Option 'sensor_type' in section 'temperature_sensor x'"]
["[temperature_sensor x]\nsensor_type: DS18B20\nsensor_mcu: mcu\n", "Option 'serial_no' in section"]
["[temperature_sensor x]\nsensor_type: EPCOS 100K B57560G104F\n", "Option 'sensor_pin' in section"]
["[thermistor x]\ntemperature1: 25\nresistance1: 1\n", "Option 'beta' in section 'thermistor x'"]
["[display]\nlcd_type: st7920\ncs_pin: PG1\nsid_pin: PG2\n", "Option 'sclk_pin' in section 'display'"]
["[temperature_fan x]\npin: PG1\nsensor_type: temperature_host\nmin_temp: 0\nmax_temp: 80\n",
 "Option 'control'"]
["[adxl345]\nspi_software_sclk_pin: PG1\nspi_software_mosi_pin: PG2\ncs_pin: PG3\n",
 "'spi_software_miso_pin'"]
["[resonance_tester]\naccel_chip: adxl345\n[adxl345]\ncs_pin: PG1\n", "Option 'probe_points' in section"]
["[fan]\nmax_power:\n", "Unable to parse option 'max_power' in section 'fan': it is empty"]
["[fan]\npin:\n", "Unable to parse option 'pin' in section 'fan'"]
["[heater_bed]\nsensor_type:\n", "Unknown temperature sensor ''"]
["[bed_screws]\nscrew1: 1\nscrew2: 1,1\nscrew3: 1,1\n",
 "'screw1' in section 'bed_screws' must have 2 elements"]
["[stepper_x]\ngear_ratio: 3\n", "Option 'gear_ratio' in section 'stepper_x' must have 2 elements"]
["[stepper_x]\nfull_steps_per_rotation: 201\n", "full_steps_per_rotation invalid in section 'stepper_x'"]
["[screws_tilt_adjust]\nscrew_thread: M4\n", "Choice 'M4' for option 'screw_thread'"]
["[output_pin x]\npin: PG1\nvalue: 300\nscale: 255\n",
 "'value' in section 'output_pin x' must have maximum of 255.0"]
["[bed_mesh]\nmesh_radius: 9\nround_probe_count: 4\n", "probe_count must be odd for round beds"]
["[bed_mesh]\nalgorithm: direct\n", "bed_mesh: Unknown algorithm <direct>"]
["[bed_mesh]\nmesh_radius: 9\nmesh_min: 0, 0\n", "Option 'mesh_min' is not valid in section 'bed_mesh'"]
["[stepper_z1]\nstep_pin: ^PG1\n", "Invalid pin description '^PG1': format is [!] [chip_name:] pin_name"]
["[heater_bed]\nsensor_pin: !PD2\n", "Invalid pin description '!PD2'"]
["[stepper_x]\ndir_pin: !!PA2\n", "Invalid pin description '!!PA2'"]
["[board_pins]\naliases: A=PG1, A=PG2\n", "Alias A mapped to PG1 - can't alias to PG2"]
["[board_pins]\naliases: EXP1_9=<GND>\n[output_pin x]\npin: EXP1_9\n", "Pin 'EXP1_9' is not a valid pin name"]
["[board_pins]\nmcu: expander\naliases: A=PG1\n", "Unknown chip name 'expander'"]
["[mcu]\ncanbus_uuid: 0123456789ab\n", "Option 'serial' is not valid in section 'mcu'"]
["[gcode_macro Park]\ngcode: G28\n[gcode_macro PARK]\ngcode: G28\n", "gcode command PARK already registered"]
["[output_pin x]\npin: PG1\n[gcode_macro SET_PIN]\ngcode: G28\n", "gcode command SET_PIN already registered"]
["[filament_motion_sensor f]\nswitch_pin: PG1\nextruder: extruder5\n", "Unknown config object 'extruder5'"]
["[led_effect x]\na: 1\n[resonance_tester]\naccel_chip: adxl345\nprobe_points: 1,1,1\n",
 "Unknown config object 'adxl345'"]
["[fan x]\npin: PG1\n", "[fan] takes no name"]
["[display_status]\n<z>", "Unknown pin chip name 'probe'"]
["[gcode_shell_command x]\ncommand: y\n<z>", "Unknown pin chip name 'probe'"]
["<saved>#*# [fan]\n#*# max_power = word\n", "Unable to parse option 'max_power' in section 'fan'"]
["[bed_mesh]\nmesh_min: 1,1\nmesh_max: 9,9\nfaulty_region_1_min: 1,1\n",
 "'faulty_region_1_min' is not valid in section 'bed_mesh': it needs faulty_region_1_max"]
["[bed_screws]\nscrew1: 1,1\nscrew2: 1,1\nscrew3: 1,1\nscrew5: 2,2\n",
 "section 'bed_screws': it needs screw4"]
["[gcode_macro CANCEL_PRINT]\nrename_existing: BASE\ngcode: G28\n", "command 'CANCEL_PRINT' not found"]
["[gcode_macro G29]\nrename_existing: G29.1\ngcode: G28\n", "Existing command 'G29' not found"]
["[pause_resume]\n[gcode_macro PAUSE]\nrename_existing: base_pause\ngcode: G28\n",
 "Can't register 'base_pause'"]
["[display_status]\nenable: True\n", "Option 'enable' is not valid in section 'display_status'"]
["[gcode_macro A]\ngcode:\n  {% if x = 1 %}\n  G28\n  {% endif %}\n",
 "Error loading template 'gcode_macro A:gcode'"]
["[display_template a]\ntext: { x | foo }\n", "No filter named 'foo'"]
["[fan]\nsteps_per_mm: 80\n", "that is Marlin's"]
["<extruder >", "Section ' extruder ' is not a valid config section"]
["[probe]\npin: PG1\nz_offset: 1\n<saved>#*# [bltouch]\n#*# z_offset = 1\n",
 "Option 'control_pin' in section 'bltouch'"]
["[bed_mesh]\nmesh_min: 0, 0\nmesh_max: 9, 9\nprobe_count: 5, 5, 5\n",
 "malformed 'probe_count' value: 5, 5, 5"]
["[bed_mesh]\nmesh_min: 0, 0\nmesh_max: 9, 9\nfaulty_region_1_max: 1, 1\n", "it needs faulty_region_1_min"]
["[adxl345]\ncs_pin: PG1\naxes_map: x, y, a\n", "Invalid axes_map parameter: 'a'"]
["[resonance_tester]\nprobe_points: 1, 1, 1\n", "Option 'accel_chip' in section 'resonance_tester' must"]
["[temperature_sensor x]\nsensor_type: MAX31865\n", "Option 'sensor_pin' in section 'temperature_sensor x'"]
["[board_pins]\nmcu: mcu\n", "Option 'aliases' in section 'board_pins' must be specified"]
["[adxl345]\ncs_pin: PG1\n[resonance_tester]\naccel_chip_x: adxl345\nprobe_points: 1, 1, 1\n",
 "'accel_chip_y'"]
["[temperature_sensor x]\nsensor_type: temperature_mcu\nsensor_pin: PG1\n",
 "Option 'sensor_pin' is not valid"]
["[gcode_macro SHAPER_CALIBRATE]\nrename_existing: B\ngcode: G28\n", "command 'SHAPER_CALIBRATE' not found"]
["<tmc>diag_pin: PF3\n[stepper_x]\nendstop_pin: ^tmc2209_stepper_x:virtual_endstop\n",
 "Can not pullup/invert"]
["[stepper_x]\nstep_pin: PA1, PA7\n", "Invalid pin description 'PA1, PA7'"]
["[stepper_z2]\n<stepper>", "'stepper_z2' is not valid in section 'stepper_z2': it needs stepper_z1"]
["[pause_resume]\n<pause>[gcode_macro RESUME]\nrename_existing: BASE\ngcode: G28\n",
 "gcode command BASE already registered"]
""")


@pytest.mark.parametrize("more, words", REFUSED)
def test_what_klipper_refuses_is_an_error_in_its_words(judged, more, words):
    errors = [message for level, message in judged(more) if level == "error"]
    assert words in "; ".join(errors)
    assert len(errors) <= 4


# Lines more, and the option and the line, counted from the first of them, at which the finding stands.
PLACES = json_lines(r"""
["[fan]\nmax_power: 1.5\n", "max_power", 2]
["[fan]\noff_below: 0.1\npin: PZ99\n", "pin", 3]
["[stepper_x]\nhoming_speed: 9\nhoming_positive_dir: true\n", "homing_positive_dir", 3]
["[stepper_x]\nhoming_speed: 9\nposition_endstop: 300\n", "position_endstop", 3]
["[stepper_x]\nhoming_speed: 9\nposition_endstop: 100\n", "position_endstop", 3]
["<tmc>[stepper_x]\nmicrosteps: 15\n", "microsteps", 5]
["[stepper_y]\nhoming_speed: 9\nendstop_pin: PA3\n", "endstop_pin", 3]
["[bed_mesh]\nmesh_min: 0, 0\nmesh_max: 9, 9\nprobe_count: 7\n", "probe_count", 4]
["[safe_z_home]\nspeed: 9\nhome_xy_position: 300,100\n", "home_xy_position", 3]
["[gcode_macro A]\ngcode: G28\nvariable_x: abc\n", "variable_x", 3]
["[bed_screws]\nspeed: 9\nscrew1: 1,1\n", "screw3", 1]
""")


@pytest.mark.parametrize("more, option, line", PLACES)
def test_a_finding_stands_at_the_option_that_is_to_be_changed(any_docs, more, option, line):
    places = [
        (finding.option, finding.line)
        for finding in checker().findings(printer_with(more))
        if "defined twice" not in finding.message
    ]
    assert places == [(option, PRINTER.count("\n") + line)]


TAKEN = json_lines(r"""
["[bed_mesh default]\nversion: 1\npoints:\n  -0.1, 0.05, 0.1\n  0.1, 0.2, 0.3\nx_count: 3\n",
 "[skew_correction my]\nxy_skew: 0.1\n"]
"[stepper_mmu_gear_1]\ngear_stuff: 3\n[stepper_mmu_gear]\nx: 1\n"
"[probe]\npin: PG1\nz_offset: 1\n[bed_mesh]\nmesh_min: 0, 0\nmesh_max: 9, 9\nprobe_count: 6\n"
"[extruder_stepper x]\nextruder:\nstep_pin: PG1\ndir_pin: PG2\nmicrosteps: 16\nrotation_distance: 9\n"
"[beacon]\nserial: x\nz_offset: 1\n[stepper_y]\nendstop_pin: probe:z_virtual_endstop\n"
"[oams x]\na: 1\n[temperature_sensor y]\nsensor_type: temperature_oams\ntemp_offset: 3\n"
["[gcode_macro PRINT_START]\nvariable_a: {'x': [1, 'b'], }\ngcode:\n  {% if a %}G28 ; '\n",
 "  {% else %}\n  M117 it's {a}\n  {% endif %}\n"]
"[gcode_macro A]\ngcode:\n  {% set x = params.X|list|select('in', ' \\'(')|list %}\n"
"[gcode_macro G28]\nrename_existing: G28.1\ngcode:\n  G28.1\n[gcode_macro TEST_1A]\ngcode:\n  G28\n"
["[thermistor NTC]\ntemperature1: 25\nresistance1: 1\nbeta: 1\n",
 "[temperature_sensor x]\nsensor_type: NTC\nsensor_pin: PG1\n"]
"[input_shaper]\nshaper_type_x: ei(v_tol=0.02)\n"
"[tmc2240 stepper_x]\nuart_pin: PF1\nrun_current: 0.8\n"
"[filament_switch_sensor f]\nswitch_pin: PG1\n[gcode_macro PAUSE]\nrename_existing: BASE\ngcode: G28\n"
["[bltouch]\nsensor_pin: PG1\ncontrol_pin: PG2\nz_offset: 1\n",
 "[gcode_macro PROBE_CALIBRATE]\nrename_existing: B\ngcode: G28\n"]
["[pause_resume]\n[gcode_macro PAUSE]\nrename_existing: BASE\ngcode: G28\n",
 "[gcode_macro pause]\ngcode: G28\nrename_existing: B\n"]
"[led_effect x]\na: 1\n[gcode_macro ANY]\nrename_existing: BASE\ngcode: G28\n"
["[mcu rpi]\nserial: /tmp/klipper_host_mcu\n[adxl345]\ncs_pin: rpi:None\n",
 "[output_pin x]\npin: rpi:gpiochip1/gpio2\n"]
"[endstop_phase]\n"
["[output_pin a]\npin: PG1_C\n[output_pin b]\npin: P1.20\n",
 "[output_pin c]\npin: P8_12\n[output_pin d]\npin: gpio0_23\n"]
["[output_pin a]\npin: gpio4\n[output_pin b]\npin: analog3\n",
 "[output_pin c]\npin: PIN_17\n[output_pin d]\npin: AIN0\n"]
["[temperature_sensor x]\nsensor_type: temperature_mcu\n",
 "[temperature_sensor y]\nsensor_type: Generic 3950\nsensor_pin: ADC_TEMPERATURE\n"]
["[tmc2209  stepper_x ]\nuart_pin: PF1\nrun_current: 0.8\n",
 "[gcode_macro  A]\ngcode:\n  {% if a: %}G28{% else: %}{% endif %}\n"]
"<tmc>[tmc2208 stepper_y]\nuart_pin: PF2\nrun_current: 0.8\nuart_address: 0\n"
""")


@pytest.mark.parametrize("more", TAKEN)
def test_what_klipper_or_a_plugin_takes_is_no_error(judged, more):
    assert "error" not in dict(judged(more))


# Lines more, and all that is said of them: a probe that is only saved, a command that Klipper does not have,
# a place beyond an axis, a command that is nearly a known one.
JUDGED = json_lines(r"""
["<saved>#*# [probe]\n#*# z_offset = 1\n",
 [["error", "Option 'pin' in section 'probe' must be specified: only SAVE_CONFIG's block has this section"]]]
["[beacon]\nserial: x\n<saved>#*# [probe]\n#*# z_offset = 1\n",
 [["hint", "Section 'beacon' is not in Klipper's documentation: a plugin's, or misspelt; not judged"]]]
["[bltouch]\nsensor_pin: PG1\ncontrol_pin: PG2\nz_offset: 1\n<saved>#*# [probe]\n#*# z_offset = 1\n", []]
["[filament_switch_sensor f]\nswitch_pin: PG1\nrunout_gcode:\n  M600\n",
 [["hint", "Unknown command:\"M600\""]]]
["[filament_switch_sensor f]\nswitch_pin: PG1\nrunout_gcode:\n  M600\n[gcode_macro M600]\ngcode: PAUSE\n", []]
["[safe_z_home]\nhome_xy_position: 100,100\n", []]
["[safe_z_home]\nhome_xy_position: 300,100\n", [["warning", "home_xy_position lies beyond stepper_x"]]]
["<probed mesh>mesh_max: 220, 200\n", []]
["<probed mesh>mesh_max: 221, 200\n",
 [["warning",
  "mesh_max takes the nozzle to x = 201, but stepper_x goes from 0 to 200 (the probe's x_offset is 20)"]]]
[["[bed_mesh]\nmesh_min: 1,1\nmesh_max: 9,9\n[gcode_macro START]\ngcode:\n  BED_MESH_CALIBRAT\n",
  "  M117 SET_FANN\n  PARK_HEAD\n  {% if x %}SET_PIN{% endif %}\n[gcode_macro PARKHEAD]\ngcode: G28\n"],
 [["hint", "Unknown command:\"BED_MESH_CALIBRAT\""], ["hint", "Unknown command:\"PARK_HEAD\""]]]
""")


@pytest.mark.parametrize("more, expected", JUDGED)
def test_what_is_said_besides_what_klipper_refuses(judged, more, expected):
    assert judged(more) == expected


@pytest.mark.parametrize(
    "name, meant",
    [
        ("heater fan x", "heater_fan x"),
        ("heater_fan_hotend", "heater_fan hotend"),
        ("Filament switch sensor x", "filament_switch_sensor x"),
        ("tmc2226 stepper_x", "tmc2209 stepper_x"),
        ("display_staus", "display_status"),
        ("include_macros.cfg", "include macros.cfg"),
        ("led_effect x", ""),
        ("stepper_mmu_gear", ""),
        ("led_chain]\nlayout: [a", ""),
    ],
)
def test_a_misspelt_section_has_the_name_that_was_meant(any_docs, name, meant):
    (finding,) = checker().findings(printer_cfg.from_text(f"[{name}]\n"))
    assert (finding.level, finding.nearest) == ("warning" if meant else "hint", meant)


def test_a_configuration_of_kalico_is_named_and_nothing_in_it_is_certain(judged):
    first, *others = judged("[danger_options]\na: 1\n[fan]\nmax_power: 9\n")
    assert first[0] == "warning" and "KLIPPER_DOCS_URL" in first[1]
    assert "error" not in dict(others)
    assert "Kalico" in judged("[fan]\nmax_power: ${constants.x}\n")[0][1]
    few = "[extruder]\nfilament_density: 1.2\nheater_power: 50\n"
    assert "This configuration is Kalico's" not in str(judged(few))
    assert "This configuration is Kalico's" in str(judged(f"{few}[printer]\nmax_x_accel: 9\n"))


def test_safe_z_home_needs_a_z_endstop(any_docs):
    text = PRINTER.replace("cartesian", "none") + "[safe_z_home]\nhome_xy_position: 1,1\n"
    for name, is_missing in {"stepper_z": False, "carriage z": False, "stepper_z1": True}.items():
        config = printer_cfg.from_text(text.replace("[stepper_z]", f"[{name}]"))
        assert ("Missing Z endstop config" in str(findings(config))) == is_missing


def test_an_include_that_is_not_there_is_the_only_error_it_causes(any_docs, tmp_path):
    without_pins = PRINTER.replace("endstop_pin", "# endstop_pin")
    (tmp_path / "printer.cfg").write_text("[include gone.cfg]\n" + without_pins)
    config = printer_cfg.from_files(tmp_path / "printer.cfg")
    assert findings(config) == [["error", "Include file 'gone.cfg' does not exist"]]
