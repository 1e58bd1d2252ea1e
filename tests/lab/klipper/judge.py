"""Klipper as the judge of a configuration: klippy.py in batch mode, without a board."""

import json
import re
import tempfile
from pathlib import Path

from tests.lab.klipper.running import CACHE, checkout
from tests.support.client import finished

BUS = re.compile(r'DECL_ENUMERATION\w*\("(i2c_bus|spi_bus)", "([\w.]+)"')

# The pins of all boards: AVR and STM32, RP2040 and Linux, LPC, Beaglebone.
# A few more than there are of each.
PORTS = """PA PB PC PD PE PF PG PH PI PJ PK PL gpio P0. P1. P2. P3. P4. P8_ P9_ analog AIN
gpio0_ gpio1_ gpio2_ gpio3_ gpio4_""".split()
PINS = [f"{port}{number}" for port in PORTS for number in range(64)] + ["ADC_TEMPERATURE"]


def dictionary():
    """A dictionary of the Linux process with the pins and buses of all boards: any configuration fits it."""
    path = CACHE / "every_board.dict"
    if not path.exists():
        facts = json.loads((checkout() / "out/klipper.dict").read_text("utf-8"))
        names = {"pin": PINS, "i2c_bus": [], "spi_bus": []}
        for source in (checkout() / "src").rglob("*.c"):
            for kind, name in BUS.findall(source.read_text("utf-8")):
                names[kind].append(name)
        for kind, found_names in names.items():
            numbers = enumerate(dict.fromkeys(found_names))
            facts["enumerations"][kind] = {name: number for number, name in numbers}
        path.write_text(json.dumps(facts), "utf-8")
    return path


def verdict(config, files=None):
    """Klipper's own words for a configuration with its includes; "" if it takes it."""
    host = [CACHE / "venv/bin/python", checkout() / "klippy/klippy.py", "printer.cfg"]
    with tempfile.TemporaryDirectory(prefix="klipper-") as folder:
        for name, text in {**(files or {}), "printer.cfg": config, "in": ""}.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        words = [*host, "-i", "in", "-o", "out", "-I", "tty", "-d", dictionary()]
        for name in set(re.findall(r"(?m)^\[mcu +(\w+)", config)):
            words += ["-d", f"{name}={dictionary()}"]
        ended = finished(words, cwd=folder)
    errors = re.findall(r"(?m)^\S.*?rror: (.*)", ended.stderr)
    return errors[-1] if errors else ""
