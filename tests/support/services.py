"""The resident service as a process of its own, and callers of it."""

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from tests.support.client import PROJECT, PYTHON, TEST_SERVER, TIMEOUT_S, Client
from tools.resident import handover

# What hands its session over where there is a service.
SERVER = [PYTHON, "-I", "-S", str(PROJECT / "server.py")]


def as_systemd_starts(command, listener):
    """What Popen takes to start a command whose socket is there before it, or is not, without a listener."""
    if not listener:
        return {"args": command}
    handle = listener.fileno()
    script = f'exec 3<&{handle} && LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
    return {"args": ["bash", "-c", script, "systemd", *command], "pass_fds": [handle]}


class Service:
    """Starts `command`; with `systemd` it gets its socket as systemd hands it over, at the first connection
    or now."""

    def __init__(self, command=None, *, systemd=False, **environment):
        self.folder = Path(
            tempfile.mkdtemp(prefix="pi-mcp-")
        )  # a short path: a socket's has at most 107 bytes
        self.socket = self.folder / "socket"
        self.command = [*(command or TEST_SERVER), "--daemon"]
        self.environment = {**os.environ, **environment, "MCP_SOCKET": str(self.socket)}
        self.listener = None
        if systemd:
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(str(self.socket))
            self.socket.chmod(0o600)
            self.listener.listen()

    def start(self):
        """Start it and wait until it is ready."""
        start_options = as_systemd_starts(self.command, self.listener)
        ready = self.folder / "notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
            notified.bind(str(ready))
            notified.settimeout(TIMEOUT_S)
            environ = {**self.environment, "NOTIFY_SOCKET": str(ready)}
            self.process = subprocess.Popen(**start_options, env=environ, stderr=subprocess.PIPE)
            assert notified.recv(100) == b"READY=1"
        ready.unlink()
        return self

    def caller(self, command=None, **environment):
        return Client(command or SERVER, **{"MCP_SOCKET": str(self.socket), **environment})

    def session(self):
        """A caller whose session is initialized."""
        client = self.caller()
        client.initialize()
        return client

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(TIMEOUT_S)
        connection.connect(str(self.socket))
        return connection

    def offer(self, connection, handles):
        """Offer a session on a connection, as a caller does; gives the line that comes back."""
        fields = [handover.identity().encode(), b"/"]
        environ = [f"{name}={value}".encode() for name, value in self.environment.items()]
        socket.send_fds(connection, [b"\0".join([*fields, *environ]) + handover.FRAME_END], handles)
        return connection.makefile("rb").readline()

    def children(self):
        return children(self.process.pid)

    def wait_until_empty(self):
        """Wait until no session is left."""
        wait_until(lambda: not self.children())

    def stop(self):
        """End it and give back its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(TIMEOUT_S)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
        self.process.stderr.close()
        if self.listener:
            self.listener.close()
        shutil.rmtree(self.folder)


def free_port():
    """A free port outside of the range that the kernel gives out, so that no connection takes it
    meanwhile."""
    while True:
        port = random.SystemRandom().randrange(20_000, 30_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def is_listening(port):
    """True if something accepts connections at a port of this machine."""
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def wait_until(true, timeout_s=TIMEOUT_S):
    """Wait until `true()` is true, for an event that nobody announces, such as the end of another parent's
    child."""
    deadline = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def children(pid):
    """The child processes that nobody has waited for yet."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for thread in threads for child in thread.read_text("ascii").split()]


def cpu_s(pid):
    """The processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def alive(pid):
    """True if the process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
