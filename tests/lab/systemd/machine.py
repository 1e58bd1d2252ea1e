"""The machine from within: its units, the service's processes, sessions as a client starts them."""

import subprocess
from contextlib import contextmanager
from pathlib import Path

from tests.support.client import PROJECT, Client, finished
from tests.support.services import wait_until

COMMAND = "/usr/local/bin/pi-mcp"
STATE = Path.home() / ".local/state/pi-mcp"
UNITS = Path("/etc/systemd/system")
DROP_INS = Path("/run/systemd/system")
TIMEOUT_S = 120


def root(*words, text=None):
    """What a command prints that the user may run by sudo; it must succeed."""
    done = finished(["sudo", *words], input=text)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout.strip()


def systemctl(*words):
    return root("systemctl", *words)


def shown(property_name, unit="pi-mcp.service"):
    return systemctl("show", "-P", property_name, unit)


def state(unit="pi-mcp.service"):
    return shown("ActiveState", unit)


def main_pid():
    return int(shown("MainPID"))


def setup(word):
    """What setup.sh prints; it must succeed."""
    return in_a_shell(f"./setup.sh {word}")


def in_a_shell(lines, **variables):
    """What lines of the documentation print; they must succeed."""
    words = [f"{name}={value}" for name, value in variables.items()]
    command = ["env", "-C", PROJECT, *words, "bash", "-o", "pipefail", "-ec", lines]
    done = finished(command, stdin=subprocess.DEVNULL, timeout=600)
    assert done.returncode == 0, (lines, done.stdout, done.stderr)
    return done.stdout


def session(**settings):
    """A client's, by ssh: the user's shell, but no login and none of the variables that one sets."""
    variables = {"HOME": Path.home(), "PATH": "/usr/bin:/bin", **settings}
    words = [f"{name}={value}" for name, value in variables.items()]
    return Client(["env", "-i", "-C", "/", *words, "bash", "-c", f"exec {COMMAND}"])


@contextmanager
def served(**settings):
    """A session that the service took; `hello` is what it answered to the handshake."""
    with session(**settings) as client:
        client.hello = client.initialize()
        wait_until(
            lambda: is_handed_over(client)
        )  # the session may answer before its caller has become what waits
        yield client


def is_handed_over(client):
    """Whether the client's process only waits for a session that runs elsewhere."""
    return words_of(client.process.pid)[0] == b"pi-mcp"


def sessions():
    """Process ids of the service's own but its main one: what was forked from it, also by one that is
    gone."""
    pids = {int(path.name) for path in Path("/proc").glob("[0-9]*")} - {main_pid()}
    return {pid for pid in pids if b"--daemon" in words_of(pid)}


def words_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return [b""]


@contextmanager
def service_with(*lines):
    """The service with these lines in addition, as `systemctl edit` makes it."""
    folder = DROP_INS / "pi-mcp.service.d"
    root("mkdir", folder)
    root("tee", folder / "test.conf", text="\n".join(("[Service]", *lines, "")))
    systemctl("stop", "pi-mcp.service")
    systemctl("daemon-reload")
    try:
        yield
    finally:
        root("rm", "-r", folder)
        systemctl("daemon-reload")
        systemctl("stop", "pi-mcp.service")
        forget_starts()
        systemctl("start", "pi-mcp.socket")


def forget_starts():
    """These checks start it more often than anyone: without this they reach systemd's limit of starts."""
    systemctl("reset-failed", "pi-mcp*")
