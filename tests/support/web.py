"""A web server for a test: what it is asked for, and what it answers."""

import http.server
import threading
from contextlib import contextmanager


class Web(http.server.ThreadingHTTPServer):
    """Pages by path: bytes, or a function of the handler; `otherwise` is such a function, or a status, for the others.

    `seen` are (path, headers, body) of the requests.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages, self.otherwise, self.seen = {}, 404, []
        self.closing = threading.Event()

    def url(self, path="", host="127.0.0.1"):
        return f"http://{host}:{self.server_address[1]}{path}"


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        self.server.seen.append((self.path, dict(self.headers), body))
        page = self.server.pages.get(self.path, self.server.otherwise)
        if callable(page):
            return page(self)
        self.send_response(200 if isinstance(page, bytes) else page)
        self.send_header("Content-Type", "image/png")
        self.end_headers()
        self.wfile.write(page if isinstance(page, bytes) else b"")

    do_POST = do_GET

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True


@contextmanager
def serving():
    web = Web()
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield web
    finally:
        web.closing.set()
        web.shutdown()
        thread.join()
        web.server_close()


def redirect(location, status=302):
    def page(handler):
        handler.send_response(status)
        handler.send_header("Location", location)
        handler.end_headers()

    return page


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
