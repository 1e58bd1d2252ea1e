"""A printer's folder."""

import tempfile
from pathlib import Path

import pytest

from tests.klipper.config import sample
from tests.printer import klippy

REFERENCE = sample.REFERENCE.replace("#max_jump:", "max_velocity:\nmax_accel:\n#max_jump:").replace(
    "endstop_pin:", "dir_pin:\nmicrosteps:\nrotation_distance:\n#position_max:\nendstop_pin:", 1
)
OUTPUT_PIN = """\
### [output_pin]
```
[output_pin my_pin]
pin:
#   The pin.
#value:
#   What it starts with.
```
"""
GONE = """\
20250811: Support for the `max_accel_to_decel` parameter in the `[printer]`
config section has been removed.
"""
PAGES = {
    "Config_Reference.md": REFERENCE + OUTPUT_PIN,
    "Config_Changes.md": sample.CHANGES + GONE,
    "Releases.md": "# Releases\n\n## Klipper 0.13.0\n\nAvailable on 20250411. Changes:\n"
    "\n## Klipper 0.12.0\n\nAvailable on 20231110.\n\n## Klipper 0.10.0\n\nAvailable on 20210929.\n\n## Klipper 0.8.0\n\nAvailable on 20191021.\n",
}


@pytest.fixture
def pages(small_docs):
    """A small documentation, written like Klipper's."""
    return small_docs(PAGES)


@pytest.fixture
def printer(env):
    """The folder of a printer with a log and a configuration that has two mistakes."""
    with tempfile.TemporaryDirectory(prefix="printer-") as short:  # a socket's path has at most 107 bytes
        folder = Path(short)
        for name in ("config", "logs", "comms"):
            (folder / name).mkdir()
        (folder / "config/printer.cfg").write_text(klippy.CONFIG)
        (folder / "logs/klippy.log").write_text(klippy.log())
        env(KLIPPER_PRINTER_DATA=folder)
        yield folder
