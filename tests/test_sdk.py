"""The pinned packages: they fit each other and are there for each machine; the SDK is imported without the
others."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.support.client import PROJECT, PYTHON
from tests.support.installing import pins
from tools import sdk

PLATFORMS = [f"manylinux2014_{machine}" for machine in ("armv7l", "aarch64", "x86_64")]


def test_the_import_is_for_the_sdk_that_is_pinned():
    assert f"mcp=={sdk.VERSION}\n" in (PROJECT / "requirements.txt").read_text(encoding="utf-8")


def run(code, python=PYTHON, **environ):
    return subprocess.run(
        [python, "-c", code],
        cwd=PROJECT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.slow
def test_serving_needs_neither_the_sdks_clients_nor_http_nor_cryptography():
    done = run(
        "import sys, server; server.warm_up()\n"
        "print(*{'mcp.client', 'mcp.server.mcpserver.server', 'httpx2', 'cryptography', 'uvicorn'} & set(sys.modules))\n",
        python=sys.executable,  # where all of that is installed
    )
    assert done.stdout == "\n", done.stderr


@pytest.mark.slow
def test_a_session_imports_the_models_of_its_own_era_and_no_web_framework():
    done = run(
        "import sys, server; server.import_sdk('stdio')\n"
        f"print(*{{*{sdk.LAZY['stdio']}}} & set(sys.modules))\n"
        "from mcp_types.methods import validate_client_request\n"
        "validate_client_request('ping', '2025-11-25', None)\n"
        f"print(*{{*{sdk.LAZY['stdio']}}} & set(sys.modules))\n"
    )
    assert done.stdout == "\nmcp_types._v2025_11_25\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("is_another_version", [True, False])
def test_another_sdk_is_refused_with_the_version_that_is_needed_and_what_repairs_it(
    tmp_path, is_another_version
):
    packages = Path(importlib.util.find_spec("mcp").origin).parents[1]
    for name in ("mcp", "mcp_types"):
        shutil.copytree(packages / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / f"mcp-{'9.9.9' if is_another_version else sdk.VERSION}.dist-info").mkdir()
    with open(tmp_path / "mcp_types" / "methods.py", "a", encoding="utf-8") as module:
        module.write("raise TypeError('changed')\n")
    done = run("import server; server.import_sdk('stdio')", PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    assert f"mcp {sdk.VERSION}" in done.stderr
    assert f"{PROJECT / 'setup.sh'} repairs" in done.stderr


def test_the_sdk_asks_for_nothing_that_is_pinned_out_of_its_range():
    """--no-deps takes pip's own look at the ranges away: all that the pinned packages say of each other must
    hold."""
    from packaging.requirements import Requirement

    wanted = {name.lower().replace("_", "-"): version for name, version in pins("requirements.txt").items()}
    for name in pins("requirements.txt"):
        for text in distribution(name).requires or ():
            requirement = Requirement(text)
            version = wanted.get(requirement.name.lower().replace("_", "-"))
            if version and (not requirement.marker or requirement.marker.evaluate({"extra": ""})):
                assert requirement.specifier.contains(version), (name, text)


@pytest.mark.slow
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
    assert len(list(tmp_path.glob("*.whl"))) == len(pins("requirements.txt")) + len(
        pins("requirements-http.txt")
    )
    shutil.rmtree(tmp_path)
