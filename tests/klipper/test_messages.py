"""The messages of Klipper that a search knows."""

import json
import re

import pytest

from tests.conftest import SHARED
from tests.support.client import cases
from tools.klipper.search import messages

QUOTED = """
MCU 'mcu' shutdown: Timer too close | timer too close
!! Option 'foo_bar' is not valid in section 'gcode_macro START' | option * is not valid in section *
Move out of range: 0.000 0.000 -3.400 [0.000] | move out of range
TMC 'stepper_x' reports error: DRV_STATUS: 80130110 s2ga=1(ShortToGND_A!) | shorttognd *
TMC 'stepper_x' reports error: GSTAT: 00000001 reset=1(Reset) | reset 1 reset
Unable to read tmc uart 'extruder' register IFCNT | unable to read tmc uart * register *
Option 'control' in section 'extruder' must be specified | option * in section * must be specified
jinja2.exceptions.UndefinedError: 'dict object' has no attribute 'BED' | dict object has no attribute *
Internal error during connect: No module named 'extras.mmu_leds' | no module named *
Unhandled exception during run | unhandled exception during *
mcu 'extruder_mcu': Unable to connect | mcu * unable to connect
mcu 'mcu': Unable to connect | mcu mcu unable to connect
mcu 'rpi': Unable to connect | mcu rpi unable to connect
No section: 'mcu' | no section *
почему Timer Too Close во время печати | timer too close
"""
# Messages as people say, misspell or paste them.
SAID = """
move is out of range; must home axes first; hotend not heating at expected rate; probe was triggered prior to movement
endstop z still triggers after retract; bl touch failed to deploy; bltouch did not deploy; tmc uart IFCNT error
unable to connect to mcu; extrude below min temp; lost comms with mcu; shutdown due to M112; OvertempWarning; otpw=1
CANBUS unable to open port can0; option pressure_advance_lookahead_time not valid in section extruder
mcu shutdwon: tmer to close; lost comunication with mcu; Unknown command:"G29"; gcode command M600 already registered
Unknown config object 'probe'; Unable to load module 'bltouch'; MCU 'mcu' spontaneous restart; i2c timeout
Unknown pin chip name 'EBBCan'; Include file /home/pi/x.cfg does not exist; Watchdog timer!; Printer is not ready
horizontal_move_z can't be less than probe's z_offset; Macro PAUSE called recursively; Thermocouple reader fault
"""
QUESTIONS = """
bed mesh; the timer is too fast, too close; option section; how do I set position_endstop; what is the watchdog; where is my printer.cfg
which boards are fast enough for mpu6050 over i2c; is the hotend heating too slowly; how to write macro names; bed mesh min max
"""


def parts(text):
    return text.strip().replace("\n", ";").split(";")


def known(query):
    return [message.message for message in messages.messages_in(query)]


def test_a_message_is_known_by_its_pattern_and_as_it_is_said():
    for query, message in cases(QUOTED):
        assert known(query) == [message]
    assert [wording for wording in parts(SAID) if not known(wording)] == []


def test_what_is_no_message_is_not_known():
    for query in (*parts(QUESTIONS), "* * *", "(" * 500):
        assert known(query) == []


def test_every_message_of_a_log_is_explained_once():
    log = (
        "Stats 1.0\n" * 50
        + "MCU 'mcu' shutdown: Timer too close\n" * 3
        + "Lost communication with MCU 'mcu'\n"
    )
    assert known(log) == ["timer too close", "lost communication with mcu *"]


def test_at_least_250_of_klippers_messages_are_explained():
    file = SHARED / "klipper/messages.jsonl"
    if not file.exists():
        pytest.skip("Klipper's messages are not in a clone (../shared/data)")
    rows = map(json.loads, file.read_text("utf-8").splitlines())
    printed = [re.sub(r"%[-\d.]*[a-z]", "x1", row["message"]) for row in rows]
    assert len(list(filter(messages.message_in_line, printed))) >= 250


def test_every_message_says_what_it_means_and_where_to_read_on():
    explained = [message for *_, message in messages.wordings()]
    assert len({message.means for message in explained}) >= 130
    table = messages.TABLE.read_text("utf-8")
    assert len(messages.TABLE_ENTRY.findall(table)) == len(re.findall(r"(?m)^\S", table))
    assert not re.findall(r"(?m) < *$", table), "without the files that print it"
    for message in explained:
        assert message.read
        assert re.fullmatch(r".+\. .+\.", f"{message.means} {message.first}")
        assert len(message.means + message.first) <= 300
