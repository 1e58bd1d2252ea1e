"""The pinned packages: they fit each other, and are there as wheels for each machine that is promised."""

import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution

import pytest

from tests.support.client import PROJECT
from tests.support.installing import pins

pytestmark = pytest.mark.slow

PLATFORMS = [f"manylinux2014_{machine}" for machine in ("armv7l", "aarch64", "x86_64")]


def test_the_sdk_asks_for_nothing_that_is_pinned_out_of_its_range():
    """--no-deps takes pip's own look at the ranges away: all that the pinned packages say of each other must hold."""
    from packaging.requirements import Requirement

    wanted = {name.lower().replace("_", "-"): version for name, version in pins("requirements.txt").items()}
    for name in pins("requirements.txt"):
        for text in distribution(name).requires or ():
            requirement = Requirement(text)
            version = wanted.get(requirement.name.lower().replace("_", "-"))
            if version and (not requirement.marker or requirement.marker.evaluate({"extra": ""})):
                assert requirement.specifier.contains(version), (name, text)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_each_machine_gets_wheels_alone(platform, tmp_path):
    """What --no-deps installs, resolved as pip does it on that machine; nothing has to be compiled there."""
    command = [
        sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d", tmp_path,
        "--only-binary", ":all:", "--platform", platform, "--retries", "0", "--timeout", "20",
        "-r", PROJECT / "requirements.txt", "-r", PROJECT / "requirements-http.txt",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode and not re.search(r"from versions: [^n]", done.stderr):
        pytest.skip(f"pip reaches no index: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("*.whl"))) == len(pins("requirements.txt")) + len(pins("requirements-http.txt"))
    shutil.rmtree(tmp_path)
