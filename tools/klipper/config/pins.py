"""Pins that are used twice."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tools.klipper.config.printer_cfg import PrinterConfig, Section, Setting

SIGNS = "^~! "
"""Before the name of a pin: pulled up, pulled down, inverted."""

SHARED = ("enable_pin", "endstop_pin", "spi_software_", "i2c_software_", "uart_pin", "tx_pin", "cs_pin", "select_pins")
"""Options whose pin several sections may name alike (klippy/pins.py: `share_type`)."""

UNUSED = ("diag_pin", "diag0_pin", "diag1_pin")
"""Options whose pin is taken only through a virtual endstop (klippy/extras/tmc.py)."""

OVERRIDE = "duplicate_pin_override"
PRIMARY = "mcu:"
ANALOG = "analog_range"
"""Several buttons may be on one analog pin."""


class Use(NamedTuple):
    """A pin where it is used."""

    pin: str
    section: str
    setting: Setting


def used_twice(config: PrinterConfig) -> Iterator[tuple[Use, Use]]:
    """Each use of a pin that another section has used before, with that, but where Klipper allows it."""
    aliases = dict(_aliases(config.sections.values()))
    allowed = {aliases.get(pin, pin) for pin in _overridden(config)}
    first: dict[str, Use] = {}
    for use in _uses(config.sections.values()):
        pin = aliases.get(use.pin, use.pin)
        before = first.setdefault(pin, use)
        if before is not use and pin not in allowed and not _share(before, use):
            yield before, use


def _uses(sections: Iterable[Section]) -> Iterator[Use]:
    for section in sections:
        if section.kind in (OVERRIDE, "board_pins") or any(s.name.startswith(ANALOG) for s in section.settings):
            continue
        for setting in section.values().values():
            is_pin = setting.name in ("pin", "pins") or setting.name.endswith(("_pin", "_pins"))
            if is_pin and setting.name not in UNUSED:
                for pin in _pins(setting.value):
                    yield Use(pin, section.name, setting)


def _pins(value: str) -> Iterator[str]:
    """The pins in a value: a virtual one (`probe:z_virtual_endstop`) and a level (`GND`) are not of a board."""
    for part in value.split(",") if len(value) < 1000 else ():
        pin = part.strip().lstrip(SIGNS).removeprefix(PRIMARY)
        if "virtual" not in pin and any(char.isdigit() for char in pin) and " " not in pin:
            yield pin


def _share(before: Use, use: Use) -> bool:
    """Whether Klipper lets these two share their pin: the same option, one of SHARED. In one section it is one device's."""
    same = before.setting.name == use.setting.name and use.setting.name.startswith(SHARED)
    return same or before.section == use.section


def _overridden(config: PrinterConfig) -> Iterator[str]:
    section = config.sections.get(OVERRIDE)
    for setting in section.settings if section else ():
        yield from _pins(setting.value)


def _aliases(sections: Iterable[Section]) -> Iterator[tuple[str, str]]:
    """The names that `[board_pins]` gives to pins, `EXP1_1=PE8`."""
    for section in sections:
        if section.kind == "board_pins":
            for setting in section.settings:
                for part in setting.value.split(",") if setting.name.startswith("aliases") else ():
                    alias, _, pin = part.partition("=")
                    if "<" not in pin:
                        yield alias.strip(), pin.strip().removeprefix(PRIMARY)
