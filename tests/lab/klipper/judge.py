"""Klipper as the judge of a configuration: klippy.py in batch mode, without a board."""

import json
import re
import subprocess
import tempfile
from pathlib import Path

from tests.lab.klipper.running import CACHE, checkout

BUS = re.compile(r'DECL_ENUMERATION\w*\("(i2c_bus|spi_bus)", "([\w.]+)"')
PORTS = "ABCDEFGHIJKL"
# The pins of all boards: AVR and STM32, RP2040 and Linux, LPC, Beaglebone.
PINS = [
    *(f"P{port}{number}" for port in PORTS for number in range(32)),
    *(f"gpio{number}" for number in range(64)),
    *(f"P{port}.{number}" for port in range(5) for number in range(32)),
    *(f"P{port}_{number}" for port in (8, 9) for number in range(50)),
    *(f"analog{number}" for number in range(8)),
    *(f"AIN{number}" for number in range(8)),
    *(f"gpio{chip}_{number}" for chip in range(5) for number in range(32)),
    "ADC_TEMPERATURE",
]


def dictionary() -> Path:
    """A dictionary of the Linux process with the pins and buses of all boards: any configuration fits it."""
    path = CACHE / "every_board.dict"
    if not path.exists():
        facts = json.loads((checkout() / "out/klipper.dict").read_text("utf-8"))
        names = {"pin": PINS, "i2c_bus": [], "spi_bus": []}
        for source in (checkout() / "src").rglob("*.c"):
            for kind, name in BUS.findall(source.read_text("utf-8")):
                names[kind].append(name)
        for kind, listed in names.items():
            facts["enumerations"][kind] = {
                name: number for number, name in enumerate(dict.fromkeys(listed))
            }
        path.write_text(json.dumps(facts), encoding="utf-8")
    return path


def verdict(config: str, files: dict[str, str] | None = None) -> str:
    """Klipper's own words for a configuration with its includes; "" if it takes it."""
    host = [CACHE / "venv/bin/python", checkout() / "klippy/klippy.py", "printer.cfg"]
    with tempfile.TemporaryDirectory(prefix="klipper-") as folder:
        for name, text in {**(files or {}), "printer.cfg": config, "in": ""}.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        boards = ["-d", dictionary()]
        names = {
            line.split()[1].rstrip("]") for line in config.splitlines() if line.startswith("[mcu ")
        }
        for name in names:
            boards += ["-d", f"{name}={dictionary()}"]
        words = [*host, "-i", "in", "-o", "out", "-I", "tty", *boards]
        ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120)
    errors = [
        line for line in ended.stderr.splitlines() if "rror: " in line and not line.startswith(" ")
    ]
    return errors[-1].partition("rror: ")[2] if errors else ""
