"""Sessions of the service: the ways in and out of them, and a call and its answer in each."""

import json
import os
import queue
import random
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.soak.faults import Faults
from tests.soak.record import Answer, Lost, Record, Request, Wrong, expect
from tests.soak.world import World
from tests.support.client import HANDSHAKE, TIMEOUT_S, Client

STATUS = {"method": "resources/read", "params": {"uri": "pi-mcp://status"}}
BROKE_OFF = "broke off"
BAD_SIGNS = ("Traceback", "not handed to the service", BROKE_OFF, "Internal error")
"""What no session should ever write to stderr."""
INITIALIZE = {"method": "initialize", "params": HANDSHAKE}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def message(request: Request) -> dict[str, Any]:
    """The JSON-RPC request of a call."""
    if request.tool == "status":
        return STATUS
    return {"method": "tools/call", "params": {"name": request.tool, "arguments": request.arguments}}


class Judge:
    """What is true of every answer, whatever the tool: its shape, and that an error has a fault to blame."""

    def __init__(self, faults: Faults, record: Record):
        self.faults, self.record = faults, record

    def judge(self, request: Request, reply: dict[str, Any]) -> Answer:
        """The answer; raises Wrong."""
        self.record.called(request)
        expect("result" in reply, f"a JSON-RPC error: {reply.get('error')}")
        result = reply["result"]
        if request.tool == "status":
            return Answer(result["contents"][0]["text"])
        value = value_of(result["content"][0]["text"])
        failed = isinstance(value, dict) and value.get("success") is False
        expect(result.get("isError", False) == failed, f"isError is not {failed}: {value}")
        structured = value if isinstance(value, dict) else {"result": value}
        expect(result["structuredContent"] == structured, "structuredContent differs")
        return self._failed(request, value) if failed else Answer(value)

    def _failed(self, request: Request, value: dict[str, Any]) -> Answer:
        texts = [value.get(name) for name in ("error", "hint", "code")]
        expect(all(isinstance(text, str) and text for text in texts), f"an error without error, hint or code: {value}")
        code = value["code"]
        if code not in request.expects:
            fault = self.faults.excuse(code, value["error"], request)
            expect(fault, f"{code} without a reason: {value}")
            self.record.count(self.record.errors, (fault, code))
        return Answer(value, code)


class HandedOver:
    """Through the command that clients start. With `cut_at` it or its session is killed in the middle of that call;
    `over` says how it ended before it was left."""

    way = "handed over"

    def __init__(self, world: World, judge: Judge, chance: random.Random, environ: dict[str, str], cut_at: int = 0):
        self.world, self.judge, self.chance, self.environ, self.cut_at = world, judge, chance, environ, cut_at
        self.client: Client = world.service.caller(world.caller, **environ)
        self.calls = 0
        self.over = ""
        try:
            expect(self.client.initialize()["serverInfo"]["name"] == "pi-mcp", "another server")
        except (AssertionError, KeyError, OSError, queue.Empty) as error:
            self.client.__exit__()
            raise Wrong(f"no session: {error!r}") from None

    def sibling(self) -> "HandedOver":
        return HandedOver(self.world, self.judge, self.chance, self.environ)

    def ask(self, request: Request) -> Answer:
        """Raises Lost, Wrong."""
        if self.over:
            raise Lost
        self.calls += 1
        request.began = time.monotonic()
        self.client.last_id += 1
        try:
            self.client.send(id=self.client.last_id, **message(request))
            reply = self._cut() if self.calls == self.cut_at else self.client.answer(self.client.last_id)
        except (AssertionError, BrokenPipeError, queue.Empty) as error:
            self.over = "broken off"
            raise Wrong(f"no answer, {error!r}") from None
        request.ended = time.monotonic()
        return self.judge.judge(request, reply)

    def _cut(self) -> dict[str, Any]:
        """Kill the caller or the session itself at some moment, and wait until both, which hold stdout, are gone."""
        time.sleep(self.chance.choice((0, 0.002, 0.01, 0.03, 0.1)))
        session = self._session() if self.chance.random() < 0.3 else None
        if session:
            self.over = "session killed"
            os.kill(session, signal.SIGKILL)
        else:
            self.over = "caller killed"
            self.client.process.kill()
        reply = None
        while (received := self.client.receive()) is not None:
            reply = received if received.get("id") == self.client.last_id else reply
        if reply is None:
            raise Lost
        return reply

    def _session(self) -> int | None:
        """The process of the session: the child of the service that holds the other end of our stdin."""
        pipe = os.fstat(self.client.process.stdin.fileno()).st_ino
        for pid in self.world.service.children():
            with suppress(OSError):
                if pipe in [path.stat().st_ino for path in Path(f"/proc/{pid}/fd").iterdir()]:
                    return pid
        return None

    def close(self) -> None:
        """Leave as a client does, unless that has happened, and look at what was written to stderr."""
        with self.client:
            status = 0 if self.over else self.client.end()
        errors = b"".join(self.client.errors).decode(errors="replace")
        expect(not status, f"a session ended with {status}: {errors[-400:]}")
        errors = errors.replace(BROKE_OFF, "") if self.over == "session killed" else errors
        expect(not any(sign in errors for sign in BAD_SIGNS), f"on stderr: {errors[-800:]}")


