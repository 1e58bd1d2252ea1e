"""A small reference and page of changes, written like Klipper's."""

from tools.klipper.config import changes
from tools.klipper.config.checking import Checker
from tools.klipper.config.reference import Reference

REFERENCE = """\
# Configuration reference
## Boards
### [mcu]
```
[mcu]
serial:
#   This parameter must be provided.
```
## Motion
### [printer]
```
[printer]
kinematics:
#   How the axes move. This parameter must be specified.
#max_jump: 5.0
#   How far (in mm). The default is 5mm.
```
### [stepper]
```
[stepper_x]
step_pin:
#   This parameter must be provided.
#gear_ratio:
#   As "5:1".
endstop_pin:
#   This parameter must be provided for axes.
#homing_speed: 5.0
#   The default is 5mm/s.
#position_endstop:
#   A place.
```
### Cartesian Kinematics
```
[printer]
kinematics: cartesian
#max_z_jump:
#   For z.
[stepper_x]
[stepper_y]
```
### Delta Kinematics
```
[printer]
kinematics: delta
[stepper_a]
arm_length:
#   This parameter must be provided for stepper_a.
[stepper_b]
```
### [stepper_z1]
```
[stepper_z1]
#step_pin:
#   See the "stepper" section for the definition of the above parameters.
```
### [extruder]
```
[extruder]
step_pin:
#gear_ratio:
#   See the "stepper" section for a description of the above parameters.
nozzle_diameter:
#   In mm. This parameter must be provided.
#
# The remaining variables describe the heater.
heater_pin:
#   This parameter must be provided.
sensor_type:
#   One of "Generic 3950". This parameter must be provided.
sensor_pin:
#   This parameter must be provided.
#max_power: 1.0
#   The default is 1.0.
control:
#   This parameter must be provided.
pid_Kp:
pid_Ki:
#   These must be provided for PID heaters.
min_temp:
#   This parameter must be provided.
```
### [heater_bed]
```
[heater_bed]
heater_pin:
sensor_type:
sensor_pin:
min_temp:
#   See the "extruder" section for a description of the above parameters.
```
### [extruder1]
```
[extruder1]
#step_pin:
#...
#   See the "extruder" section for available parameters.
```
## Things
### [fan]
```
[fan]
pin:
#   This parameter must be provided.
#hardware_pwm: False
#   The default is False.
# kick_start: 0
#   One blank after the mark.
#ratios: 1, 2
#   Two numbers.
#loud:
#   This option is deprecated.
```
### [heater_fan]
```
[heater_fan cooling_fan]
#pin:
#   See the "fan" section for a description of the above parameters.
#heater: extruder
#   A name.
```
### [bed_screws]
```
[bed_screws]
#screw1:
#screw1_name:
#   Coordinates.
#...
```
### [gcode_macro]
```
[gcode_macro my_cmd]
#gcode:
#   What to do.
#variable_<name>:
#   One may specify any number of options with a "variable_" prefix.
```
### [display]
```
[display]
lcd_type:
#   One of "st1" and "st2".
```
#### st2 display
```
[display]
lcd_type: st2
#spi_bus:
#   See the "common SPI settings" section for a description of the above parameters.
```
## Temperature sensors
### Host temperature sensor
```
sensor_type: temperature_host
#sensor_path:
#   The path.
```
### Common thermistors
```
sensor_type:
#   One of "Generic 3950".
sensor_pin:
#   This parameter must be provided.
#inline_resistor: 0
#   In ohms. The default is 0 ohms.
```
## Common bus parameters
### Common SPI settings
```
#spi_bus:
#   The bus.
#spi_speed:
#   The default is 4000000.
```
"""

CHANGES = """\
# Configuration Changes
All dates are approximate.
## Changes
20250811: Support for the `max_hop` parameter in the `[printer]` config
section has been removed. It was deprecated on 20240313.
20250721: The `[fan]` and `[heater_fan]` modules no longer accept the
`scl_pin` and `sda_pin` options. Use `soft_scl_pin` and `soft_sda_pin`
instead.
20240601: The `[fan]` config option `loud` is deprecated; it will be
removed in the near future.
20240313: The `max_hop` parameter is deprecated. Use the
[max_jump parameter](./Config_Reference.md#printer) instead.
20240215: Using "NTC 100K" as a thermistor name has been removed.
20231110: The fan `whirl` option has been renamed to `spin`. Using the old
name is deprecated.
20210503: The gcode_macro `default_parameter_<name>` config option has been
removed.
"""


WHOLE = "[printer]\nkinematics: none\n[mcu]\nserial: /dev/ttyACM0\n"
"""With it a configuration is a whole one: nothing can stand in another file."""


def checker():
    return Checker(Reference(REFERENCE), changes.entries(CHANGES), ["display_status"])
