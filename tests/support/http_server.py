"""The server over HTTP, as a process of its own or in this one, and callers with tokens."""

import http.client
import json
import os
import secrets
import socket
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

from tests.support.client import HEADERS, MISBEHAVING, PROJECT, PYTHON, SERVE, TIMEOUT_S, messages
from tests.support.services import free_port
from tools.http import sign_in, tokens
from tools.http.ledger import Ledger

SERVER = [PYTHON, str(PROJECT / "server.py"), "--http"]
TEST_SERVER = [*SERVE, MISBEHAVING, "tools.server.testing", "--http"]


class Callers:
    """Callers with tokens; `send` sends a request. Needs `state`, the server's folder, and its `url`."""

    @property
    def ledger(self):
        """What was given out and revoked, as another process reads it."""
        return Ledger(self.state)

    def invited(self, user="anna", scope="onepercent server:read", days=30):
        """The code of an invitation."""
        return sign_in.invite(self.ledger, user, scope, days)

    def key(self):
        return tokens.read_keys(self.state / "http-keys")[0]

    def token(self, user="anna", scope="onepercent server", **changes):
        """A token as the owner gives it, with other claims where `changes` say so."""
        grant = {"user": user, "scope": scope, "token_id": secrets.token_hex(8), "label": ""}
        claims = {**tokens.claims_of(grant, self.url, 3600), **changes}
        claims = {name: value for name, value in claims.items() if value is not None}
        if "jti" in claims:
            self.ledger.add({**grant, "token_id": claims["jti"]}, 3600)
        return tokens.sign(claims, self.key())

    def ask(self, method, params=None, *, token, **options):
        """The JSON-RPC answer to one request."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
        status, headers, body = self.send(request, token=token, **options)
        assert status == 200, (status, body)
        return messages(headers, body)[-1]

    def call(self, tool, /, *, token, **arguments):
        """The result of tools/call."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, token=token)["result"]

    def do(self, token, action, **params):
        """The model does something for the person, who said yes."""
        keys = {"idempotency_key": str(uuid.uuid4()), "user_confirmation": "yes"}
        actions = [
            {"action": action, "client_action_id": keys["idempotency_key"], "params": params}
        ]
        preview = self.call("preview_actions", token=token, actions=actions)["structuredContent"]
        self.call("apply_actions", token=token, preview_id=preview["preview_id"], **keys)


class HttpServer(Callers):
    """Starts `server.py --http`, or another `command`, on a free port; `environment` are further settings.

    With `kept` behind a socket that outlives it, as systemd keeps one.
    """

    def __init__(self, command=SERVER, kept=False, **environment):
        self.command, self.kept = command, kept
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
        if self.kept:
            tokens.keys_at(self.state / "http-keys")
            self.listener = socket.create_server(("127.0.0.1", self.port), backlog=256)
        self.start()
        return self

    def start(self):
        """Start it, and wait until it listens unless its socket is there before it."""
        handles = [self.listener.fileno()] if self.kept else []
        script = (
            f'exec 3<&{handles[0]} && LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
            if self.kept
            else 'exec "$@"'
        )
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", script, "systemd", *self.command],
                env={**os.environ, **self.environment},
                pass_fds=handles,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        deadline = time.monotonic() + TIMEOUT_S
        while not self.kept:
            try:
                return socket.create_connection(("127.0.0.1", self.port)).close()
            except ConnectionRefusedError:
                assert time.monotonic() < deadline and self.process.poll() is None, self.log()
                time.sleep(0.005)

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(TIMEOUT_S)
        if self.kept:
            self.listener.close()

    def log(self):
        return self.log_path.read_text(encoding="utf-8")

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
            return (
                answer.status,
                {name.lower(): value for name, value in answer.getheaders()},
                answer.read(),
            )
        finally:
            connection.close()
