#!/usr/bin/env python3
"""Runs the server on the processors of a Raspberry Pi, which qemu emulates: 64-bit and 32-bit ARM.

It answers initialize, tools/list and calls of each toolset there, through the resident service and over HTTP too. Where
qemu or Debian's mirror is out of reach it says why, and the exit status is 0.

usage: .venv-test/bin/python tests/lab/emulated/run.py [arm64] [armhf]
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.klipper.upstreams import Upstream
from tests.onepercent.person import act
from tests.support import client, services
from tests.support.backends import backends, each_system_answers
from tests.support.client import Client, finished
from tests.support.http_server import HttpServer
from tests.support.installing import copy_of_the_project
from tests.support.services import Service

# As Debian names them, with what emulates each.
PROCESSORS = {"arm64": "qemu-aarch64-static", "armhf": "qemu-arm-static"}
SUITE = "bookworm"
PYTHON = "3.11"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
TIMEOUT_S = 300
GOAL = act("goal.create", title="Pi")


APT = """\
Dir::State "%(apt)s/state";
Dir::State::status "%(apt)s/status";
Dir::Cache "%(apt)s/cache";
Dir::Etc "%(apt)s/etc";
Dir::Etc::SourceList "%(apt)s/sources.list";
Dir::Etc::SourceParts "-";
APT::Architecture "%(name)s";
APT::Architectures { "%(name)s"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::http::Timeout "20";
"""


class Unavailable(Exception):
    """What is missing here, so that nothing can be tried."""


class Machine:
    """A Raspberry Pi's Debian without the Pi: its Python in a folder, and a clone."""

    def __init__(self, name, folder):
        self.name = name
        self.folder = folder
        self.emulator = PROCESSORS[name]
        self.root = folder / "root"
        self.project = folder / "pi-mcp"
        for program in (self.emulator, "apt-get", "dpkg-deb"):
            if not shutil.which(program):
                raise Unavailable(f"{program} is not installed (packages qemu-user-static, apt)")
        if not os.path.exists(KEYRING):
            raise Unavailable(f"there is no {KEYRING} (package debian-archive-keyring)")
        copy_of_the_project(self.project)
        self.unpack_debian(folder / "apt")

    def unpack_debian(self, apt):
        """Unpack what python3 needs of Debian; running it does not need it to be set up."""
        for name in ("state/lists/partial", "cache/archives/partial", "etc/preferences.d"):
            (apt / name).mkdir(parents=True)
        (apt / "status").touch()  # nothing is installed yet, so apt fetches all that python3 needs
        (apt / "sources.list").write_text(
            f"deb [signed-by={KEYRING}] {mirror()} {SUITE} main\n", encoding="utf-8"
        )
        (apt / "apt.conf").write_text(APT % {"apt": apt, "name": self.name}, "utf-8")
        for words in ("update --error-on=any", "-y install --download-only python3"):
            command = ["env", f"APT_CONFIG={apt}/apt.conf", "apt-get", "-q", *words.split()]
            done = finished(command, timeout=TIMEOUT_S)
            if done.returncode:
                raise Unavailable(
                    f"Debian's mirror ({mirror()}) gives nothing: {done.stderr[-300:]}"
                )
        for package in (apt / "cache/archives").glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, self.root], check=True, timeout=TIMEOUT_S)

    def server(self, *words):
        """The command that starts the server. Programs that it starts, as git, are those of this machine."""
        python = self.root / "usr" / "bin" / f"python{PYTHON}"
        paths = (self.root, python, self.project / "server.py")
        return [self.emulator, "-L", *map(str, paths), *words]


def mirror():
    """The address that apt uses here, if it is Debian's own archive."""
    targets = finished(["apt-get", "indextargets", "--format", "$(SITE) $(LABEL)"]).stdout
    site = re.search(r"(?m)^(\S+) Debian$", targets)
    return site[1] if site else "http://deb.debian.org/debian"


def main(names):
    # An emulated start takes many times as long.
    client.TIMEOUT_S = services.TIMEOUT_S = TIMEOUT_S
    is_good = True
    for name in names or PROCESSORS:
        with tempfile.TemporaryDirectory(prefix="pi-mcp-") as folder:
            try:
                print(f"ok    {name}: {look_at(Machine(name, Path(folder)))}", flush=True)
            except Unavailable as reason:
                print(f"skipped: {name}: {reason}")
            except AssertionError as error:
                print(f"FAIL  {name}: {error}", flush=True)
                is_good = False
    return 0 if is_good else 1


def look_at(machine):
    """Try a machine, and say how many tools it lists. Raises AssertionError if an answer is wrong."""
    home = machine.folder / "home"
    home.mkdir()
    with backends() as url:
        docs_url = Upstream(machine.folder / "upstream").url
        settings = {"HOME": str(home), "KLIPPER_DOCS_URL": docs_url}
        settings |= {"ANKI_CONNECT_URL": url, "SEARCH_API_URL": url}
        count = use(machine, settings)
        through_the_service(machine, settings)
        over_http(machine, settings)
        return f"{count} tools"


def use(machine, settings):
    """Call each toolset in one session, and return the number of tools."""
    with Client(machine.server("--standalone"), **settings) as session:
        assert session.initialize()["serverInfo"]["name"] == "pi-mcp"
        tools = session.request("tools/list")["result"]["tools"]

        def call(name, expected, /, **arguments):
            result = session.call(name, **arguments)
            assert not result["isError"] and expected in json.dumps(result), (name, result)
            return result["structuredContent"]

        call("sync_docs", "cloned")
        each_system_answers(session)
        preview_id = call("preview_actions", "preview_id", actions=[GOAL])["preview_id"]
        keys = {"preview_id": preview_id, "idempotency_key": GOAL["client_action_id"]}
        call("apply_actions", "created_id", **keys, user_confirmation="yes")
        call("get_user_snapshot", '"Pi"')
        assert session.end() == 0
    return len(tools)


def through_the_service(machine, settings):
    """Have a session handed over to the resident service."""
    command = machine.server()
    with Service(command, **settings) as service, service.caller(command, **settings) as session:
        session.initialize()
        assert len(service.children()) == 1
        assert not session.call("search_docs", query="bltouch")["isError"]
        assert session.end() == 0


def over_http(machine, settings):
    packages = machine.project / f".venv/lib/python{PYTHON}/site-packages"
    for name in ("uvicorn", "h11", "click"):  # which are of Python alone
        source = importlib.util.find_spec(name).origin
        shutil.copytree(Path(source).parent, packages / name)
    with HttpServer(machine.server("--http"), **settings) as server:
        token = server.token()
        assert server.ask("initialize", client.HANDSHAKE, token=token)["result"]["serverInfo"]
        assert not server.call("get_user_snapshot", token=token)["isError"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
