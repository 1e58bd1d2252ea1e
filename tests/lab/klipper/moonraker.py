"""A real Moonraker beside the real Klipper: its sources of one commit, with its packages in an environment of its
own. The answers of our tools through it are compared with those from the printer's folder; what it says itself
is recorded for the stand-in of the tests."""

import os
import re
import subprocess
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from tests.klipper.asking import call
from tests.lab.klipper import states
from tests.lab.klipper.running import (
    CACHE,
    SILENT,
    clone,
    make_environment,
    printer,
    wait_until,
)
from tests.support.services import free_port
from tools.core import registry, settings
from tools.core.json_types import compact_json

COMMIT = "d5ee171"
# A git repository that has the commit.
SOURCE = os.environ.get("MOONRAKER_SOURCE", "https://github.com/Arksine/moonraker.git")
RECORDED = Path(__file__).resolve().parents[2] / "printer/moonraker.json"
CONFIG = """\
[server]
host: 127.0.0.1
port: {port}
klippy_uds_address: {socket}
[machine]
provider: none
validate_service: False
[authorization]
{clients}
[file_manager]
enable_object_processing: False
[history]
"""
TRUSTED = "trusted_clients:\n  127.0.0.1"
# Parts of an answer that two readings a moment apart need not share.
MOVING = re.compile(
    r'"(?:percent|seconds|left_s|last_line_hours_ago|ran_s|received|load|memory_free_mb)":[\d.]+'
)


def checkout():
    """The sources, and an environment with what they need: made once."""
    sources = CACHE / "moonraker"
    ready = CACHE / "moonraker-ready"
    if not ready.exists():
        clone(SOURCE, COMMIT, sources)
        packages = sources / "scripts/moonraker-requirements.txt"
        make_environment(CACHE / "moonraker-venv", "-r", packages)
        ready.touch()
    return sources


@contextmanager
def moonraker(klipper, clients=TRUSTED):
    """The address of a Moonraker for a printer's folder."""
    port = free_port()
    config = CONFIG.format(port=port, socket=klipper.socket, clients=clients)
    (klipper.folder / "config/moonraker.conf").write_text(config)
    words = [CACHE / "moonraker-venv/bin/python", "-m", "moonraker", "-d", klipper.folder]
    environment = {**os.environ, "PYTHONPATH": str(checkout())}
    process = subprocess.Popen(words, env=environment, **SILENT)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: asked(url, "server/info")["status"])
        yield url
    finally:
        process.terminate()
        process.wait()


def asked(url, path, **headers):
    """Moonraker's answer to a request: status, type, the part of a file, body."""
    request = urllib.request.Request(f"{url}/{path}", headers=headers)
    try:
        response = urllib.request.urlopen(request)
    except urllib.error.HTTPError as error:
        response = error
    except OSError:
        return {"status": 0}
    body = re.sub(r',"traceback":.*', "}}", response.read().decode())
    length = response.headers.get("Content-Range")
    return {
        "status": response.status,
        "type": response.headers["Content-Type"],
        "range": length and re.sub(r"\d+", "0", length),
        "body": body,
    }


def compare(show, save):
    """Show where the answers through Moonraker differ from those from the folder, in each state of a printer;
    save what Moonraker says. 1 if any differ."""
    registry.load()
    recorded = {}
    differences = 0
    with printer() as klipper, moonraker(klipper) as url:
        os.environ |= {"KLIPPER_PRINTER_DATA": str(klipper.folder), "PRINTERS": f"lab={url}"}
        settings.forget()
        recorded["Klipper was never there"] = asked(url, "printer/info")
        for name in states.states(klipper):
            wait_until(lambda: asked(url, "printer/info")["status"] == 200)
            for tool in ("printer_state", "printer_log", "check_config"):
                by_folder, by_web = (call(tool, printer=where) for where in ("here", "lab"))
                if still(by_folder) != still(by_web):
                    differences += 1
                    show(f"{name}: {tool} here", by_folder)
                    show(f"{name}: {tool} by Moonraker", by_web)
        show("the last answer of printer_log", call("printer_log", printer="lab"))
        for path in (
            "server/files/logs/nope.log",
            "server/history/list?limit=1",
            "server/files/list?root=logs",
        ):
            recorded[path] = asked(url, path)
        log = "server/files/logs/klippy.log"
        recorded["the end of a log"] = asked(url, log, Range="bytes=-20")
        recorded["a short log"] = asked(url, log, Range="bytes=-9999999") | {"body": ""}
        klipper.stop()
        wait_until(lambda: asked(url, "printer/info")["status"] != 200)
        recorded["Klipper is gone"] = asked(url, "printer/info")
        show("Klipper does not run", call("printer_state", printer="lab"))
        with moonraker(klipper, clients="") as locked:
            recorded["it wants a key"] = asked(locked, "printer/info")
    if save:
        states.write(RECORDED, recorded)
    return int(bool(differences))


def still(answer):
    """An answer without the parts that change from moment to moment."""
    return MOVING.sub("", compact_json(answer))