class Plain:
    """A connection without a caller, as `nc -U` makes it."""

    way = "plain connection"

    def __init__(self, world: World, judge: Judge):
        self.world, self.judge = world, judge
        self.connection: socket.socket = world.service.connect()
        self.answers = self.connection.makefile("rb")
        self.calls = 0
        self.over = ""
        self._send(id=0, **INITIALIZE)
        expect("result" in json.loads(self.answers.readline() or b"{}"), "no answer to initialize")
        self.connection.sendall(json.dumps(INITIALIZED).encode() + b"\n")

    def sibling(self) -> "Plain":
        return Plain(self.world, self.judge)

    def _send(self, **what: Any) -> None:
        self.connection.sendall(json.dumps({"jsonrpc": "2.0", **what}).encode() + b"\n")

    def ask(self, request: Request) -> Answer:
        self.calls += 1
        request.began = time.monotonic()
        self._send(id=self.calls, **message(request))
        for line in self.answers:
            reply = json.loads(line)
            if reply.get("id") == self.calls:
                request.ended = time.monotonic()
                return self.judge.judge(request, reply)
        self.over = "broken off"
        raise Wrong("the connection ended by itself")

    def close(self) -> None:
        """Hang up."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.answers.close()
        self.connection.close()


def piped(world: World, judge: Judge, environ: dict[str, str], requests: list[Request]) -> list[Answer | Exception]:
    """What `printf … | pi-mcp` gets for each request: its answer, Lost where the session left before, or Wrong."""
    lines = [{"jsonrpc": "2.0", "id": 0, **INITIALIZE}, INITIALIZED]
    lines += [{"jsonrpc": "2.0", "id": number, **message(request)} for number, request in enumerate(requests, 1)]
    for request in requests:
        request.began = time.monotonic()
    done = subprocess.run(
        world.caller,
        input="".join(json.dumps(line) + "\n" for line in lines).encode(),
        capture_output=True,
        timeout=TIMEOUT_S,
        env={**world.service.environment, **environ},
    )
    replies = {reply.get("id"): reply for reply in map(json.loads, done.stdout.splitlines())}
    if done.returncode or any(sign in done.stderr.decode(errors="replace") for sign in BAD_SIGNS):
        return [Wrong(f"status {done.returncode}, stderr {done.stderr[-800:].decode(errors='replace')}")] * len(
            requests
        )
    return [_judged(judge, request, replies.get(number)) for number, request in enumerate(requests, 1)]


def _judged(judge: Judge, request: Request, reply: dict[str, Any] | None) -> Answer | Exception:
    request.ended = time.monotonic()
    if reply is None:
        return Lost()
    try:
        return judge.judge(request, reply)
    except Wrong as wrong:
        return wrong


def value_of(text: str) -> Any:
    """What a tool answered: JSON, or text as it stands."""
    try:
        return json.loads(text)
    except ValueError:
        return text
