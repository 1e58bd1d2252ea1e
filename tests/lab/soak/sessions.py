"""Users of the service: each opens one session after the other, in which flows of all systems run."""

import json
import queue
import random
import time

from tests.lab.soak.docs import Docs
from tests.lab.soak.life import Person
from tests.lab.soak.notes import Notes
from tests.lab.soak.record import Answer, Lost, Request, Wrong, expect

# What no session should ever write to stderr.
BAD_SIGNS = ("Traceback", "not handed to the service", "broke off", "Internal error")
# Errors that may be the right answer whatever goes wrong outside.
EXPECTED = {"read_doc": ("NOT_FOUND",)}
# What a flow raises for an answer that is wrong, or has not the documented shape.
WRONG = (Wrong, KeyError, IndexError, TypeError, AttributeError, ValueError)


class Session:
    """A session through the command that clients start; it is killed in the middle of the call `cut_at`."""

    def __init__(self, world, faults, record, cut_at=0, **environ):
        self.faults = faults
        self.record = record
        self.cut_at = cut_at
        self.client = world.service.caller(world.caller, **world.environ(), **environ)
        self.calls = 0
        self.is_over = False
        self.asked = None
        try:
            expect(self.client.initialize()["serverInfo"]["name"] == "pi-mcp", "another server")
        except (AssertionError, KeyError, OSError, queue.Empty) as error:
            self.client.__exit__()
            raise Wrong(f"no session: {error!r}") from None

    def ask(self, tool, /, **arguments):
        """The answer of a tool. Raises Lost, Wrong."""
        if self.is_over:
            raise Lost
        self.calls += 1
        self.client.last_id += 1
        request = self.asked = Request(tool, arguments, time.monotonic())
        try:
            self.client.begin(self.client.last_id, tool, **arguments)
            if self.calls == self.cut_at:
                reply = self._cut(request.system)
            else:
                reply = self.client.answer(self.client.last_id)
        except (AssertionError, BrokenPipeError, queue.Empty) as error:
            self.is_over = True
            raise Wrong(f"no answer, {error!r}") from None
        request.ended = time.monotonic()
        return self._judged(request, reply)

    def _cut(self, system):
        """Kill the caller, and wait until its session, which holds stdout too, is gone."""
        time.sleep(random.choice((0, 0.002, 0.01, 0.03, 0.1)))
        self.is_over = True
        self.client.process.kill()
        reply = None
        while (received := self.client.receive()) is not None:
            reply = received if received.get("id") == self.client.last_id else reply
        if reply is None:
            self.record.count("unanswered", system)
            raise Lost
        return reply

    def _judged(self, request, reply):
        """Check what every answer has, whatever the tool: its shape, and for an error a fault that explains
        it."""
        self.record.count("calls", request.system)
        expect("result" in reply, f"a JSON-RPC error: {reply.get('error')}")
        result = reply["result"]
        text = result["content"][0]["text"]
        value = json.loads(text) if text[:1] in "[{" else text
        failed = isinstance(value, dict) and value.get("success") is False
        expect(result.get("isError", False) == failed, f"isError is not {failed}: {value}")
        structured = value if isinstance(value, dict) else {"result": value}
        expect(result["structuredContent"] == structured, "structuredContent differs")
        if not failed:
            return Answer(value)
        is_whole = value["error"] and value["hint"] and value["code"]
        expect(is_whole, f"an error without hint or code: {value}")
        if value["code"] not in EXPECTED.get(request.tool, ()):
            fault = self.faults.excuse(value["code"], request)
            expect(fault, f"{value['code']} without a reason: {value}")
            self.record.count("errors", f"{value['code']} as {fault}")
        return Answer(value, value["code"])

    def close(self):
        """Leave as a client does, unless that has happened, and look at what was written to stderr."""
        with self.client:
            status = 0 if self.is_over else self.client.end()
        errors = self.client.log()
        expect(not status, f"a session ended with {status}: {errors[-400:]}")
        expect(not any(sign in errors for sign in BAD_SIGNS), f"on stderr: {errors[-800:]}")
        self.record.count("sessions", "killed" if self.is_over else "ended")


class Worker:
    """A user of the service, until it is told to stop."""

    def __init__(self, name, world, faults, record, seed):
        self.name = name
        self.world = world
        self.faults = faults
        self.record = record
        self.chance = random.Random(f"{seed} {name}")
        self.person = Person(name, self.chance)
        self.notes = Notes(name, self.chance)
        self.docs = Docs(world.published, self.chance)

    def keep_going(self, stopping):
        """Have one session after the other until the end; two of five are killed in the middle of a call."""
        systems = (self.person, self.notes, self.docs)
        while not stopping.is_set():
            cut_at = self.chance.choice((0, 0, 0, 1, 1)) * self.chance.randint(1, 6)
            chosen = self.chance.choices(systems, k=self.chance.randint(1, 6))
            self.converse([system.flow for system in chosen], cut_at)

    def converse(self, flows, cut_at=0):
        """Let these flows run in a session of their own, until it is over."""
        try:
            session = Session(
                self.world, self.faults, self.record, cut_at, ONEPERCENT_USER=self.name
            )
            try:
                for flow in flows:
                    if not session.is_over:
                        self.run(flow, session)
            finally:
                session.close()
        except (Wrong, OSError) as wrong:
            self.record.complain(repr(wrong))

    def run(self, flow, session):
        """Let a flow ask until it is through, the session is over or an answer is wrong."""
        try:
            flow(session.ask)
        except Lost:
            return
        except WRONG as wrong:
            self.record.complain(f"{self.name}: {type(wrong).__name__}: {wrong}", session.asked)

    def settle(self):
        """Settle at the end what is open, and check that everything is there."""
        if self.person.open:
            self.converse([self.person.settle])
        self.converse([self.person.look, self.notes.find])
