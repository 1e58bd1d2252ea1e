"""The official conformance suite against the server over HTTP; conformance.md explains what fails."""

import re
import subprocess
import sys
from pathlib import Path

from tests.clients.installing import from_npm, opt_in
from tests.support.http_server import SUPPORT, HttpServer
from tests.support.token_proxy import TokenProxy

pytestmark = opt_in
TIMEOUT_S = 300
NODE, SUITE = "node@22.21.1", "@modelcontextprotocol/conformance@0.1.16"
SERVER = [sys.executable, str(SUPPORT / "serve_over_http.py"), str(SUPPORT / "conformance_tools.py")]
EXPLAINED = Path(__file__).with_name("conformance.md")
SCENARIO = re.compile(r"^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed", re.MULTILINE)


def test_what_fails_is_what_is_explained(small_docs, tmp_path):
    small_docs({"Bed_Mesh.md": "# Bed Mesh\n"})
    suite = [from_npm(NODE, "node"), from_npm(SUITE, "conformance").resolve(), "server", "--suite", "all"]
    with (
        HttpServer(SERVER) as server,
        TokenProxy(server.port, server.token(scope="server klipper onepercent")) as proxy,
    ):
        done = subprocess.run(
            [*map(str, suite), "--url", proxy.url, "--output-dir", str(tmp_path)],
            capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        assert "Traceback" not in server.log()
    failures = {name: int(failed) for name, _, failed in SCENARIO.findall(done.stdout)}
    assert len(failures) >= 32, done.stdout[-2000:] + done.stderr[-2000:]
    assert {name for name, failed in failures.items() if failed} == explained()


def explained():
    rows = [line.split("|") for line in EXPLAINED.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return {row[1].strip() for row in rows[1:]} - {"---"}
