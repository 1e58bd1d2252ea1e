"""A search service on a loopback port that can hang, fail and be gone, and calls checked against what it answers."""

import json
import random
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.soak.record import Record, Request, expect

FOUND = 12


def results(query: str) -> list[dict[str, Any]]:
    """All that the service knows of a query."""
    return [
        {
            "title": f"{query} {number}",
            "url": f"https://example.org/{number}",
            "snippet": query[::-1],
            "score": number / 2,
        }
        for number in range(FOUND)
    ]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.mode == "hangs":
            self.server.released.wait()
        if self.server.mode == "fails":
            return self._send(503, {"message": "out of order"})
        start = int(asked.get("cursor") or 0)
        end = start + min(asked.get("limit") or 5, 5)
        more = {"nextCursor": str(end)} if end < FOUND else {}
        self._send(200, {"results": results(asked["query"])[start:end], **more})

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    mode = ""
    request_queue_size = 64

    def handle_error(self, *_):
        """Clients that hang up are part of the soak."""


class Service:
    def __init__(self):
        self.port = 0
        self.open()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/search"

    def open(self) -> None:
        self.server = Server(("127.0.0.1", self.port), Handler)
        self.server.released = threading.Event()
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.released.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def behave(self, mode: str) -> None:
        """hangs, fails, or an empty text: answers."""
        self.server.mode = mode
        if not mode:
            self.server.released.set()
            self.server.released = threading.Event()


class Web:
    def __init__(self, chance: random.Random, record: Record):
        self.chance, self.record = chance, record

    def flow(self) -> Iterator[Request]:
        return self.chance.choice((self.search, self.search, self.greet, self.status))()

    def single(self) -> Iterator[Request]:
        return self.flow()

    def search(self) -> Iterator[Request]:
        """A page of results, or two."""
        query, limit, at = f"soak {self.chance.getrandbits(32):x}", self.chance.randint(1, 7), 0
        for _ in range(2):
            cursor = {"cursor": str(at)} if at else {}
            answer = yield Request("search", {"query": query, "limit": limit, **cursor})
            if answer.code:
                return
            end = at + min(limit, 5)
            wanted = {"results": results(query)[at:end], "nextCursor": str(end) if end < FOUND else None}
            expect(answer.value == wanted, f"{answer.value}, not {wanted}")
            at = end

    def greet(self) -> Iterator[Request]:
        name = f"Алиса {self.chance.getrandbits(16)}"
        answer = yield Request("greet", {"name": name})
        expect(answer.value == f"Привет, {name}! Я твой MCP-сервер.", f"greeted with {answer.value}")

    def status(self) -> Iterator[Request]:
        answer = yield Request("status")
        for name in ("anki", "klipper", "onepercent", "search"):
            expect(f"| {name} |" in answer.value, f"no {name} in the status: {answer.value}")
