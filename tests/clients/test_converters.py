"""The converters that other frameworks send tools through on the way to a model's API."""

import subprocess
from pathlib import Path

from tests.clients.installing import from_pip, opt_in
from tests.golden import FILE

pytestmark = opt_in
PACKAGES = ("google-adk==2.13.0", "google-genai==2.34.0", "openai-agents==0.24.0", "pydantic-ai-slim==2.68.0")
CONVERT = Path(__file__).with_name("convert.py")


def test_every_tool_passes_the_converters_of_openai_and_google():
    """The test beside this one holds the recorded list to be what the server lists."""
    done = subprocess.run(
        [str(from_pip(*PACKAGES)), str(CONVERT)], input=FILE.read_bytes(), capture_output=True, timeout=300
    )

    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == ""
