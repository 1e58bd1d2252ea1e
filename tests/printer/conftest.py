"""A printer's folder."""

import tempfile
from pathlib import Path

import pytest

from tests.conftest import SMALL_DOCS
from tests.klipper.asking import call
from tests.printer import klippy
from tools.printer import printer_resonances


@pytest.fixture
def pages(env):
    """Our own small documentation."""
    env(KLIPPER_DOCS_DIR=SMALL_DOCS)


@pytest.fixture
def printer(env):
    """The folder of a printer with a log and a configuration that has two mistakes."""
    # A socket's path has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="printer-") as short:
        folder = Path(short)
        for name in ("config", "logs"):
            (folder / name).mkdir()
        (folder / "config/printer.cfg").write_text(klippy.CONFIG)
        (folder / "logs/klippy.log").write_text(klippy.log())
        env(KLIPPER_PRINTER_DATA=folder)
        yield folder


@pytest.fixture
def folder(printer, tmp_path, monkeypatch):
    """The folder that stands for /tmp, on the machine of a printer."""
    monkeypatch.setattr(printer_resonances, "RESULTS_FOLDER", tmp_path)
    return tmp_path


@pytest.fixture
def log(printer):
    """The printer's log."""
    return printer / "logs/klippy.log"


@pytest.fixture
def read_log(log):
    """A function that gives the answer of printer_log to a log of this text."""

    def read(text, **arguments):
        log.write_text(text)
        return call("printer_log", **arguments)

    return read
