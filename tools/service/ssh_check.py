"""`server.py --check --ssh user@host`, on the desktop: what stands between a client there and the server on the Pi."""

import json
import re
import subprocess
import time
from dataclasses import dataclass

from tools.core.health import Health

COMMAND = "/usr/local/bin/pi-mcp"
"""What setup.sh --systemd installs."""
CLONE = "$HOME/pi-mcp/server.py"
"""Where the README clones to."""
OPTIONS = ("BatchMode=yes", "ServerAliveInterval=15", "ServerAliveCountMax=3")
"""No question that nobody sees; a link that is cut is noticed within a minute."""
TIMEOUT_S = 60
SSHD = "/etc/ssh"
"""Where sshd on the Pi has its configuration."""
DROP_IN = (
    "printf 'ClientAliveInterval 15\\nClientAliveCountMax 3\\nStreamLocalBindUnlink yes\\n'"
    " | sudo tee /etc/ssh/sshd_config.d/pi-mcp.conf"
)
RELOAD = "sudo systemctl reload ssh"
ASK = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    '"clientInfo":{"name":"check","version":"1"}}}\n'
)


@dataclass(frozen=True)
class Reply:
    """What a command on the Pi answered, or ssh in its place (status 255)."""

    status: int
    output: str
    errors: str
    took_s: float


@dataclass(frozen=True)
class Report:
    """What each look saw, in the order in which things go wrong; after a broken one there are no further ones."""

    rows: list[tuple[str, Health]]
    client: str
    """What goes into the client's configuration; empty if the client would not get a session by it."""


def look(place: str) -> Report:
    """Look at the server of a place like `pi@host` or `pi@host:/path/to/server.py`, as a client here reaches it."""
    host, _, path = place.partition(":/")
    command = f"/{path}" if path else ""
    rows = []
    for name, check in (("ssh", _login), ("stdout", _silence)):
        rows.append((name, check(host)))
        if rows[-1][1].state == "broken":
            return Report(rows, "")
    command = command or _find(host)
    rows.append(("server", _session(host, command) if command else _nowhere()))
    if rows[-1][1].state == "broken":
        return Report(rows, "")
    rows.append(("keepalive", _keepalive(host)))
    return Report(rows, client_json(host, command))


def client_json(host: str, command: str = COMMAND) -> str:
    """What goes into the client's configuration."""
    server = {"command": "ssh", "args": [*_words(host)[1:], command]}
    return json.dumps({"mcpServers": {"pi": server}}, indent=2)


def _find(host: str) -> str:
    """The server's absolute path on the Pi, where setup.sh or the README put it; empty if it is in neither place."""
    looked = _run(host, f'sh -c \'for place in "{COMMAND}" "{CLONE}"; do ls "$place" 2>/dev/null && exit; done\'')
    return looked.output.strip()


def _words(host: str) -> list[str]:
    return ["ssh", "-T", *(word for option in OPTIONS for word in ("-o", option)), "--", host]


def _run(host: str, command: str, text: str = "") -> Reply:
    began = time.monotonic()
    try:
        done = subprocess.run(
            [*_words(host), command],
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT_S,
        )
    except FileNotFoundError:
        return Reply(255, "", "ssh is not installed here", 0)
    except subprocess.TimeoutExpired:
        return Reply(255, "", f"no answer within {TIMEOUT_S} s", TIMEOUT_S)
    return Reply(done.returncode, done.stdout, done.stderr.strip(), time.monotonic() - began)


REMEDIES = (
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "If the Pi was set up anew: ssh-keygen -R {name}, then log in once by hand.",
    ),
    ("Host key verification failed", "Log in once by hand (ssh {host}), compare the fingerprint and say yes."),
    (
        "Permission denied",
        "A client cannot type a password. Give the Pi your key: ssh-copy-id {host}. A key with a passphrase has to be in"
        " the agent: ssh-add",
    ),
    ("Could not resolve hostname", "Is the name right? {local}else use the address."),
    ("Connection refused", "Switch ssh on: on the Pi, sudo systemctl enable --now ssh"),
)


def _login(host: str) -> Health:
    reply = _run(host, "true")
    if reply.status == 0:
        return Health("ok", f"{host} lets this machine in without a question, in {reply.took_s:.1f} s")
    name = host.rpartition("@")[2]
    advice = next((text for mark, text in REMEDIES if mark in reply.errors), "Is the Pi on, and on this network?")
    last = (reply.errors.splitlines() or ["ssh failed and says nothing"])[-1]
    local = "" if "." in name else f"On the home network it may be {name}.local; "
    return Health("broken", last, advice.format(host=host, name=name, local=local))


def _silence(host: str) -> Health:
    reply = _run(host, "true")
    if not reply.output:
        return Health("ok", "nothing but the server writes to it")
    return Health(
        "broken",
        f"a login script on the Pi prints {len(reply.output)} characters, first {reply.output.splitlines()[0][:60]!r}",
        "Only MCP may be on stdout. Put at the top of ~/.bashrc on the Pi: case $- in *i*) ;; *) return ;; esac",
    )


def _session(host: str, command: str) -> Health:
    reply = _run(host, command, ASK)
    try:
        name = json.loads(reply.output)["result"]["serverInfo"]["name"]
    except (ValueError, KeyError, TypeError):
        return _no_session(reply, command)
    if "served here" in reply.errors:
        return Health("ok", f"{name} answers in {reply.took_s:.1f} s", reply.errors.splitlines()[-1])
    return Health("ok", f"{name} answers in {reply.took_s:.1f} s, ssh included")


def _nowhere() -> Health:
    return Health(
        "broken",
        f"there is no {COMMAND} on the Pi, and no ~/pi-mcp/server.py",
        "In the folder of pi-mcp there: ./setup.sh --systemd. Or say where it is: --ssh pi@host:/path/to/server.py",
    )


def _no_session(reply: Reply, command: str) -> Health:
    if reply.status in (126, 127) and command in reply.errors:
        return Health("broken", f"there is no {command} on the Pi", "Look there: ls -l ~/pi-mcp/server.py")
    last = (reply.errors.splitlines() or reply.output.splitlines() or ["it says nothing"])[-1]
    return Health(
        "broken", f"the server does not answer: {last[:200]}", f"See what it says on the Pi: {command} --check"
    )


def _keepalive(host: str) -> Health:
    """From the files, which anybody may read: `sshd -T` would need root. Of two that disagree sshd takes the first."""
    files = f"{SSHD}/sshd_config.d/*.conf {SSHD}/sshd_config"
    reply = _run(host, f"sh -c \"grep -ihs '^[[:space:]]*ClientAlive' {files}\"")
    settings = {"interval": "0", "countmax": "3"}  # what sshd does where nothing is set
    for name, value in reversed(re.findall(r'ClientAlive(\w+)[\s="]+(\w+)', reply.output, re.IGNORECASE)):
        settings[name.lower()] = value
    if all(value.strip("0") for value in settings.values()):
        return Health("ok", "both ends notice a cut link")
    return Health(
        "unset", "the Pi does not notice a cut link, and keeps the session", f"On the Pi: {DROP_IN} && {RELOAD}"
    )
