"""Web servers for tests: what they are asked for, and what they answer."""

import http.server
import threading
from contextlib import contextmanager


class Handler(http.server.BaseHTTPRequestHandler):
    """Writes no line for each request, and no traceback for a client that leaves before the answer's end."""

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def body(self):
        return self.rfile.read(int(self.headers["Content-Length"] or 0))

    def send(self, status, body=b"", headers=()):
        """A whole answer; `headers` may claim another length."""
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **dict(headers)}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def started(server):
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def listening(handler, port=0):
    """The address of a server on the loopback."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = False
    with started(server):
        yield f"http://127.0.0.1:{server.server_address[1]}"


class Web(http.server.ThreadingHTTPServer):
    """Pages by path: bytes, or a function of the handler; `otherwise` is such a function, or a status, for
    the others.

    `seen` are (path, headers, body) of the requests.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages = {}
        self.otherwise = 404
        self.seen = []
        self.closing = threading.Event()

    def url(self, path="", host="127.0.0.1"):
        return f"http://{host}:{self.server_address[1]}{path}"


class _Handler(Handler):
    def do_GET(self):
        self.server.seen.append((self.path, dict(self.headers), self.body().decode()))
        page = self.server.pages.get(self.path, self.server.otherwise)
        if callable(page):
            return page(self)
        status, body = (200, page) if isinstance(page, bytes) else (page, b"")
        self.send(status, body, {"Content-Type": "image/png"})

    do_POST = do_GET


@contextmanager
def serving():
    web = Web()
    with started(web):
        try:
            yield web
        finally:
            web.closing.set()


def redirect(location):
    return lambda handler: handler.send(302, headers={"Location": location})


def endless(handler):
    """A body without a length and without an end."""
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(b"\x89PNG" * 4096)


def dripping(handler):
    """A byte now and then: each arrives in time, the whole never does."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.closing.wait(0.05):
        handler.wfile.write(b"\x89")
        handler.wfile.flush()
