"""What is understood of the reference's sections: options described together, sensors, options that stand in for others."""

from tests.klipper.config.sample import CHANGES
from tools.klipper.config import changes, printer_cfg, shown
from tools.klipper.config.checking import Checker
from tools.klipper.config.reference import Reference

SENSORS = """
## Temperature sensors

### Common thermistors

```
sensor_type:
#   One of "Generic 3950".
#inline_resistor: 0
#   In ohms. The default is 0 ohms.
```
"""


def section(name: str, options: str) -> str:
    return f"## Things\n\n### [{name}]\n\n```\n[{name}]\n{options}```\n"


def test_options_with_one_description_are_shown_together_and_each_of_them():
    reference = Reference(
        section("probe", "#x_offset: 0\n#y_offset: 1\n#z_offset:\n#   Where it is.\n#speed: 5\n#   In mm/s.\n")
    )
    answer = shown.section(reference.blocks_of("probe"), [], full=False)
    assert answer["options"] == ["x_offset (0), y_offset (1), z_offset: Where it is.", "speed (5): In mm/s."]


def test_a_section_takes_the_options_of_sensors_only_if_it_reads_a_temperature():
    heater = "sensor_type:\n#   A sensor.\nmin_temp:\n#   In degrees.\n"
    sensor = "sensor_type:\n#   A sensor of another kind.\n"
    limit = "min_temp:\n#   In degrees.\n"
    for options, taken in ((heater, True), (sensor, False), (limit, False)):
        reference = Reference(section("thing", options) + SENSORS)
        assert ("inline_resistor" in reference.options_of("thing")) is taken


def test_a_required_option_that_another_one_stands_in_for_is_not_asked_for():
    reference = Reference(section("tmc2240 stepper_x", "cs_pin:\n#   This parameter must be provided.\n#uart_pin:\n#   A pin.\n"))  # fmt: skip
    check = Checker(reference, changes.entries(CHANGES), [])

    def missing(text: str) -> list[str]:
        return [finding.option for finding in check.findings(printer_cfg.read(text, {})).worst_first()]

    assert missing("[tmc2240 stepper_x]\nuart_pin: PA1\n") == []
    assert missing("[tmc2240 stepper_x]\ncs_pin: PA1\n") == []
    assert missing("[tmc2240 stepper_x]\n") == ["cs_pin"]
