"""A real Anki without a screen, with AnkiConnect, for the lab: its profile, its window's Python, its end.

ANKI_PYTHON names a Python with `aqt`; ANKI_CONNECT_ADDON the folder of the add-on (`__init__.py`, `web.py`, …), which
is not part of this project. Two Ankis at once need a different USER each: Anki looks for a running one by that name.
"""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from tests.support.services import free_port

CONTROL = Path(__file__).with_name("control_addon.py")
START_S = 90
PROFILE = "User 1"

PREPARE = """
import sys
from pathlib import Path
from aqt.profiles import ProfileManager
manager = ProfileManager(Path(sys.argv[1]))
manager.setupMeta()
manager.meta["firstRun"] = False
manager.setLang("en_US")
manager.create(sys.argv[2])
manager.load(sys.argv[2])
manager.profile["mainWindowState"] = None
manager.profile["autoSync"] = False
manager.meta["last_run_version"] = 999999
manager.save()
"""


class Desktop:
    """Anki's window as a process: `url` is AnkiConnect's, `python` runs a text in its main thread."""

    def __init__(self, python, addon, name):
        self.python_path = python
        self.addon = addon
        self.name = name
        self.base = Path(tempfile.mkdtemp(prefix="pi-mcp-anki-"))
        self.port = free_port()
        self.control_port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self.environ = {
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "QTWEBENGINE_DISABLE_SANDBOX": "1",
            "QTWEBENGINE_CHROMIUM_FLAGS": "--no-sandbox",
            "USER": self.name,
            "LOGNAME": self.name,
            "LAB_CONTROL_PORT": str(self.control_port),
        }
        subprocess.run(
            [self.python_path, "-c", PREPARE, self.base, PROFILE], env=self.environ, check=True
        )
        addon = self.base / "addons21" / "2055492159"
        shutil.copytree(self.addon, addon)
        (addon / "meta.json").write_text(json.dumps({"config": {"webBindPort": self.port}}))
        control = self.base / "addons21" / "lab_control"
        control.mkdir()
        shutil.copy(CONTROL, control / "__init__.py")
        self.log = (self.base / "log").open("wb")
        self.start()
        return self

    def start(self):
        """Start it, also again after a crash, and wait until its collection is open."""
        run = [self.python_path, "-c", "import aqt; aqt.run()", "-b", self.base, "-p", PROFILE]
        self.process = subprocess.Popen(run, env=self.environ, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + START_S
        while True:
            try:
                if self.python("mw.col is not None"):
                    return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.base / "log").read_text(errors="replace")[-3000:])
            time.sleep(0.2)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.base, ignore_errors=True)

    def python(self, text):
        """The value of an expression, or of `result` after some statements, in Anki's main thread."""
        with socket.create_connection(("127.0.0.1", self.control_port), 600) as connection:
            connection.sendall(text.encode())
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as answer:
                value = json.load(answer)
        if isinstance(value, dict) and "lab_error" in value:
            raise RuntimeError(value["lab_error"])
        return value
