"""A real sshd of the tests' own, and the command line of ssh that reaches it."""

import getpass
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.support.services import free_port

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
PROGRAMS = (SSHD, "ssh", "ssh-keygen")
NO_SSHD = ""
if not all(map(shutil.which, PROGRAMS)):
    NO_SSHD = "openssh-server and openssh-client are not both installed"
STOP_S = 20
CLIENT = {"BatchMode": "yes", "StrictHostKeyChecking": "no", "LogLevel": "ERROR"}
# Of two lines of one name sshd takes the first: these come after a test's own.
CONFIG = """\
Port {port}
ListenAddress {address}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
"""


class Sshd:
    """Listens at `address`, with `settings` of sshd_config; `within` is the command that puts it into a
    namespace."""

    address = "127.0.0.1"

    def __init__(self, within=(), **settings):
        self.folder = Path(tempfile.mkdtemp(prefix="pi-mcp-sshd-"))
        self.port = free_port()
        for name in ("host", "user"):
            command = [*"ssh-keygen -q -t ed25519 -f".split(), str(self.folder / name), "-N", ""]
            subprocess.run(command, check=True)
        lines = [f"{name} {value}\n" for name, value in settings.items()]
        common = CONFIG.format(port=self.port, address=self.address, folder=self.folder)
        (self.folder / "config").write_text("".join(lines) + common)
        self.command = [*within, SSHD, "-D", "-e", "-f", str(self.folder / "config")]

    def ssh(self, **options):
        """The words that reach it, to be followed by a command."""
        options = {**CLIENT, "UserKnownHostsFile": self.folder / "known", **options}
        flags = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        target = f"{getpass.getuser()}@{self.address}"
        return ["ssh", "-T", "-p", str(self.port), "-i", str(self.folder / "user"), *flags, target]

    def put_on_path(self, folder, **options):
        """Make an `ssh` in this new folder that reaches it; with HostName among the options, whatever host is
        named."""
        command = folder / "ssh"
        folder.mkdir()
        words = shlex.join(["/usr/bin/ssh", *self.ssh(**options)[1:-1]])
        command.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        command.chmod(0o755)

    def __enter__(self):
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            self.command, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        lines = []
        for line in self.process.stderr:
            if "Server listening" in line:
                return self
            lines.append(line)
        self.__exit__()
        pytest.skip(f"sshd does not start here: {''.join(lines)}")

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait(STOP_S)
        self.process.stderr.close()
        shutil.rmtree(self.folder)
