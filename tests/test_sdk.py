"""The import of the SDK without what is not installed."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.client import PROJECT, PYTHON
from tools import sdk


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
def test_another_sdk_is_refused_with_the_version_that_is_needed_and_what_repairs_it(tmp_path, is_another_version):
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
