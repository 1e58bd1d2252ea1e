"""Sessions of the service: the ways in and out of them, and a call and its answer in each."""

import json
import os
import queue
import random
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.lab.soak.faults import Faults
from tests.lab.soak.record import Answer, Lost, Record, Request, Wrong, expect
from tests.lab.soak.world import World
from tests.support.client import Client

BROKE_OFF = "broke off"
BAD_SIGNS = ("Traceback", "not handed to the service", BROKE_OFF, "Internal error")
"""What no session should ever write to stderr."""


def message(request: Request) -> dict[str, Any]:
    """The JSON-RPC request of a call."""
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
        self.world, self.judge, self.chance, self.cut_at = world, judge, chance, cut_at
        self.client: Client = world.service.caller(world.caller, **environ)
        self.calls = 0
        self.over = ""
        try:
            expect(self.client.initialize()["serverInfo"]["name"] == "pi-mcp", "another server")
        except (AssertionError, KeyError, OSError, queue.Empty) as error:
            self.client.__exit__()
            raise Wrong(f"no session: {error!r}") from None

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
        errors = self.client.log()
        expect(not status, f"a session ended with {status}: {errors[-400:]}")
        errors = errors.replace(BROKE_OFF, "") if self.over == "session killed" else errors
        expect(not any(sign in errors for sign in BAD_SIGNS), f"on stderr: {errors[-800:]}")


def value_of(text: str) -> Any:
    """What a tool answered: JSON, or text as it stands."""
    try:
        return json.loads(text)
    except ValueError:
        return text
