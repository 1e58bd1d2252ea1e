"""What programs of others make of ours: converters on the way to a model's API, the checker of bundles."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients.installing import NOT_ASKED, from_pip
from tests.golden import FILE
from tools.service import bundle

if NOT_ASKED:
    pytest.skip(NOT_ASKED, allow_module_level=True)
PACKAGES = ("google-adk==2.13.0", "google-genai==2.34.0", "openai-agents==0.24.0", "pydantic-ai-slim==2.68.0")
CONVERT = Path(__file__).with_name("convert.py")


def test_every_tool_passes_the_converters_of_openai_and_google():
    """The test beside this one holds the recorded list to be what the server lists."""
    done = subprocess.run(
        [str(from_pip(*PACKAGES)), str(CONVERT)], input=FILE.read_bytes(), capture_output=True, timeout=300
    )

    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == ""


def test_the_official_tool_takes_the_bundle(tmp_path):
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    (tmp_path / "manifest.json").write_text(json.dumps(bundle.manifest()), encoding="utf-8")
    words = ["npx", "-y", "@anthropic-ai/mcpb@2.1.2", "validate", str(tmp_path / "manifest.json")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
