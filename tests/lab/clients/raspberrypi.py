"""The Pi of the READMEs on loopback: `ssh pi@raspberrypi.local` reaches it, and the server lies where they
say."""

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


def _why_there_is_none():
    if os.geteuid():
        return "only root can make a user pi, in a namespace"
    if any(
        Path(path).is_relative_to("/home") for path in (*SERVER[:2], sys.prefix, sys.base_prefix)
    ):
        return "the Pi's /home would hide this clone, or its Python"
    return NO_SSHD


@contextmanager
def raspberrypi(folder, **settings):
    """Gives a folder for PATH with the `ssh` that knows it; `settings` are those of the Pi's user. The server
    starts as late as on a slow Pi."""
    if reason := _why_there_is_none():
        pytest.skip(reason)
    files = {
        "server.py": f'#!/bin/sh\nsleep 3\nexec {shlex.join(SERVER)} "$@"\n',
        "env": "".join(f"{name}={value}\n" for name, value in settings.items()),
        "passwd": Path("/etc/passwd").read_text("utf-8") + "pi:x:0:0::/home/pi:/bin/sh\n",
    }
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "server.py").chmod(0o755)
    paths = (str(folder / name) for name in ("server.py", "env", "passwd"))
    namespace = ["unshare", "--mount", "sh", "-euc", MAKE, "sh", *paths]
    with Sshd(within=namespace) as sshd:
        sshd.put_on_path(folder / "bin", HostName=sshd.address)
        yield folder / "bin"
