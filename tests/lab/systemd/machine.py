"""The machine from within: its units, the service's processes, sessions as a client starts them."""

import subprocess
from contextlib import contextmanager
from pathlib import Path

from tests.support.client import PROJECT, Client, output_of
from tests.support.services import wait_until

COMMAND = "/usr/local/bin/pi-mcp"
STATE = Path.home() / ".local/state/pi-mcp"
UNITS = Path("/etc/systemd/system")
DROP_INS = Path("/run/systemd/system")


def root(*words, text=None):
    """Run a command by sudo, which must succeed, and return what it prints."""
    return output_of(["sudo", *words], input=text).strip()


def systemctl(*words):
    return root("systemctl", *words)


def unit_property(property_name, unit="pi-mcp.service"):
    return systemctl("show", "-P", property_name, unit)


def state(unit="pi-mcp.service"):
    return unit_property("ActiveState", unit)


def main_pid():
    return int(unit_property("MainPID"))


def setup(word):
    """Run setup.sh, which must succeed, and return what it prints."""
    return in_a_shell(f"./setup.sh {word}")


def in_a_shell(lines, **variables):
    """Run lines of the documentation, which must succeed, and return what they print."""
    words = [f"{name}={value}" for name, value in variables.items()]
    command = ["env", "-C", PROJECT, *words, "bash", "-o", "pipefail", "-ec", lines]
    return output_of(command, stdin=subprocess.DEVNULL, timeout=600)


def session(**settings):
    """A client's session as ssh starts it: in the user's shell, without a login and the variables that it
    sets."""
    variables = {"HOME": Path.home(), "PATH": "/usr/bin:/bin", **settings}
    words = [f"{name}={value}" for name, value in variables.items()]
    return Client(["env", "-i", "-C", "/", *words, "bash", "-c", f"exec {COMMAND}"])


@contextmanager
def served(**settings):
    """A session that the service accepted; `hello` is its answer to the handshake."""
    with session(**settings) as client:
        client.hello = client.initialize()
        wait_until(
            lambda: is_handed_over(client)
        )  # the session may answer before its caller has become what waits
        yield client


def is_handed_over(client):
    """True if the client's process only waits for a session that runs elsewhere."""
    return words_of(client.process.pid)[0] == b"pi-mcp"


def sessions():
    """The ids of the processes that the service forked, also those of an earlier service."""
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
    """Reset systemd's count of starts, which these checks would exceed."""
    systemctl("reset-failed", "pi-mcp*")
