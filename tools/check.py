"""`server.py --check`: what works, what is not set up and how to, what is broken."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE
from textwrap import fill
from typing import NamedTuple

from tools import protocol
from tools.core import health, places
from tools.core.health import Health, run_check
from tools.core.settings import current
from tools.http import http_check
from tools.resident import handover
from tools.toolkit import ToolError

START_TIMEOUT_S = 120
INSTALL = "./setup.sh installs what is missing."
RESTART = "sudo systemctl restart pi-mcp, or ./setup.sh --systemd if this folder is new; journalctl -u pi-mcp"
STATE_SIGNS = {"ok": "✓", "unset": "○", "broken": "✗"}
LIST_REQUEST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {
        "_meta": {
            protocol.PROTOCOL_VERSION: protocol.MODERN_VERSION,
            protocol.CLIENT_CAPABILITIES: {},
        }
    },
}


def main(command: list[str]) -> int:
    """Check the server, started by `command` as a client would, and every system. Print a mark, a name and a
    sentence for each, below it what to do, and the sums. Exit status 1 if something is broken."""
    results = [
        ("server", run_check(lambda: _server(command))),
        ("settings", run_check(_settings)),
        ("service", run_check(lambda: _service(command[:-1]))),
        ("http", run_check(lambda: http_check.inspect(current()))),
    ]
    results += health.run_checks(trying=True)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the reader may close the pipe early: `… | head`
    for name, result in results:
        start = f"{STATE_SIGNS[result.state]} {name:<10}  "
        _print(start, result.summary)
        if result.advice:
            _print(" " * len(start) + "→ ", result.advice)
    states = [result.state for _, result in results]
    sums = f"{states.count('ok')} ok, {states.count('unset')} optional and not set up"
    print(f"\n{sums}, {states.count('broken')} broken")
    return int("broken" in states)


def _print(start: str, text: str) -> None:
    """Print a text after `start`, wrapped unless it is a line to be pasted into a shell."""
    line = start + text
    if "|" not in text and "&&" not in text:
        line = fill(
            line,
            78,
            subsequent_indent=" " * len(start),
            break_long_words=False,
            break_on_hyphens=False,
        )
    print(line)


def _settings() -> Health:
    file = Path(places.settings_file())
    if not file.exists():
        return Health(
            "unset",
            "no settings file: defaults and environment variables apply",
            "./setup.sh makes one.",
        )
    if file.stat().st_mode & 0o077:
        return Health("unset", f"others on this machine can read {file}", f"chmod 600 {file}")
    return Health("ok", f"{file}, {len(places.values_in_file(str(file)))} set")


def _server(command: list[str]) -> Health:
    session = _run(command, INSTALL)
    try:
        tools = json.loads(session.output)["result"]["tools"]
    except (ValueError, LookupError):  # nothing, an error, or something else writes to stdout
        complaint = session.complaint or f"it says nothing, exit status {session.status}"
        return Health("broken", f"it does not answer: {complaint}", INSTALL)
    python = sys.version.split()[0]
    return Health(
        "ok", f"{len(tools)} tools, listed within {session.took_s:.1f} s, Python {python}"
    )


def _service(command: list[str]) -> Health:
    path = next(filter(os.path.lexists, places.sockets()), None)
    if not path:
        return Health(
            "unset",
            "not installed: the first call of every session takes longer",
            "./setup.sh --systemd makes it quick, if this machine has systemd.",
        )
    session = _run(command, RESTART)
    if session.status or handover.NOT_HANDED in session.complaint:
        return Health("broken", session.complaint, RESTART)
    return Health("ok", f"{path}, a session came and went in {session.took_s:.2f} s")


class EndedSession(NamedTuple):
    """A session that has ended; `complaint` is the last line of its log."""

    status: int
    output: str
    complaint: str
    took_s: float


def _run(command: list[str], advice: str) -> EndedSession:
    """Run a session that lists the tools, and close its input after the answer. Raises ToolError with
    `advice` if it does not end."""
    began_s = time.monotonic()
    timed_command = ["timeout", "--signal=KILL", str(START_TIMEOUT_S), *command]
    with subprocess.Popen(
        timed_command, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        with suppress(BrokenPipeError):  # it ended already
            process.stdin.write(f"{json.dumps(LIST_REQUEST)}\n")
            process.stdin.flush()
        answer = process.stdout.readline()
        remainder, log = process.communicate()
    if process.returncode == -signal.SIGKILL:
        raise ToolError(f"no answer in {START_TIMEOUT_S} s", advice)
    complaint = log.strip().rpartition("\n")[2].removeprefix("pi-mcp: ")
    return EndedSession(
        process.returncode, answer + remainder, complaint, time.monotonic() - began_s
    )
