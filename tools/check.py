"""`server.py --check`: what works, what is not set up and how to, what is broken."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from tools.core import env_file, health
from tools.core.health import Health, guarded
from tools.core.json_types import JsonObject
from tools.core.settings import PROJECT, current

START_TIMEOUT_S = 120
INSTALLED = Path("/usr/local/bin/pi-mcp")
"""The command that setup.sh installs."""
FOLDER = re.compile(r'"([^"]+)/tools/service/handover\.py"')
"""The project's folder in that command."""


def main(command: list[str]) -> int:
    """Look at the server, started by `command` as a client would, and at every system; print a line each.

    Exit status 1 when something is broken.
    """
    rows = [
        ("server", guarded(lambda: _server(command))),
        ("service", guarded(lambda: _service(command[:-1]))),
        ("http", guarded(_http)),
    ]
    return show([*rows, *health.every()])


def remote(host: str) -> int:
    """Look at the server on another machine, from here; print a line each, and what the client needs."""
    from tools.service import ssh_check

    report = ssh_check.look(host)
    status = show(report.rows)
    if report.client:
        print(f"\nFor the client on this machine:\n{report.client}")
    return status


def show(rows: list[tuple[str, Health]]) -> int:
    """Print a line each. Exit status 1 when something is broken."""
    width = max(len(name) for name, _ in rows)
    for name, look in rows:
        print(f"{name:<{width}}  {health.MARKS[look.state]:<10}  {look.summary}")
        if look.advice:
            print(f"{'':<{width}}  {'':<10}  → {look.advice}")
    return 1 if any(look.state == "broken" for _, look in rows) else 0


def _http() -> Health:
    from tools.service import http_check

    return http_check.look(current())


def _server(command: list[str]) -> Health:
    began = time.monotonic()
    requests: list[JsonObject] = [
        {"id": 1, "method": "initialize", "params": {**HANDSHAKE}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    lines = "".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in requests)
    try:
        done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=START_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Health("broken", f"it does not start: {error}")
    answers = _answers(done.stdout)
    if answers is None or len(answers) < 2:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        return Health("broken", f"it does not answer: {last}", "Run setup.sh again; it installs what is missing.")
    took = time.monotonic() - began
    tools = answers[2]["tools"]
    size = len(json.dumps(tools, ensure_ascii=False).encode())
    python = sys.version.split()[0]
    return Health("ok", f"{len(tools)} tools in {size} bytes, answered within {took:.1f} s, Python {python}")


def _service(command: list[str]) -> Health:
    """Whether sessions are handed to the resident service."""
    if folder := _installed_for():
        advice = f"./setup.sh --systemd in {PROJECT} installs it for this one."
        return Health("broken", f"{INSTALLED} and the service are those of another folder, {folder}", advice)
    path = next(filter(os.path.lexists, env_file.sockets(os.environ)), None)
    if not path:
        return Health("unset", "every session starts cold", "./setup.sh --systemd makes them start at once.")
    began = time.monotonic()
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=START_TIMEOUT_S)
    if done.returncode or done.stderr:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        return Health("broken", last.removeprefix("pi-mcp: "), "sudo systemctl restart pi-mcp; journalctl -u pi-mcp")
    return Health("ok", f"{path}, a session came and went in {time.monotonic() - began:.2f} s")


def _installed_for() -> str:
    """The folder that the installed command serves from, if it is not this one."""
    try:
        match = FOLDER.search(INSTALLED.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return ""
    return match[1] if match and os.path.realpath(match[1]) != str(PROJECT.resolve()) else ""


HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}


def _answers(text: str) -> dict[int, JsonObject] | None:
    """The results by request id; None if a line is not JSON: something else writes to stdout."""
    try:
        messages = [json.loads(line) for line in text.splitlines()]
        return {message["id"]: message["result"] for message in messages if "id" in message}
    except (ValueError, TypeError, KeyError):
        return None
