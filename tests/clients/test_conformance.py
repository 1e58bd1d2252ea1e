"""The official conformance suite against the server over HTTP; conformance.md explains what fails."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.installing import NOT_ASKED, from_npm
from tests.support.http_server import SUPPORT, HttpServer
from tests.support.token_proxy import TokenProxy

if NOT_ASKED:
    pytest.skip(NOT_ASKED, allow_module_level=True)
TIMEOUT_S = 300
NODE = "node@22.21.1"
SUITES = {"2025": ("0.1.16", []), "2026": ("0.2.0-alpha.12", ["--spec-version", "2026-07-28"])}
SERVER = [sys.executable, str(SUPPORT / "serve_over_http.py"), str(SUPPORT / "conformance_tools.py")]
EXPLAINED = Path(__file__).with_name("conformance.md")
SCENARIO = re.compile(r"^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed", re.MULTILINE)


@pytest.mark.parametrize("era", SUITES)
def test_what_fails_is_what_is_explained(small_docs, tmp_path, era):
    small_docs({"Bed_Mesh.md": "# Bed Mesh\n"})
    version, words = SUITES[era]
    program = from_npm(f"@modelcontextprotocol/conformance@{version}", "conformance").resolve()
    suite = [from_npm(NODE, "node"), program, "server", "--suite", "all", *words, "--output-dir", tmp_path]
    with HttpServer(SERVER) as server, TokenProxy(server.port, server.token(scope="server klipper")) as proxy:
        command = [*map(str, suite), "--url", proxy.url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert "Traceback" not in server.log()
    failures = {name: int(failed) for name, _, failed in SCENARIO.findall(done.stdout)}
    assert len(failures) >= 32, done.stdout[-2000:] + done.stderr[-2000:]
    assert {name for name, failed in failures.items() if failed} == explained("Both eras") | explained(era)


def explained(heading):
    """The scenarios in the table under a heading."""
    [section] = [text for text in EXPLAINED.read_text(encoding="utf-8").split("\n## ") if text.startswith(heading)]
    return {line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")} - {"scenario", "---"}
