"""The server over HTTP, as a process of its own or in this one, and callers with tokens."""

import http.client
import json
import os
import secrets
import socket
import subprocess
import tempfile
import uuid
from contextlib import closing
from pathlib import Path

from tests.support.client import (
    HEADERS,
    LIST,
    MISBEHAVING,
    PROJECT,
    PYTHON,
    SERVE,
    TIMEOUT_S,
    messages,
    present,
    rpc,
)
from tests.support.services import as_systemd_starts, free_port, is_listening, wait_until
from tools.http import sign_in, tokens
from tools.http.ledger import Ledger

SERVER = [PYTHON, str(PROJECT / "server.py"), "--http"]
TEST_SERVER = [*SERVE, MISBEHAVING, "tools.server.testing", "--http"]


def with_token(token):
    """The headers of a good request of whoever has this token, or none."""
    return {**HEADERS, "Authorization": f"Bearer {token}" if token else None}


class StatusOnly:
    """For a class that has `send`, or `type` for the code of an invitation: only the status of the answer."""

    def status(self, *request, **options):
        return self.send(*request, **options)[0]

    def enter(self, code, **changes):
        return self.type(code, **changes)[0]


class Callers(StatusOnly):
    """Callers with tokens; `send` sends a request. Needs `state`, the server's folder, and its `url`."""

    @property
    def ledger(self):
        """The ledger of tokens, as another process reads it."""
        return Ledger(self.state)

    def invited(self, user="anna", scope="onepercent server:read", days=30):
        """Make an invitation, and return its code."""
        return sign_in.invite(self.ledger, user, scope, days)

    def key(self):
        return tokens.read_keys(self.state / "http-keys")[0]

    def token(self, user="anna", scope="onepercent server", **changes):
        """A token as the owner gives it, with other claims where `changes` say so."""
        grant = {"user": user, "scope": scope, "token_id": secrets.token_hex(8), "label": ""}
        claims = present({**tokens.claims_of(grant, self.url, 3600), **changes})
        if "jti" in claims:
            self.ledger.add({**grant, "token_id": claims["jti"]}, 3600)
        return tokens.sign(claims, self.key())

    def listed(self, token, **options):
        """The status of the answer to a request with this token."""
        return self.status(LIST, token=token, **options)

    def ask(self, method, params=None, *, token, **options):
        """The JSON-RPC answer to one request."""
        status, headers, body = self.send(rpc(method, params or {}), token=token, **options)
        assert status == 200, (status, body)
        return messages(headers, body)[-1]

    def call(self, tool, /, *, token, **arguments):
        """The result of tools/call."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, token=token)["result"]

    def content(self, tool, /, **arguments):
        """The structured content of the result of tools/call."""
        return self.call(tool, **arguments)["structuredContent"]

    def do(self, token, action, **params):
        """Make a change for the person by the model's tools, with the person's yes."""
        keys = {"idempotency_key": str(uuid.uuid4()), "user_confirmation": "yes"}
        change = {"action": action, "client_action_id": keys["idempotency_key"], "params": params}
        preview = self.content("preview_actions", token=token, actions=[change])
        self.call("apply_actions", token=token, preview_id=preview["preview_id"], **keys)


class HttpServer(Callers):
    """Starts `server.py --http`, or another `command`, on a free port; `environment` are further settings.

    With `kept` behind a socket that outlives it, as systemd keeps one.
    """

    def __init__(self, command=SERVER, kept=False, **environment):
        self.command = command
        self.kept = kept
        self.listener = None
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
            tokens.ensure_keys(self.state / "http-keys")
            self.listener = socket.create_server(("127.0.0.1", self.port), backlog=256)
        self.start()
        return self

    def start(self):
        """Start it, and wait until it listens unless its socket is there before it."""
        start_options = as_systemd_starts(self.command, self.listener)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                **start_options,
                env={**os.environ, **self.environment},
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        if not self.kept:
            wait_until(lambda: is_listening(self.port) or self.process.poll() is not None)
            assert self.process.poll() is None, self.log()

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(TIMEOUT_S)
        if self.kept:
            self.listener.close()

    def log(self):
        return self.log_path.read_text("utf-8")

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)

    def send(self, body=None, *, token=None, method="POST", path="/mcp", headers=()):
        """Status, headers and body of the answer to one request; a header of None is left out."""
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        with closing(self.connection()) as connection:
            connection.request(method, path, body, present({**with_token(token), **dict(headers)}))
            answer = connection.getresponse()
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, headers, answer.read()
