"""The messages of Klipper that a search knows."""

import pytest

from tools.klipper.search import messages

QUOTED = {
    "MCU 'mcu' shutdown: Timer too close": "timer too close",
    "!! Option 'foo_bar' is not valid in section 'gcode_macro START'": "option * is not valid in section *",
    "Move out of range: 0.000 0.000 -3.400 [0.000]": "move out of range",
    "TMC 'stepper_x' reports error: DRV_STATUS: 80130110 s2ga=1(ShortToGND_A!)": "s2ga",
    "TMC 'stepper_x' reports error: GSTAT: 00000001 reset=1(Reset)": "reset 1 reset",
    "Unable to read tmc uart 'extruder' register IFCNT": "unable to read tmc uart * register *",
    "Option 'control' in section 'extruder' must be specified": "option * in section * must be specified",
    "почему Timer Too Close во время печати": "timer too close",
}


@pytest.mark.parametrize("query", QUOTED)
def test_a_message_is_known_by_its_pattern(query):
    assert messages.known(query).message == QUOTED[query]


@pytest.mark.parametrize(
    "query", ["bed mesh", "the timer is too fast, too close", "option section", "", "* * *", "(" * 500]
)
def test_what_is_no_message_is_not_known(query):
    assert messages.known(query) is None


def test_every_message_says_where_it_comes_from():
    every = {message for _, message in messages._table()}
    assert len(every) > 90
    for message in every:
        assert message.meaning.endswith(".") and message.first.endswith(".")
        assert message.read and message.sources
        assert len(message.meaning + message.first) <= 300
