"""The server and the client of the SDK's first generation, which is still common."""

import json
import subprocess
import sys

import pytest

from tests.support.client import PROJECT, TEST_SERVER

VENV = PROJECT / ".venv-mcp1"
PACKAGE = "mcp==1.30.0"
INSTALL_S, SESSION_S = 600, 120


@pytest.fixture(scope="module")
def python():
    """An interpreter that has SDK 1.x; made once, kept beside .venv."""
    found = VENV / "bin" / "python"
    stamp = VENV / "installed"
    if not stamp.exists() or stamp.read_text(encoding="ascii") != PACKAGE:
        make = [[sys.executable, "-m", "venv", "--clear", str(VENV)]]
        make.append([str(found), "-m", "pip", "install", "-q", "--no-input", "--retries", "1", PACKAGE])
        for command in make:
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
            if done.returncode:
                pytest.skip(f"{PACKAGE} cannot be installed here: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
        stamp.write_text(PACKAGE, encoding="ascii")
    return str(found)


def test_the_first_sdk_lists_calls_reads_asks_and_gives_up(python, small_docs):
    small_docs({"Bed_Mesh.md": "# Bed Mesh\n\nThe mesh.\n"})
    script = [python, str(PROJECT / "tests" / "support" / "sdk1_client.py"), *TEST_SERVER]
    done = subprocess.run(script, capture_output=True, text=True, timeout=SESSION_S)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["server"] == "pi-mcp"
    assert {"greet", "read_doc", "anki_add_notes"} <= set(seen["tools"])
    assert "klipper_question" in seen["prompts"]
    assert "klipper://docs/Bed_Mesh.md" in seen["resources"]
    assert seen["templates"] == ["klipper://docs/{path}"]
    assert seen["greeting"] == "Привет, Ann! Я твой MCP-сервер."
    assert seen["error"] == [True, "UNKNOWN_ARGUMENT"]
    assert seen["asked"] == "accept"
    assert "BLTouch?" in seen["prompt"]
    assert seen["page"] == "# Bed Mesh\n\nThe mesh.\n"
    assert seen["completion"] == ["Bed_Mesh.md"]
    assert seen["progress"][-1] == [40.0, 40.0, "step 40"]
    assert seen["given up"] == "McpError"
    assert seen["afterwards"] is False
