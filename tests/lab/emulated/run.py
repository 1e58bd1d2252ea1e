#!/usr/bin/env python3
"""Runs the server on the processors of a Raspberry Pi, which qemu emulates: 64-bit and 32-bit ARM.

It answers initialize, tools/list and calls of each toolset there; what its start takes is printed. Where qemu, Debian's
mirror or pip's index is out of reach it says why, and the exit status is 0.

usage: .venv-test/bin/python tests/lab/emulated/run.py [arm64] [armhf]

Variables: MIRROR   where Debian's packages come from (default: where apt has its own)
"""

import json
import sys
import tempfile
from http.server import BaseHTTPRequestHandler
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.klipper.upstreams import Upstream, serving
from tests.lab.bench.processes import cpu_s
from tests.lab.emulated.machines import PROCESSORS, Machine, Unavailable, make
from tests.support import client
from tests.support.client import Client

GOAL = {"action": "goal.create", "client_action_id": "11111111-1111-4111-8111-111111111111", "params": {"title": "Pi"}}


class Backends(BaseHTTPRequestHandler):
    """Anki's decks for one that asks as AnkiConnect is asked, and a search result for anyone else."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answers = {"action": {"result": {"Default": 1}, "error": None}, "query": {"results": [{"title": "about ARM"}]}}
        body = json.dumps(next(answers[key] for key in answers if key in request)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def main(names: list[str]) -> int:
    client.TIMEOUT_S = 300  # an emulated start takes many times as long
    held = True
    for processor in PROCESSORS:
        if names and processor.name not in names:
            continue
        with tempfile.TemporaryDirectory(prefix="pi-mcp-") as folder:
            try:
                machine = make(processor, Path(folder))
            except Unavailable as reason:
                print(f"skipped: {processor.name}: {reason}")
                continue
            held = look_at(machine, Path(folder)) and held
    return 0 if held else 1


def look_at(machine: Machine, folder: Path) -> bool:
    """Print what the server answers and how soon it starts; whether all answers are right."""
    (folder / "home").mkdir()
    settings = {"HOME": str(folder / "home"), "KLIPPER_DOCS_URL": Upstream(folder / "upstream").url}
    with serving(Backends) as url:
        settings |= {"ANKI_CONNECT_URL": url, "SEARCH_API_URL": url}
        try:
            tools = use(machine, settings)
            print(f"ok    {machine.processor.name}: {tools} tools, {how_it_starts(machine, settings)}", flush=True)
        except AssertionError as error:
            print(f"FAIL  {machine.processor.name}: {error}", flush=True)
            return False
    return True


def use(machine: Machine, settings: dict[str, str]) -> int:
    """One session that calls each toolset; how many tools it lists."""
    with Client(machine.server(settings)) as session:
        assert session.initialize()["serverInfo"]["name"] == "pi-mcp"
        tools = session.request("tools/list")["result"]["tools"]

        def call(name: str, expected: str, /, **arguments: object) -> dict[str, object]:
            result = session.call(name, **arguments)
            assert not result["isError"] and expected in json.dumps(result), (name, result)
            return result["structuredContent"]

        call("greet", "Pi", name="Pi")
        call("anki_list_decks", "Default")
        call("sync_docs", "cloned")
        call("search_docs", "BLTouch.md", query="bltouch")
        call("search", "about ARM", query="arm")
        preview = call("preview_actions", "preview_id", actions=[GOAL])
        consent = {
            "preview_id": preview["preview_id"],
            "idempotency_key": "123e4567-e89b-42d3-a456-426614174000",
            "user_confirmation": "yes",
        }
        call("apply_actions", "created_id", **consent)
        call("get_user_snapshot", '"Pi"')
        assert session.end() == 0
    return len(tools)


def how_it_starts(machine: Machine, settings: dict[str, str]) -> str:
    """The processor's time from the start to the answer of tools/list, and to that of a first call."""
    lines = []
    for case in ("no listing kept", "kept"):  # the session before changed a description
        with Client(machine.server(settings)) as session:
            session.initialize()
            session.request("tools/list")
            listed_s = cpu_s(session.process.pid)
            session.call("greet", name="Pi")
            lines.append(f"{case}: listed after {listed_s:.1f} s, a first call {cpu_s(session.process.pid):.1f} s")
    return f"{'; '.join(lines)} (processor's time)"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
