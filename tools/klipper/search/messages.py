"""Klipper's own messages: what they mean, what to look at first, where to read on.

Each entry of MESSAGES has four lines, the last three indented: the message as Klipper prints it, `*` for what differs, alternatives divided by
` | `; what it means; what to look at first; where to read on as `page#heading`, best first, and after ` < ` the files of
Klipper's sources that print it, src/ being the firmware, the others below klippy/. An `=` before the pages leaves the
order of the results to the search: the words in the place of `*` say more than the message.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

MESSAGES = """
timer too close
  The host was too late: an order for the micro-controller arrived after its time.
  Load, swap, disk errors, heat and voltage of the host, then bytes_retransmit of the bus; last, fewer microsteps or less speed.
  FAQ.md#Why does Klipper report errors? I lost my print!; Debugging.md#Generating load graphs < src/sched.c extras/error_mcu.py
missed scheduling of next *
  An order that had to come in time did not reach the micro-controller.
  The link: cable, connectors, bytes_retransmit and bytes_invalid in the log; then load of the host.
  FAQ.md#I keep getting random "Lost communication with MCU" errors; CANBUS_Troubleshooting.md < src/gpiocmds.c extras/error_mcu.py
rescheduled timer in the past | stepper too far in past | no next step | move queue overflow
  The micro-controller was asked for more steps than it can make.
  Speed times microsteps of the fastest axis; a lower speed, fewer microsteps or a faster board.
  Features.md#Step Benchmarks; Benchmarks.md#Micro-controller Benchmarks < src/stepper.c src/generic/timer_irq.c extras/error_mcu.py
adc out of range
  A temperature sensor read below min_temp or above max_temp, mostly a broken or unplugged one.
  The named sensor's wires and plug, sensor_type, sensor_pin, then min_temp and max_temp of that section.
  Config_checks.md#Verify temperature; Config_Reference.md#[extruder]; FAQ.md < src/adccmds.c extras/adc_temperature.py
lost communication with mcu *
  The host has no answer from that micro-controller any more.
  USB cable and its noise, power of the board and the Pi, a board that resets; on CAN the wiring and resistors.
  FAQ.md#I keep getting random "Lost communication with MCU" errors; CANBUS_Troubleshooting.md < mcu.py
