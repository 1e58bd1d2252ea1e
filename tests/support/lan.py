"""Machines on a switch: network namespaces, which only root can make."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from tests.support.services import wait_until

TIMEOUT_S = 20
SWITCH = "switch"


class CannotMake(Exception):
    """This machine has no namespaces to give, or no bridge or veth."""


class Lan:
    """`machines` are names with their addresses. With `cut` the switch carries nothing, and tells neither side."""

    def __init__(self, **machines):
        self.machines = machines

    def within(self, machine):
        """What a command starts with that is to run on this machine."""
        return ["ip", "netns", "exec", self._namespace(machine)]

    def cut(self):
        ip("-n", self._namespace(SWITCH), "link", "set", SWITCH, "down")

    def mend(self):
        ip("-n", self._namespace(SWITCH), "link", "set", SWITCH, "up")

    def __enter__(self):
        try:
            self._build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        there = ip("netns", "list").split()
        for namespace in filter(there.__contains__, map(self._namespace, (SWITCH, *self.machines))):
            end_processes(namespace)
            ip("netns", "del", namespace)

    def _namespace(self, machine):
        return f"pi-mcp-{os.getpid()}-{machine}"

    def _build(self):
        switch = self._namespace(SWITCH)
        ip("netns", "add", switch)
        ip("-n", switch, "link", "add", SWITCH, "type", "bridge")
        for name, address in self.machines.items():
            machine = self._namespace(name)
            ip("netns", "add", machine)
            ip("link", "add", name, "netns", switch, "type", "veth", "peer", "name", "eth0", "netns", machine)
            ip("-n", switch, "link", "set", name, "master", SWITCH, "up")
            ip("-n", machine, "address", "add", f"{address}/24", "dev", "eth0")
            ip("-n", machine, "link", "set", "eth0", "up")
        self.mend()


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=TIMEOUT_S)
    if done.returncode:
        raise CannotMake(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def end_processes(namespace):
    """Also those that a cut link left behind, which nobody else would end."""
    for pid in ip("netns", "pids", namespace).split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    wait_until(lambda: not ip("netns", "pids", namespace).split())


def tcp(process):
    """The kernel's counters of TCP on the machine that runs the process, such as `RetransSegs` and `CurrEstab`."""
    lines = Path(f"/proc/{process.pid}/net/snmp").read_text(encoding="ascii").splitlines()
    names, values = (line.split()[1:] for line in lines if line.startswith("Tcp:"))
    return dict(zip(names, map(int, values), strict=True))
