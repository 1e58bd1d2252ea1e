"""A real Klipper on this machine: its sources of one commit, its Linux process as the board, klippy.py as the
host."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from tests.support import services
from tools.core.errors import ToolError
from tools.klipper import printers

COMMIT = "84104bbbd7625d28b4eaaad83f4562972460ecd9"
# A git repository that has the commit.
SOURCE = os.environ.get("KLIPPER_SOURCE", "https://github.com/Klipper3d/klipper.git")
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "pi-mcp-lab"

READY_S = 150.0
ASK_S = 20.0


def checkout():
    """The sources with the board's process built, and an environment for the host: made once."""
    sources = CACHE / "klipper"
    ready = CACHE / "ready"
    if ready.exists():
        return sources
    shutil.rmtree(CACHE, ignore_errors=True)
    CACHE.mkdir(parents=True)
    clone(SOURCE, COMMIT, sources)
    shutil.copy(sources / "test/configs/linuxprocess.config", sources / ".config")
    for target in ("olddefconfig", "all"):
        subprocess.run(["make", "-s", "-C", sources, target], check=True, stdout=subprocess.DEVNULL)
    make_environment(CACHE / "venv", "cffi", "greenlet", "pyserial", "python-can", "jinja2")
    ready.touch()
    return sources


def clone(url, commit, folder):
    subprocess.run(["git", "clone", "-q", url, folder], check=True)
    subprocess.run(["git", "-C", folder, "checkout", "-q", commit], check=True)


def make_environment(folder, *packages):
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "-q", *packages], check=True)


class Klipper:
    """A printer's folder with the processes that serve it."""

    def __init__(self, folder):
        self.folder = folder
        self.port = folder / "board"
        self.socket = folder / "comms/klippy.sock"
        self.sources = checkout()
        # The board, and then the host.
        self.processes = []
        for name in ("config", "logs", "comms", "gcodes"):
            (folder / name).mkdir()

    def start(self, config, *states):
        """Start board and host with a configuration, and wait for one of these states, or for the socket."""
        self.stop()
        (self.folder / "config/printer.cfg").write_text(config, "utf-8")
        self.run(self.sources / "out/klipper.elf", "-I", self.port)
        wait_until(self.port.exists)
        words = [CACHE / "venv/bin/python", self.sources / "klippy/klippy.py", "config/printer.cfg"]
        words += ["-I", self.folder / "tty", "-a", self.socket, "-l", "logs/klippy.log"]
        self.run(*words)
        wait_until(self.answers)
        if states:
            self.wait_for(*states)

    def run(self, *words):
        self.processes.append(subprocess.Popen(words, cwd=self.folder, **SILENT))

    def stop(self):
        """End both processes."""
        while self.processes:
            process = self.processes.pop()
            process.kill()
            process.wait()
        self.socket.unlink(missing_ok=True)
        self.port.unlink(missing_ok=True)

    def answers(self):
        with suppress(ToolError):
            return bool(self.ask("info"))
        return False

    def ask(self, method, **params):
        """The answer of the API server to one request."""
        return printers.LocalPrinter(self.folder, time.monotonic() + ASK_S).request(method, params)

    def send(self, script):
        """Run G-Code."""
        return self.ask("gcode/script", script=script)

    def wait_for(self, *states):
        wait_until(lambda: self.ask("info")["state"] in states)


SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


# Klipper takes its time to get anywhere.
wait_until = partial(services.wait_until, timeout_s=READY_S)


@contextmanager
def printer():
    """A Klipper in a folder of its own, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="klipper-") as folder:
        klipper = Klipper(Path(folder))
        try:
            yield klipper
        finally:
            klipper.stop()
