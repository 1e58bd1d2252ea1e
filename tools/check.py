"""`server.py --check`: what works, what is not set up and how to, what is broken."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from textwrap import fill

from tools import connect, listing
from tools.core import health, places
from tools.core.health import Health, guarded
from tools.core.json_types import JsonObject
from tools.core.settings import PROJECT, current
from tools.http import http_check

START_TIMEOUT_S = 120
COLUMNS = 78
MARKS = {"ok": "✓", "unset": "○", "broken": "✗"}
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}
REQUESTS: list[JsonObject] = [
    {"id": 1, "method": "initialize", "params": HANDSHAKE},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
    {"id": 3, "method": "tools/call", "params": {"name": "greet", "arguments": {"name": "check"}}},
]


def main(command: list[str]) -> int:
    """Look at the server, started by `command` as a client would, and at every system; print a line each.

    Exit status 1 when something is broken.
    """
    listing.keep(current(), listing.make(current()))  # so that the first session starts as fast as the others
    rows = [
        ("server", guarded(lambda: _server(command))),
        ("settings", guarded(_settings)),
        ("service", guarded(lambda: _service(command[:-1]))),
        ("http", guarded(lambda: http_check.look(current()))),
    ]
    return show([*rows, *health.every(trying=True)])


def show(rows: list[tuple[str, Health]]) -> int:
    """Print a mark, a name and a sentence each, what to do below, and their sum. Exit status 1 if something is broken."""
    width = max(len(name) for name, _ in rows)
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    for name, look in rows:
        print(_filled(f"{MARKS[look.state]} {name:<{width}}  ", look.summary))
        if look.advice:
            print(_filled(" " * width + "    → ", look.advice))
    sums = Counter(look.state for _, look in rows)
    print(f"\n{sums['ok']} ok, {sums['unset']} optional and not set up, {sums['broken']} broken")
    return 1 if sums["broken"] else 0


def _filled(start: str, text: str) -> str:
    columns = 10**6 if "|" in text or "&&" in text else COLUMNS  # a line to be pasted into a shell stays one
    return fill(
        start + text, columns, subsequent_indent=" " * len(start), break_long_words=False, break_on_hyphens=False
    )


def _settings() -> Health:
    file = Path(places.settings_file(os.environ))
    if not file.exists():
        return Health("unset", "no file: all settings are the defaults, or the environment's", "./setup.sh makes one.")
    if file.stat().st_mode & 0o077:
        return Health("unset", f"others on this machine can read {file}", f"chmod 600 {file}")
    return Health("ok", f"{file}, {len(places.read(str(file)))} set")


def _server(command: list[str]) -> Health:
    began = time.monotonic()
    lines = "".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in REQUESTS)
    try:
        done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=START_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Health("broken", f"it does not start: {error}")
    try:
        messages = [json.loads(line) for line in done.stdout.splitlines()]
        tools = next(message["result"]["tools"] for message in messages if message.get("id") == 2)
        next(message["result"] for message in messages if message.get("id") == 3)
    except (ValueError, TypeError, LookupError, AttributeError, StopIteration):  # or something else writes to stdout
        return Health("broken", f"it does not answer: {_last(done.stderr)}", "./setup.sh installs what is missing.")
    took = time.monotonic() - began
    size = len(json.dumps(tools, ensure_ascii=False).encode())
    python = sys.version.split()[0]
    return Health("ok", f"{len(tools)} tools in {size} bytes, answered within {took:.1f} s, Python {python}")


def _service(command: list[str]) -> Health:
    """The resident service: does it take sessions?"""
    if (folder := connect.installed_for()) not in ("", str(PROJECT.resolve())):
        advice = f"./setup.sh --systemd in {PROJECT} installs it for this one."
        return Health("broken", f"{connect.INSTALLED} and the service are those of another folder, {folder}", advice)
    path = next(filter(os.path.lexists, places.sockets(os.environ)), None)
    if not path:
        has_systemd = os.path.isdir("/run/systemd/system")
        return Health(
            "unset", "every session starts cold", "./setup.sh --systemd makes them start at once." * has_systemd
        )
    began = time.monotonic()
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=START_TIMEOUT_S)
    if done.returncode or done.stderr:
        last = _last(done.stderr).removeprefix("pi-mcp: ")
        return Health("broken", last, "sudo systemctl restart pi-mcp; journalctl -u pi-mcp")
    return Health("ok", f"{path}, a session came and went in {time.monotonic() - began:.2f} s")


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["it says nothing"])[-1]
