"""A search service on a loopback port that answers as a test tells it to."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass
class Upstream:
    """`reply` answers each request, given its handler; `seen` holds (method, path, headers, JSON body or None)."""

    url: str
    reply: object = None
    seen: list = field(default_factory=list)

    def answers(self, value, status=200, **headers):
        """Answer with a text, or with JSON of anything else."""
        body = (value if isinstance(value, str) else json.dumps(value)).encode()
        self.reply = lambda handler: handler.send(status, body, headers)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.upstream.seen.append((self.command, self.path, self.headers, json.loads(body) if body else None))
        self.server.upstream.reply(self)

    do_GET = do_POST

    def send(self, status, body, headers):
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that hangs up is what some tests are about."""


@pytest.fixture
def service():
    """A function that starts one more Upstream."""
    servers = []

    def start():
        server = Server(("127.0.0.1", 0), Handler)
        server.upstream = Upstream(f"http://127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return server.upstream

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def upstream(service, env):
    """The service that the settings name."""
    found = service()
    env(SEARCH_API_URL=f"{found.url}/webhook/x", SEARCH_API_KEY="s3cret-key")
    return found
