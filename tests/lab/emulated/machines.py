"""A Raspberry Pi's Debian without the Pi: its Python in a folder, with the pinned packages, run by qemu."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.client import PROJECT
from tests.support.installing import copy_of_the_project

SUITE = "bookworm"
PYTHON = "3.11"
"""Its Python, which decides about the wheels."""
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
DEFAULT_MIRROR = "http://deb.debian.org/debian"
TIMEOUT_S = 300


class Unavailable(Exception):
    """What is missing here, so that nothing can be tried."""


@dataclass(frozen=True)
class Processor:
    """A processor as Debian, pip and qemu name it."""

    name: str
    platforms: tuple[str, ...]
    emulator: str


PROCESSORS = (
    Processor("arm64", ("manylinux_2_28_aarch64", "manylinux2014_aarch64"), "qemu-aarch64-static"),
    Processor("armhf", ("manylinux_2_31_armv7l", "manylinux2014_armv7l"), "qemu-arm-static"),
)


@dataclass(frozen=True)
class Machine:
    """The project as it is installed there."""

    processor: Processor
    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "root"

    @property
    def project(self) -> Path:
        return self.folder / "pi-mcp"

    @property
    def packages(self) -> Path:
        """Those of requirements.txt."""
        return self.project / ".venv" / "lib" / f"python{PYTHON}" / "site-packages"

    def server(self, settings: dict[str, str]) -> list[str]:
        """Starts the server with these settings and nothing else in the environment.

        Programs that it starts, as git, are those of this machine.
        """
        variables = {"PATH": os.environ["PATH"], "QEMU_LD_PREFIX": str(self.root), **settings}
        environment = ["env", "-i", *(f"{name}={value}" for name, value in variables.items())]
        python = self.project / ".venv" / "bin" / "python"
        return [*environment, self.processor.emulator, str(python), str(self.project / "server.py"), "--standalone"]


def make(processor: Processor, folder: Path) -> Machine:
    """Fetch Debian's Python and the wheels, and lay them out as setup.sh leaves them on the machine itself."""
    for program in (processor.emulator, "apt-get", "dpkg-deb"):
        if not shutil.which(program):
            raise Unavailable(f"{program} is not installed (packages qemu-user-static, apt)")
    if not os.path.exists(KEYRING):
        raise Unavailable(f"there is no {KEYRING} (package debian-archive-keyring)")
    machine = Machine(processor, folder)
    copy_of_the_project(machine.project)
    unpack_debian(processor, folder / "apt", machine.root)
    make_venv(machine)
    return machine


def unpack_debian(processor: Processor, apt: Path, root: Path) -> None:
    """What python3 needs of Debian, unpacked and not set up, which running it does not need."""
    for name in ("state/lists/partial", "cache/archives/partial", "etc/preferences.d"):
        (apt / name).mkdir(parents=True)
    (apt / "status").touch()  # nothing is installed yet, so apt fetches all that python3 needs
    (apt / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror()} {SUITE} main\n", encoding="utf-8")
    options = {
        "Dir::State": apt / "state",
        "Dir::State::status": apt / "status",
        "Dir::Cache": apt / "cache",
        "Dir::Etc": apt / "etc",
        "Dir::Etc::SourceList": apt / "sources.list",
        "Dir::Etc::SourceParts": "-",
        "APT::Architecture": processor.name,
        "APT::Architectures::": processor.name,
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
        "Acquire::http::Timeout": 20,
    }
    apt_get = ["apt-get", "-q", "-y", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    for words in (["update", "--error-on=any"], ["install", "--download-only", "python3"]):
        run_or_skip(f"Debian's mirror ({mirror()})", [*apt_get, *words])
    for package in (apt / "cache" / "archives").glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, root], check=True, timeout=TIMEOUT_S)


def mirror() -> str:
    """Where apt here has its packages from, if that is Debian's own archive."""
    if "MIRROR" in os.environ:
        return os.environ["MIRROR"]
    command = ["apt-get", "indextargets", "--format", "$(SITE) $(LABEL)"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S).stdout
    sites = [line.removesuffix(" Debian") for line in listed.splitlines() if line.endswith(" Debian")]
    return sites[0] if sites else DEFAULT_MIRROR


def make_venv(machine: Machine) -> None:
    """The project's .venv: a link to that Python, and the wheels that pip takes for that processor."""
    venv = machine.project / ".venv"
    machine.packages.mkdir(parents=True)
    (venv / "bin").mkdir()
    (venv / "bin" / "python").symlink_to(machine.root / "usr" / "bin" / f"python{PYTHON}")
    (venv / "pyvenv.cfg").write_text(f"home = {machine.root / 'usr' / 'bin'}\n", encoding="utf-8")
    install(machine.processor, pins(), machine.packages)


def pins() -> list[str]:
    """The pinned packages for that Python, whichever Python pip itself runs on."""
    text = (PROJECT / "requirements.txt").read_text(encoding="utf-8")
    lines = re.findall(r"^([\w-]+==[\w.]+)(?:; python_version (\S+) .*)?$", text, re.MULTILINE)
    return [pin for pin, bound in lines if bound != "<"]


def install(processor: Processor, packages: list[str], folder: Path) -> None:
    """Have these packages in this folder, from wheels for that processor."""
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-q", "--retries", "1"]
    pip += ["--no-deps", "--only-binary", ":all:", "--python-version", PYTHON, "--implementation", "cp"]
    pip += [word for platform in processor.platforms for word in ("--platform", platform)]
    run_or_skip("pip's index", [*pip, "--root-user-action", "ignore", "--target", str(folder), *packages])


def run_or_skip(what: str, command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S)
    if done.returncode:
        raise Unavailable(f"{what} does not give what is needed: {' | '.join(done.stdout.splitlines()[-3:])}")
