"""`server.py --check --ssh user@host`, on the desktop: what stands between a client there and the server on
the Pi."""

import json
import re
import subprocess
import time
from subprocess import CompletedProcess

from tools.check import REQUESTS, show
from tools.connect import INSTALLED, client_json, ssh_words
from tools.core.health import Health

CLONE = "$HOME/pi-mcp/server.py"  # where the README clones to
TIMEOUT_S = 60
SSHD = "/etc/ssh"  # the folder of sshd's configuration on the Pi
DROP_IN = (
    "printf 'ClientAliveInterval 15\\nClientAliveCountMax 3\\nStreamLocalBindUnlink yes\\n'"
    " | sudo tee /etc/ssh/sshd_config.d/pi-mcp.conf"
)
RELOAD = "sudo systemctl reload ssh"
MARK = "== pi-mcp =="
# Words of ssh, and what to do.
REMEDIES = (
    ("HOST IDENTIFICATION HAS CHANGED", "If the Pi was set up anew: ssh-keygen -R {name}, then log in once by hand."),
    ("Host key verification failed", "Log in once by hand (ssh {host}), compare the fingerprint and say yes."),
    ("Permission denied", "A client types no password. Give the Pi your key: ssh-copy-id {host}; with a passphrase also: ssh-add"),
    ("Could not resolve", "Is the name right? On the home network it may end in .local; else use the Pi's address."),
    ("Connection refused", "Switch ssh on: on the Pi, sudo systemctl enable --now ssh"),
    ("", "Is the Pi on, and on this network?"),
)  # fmt: skip


def main(place: str) -> int:
    """Look at the server on another machine, from here; print a line each, and what the client needs."""
    rows, client = look(place)
    status = show(rows)
    if client:
        print(f"\nFor the client on this machine:\n{client}")
    return status


def look(place: str) -> tuple[list[tuple[str, Health]], str]:
    """The result of each look at a place like `pi@host` or `pi@host:/path/to/server.py`, in the order in
    which things go wrong, none after a broken one; and the client's configuration, empty if it would not get
    a session by it."""
    host, _, path = place.partition(":/")
    # One login for three questions: what does it print by itself, where is the server, what does sshd say of
    # keepalive?
    find = f'for place in "{INSTALLED}" "{CLONE}"; do ls "$place" 2>/dev/null && break; done'
    keepalive = f'grep -ihs "^[[:space:]]*ClientAlive" {SSHD}/sshd_config.d/*.conf {SSHD}/sshd_config'
    reply = _run(host, f'sh -c \'echo "{MARK}"; {find}; echo "{MARK}"; {keepalive}; true\'')
    noise, found, settings = (*reply.stdout.split(f"{MARK}\n"), "", "")[:3]
    command = f"/{path}" if path else found.strip()
    rows = [("ssh", _login(host, reply))]
    if rows[-1][1].state == "ok":
        rows.append(("stdout", _silence(noise)))
    if rows[-1][1].state == "ok":
        rows.append(("server", _session(host, command)))
    if rows[-1][1].state != "ok":
        return rows, ""
    return [*rows, ("keepalive", _keepalive(settings))], client_json(host, command)


def _run(host: str, command: str, text: str = "") -> CompletedProcess[str]:
    """Run a command on the Pi. Status 255 is ssh's own, which says why."""
    words = [*ssh_words(host)[:-1], "--", host, command]  # a host is never taken for an option
    try:
        return subprocess.run(
            words, input=text, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S
        )
    except FileNotFoundError:
        return CompletedProcess(words, 255, "", "ssh is not installed here")
    except subprocess.TimeoutExpired:
        return CompletedProcess(words, 255, "", f"no answer within {TIMEOUT_S} s")


def _login(host: str, reply: CompletedProcess[str]) -> Health:
    if reply.returncode != 255:
        return Health("ok", f"{host} lets this machine in without a question")
    advice = next(text for words, text in REMEDIES if words in reply.stderr)
    last = (reply.stderr.splitlines() or ["ssh failed and says nothing"])[-1]
    return Health("broken", last, advice.format(host=host, name=host.rpartition("@")[2]))


def _silence(noise: str) -> Health:
    if not noise:
        return Health("ok", "nothing but the server writes to it")
    first = noise.splitlines()[0][:60]
    advice = "Only MCP may be on stdout. Put at the top of ~/.bashrc on the Pi: case $- in *i*) ;; *) return ;; esac"
    return Health(
        "broken", f"a login script on the Pi prints {len(noise)} characters, first {first!r}", advice
    )


def _session(host: str, command: str) -> Health:
    if not command:
        advice = (
            "In its folder there: ./setup.sh --systemd. Or say where it is: --ssh pi@host:/path/to/server.py"
        )
        return Health("broken", f"there is no {INSTALLED} on the Pi, and no ~/pi-mcp/server.py", advice)
    began = time.monotonic()
    reply = _run(host, command, json.dumps({"jsonrpc": "2.0", **REQUESTS[0]}) + "\n")
    errors = reply.stderr.splitlines()
    try:
        name = json.loads(reply.stdout)["result"]["serverInfo"]["name"]
    except (ValueError, KeyError, TypeError):
        if reply.returncode in (126, 127) and command in reply.stderr:
            return Health(
                "broken", f"there is no {command} on the Pi", "Look there: ls -l ~/pi-mcp/server.py"
            )
        last = (errors or reply.stdout.splitlines() or ["it says nothing"])[-1]
        return Health("broken", f"the server does not answer: {last[:200]}", f"On the Pi: {command} --check")
    note = errors[-1] if "served here" in reply.stderr else ""
    return Health("ok", f"{name} answers in {time.monotonic() - began:.1f} s, ssh included", note)


def _keepalive(lines: str) -> Health:
    """From the files, which anybody may read: `sshd -T` would need root. Of two that disagree sshd takes the
    first."""
    # `ClientAliveInterval 15`, `clientaliveinterval="15"`
    found = re.search(r'ClientAliveInterval[\s="]+(\w+)', lines, re.IGNORECASE)
    if found and found[1].strip("0"):
        return Health("ok", "both ends notice a cut link")
    return Health(
        "unset",
        "the Pi does not notice a cut link, and keeps the session",
        f"On the Pi: {DROP_IN} && {RELOAD}",
    )
