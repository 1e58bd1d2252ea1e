"""`server.py --check`: what works, what is not set up and how to, what is broken."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from textwrap import fill

from tools import connect, listing
from tools.core import health, places
from tools.core.errors import ToolError
from tools.core.health import Health, guarded
from tools.core.json_types import JsonObject
from tools.core.settings import PROJECT, check, current
from tools.http import http_check

START_TIMEOUT_S = 120
COLUMNS = 78
WHOLE_WORDS: JsonObject = {"break_long_words": False, "break_on_hyphens": False}
INSTALL = "./setup.sh installs what is missing."
RESTART = "sudo systemctl restart pi-mcp; journalctl -u pi-mcp"
MARKS = {"ok": "✓", "unset": "○", "broken": "✗"}
HANDSHAKE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "check", "version": "1"},
}
REQUESTS: list[JsonObject] = [
    {"id": 1, "method": "initialize", "params": HANDSHAKE},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
    {"id": 3, "method": "tools/call", "params": {"name": "greet", "arguments": {"name": "check"}}},
]


def main(command: list[str]) -> int:
    """Look at the server, started by `command` as a client would, and at every system; print a line each.
    Exit status 1 if something is broken."""
    settings = current()
    listing.save(settings, listing.build(settings))  # so that the first session starts as fast as the others
    rows = [
        ("server", guarded(lambda: _server(command))),
        ("settings", guarded(_settings)),
        ("service", guarded(lambda: _service(command[:-1]))),
        ("http", guarded(lambda: http_check.look(settings))),
    ]
    return show([*rows, *health.every(trying=True)])


def show(rows: list[tuple[str, Health]]) -> int:
    """Print a mark, a name and a sentence for each, what to do below it, and the sums. Exit status 1 if
    something is broken."""
    width = max(len(name) for name, _ in rows)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # whoever reads may have enough: `… | head`
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    for name, look in rows:
        mark = f"{MARKS[look.state]} {name:<{width}}  "
        for start, text in ((mark, look.summary), (" " * len(mark) + "→ ", look.advice)):
            # A line to be pasted into a shell stays one.
            columns = 10**6 if "|" in text or "&&" in text else COLUMNS
            if text:
                print(fill(start + text, columns, subsequent_indent=" " * len(start), **WHOLE_WORDS))
    sums = Counter(look.state for _, look in rows)
    print(f"\n{sums['ok']} ok, {sums['unset']} optional and not set up, {sums['broken']} broken")
    return 1 if sums["broken"] else 0


def _settings() -> Health:
    file = Path(places.settings_file(os.environ))
    if not file.exists():
        return Health(
            "unset", "no file: all settings are the defaults, or the environment's", "./setup.sh makes one."
        )
    if file.stat().st_mode & 0o077:
        return Health("unset", f"others on this machine can read {file}", f"chmod 600 {file}")
    return Health("ok", f"{file}, {len(places.read(str(file)))} set")


def _server(command: list[str]) -> Health:
    lines = "".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in REQUESTS)
    output, complaint, took_s = _run(command, lines, INSTALL)
    try:
        answers = {message.get("id"): message for message in map(json.loads, output.splitlines())}
        tools, _ = answers[2]["result"]["tools"], answers[3]["result"]
    except (ValueError, TypeError, LookupError, AttributeError):  # or something else writes to stdout
        return Health("broken", f"it does not answer: {complaint or 'it says nothing'}", INSTALL)
    size, python = len(json.dumps(tools, ensure_ascii=False).encode()), sys.version.split()[0]
    return Health(
        "ok", f"{len(tools)} tools in {size} bytes, answered within {took_s:.1f} s, Python {python}"
    )


def _service(command: list[str]) -> Health:
    if (folder := connect.installed_for()) not in ("", str(PROJECT.resolve())):
        advice = f"./setup.sh --systemd in {PROJECT} installs it for this one."
        return Health(
            "broken", f"{connect.INSTALLED} and the service are those of another folder, {folder}", advice
        )
    path = next(filter(os.path.lexists, places.sockets(os.environ)), None)
    if not path:
        advice = "./setup.sh --systemd makes it quick." if os.path.isdir("/run/systemd/system") else ""
        return Health("unset", "the first call of every session takes longer", advice)
    _, complaint, took_s = _run(command, "", RESTART)
    if complaint:
        return Health("broken", complaint.removeprefix("pi-mcp: "), RESTART)
    return Health("ok", f"{path}, a session came and went in {took_s:.2f} s")


def _run(command: list[str], lines: str, advice: str) -> tuple[str, str, float]:
    """The output of a session with these lines, the last line of its log if there is one, and the seconds it
    took. Raises ToolError with this advice if it does not end."""
    began_s = time.monotonic()
    try:
        done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=START_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise ToolError(f"no answer in {START_TIMEOUT_S} s", advice) from None
    # Without the remarks on misspelt settings, which this check began with.
    log = [line for line in done.stderr.splitlines() if line.removeprefix("pi-mcp: ") not in ("", *check())]
    status = f"exit status {done.returncode}" if done.returncode else ""
    return done.stdout, log[-1] if log else status, time.monotonic() - began_s
