"""A proxy on loopback that adds a token to each request, for clients that cannot send one."""

import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.client import TIMEOUT_S


class TokenProxy(ThreadingHTTPServer):
    """Passes requests on to the server on loopback at `port`, byte for byte but for the token."""

    daemon_threads = True

    def __init__(self, port, token):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port, self.token = port, token
        self.url = f"http://127.0.0.1:{self.server_port}/mcp"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, *_):
        """A client that hangs up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        lines = [
            self.requestline,
            *(f"{name}: {value}" for name, value in self.headers.items() if name != "Connection"),
        ]
        lines += [f"Authorization: Bearer {self.server.token}", "Connection: close", "", ""]
        self.close_connection = True
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=TIMEOUT_S) as upstream:
            upstream.sendall("\r\n".join(lines).encode("latin-1") + body)
            while data := upstream.recv(65536):
                self.wfile.write(data)

    do_GET = do_POST = do_DELETE = do_OPTIONS = do_HEAD = _pass_on

    def log_message(self, *_):
        """Quiet."""