mcu * unable to connect | unable to open serial port
  The port named by serial is not there, is another one's, or the board does not run Klipper.
  ls /dev/serial/by-id/*, serial in [mcu], whether the board was flashed, baud.
  FAQ.md#Where's my serial port?; Installation.md#Configuring Klipper < serialhdl.py
unable to open can port | failed to transmit no buffer space available
  The CAN interface is down, has another name, or its queue is full because nobody acknowledges.
  ip -s link show can0, canbus_uuid, the two 120 ohm resistors, txqueuelen 128.
  CANBUS_Troubleshooting.md#Use an appropriate txqueuelen setting; CANBUS.md#Host Hardware < serialhdl.py
mcu protocol error | unknown command * in mcu | command format mismatch
  Host and firmware of that micro-controller are of different versions.
  Build and flash the firmware anew from the version that the host runs, for each micro-controller named.
  FAQ.md#How do I upgrade to the latest software?; Installation.md#Building and flashing the micro-controller < extras/error_mcu.py msgproto.py
failed automated reset of mcu * | mcu * crc does not match config | can not update mcu * config as it is shutdown
  The board still has the configuration of before and could not be reset.
  FIRMWARE_RESTART once more, restart_method in [mcu], or switch the board off and on.
  Config_Reference.md#[mcu]; FAQ.md#When I set `restart_method=command` my AVR device just hangs on a restart < mcu.py
shutdown command request | shutdown due to m112 command | shutdown due to webhooks request
  Somebody pressed the emergency stop or sent M112, or the host failed inside.
  What stands in the log above it; then FIRMWARE_RESTART.
  G-Codes.md#FIRMWARE_RESTART; Config_checks.md#Verify M112 < src/basecmd.c gcode.py webhooks.py
scheduled digital out event will exceed max_duration | scheduled pwm event will exceed max_duration
  A pin may stay on only for a limited time without news from the host, and none came.
  Load of the host; maximum_mcu_duration and cycle_time of that pin.
  Config_Reference.md#[pwm_tool]; Using_PWM_Tools.md < src/gpiocmds.c
option * is not valid in section *
  That section has no such option: misspelt, of another section, or removed since.
  check_config on the whole file; config_reference for the section; the dated changes.
  =Config_Reference.md; Config_Changes.md#Changes < configfile.py
option * in section * must be specified
  A required option is missing in that section.
  config_reference for the section; a typing error in the option's name; a misplaced include.
  =Config_Reference.md < configfile.py
section * is not a valid config section
  Nothing in Klipper takes a section of that name: misspelt, or of an extension that is not installed.
  The spelling; whether the section needs a name behind it, or must have none.
  =Config_Reference.md; Config_Changes.md#Changes < configfile.py
unable to parse option * in section * | choice * for option * in section * is not a valid choice
  The value is not of the kind that the option takes.
  config_reference for the option; stray characters, units, a decimal comma.
  =Config_Reference.md < configfile.py
option * in section * must have minimum of * | option * in section * must have maximum of * | option * in section * must be above * | option * in section * must be below *
  The value is outside the range that the option takes.
  config_reference for the option.
  =Config_Reference.md < configfile.py
file contains no section headers | file contains parsing errors | source contains parsing errors
  A line is neither a section, nor an option, nor the indented rest of one.
  The line that is named: G-Code of a macro must be indented; no options straight after an include.
  Command_Templates.md#Formatting of G-Code in the config; Config_Reference.md < configfile.py
pin * used multiple times in config
  Two sections name the same pin.
  The pin's name in the whole file, includes too; [duplicate_pin_override] only where it is meant.
  Config_Reference.md#[duplicate_pin_override] < pins.py
pin * is not a valid pin name on mcu * | unable to translate pin name
  The board has no pin of that name, or an alias is not defined before it is used.
  The board's pin names, the mcu: in front, [board_pins].
  Config_Reference.md#Format of micro-controller pin names; Config_Reference.md#[board_pins] < mcu.py pins.py
not a valid adc pin | not a valid pwm pin | not a valid spi bus | not a valid i2c bus
  The pin or bus cannot do on this chip what is asked of it.
  Which pins of the chip have that function; hardware_pwm: False for software PWM.
  FAQ.md#Do I have to wire my device to a specific type of micro-controller pin? < src/generic
must home axis first | must home first
  A move was commanded before the axis was homed.
  G28 before it; a macro that switches the motors off or loses the position.
  FAQ.md#Why can't I move the stepper before homing the printer?; Config_Reference.md#[force_move] < kinematics/cartesian.py
move out of range
  The target lies outside position_min and position_max, offsets of G-Code and mesh included.
  The coordinates in the message, then position_min, position_max, and what the start G-Code or a macro adds.
  Config_Reference.md#[stepper]; G-Codes.md#GET_POSITION < kinematics/cartesian.py
no trigger on * after full movement
  The axis went its whole length and the endstop or probe did not trigger.
  QUERY_ENDSTOPS with the switch pressed, the pin and its !, the direction; sensorless: the sensitivity.
  Config_checks.md#Verify endstops; TMC_Drivers.md#Sensorless Homing < extras/homing.py
endstop * still triggered after retract
  After the first touch the axis backed off and the switch was still pressed.
  homing_retract_dist, a wiring that is always triggered; sensorless homing wants homing_retract_dist: 0.
  Config_checks.md#Verify endstops; TMC_Drivers.md#Configure printer.cfg for sensorless homing < extras/homing.py
probe triggered prior to movement
  The probe was triggered already when the move began.
  QUERY_PROBE; the pin's !, noise, a probe that is too low, activate_gcode; for BL-Touch its wiring.
  Config_Reference.md#[probe]; BLTouch.md#Initial tests < extras/homing.py
probe samples exceed samples_tolerance | probe samples exceed tolerance
  Several probings of one point differ by more than samples_tolerance.
  PROBE_ACCURACY; a loose mount, speed, drag; then samples_tolerance and samples_tolerance_retries.
  Config_Reference.md#[probe]; Probe_Calibrate.md#Repeatability check < extras/probe.py
bltouch failed to deploy | bltouch failed to raise probe | bltouch failed to verify sensor state | failed to raise probe
  The BL-Touch did not do, or not confirm, what it was told.
  Its pin and wiring, BLTOUCH_DEBUG, then stow_on_each_sample and pin_up_touch_mode_reports_triggered for clones.
  BLTouch.md#BL-Touch "clones"; BLTouch.md#BL-Touch gone bad; Config_Reference.md#[bltouch] < extras/bltouch.py
communication timeout during homing
  Two micro-controllers take part in homing and one did not answer within 25 ms.
  The link and the load of the host; on which micro-controller endstop and stepper are.
  Multi_MCU_Homing.md < extras/homing.py
endstop * incorrect phase
  The stepper's phase at the endstop is not the one that was calibrated.
  endstop_accuracy, a slipped belt or magnet, a new ENDSTOP_PHASE_CALIBRATE.
  Endstop_Phase.md#Additional notes < extras/endstop_phase.py
retries aborting probed points range is increasing | too many retries | required adjustment * is greater than max_adjust
  Levelling the gantry or bed makes it worse or needs more than is allowed.
  z_positions or gantry_corners and the order of the steppers, the probe's repeatability, a mechanical limit.
  Config_Reference.md#[z_tilt]; Config_Reference.md#[quad_gantry_level] < extras/z_tilt.py extras/quad_gantry_level.py
unknown profile * | bed_mesh unknown profile
  There is no saved mesh of that name.
  BED_MESH_CALIBRATE, BED_MESH_PROFILE SAVE=name, SAVE_CONFIG; the start G-Code that loads it.
  Bed_Mesh.md#Profiles; G-Codes.md#BED_MESH_PROFILE < extras/bed_mesh.py
heater * not heating at expected rate
  The heater is on and the temperature does not rise as it should.
  Heater and sensor in their place, wiring, voltage, draught; only then the values of [verify_heater].
  Config_Reference.md#[verify_heater]; Config_checks.md#Verify heaters < extras/verify_heater.py
requested temperature * out of range
  The target is below min_temp or above max_temp of that heater.
  The G-Code that sets it, max_temp of the section.
  Config_Reference.md#[extruder]; Config_Reference.md#[heater_generic] < extras/heaters.py
extrude below minimum temp
  The nozzle is colder than min_extrude_temp.
  Whether the start G-Code waits for the temperature (M109); min_extrude_temp.
  Config_Reference.md#[extruder] < kinematics/extruder.py
extrude only move too long
  A retraction, purge or filament change is longer than max_extrude_only_distance.
  The macro or slicer that does it, then max_extrude_only_distance.
  Config_Reference.md#[extruder] < kinematics/extruder.py
move exceeds maximum extrusion
  A move would lay a line much thicker than the nozzle allows.
  Relative or absolute extrusion (M83/M82), the slicer's filament diameter, a purge line; then max_extrude_cross_section.
  Config_Reference.md#[extruder]; Slicers.md < kinematics/extruder.py
unable to read tmc uart * register *
  The driver does not answer over its wire.
  Motor power on, uart_pin, uart_address, tx_pin, select_pins, jumpers, plugged the right way round.
  TMC_Drivers.md#I keep getting "Unable to read tmc uart 'stepper_x' register IFCNT" errors? < extras/tmc_uart.py
unable to write tmc spi * register * | unable to write tmc uart * register *
  What was written to the driver cannot be read back.
  SPI wiring and pins, cs_pin, motor power, a driver of another type than configured.
  TMC_Drivers.md#I keep getting "Unable to write tmc spi 'stepper_x' register ..." errors? < extras/tmc2130.py extras/tmc_uart.py
overtemperror | otpw overtempwarning
  The driver switched off because it was too hot.
  run_current, cooling of the driver, the motor.
  TMC_Drivers.md#TMC reports error: `... ot=1(OvertempError!)` < extras/tmc.py
shorttognd * | shorttosupply * | s2ga | s2gb | s2vsa | s2vsb | lowsideshort *
  The driver saw a short circuit at the motor's wires.
  Motor cable and plug with the power off, the motor, the driver; a driver that is plugged badly.
  TMC_Drivers.md#TMC reports error: `... ShortToGND` OR `ShortToSupply` < extras/tmc.py
cs_actual 0 reset | reset 1 reset | se 0 reset
  The driver was reset in the middle of work.
  Power of the motors: voltage, wiring, the supply's load; the driver's own voltage.
  TMC_Drivers.md#TMC reports error: `... reset=1(Reset)` OR `CS_ACTUAL=0(Reset?)` OR `SE=0(Reset?)` < extras/tmc.py
uv_cp * undervoltage | uv_cp 1
  The driver's supply fell too low.
  Motor power: voltage, wiring, the supply's load.
  TMC_Drivers.md#TMC reports error: `... uv_cp=1(Undervoltage!)` < extras/tmc.py
tmc * reports error
  The driver reports a fault of its own; what it is stands in the last words of the message.
  The words behind DRV_STATUS or GSTAT: OvertempError, ShortToGND, Reset, Undervoltage.
  TMC_Drivers.md#Why did I get a "TMC reports error: ..." error? < extras/tmc.py
invalid adxl345 id | invalid lis2dw id | invalid mpu * id | invalid lis3dh id
  The accelerometer does not answer with its id.
  Its wiring, cs_pin and bus, a short cable; then ACCELEROMETER_QUERY.
  Measuring_Resonances.md#Checking the setup; Measuring_Resonances.md#Wiring < extras/adxl345.py extras/lis2dw.py
unable to open spi device
  The host's SPI is not switched on, or the bus has another name.
  Optional: Enabling SPI in the guide, then spi_bus.
  RPi_microcontroller.md#Optional: Enabling SPI; Measuring_Resonances.md#Wiring < src/linux/spidev.c
unable to open i2c device
  The host's I2C is not switched on, or the bus has another name.
  Optional: Enabling I2C in the guide, then i2c_bus.
  RPi_microcontroller.md#Optional: Enabling I2C < src/linux/i2c.c
unable to open out gpio chip line | unable to open in gpio chip line
  The host's pin is not there, on another chip, or in use.
  gpioinfo for the chip and the line; gpiochipN/gpioM in the pin's name.
  RPi_microcontroller.md#Optional: Identify the correct gpiochip < src/linux/gpio.c
eddy current sensor error | eddy i2c * error | frequency over valid * range | conversion watchdog timeout
  The eddy current probe could not measure.
  Its wiring and I2C speed, the frequency options, a new LDC_CALIBRATE_DRIVE_CURRENT.
  Eddy_Probe.md#Errors description < extras/probe_eddy_current.py src/sensor_ldc1612.c
load cell endstop too much force | load cell * force safety limit | loadcell endstop timed out waiting on adc data
  The load cell's own watchdog stopped the move.
  Tare and calibration, force_safety_limit, the wiring of the sensor.
  Load_Cell.md#`force_safety_limit`; Load_Cell.md#Load Cell Endstop Watchdog Task < src/load_cell_probe.c extras/load_cell_probe.py
error evaluating * | error loading template * | undefinederror | templatesyntaxerror
  A macro's template has a mistake: a name that is not there, or wrong syntax.
  The macro that is named, brackets, a status field that the Status reference does not have.
  Command_Templates.md#Template expansion; Status_Reference.md < extras/gcode_macro.py
existing command * not found in gcode_macro rename | g code macro rename of different types
  rename_existing names a command that is not there at that time, or of another kind (G1 against PAUSE).
  rename_existing of that macro; the order of the macros.
  Config_Reference.md#[gcode_macro]; Command_Templates.md < extras/gcode_macro.py
"""

WORDS = re.compile(r"[^\W_]+(?:_[^\W_]+)*")
MOST_WORDS = 8
"""Words that may stand in the place of a `*`."""

LONGEST = 600
"""Characters of a query in which a message is looked for."""


class Place(NamedTuple):
    """A page and a heading to read on."""

    path: str
    heading: str


class Message(NamedTuple):
    """A message of Klipper, and what to say of it. `leads`: its places come before what the search finds."""

    message: str
    meaning: str
    first: str
    read: tuple[Place, ...]
    leads: bool
    sources: tuple[str, ...]


def known(query: str) -> Message | None:
    """The message that a query quotes: of several the first, so what says more stands above what says less."""
    text = _words(query[:LONGEST])
    return next((message for pattern, message in _table() if pattern.search(text)), None)


@cache
def _table() -> list[tuple[re.Pattern[str], Message]]:
    return [(_pattern(form), _message(form, *lines[1:])) for lines in _entries() for form in lines[0].split(" | ")]


def _entries() -> Iterator[list[str]]:
    return ([line.strip() for line in entry.split("\n")] for entry in re.split(r"\n(?! )", MESSAGES.strip()))


def _message(form: str, meaning: str, first: str, places: str) -> Message:
    pages, _, sources = places.partition(" < ")
    read = tuple(Place(*place.partition("#")[::2]) for place in pages.removeprefix("=").split("; "))
    return Message(form, meaning, first, read, not pages.startswith("="), tuple(sources.split()))


def _pattern(form: str) -> re.Pattern[str]:
    """What finds a message in the words of a query: each word of it whole, some words for each `*` inside."""
    parts = [_words(part).strip() for part in form.strip("* ").split("*")]
    between = rf" (?:\S+ ){{0,{MOST_WORDS}}}?"
    return re.compile(" " + between.join(map(re.escape, parts)) + " ")


def _words(text: str) -> str:
    """The words of a text in lower case, a blank before and after each."""
    return " " + " ".join(WORDS.findall(text.lower())) + " "
