"""A client of the real server process, by hand: JSON lines over its stdin and stdout."""

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
SERVER = [sys.executable, str(PROJECT / "server.py"), "--standalone"]
TEST_SERVER = [sys.executable, str(PROJECT / "tests" / "support" / "serve_test_tools.py")]
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
TIMEOUT_S = 30


class Client:
    """Starts `command` and speaks to it. Every line it writes to stdout must be a JSON-RPC message."""

    def __init__(self, command=None, **environment):
        self.process = subprocess.Popen(
            command or SERVER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        self.messages = queue.Queue()
        self.notifications = []
        self.errors = []
        self.threads = [
            threading.Thread(target=self._read, args=(self.process.stdout, self.messages.put), daemon=True),
            threading.Thread(target=self._read, args=(self.process.stderr, self.errors.append), daemon=True),
        ]
        for thread in self.threads:
            thread.start()
        self.last_id = 0

    def _read(self, stream, take):
        for line in stream:
            take(line)
        take(b"")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(TIMEOUT_S)
        for thread in self.threads:
            thread.join(TIMEOUT_S)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with suppress(BrokenPipeError):
                stream.close()

    def write(self, line):
        self.process.stdin.write(line.encode() + b"\n" if isinstance(line, str) else line)
        self.process.stdin.flush()

    def send(self, **message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}))

    def receive(self):
        """The next message, whatever it is; None at the end."""
        line = self.messages.get(timeout=TIMEOUT_S)
        return json.loads(line) if line else None

    def answer(self, request_id):
        """The answer to a request; notifications before it are kept in `notifications`."""
        while (message := self.receive()) is not None:
            if "method" in message:
                self.notifications.append(message)
            elif message["id"] == request_id:
                return message
        raise AssertionError(f"the server ended: {b''.join(self.errors).decode()}")

    def answer_to_any(self, request_ids):
        """The next answer to one of these requests."""
        while (message := self.receive()) is not None:
            if "method" not in message and message["id"] in request_ids:
                return message
        raise AssertionError(f"the server ended: {b''.join(self.errors).decode()}")

    def request(self, method, **params):
        self.last_id += 1
        self.send(id=self.last_id, method=method, params=params)
        return self.answer(self.last_id)

    def initialize(self, version="2025-11-25"):
        answer = self.request("initialize", **{**HANDSHAKE, "protocolVersion": version})
        self.send(method="notifications/initialized")
        return answer["result"]

    def call(self, name, /, **arguments):
        """The result of tools/call."""
        return self.request("tools/call", name=name, arguments=arguments)["result"]

    def notification(self, method):
        """Wait for a notification."""
        while not any(one["method"] == method for one in self.notifications):
            message = self.receive()
            assert message is not None, "the server ended"
            self.notifications.append(message)

    def end(self):
        """Close stdin as a client that leaves, and give back the exit status."""
        self.process.stdin.close()
        return self.process.wait(TIMEOUT_S)


def pipe(lines, command=None, **environment):
    """What `printf … | server.py` prints, as messages, with the exit status."""
    text = "".join((line if isinstance(line, str) else json.dumps({"jsonrpc": "2.0", **line})) + "\n" for line in lines)
    done = subprocess.run(
        command or SERVER,
        input=text.encode(),
        capture_output=True,
        timeout=TIMEOUT_S,
        env={**os.environ, **environment},
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode
