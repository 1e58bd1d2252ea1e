"""What the units let a session and the sync do, and what not."""

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.systemd.machine import DROP_INS, PROJECT, STATE, UNITS, main_pid, root, served, sessions, systemctl

PROBE = [
    sys.executable,
    "-I",
    "-S",
    str(PROJECT / "tests/systemd/probe.py"),
    str(STATE),
    str(PROJECT / "docs_repo/klipper"),
]
OUTPUT = Path("/run/pi-mcp-probe.json")
ALLOWED = ("write state", "write docs", "write /tmp", "read home", "connect by IPv4", "unix socket")
REFUSED = {  # "memory to write and run" is refused by one error or another, as kernel and systemd go
    "write home": "EROFS",
    "write project": "EROFS",
    "write /etc": "EROFS",
    "write /dev": "EROFS",
    "see others' processes": "ENOENT",
    "see the kernel's state": "ENOENT",
    "become root": "failed",
    "set-user-id bit": "EPERM",
    "raise or lower priority": "EPERM",
    "netlink socket": "EAFNOSUPPORT",
    "another personality": "EPERM",
    "a namespace of its own": "EPERM",
}
BOUNDS = {"NoNewPrivs": "1", "Seccomp": "2", "CapBnd": "0" * 16, "Umask": "0077"}


def nobody_else_connects():
    code = "import socket; socket.socket(socket.AF_UNIX).connect('/run/pi-mcp/socket')"
    done = subprocess.run(["sudo", "-u", "nobody", "python3", "-c", code], capture_output=True, text=True, timeout=60)
    assert "PermissionError" in done.stderr


def each_service_may_do_what_it_needs_and_nothing_that_its_directives_forbid():
    for unit in ("pi-mcp", "pi-mcp-docs"):
        the_fence_holds(unit)


def the_service_of_http_is_fenced_in_as_well():
    the_fence_holds("pi-mcp-http")


def the_fence_holds(unit):
    free = json.loads(subprocess.run(PROBE, capture_output=True, text=True, check=True, timeout=60).stdout)
    fenced = probed(unit)
    expected = dict.fromkeys(ALLOWED, "yes") | REFUSED | BOUNDS
    wrong = {name: fenced[name] for name in expected if fenced[name] != expected[name]}
    assert not wrong, (unit, wrong)
    same = [name for name in free if name not in ALLOWED and free[name] == fenced[name]]
    assert not same, (unit, "the same without the unit", same)


def probed(unit):
    """What the probe finds as a service with all the directives of that unit."""
    text = (UNITS / f"{unit}.service").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^(ExecStart|Type|Requires|After|Wants)=.*\n", "", text)
    lines = f"\nType=oneshot\nExecStart={' '.join(PROBE)}\nStandardOutput=truncate:{OUTPUT}\n"
    root("tee", DROP_INS / "pi-mcp-probe.service", text=text.replace("[Service]", "[Service]" + lines))
    systemctl("daemon-reload")
    try:
        systemctl("start", "pi-mcp-probe.service")
        return json.loads(root("cat", OUTPUT))
    finally:
        root("rm", "-f", DROP_INS / "pi-mcp-probe.service", OUTPUT)
        systemctl("daemon-reload")


def a_session_is_inside_the_fence_of_its_service():
    with served():
        [pid] = sessions()
        for name in ("mnt", "user", "ipc", "uts"):
            own, service = (root("readlink", f"/proc/{one}/ns/{name}") for one in (pid, main_pid()))
            assert own == service != root("readlink", f"/proc/1/ns/{name}")
        status = dict(re.findall(r"(\w+):\t(.*)", Path(f"/proc/{pid}/status").read_text(encoding="utf-8")))
        assert {name: status[name] for name in BOUNDS} == BOUNDS
