"""The Pi of the READMEs on loopback: `ssh pi@raspberrypi.local` reaches it, and the server lies where they say."""

import os
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.client import SERVER
from tests.support.sshd import NO_SSHD, Sshd

MAKE = """\
mount -t tmpfs tmpfs /home
mkdir -p /home/pi/pi-mcp /home/pi/.config/pi-mcp
cp "$1" /home/pi/pi-mcp/server.py
cp "$2" /home/pi/.config/pi-mcp/env
mount --bind "$3" /etc/passwd
shift 3
exec "$@"
"""


def needs_raspberrypi():
    """Leave the module out where there can be none."""
    if NO_SSHD:
        pytest.skip(NO_SSHD, allow_module_level=True)
    if os.geteuid():
        pytest.skip("only root can make a user pi, in a namespace", allow_module_level=True)
    if any(Path(path).is_relative_to("/home") for path in (*SERVER[:2], sys.prefix, sys.base_prefix)):
        pytest.skip("the Pi's /home would hide this clone, or its Python", allow_module_level=True)


@contextmanager
def raspberrypi(folder: Path, **settings):
    """Gives a folder for PATH with the `ssh` that knows it; `settings` are those of the Pi's user."""
    files = {
        "server.py": f'#!/bin/sh\nexec {shlex.join(SERVER)} "$@"\n',
        "env": "".join(f"{name}={value}\n" for name, value in settings.items()),
        "passwd": Path("/etc/passwd").read_text(encoding="utf-8") + "pi:x:0:0::/home/pi:/bin/sh\n",
    }
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "server.py").chmod(0o755)
    namespace = ["unshare", "--mount", "sh", "-euc", MAKE, "sh", *(str(folder / name) for name in files)]
    with Sshd(within=namespace) as sshd:
        ssh = folder / "bin" / "ssh"
        ssh.parent.mkdir()
        words = [*sshd.ssh(HostName=sshd.address)[:-1]]
        ssh.write_text(f'#!/bin/sh\nexec /usr/bin/{shlex.join(words)} "$@"\n', encoding="utf-8")
        ssh.chmod(0o755)
        yield ssh.parent
