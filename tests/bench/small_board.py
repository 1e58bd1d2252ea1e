#!/usr/bin/env python3
"""What a board of 512 MB has to hold at once: the service, four sessions, a sync, a picture of 10 megapixels, searches.

usage: small_board.py [--limit MIB]      (default 350; needs `./setup.sh test` and Pillow)

No process of the service may map more than ADDRESS_MIB, and the memory of all of them together (PSS, ten times a second)
is held against the limit. Anki, the upstream and the search service are elsewhere, as they are for a Pi. Exit status 1
if a call fails or the limit is exceeded.
"""

import argparse
import base64
import io
import os
import random
import resource
import sys
import threading
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from tests.bench.processes import pss_mib  # noqa: E402
from tests.soak import disk  # noqa: E402
from tests.soak.peaks import descendants  # noqa: E402
from tests.soak.world import World  # noqa: E402
from tests.support.client import Client  # noqa: E402

ADDRESS_MIB = 512
EVERY_S = 0.1
SIZE = (3872, 2592)
ROUNDS = 3


class Watch:
    """The memory of some processes and their children together, sampled until it is stopped."""

    def __init__(self, pids: list[int]):
        self.pids = pids
        self.most: dict[str, float] = {}
        self.sum_mib = 0.0
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Watch":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self.thread.join()

    def _run(self) -> None:
        while not self.stopping.wait(EVERY_S):
            shares = {}
            for pid in (below for root in self.pids for below in (root, *descendants(root))):
                try:
                    name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
                    shares[f"{name} {pid}"] = pss_mib(pid)
                except (OSError, KeyError, ValueError):
                    continue
            if sum(shares.values()) > self.sum_mib:
                self.sum_mib, self.most = sum(shares.values()), shares


def photo() -> str:
    """Ten megapixels of noise, as a camera's are: nothing to save by equal lines."""
    from PIL import Image

    out = io.BytesIO()
    small = Image.frombytes(
        "RGB", (SIZE[0] // 8, SIZE[1] // 8), random.Random(0).randbytes(SIZE[0] * SIZE[1] // 64 * 3)
    )
    small.resize(SIZE).save(out, "JPEG", quality=90)
    return base64.b64encode(out.getvalue()).decode()


def answer(client: Client, name: str, **arguments: Any) -> Any:
    result = client.call(name, **arguments)
    assert not result["isError"], result["content"][0]["text"]
    return result["structuredContent"]


def loads(data: str) -> list[Callable[[Client], None]]:
    """What each of the four sessions does, all at once."""

    def add(client: Client) -> None:
        picture = {"image_base64": data, "target_field": "Back"}
        for number in range(ROUNDS):
            note = {"fields": {"Front": f"Photo {number}", "Back": "x"}, "images": [picture]}
            answered = answer(client, "anki_add_notes", notes=[note], deck="Soak A")
            assert answered["details"][0]["status"] == "ok" and "warnings" not in answered, answered

    def search(client: Client) -> None:
        for query in ("bed mesh", "pressure advance", "резонанс", "bltouch") * ROUNDS:
            assert answer(client, "search_docs", query=query)["result"]

    def plan(client: Client) -> None:
        for number in range(10 * ROUNDS):
            action = {
                "action": "goal.create",
                "client_action_id": str(uuid.uuid4()),
                "params": {"title": f"Цель {number}"},
            }
            assert answer(client, "preview_actions", actions=[action])["preview_id"]
            answer(client, "get_user_snapshot")

    def sync(client: Client) -> None:
        for _ in range(ROUNDS):
            answer(client, "sync_docs")

    return [add, search, plan, sync]


def measure() -> Watch:
    os.environ[disk.INSIDE] = "limit"
    world = World(1)
    try:
        with world.service as service, ExitStack() as sessions:
            bound = ADDRESS_MIB * 2**20
            resource.prlimit(service.process.pid, resource.RLIMIT_AS, (bound, bound))  # its sessions inherit it
            clients = [sessions.enter_context(service.caller(world.caller, **world.environ())) for _ in range(4)]
            for client in clients:
                assert client.initialize()
            with Watch([service.process.pid, *(client.process.pid for client in clients)]) as watch:
                answer(clients[3], "sync_docs")
                world.published.publish()
                at_once(clients, loads(photo()))
            return watch
    finally:
        world.close()


def at_once(clients: list[Client], work: list[Callable[[Client], None]]) -> None:
    errors: list[BaseException] = []

    def run(client: Client, load: Callable[[Client], None]) -> None:
        try:
            load(client)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=pair) for pair in zip(clients, work, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=350, metavar="MIB")
    limit_mib = parser.parse_args().limit
    watch = measure()
    for name, mib in sorted(watch.most.items(), key=lambda share: -share[1]):
        print(f"{mib:7.1f} MiB  {name}")
    print(f"{watch.sum_mib:7.1f} MiB  all at once at most, of {limit_mib:g}")
    return 0 if watch.sum_mib <= limit_mib else 1


if __name__ == "__main__":
    sys.exit(main())
