"""A printer's folder, and its tools as a client calls them."""

import tempfile
from pathlib import Path

import pytest

from tests.printer import klippy
from tools.core import registry, settings


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


@pytest.fixture
def call():
    return lambda name, **arguments: registry.find(name, registry.listed(settings.current()).values()).call(arguments)
