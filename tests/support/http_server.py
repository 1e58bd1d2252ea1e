"""The server over HTTP as a process of its own, and callers with tokens."""

import http.client
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from tests.support.client import PROJECT, TIMEOUT_S
from tools.service import ledger, tokens

SERVER = [sys.executable, str(PROJECT / "server.py"), "--http"]
SUPPORT = PROJECT / "tests" / "support"
TEST_SERVER = [sys.executable, str(SUPPORT / "serve_over_http.py"), str(SUPPORT / "misbehaving.py")]
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class HttpServer:
    """Starts `server.py --http`, or another `command`, on a free port; `environment` are further settings."""

    def __init__(self, command=SERVER, **environment):
        self.command = command
        self.state = Path(tempfile.mkdtemp(prefix="pi-mcp-http-"))
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.environment = {
            "MCP_STATE_DIR": str(self.state),
            "MCP_HTTP_LISTEN": f"127.0.0.1:{self.port}",
            "MCP_HTTP_URL": self.url,
            "MCP_HTTP_RATE": "100000",
            **environment,
        }
        self.log_path = self.state / "log"

    def __enter__(self):
        self.start()
        return self

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command,
                env={**os.environ, **self.environment},
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port)).close()
            except ConnectionRefusedError:
                assert time.monotonic() < deadline and self.process.poll() is None, self.log()
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(TIMEOUT_S)

    def log(self):
        return self.log_path.read_text(encoding="utf-8")

    def key(self):
        return tokens.read_keys(self.state / "http-keys")[0]

    def token(self, user="anna", scope="onepercent server", **changes):
        """A token as the owner gives it, with other claims where `changes` say so."""
        claims = {**tokens.new_claims(user, scope.split(), self.url, 3600), **changes}
        claims = {name: value for name, value in claims.items() if value is not None}
        if "jti" in claims:
            entry = {"sub": "", "scope": "", **claims}
            ledger.Ledger(self.state).add({**entry, "exp": time.time() + 3600}, "")
        return tokens.sign(claims, self.key())

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)

    def send(self, body=None, *, token=None, method="POST", path="/mcp", headers=()):
        """Status, headers and body of the answer to one request; a header of None is left out."""
        wanted = {**HEADERS, "Authorization": f"Bearer {token}" if token else None, **dict(headers)}
        connection = self.connection()
        try:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent = {name: value for name, value in wanted.items() if value is not None}
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def ask(self, method, params=None, *, token, **options):
        """The JSON-RPC answer to one request."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        status, headers, body = self.send(request, token=token, **options)
        assert status == 200, (status, body)
        return messages(headers, body)[-1]

    def call(self, tool, /, *, token, **arguments):
        """The result of tools/call."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, token=token)["result"]


def free_port():
    """A port that no connection of anybody's takes meanwhile, since it is not one of those the kernel gives out."""
    while True:
        port = random.SystemRandom().randrange(20_000, 30_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def messages(headers, body):
    """The JSON-RPC messages of an answer, streamed or not."""
    if headers["content-type"].startswith("application/json"):
        return [json.loads(body)]
    lines = body.decode().splitlines()
    return [json.loads(line.removeprefix("data:")) for line in lines if line.startswith("data:") and line[5:].strip()]
