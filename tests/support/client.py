"""A client of the real server process, by hand: JSON lines over its stdin and stdout."""

import json
import os
import queue
import re
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
PYTHON = sys.executable
SERVER = [PYTHON, str(PROJECT / "server.py"), "--standalone"]
SUPPORT = PROJECT / "tests" / "support"
SERVE = [PYTHON, str(SUPPORT / "serve_with_tools.py")]
MISBEHAVING = str(SUPPORT / "misbehaving.py")
TEST_SERVER = [*SERVE, MISBEHAVING, "tools.testing.misbehaving"]
HANDSHAKE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
TIMEOUT_S = 30
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class Talk:
    """A client's end of a session, as JSON lines by hand. Every line that comes must be a JSON-RPC
    message."""

    def __init__(self, stdin, stdout):
        self.stdin = stdin
        self.stdout = stdout
        self.messages = queue.Queue()
        self.notifications = []
        self.last_id = 0
        self.threads = []
        # Cleared, this client reads no more.
        self.reading = threading.Event()
        self.reading.set()
        self._follow(stdout, self.messages.put)

    def _follow(self, stream, take):
        def read():
            for line in stream:
                self.reading.wait()
                take(line)
            take(b"")

        self.threads.append(threading.Thread(target=read, daemon=True))
        self.threads[-1].start()

    def __enter__(self):
        return self

    def write(self, line):
        self.stdin.write(line.encode() + b"\n" if isinstance(line, str) else line)
        self.stdin.flush()

    def send(self, **message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def receive(self):
        """The next message, whatever it is; None at the end."""
        line = self.messages.get(timeout=TIMEOUT_S)
        return json.loads(line) if line else None

    def answer(self, request_id):
        """The answer to a request; what the server sends or asks before it is kept in `notifications`."""
        while (message := self.receive()) is not None:
            if "method" in message:
                self.notifications.append(message)
            elif message["id"] == request_id:
                return message
        raise AssertionError(f"the server ended: {self.log()}")

    def request(self, method, **params):
        self.last_id += 1
        self.send(id=self.last_id, method=method, params=params)
        return self.answer(self.last_id)

    def initialize(self, **capabilities):
        answer = self.request("initialize", **HANDSHAKE | {"capabilities": capabilities})
        self.send(method="notifications/initialized")
        return answer["result"]

    def begin(self, request_id, name, /, _meta=None, **arguments):
        """Send a call under this id, and do not wait for its answer."""
        params = {"name": name, "arguments": arguments, "_meta": _meta or {}}
        self.send(id=request_id, method="tools/call", params=params)

    def call(self, name, /, **arguments):
        """The result of tools/call."""
        return self.request("tools/call", name=name, arguments=arguments)["result"]

    def withdraw(self, request_id):
        self.send(method="notifications/cancelled", params={"requestId": request_id})

    def notification(self, method):
        """Wait for a notification."""
        while not any(received["method"] == method for received in self.notifications):
            message = self.receive()
            assert message is not None, "the server ended"
            self.notifications.append(message)

    def log(self):
        """What a server that ended unexpectedly wrote to stderr."""
        return ""


class Client(Talk):
    """Starts `command` and speaks to it over its stdin and stdout."""

    def __init__(self, command=None, **environment):
        self.process = subprocess.Popen(
            command or SERVER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        super().__init__(self.process.stdin, self.process.stdout)
        self.errors = []
        self._follow(self.process.stderr, self.errors.append)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(TIMEOUT_S)
        for thread in self.threads:
            thread.join(TIMEOUT_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(BrokenPipeError):
                stream.close()

    def log(self):
        return b"".join(self.errors).decode()

    def end(self):
        """Close stdin as a client that leaves, and give back the exit status."""
        self.process.stdin.close()
        return self.process.wait(TIMEOUT_S)


def finished(command, **options):
    """Run a command to its end, with its output as text; `options` are subprocess.run's."""
    return subprocess.run(
        command, **{"capture_output": True, "text": True, "timeout": 120, **options}
    )


def output_of(command, **options):
    """What a command prints, which must succeed."""
    done = finished(command, **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def pipe(lines, command=None, **environment):
    """The messages that `printf … | server.py` prints, and its exit status."""
    text = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    done = finished(command or SERVER, input=text, env={**os.environ, **environment})
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


def rpc(method, params, request_id=1):
    """A JSON-RPC request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def present(fields):
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def json_lines(text):
    """The values of a table of cases: JSON, one per line; a line that begins with a blank goes on with one."""
    return [json.loads(value) for value in re.split(r"\n(?! )", text.strip())]


def cases(text):
    """The rows of a table of cases, one per line, with bars between the columns."""
    return [line.split(" | ") for line in text.strip().splitlines()]


def messages(headers, body):
    """The JSON-RPC messages of an answer, streamed or not."""
    if headers["content-type"].startswith("application/json"):
        return [json.loads(body)]
    return [
        json.loads(line.removeprefix("data: "))
        for line in body.decode().splitlines()
        if line.startswith("data: {")
    ]
