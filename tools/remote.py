"""`pi-mcp --check --ssh user@host`, on the desktop: what stands between a client there and the server on the Pi."""

import json
import re
import subprocess
import time
from dataclasses import dataclass

from tools.registry import Health

COMMAND = "/usr/local/bin/pi-mcp"
OPTIONS = ("BatchMode=yes", "ServerAliveInterval=15", "ServerAliveCountMax=3")
"""No question that nobody sees; a link that is cut is noticed within a minute."""
TIMEOUT_S = 60
SSHD = "/etc/ssh"
"""Where sshd on the Pi has its configuration."""
DROP_IN = "printf 'ClientAliveInterval 15\\nClientAliveCountMax 3\\n' | sudo tee /etc/ssh/sshd_config.d/pi-mcp.conf"
RELOAD = "sudo systemctl reload ssh"
ASK = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    '"clientInfo":{"name":"check","version":"1"}}}\n'
)


@dataclass(frozen=True)
class Said:
    """What a command on the Pi said, or ssh in its place (status 255)."""

    status: int
    output: str
    errors: str
    took_s: float


def rows(host: str) -> list[tuple[str, Health]]:
    """What each look found, in the order in which things go wrong; after what is broken nothing else is looked at."""
    found = []
    for name, look in (("ssh", _login), ("stdout", _silence), ("server", _session), ("keepalive", _keepalive)):
        found.append((name, look(host)))
        if found[-1][1].state == "broken":
            break
    return found


def client_json(host: str) -> str:
    """What goes into the client's configuration."""
    server = {"command": "ssh", "args": [*_words(host)[1:], COMMAND]}
    return json.dumps({"mcpServers": {"pi": server}}, indent=2)


def _words(host: str) -> list[str]:
    return ["ssh", "-T", *(word for option in OPTIONS for word in ("-o", option)), "--", host]


def _run(host: str, command: str, given: str = "") -> Said:
    began = time.monotonic()
    try:
        done = subprocess.run(
            [*_words(host), command],
            input=given,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT_S,
        )
    except FileNotFoundError:
        return Said(255, "", "ssh is not installed here", 0)
    except subprocess.TimeoutExpired:
        return Said(255, "", f"no answer within {TIMEOUT_S} s", TIMEOUT_S)
    return Said(done.returncode, done.stdout, done.stderr.strip(), time.monotonic() - began)


REMEDIES = (
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "If the Pi was set up anew: ssh-keygen -R {name}, then log in once by hand.",
    ),
    ("Host key verification failed", "Log in once by hand (ssh {host}), compare the fingerprint and say yes."),
    ("Permission denied", "A client cannot type a password. Give the Pi your key: ssh-copy-id {host}"),
    (
        "Could not resolve hostname",
        "Is the name right? On the home network it may be {name}.local; else use the address.",
    ),
    ("Connection refused", "Switch ssh on: on the Pi, sudo systemctl enable --now ssh"),
)


def _login(host: str) -> Health:
    said = _run(host, "true")
    if said.status == 0:
        return Health("ok", f"{host} lets this machine in without a question, in {said.took_s:.1f} s")
    name = host.rpartition("@")[2]
    advice = next((text for mark, text in REMEDIES if mark in said.errors), "Is the Pi on, and on this network?")
    last = (said.errors.splitlines() or ["ssh failed and says nothing"])[-1]
    return Health("broken", last, advice.format(host=host, name=name))


def _silence(host: str) -> Health:
    said = _run(host, "true")
    if not said.output:
        return Health("ok", "nothing but the server writes to it")
    return Health(
        "broken",
        f"a login script on the Pi prints {len(said.output)} characters, first {said.output.splitlines()[0][:60]!r}",
        "Only MCP may be on stdout. Put at the top of ~/.bashrc on the Pi: case $- in *i*) ;; *) return ;; esac",
    )


def _session(host: str) -> Health:
    said = _run(host, COMMAND, ASK)
    try:
        name = json.loads(said.output)["result"]["serverInfo"]["name"]
    except (ValueError, KeyError, TypeError):
        return _no_session(said)
    if "served here" in said.errors:
        return Health("ok", f"{name} answers in {said.took_s:.1f} s", said.errors.splitlines()[-1])
    return Health("ok", f"{name} answers in {said.took_s:.1f} s, ssh included")


def _no_session(said: Said) -> Health:
    if said.status in (126, 127):
        return Health(
            "broken", f"there is no {COMMAND} on the Pi", "In the folder of pi-mcp there: ./setup.sh --systemd"
        )
    last = (said.errors.splitlines() or said.output.splitlines() or ["it says nothing"])[-1]
    return Health(
        "broken", f"the server does not answer: {last[:200]}", f"See what it says on the Pi: {COMMAND} --check"
    )


def _keepalive(host: str) -> Health:
    """From the files, which anybody may read: `sshd -T` would need root. Of two that disagree sshd takes the first."""
    files = f"{SSHD}/sshd_config.d/*.conf {SSHD}/sshd_config"
    said = _run(host, f"sh -c \"grep -ihs '^[[:space:]]*ClientAlive' {files}\"")
    given = {"interval": "0", "countmax": "3"}  # what sshd does where nothing is said
    for name, value in reversed(re.findall(r'ClientAlive(\w+)[\s="]+(\w+)', said.output, re.IGNORECASE)):
        given[name.lower()] = value
    if all(value.strip("0") for value in given.values()):
        return Health("ok", "both ends notice a cut link")
    return Health(
        "unset", "the Pi does not notice a cut link, and keeps the session", f"On the Pi: {DROP_IN} && {RELOAD}"
    )
