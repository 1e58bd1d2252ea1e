"""Small images, made by hand, and a web server that has them."""

import http.server
import struct
import threading
import zlib
from contextlib import contextmanager


def png(width=2, height=1, *, alpha=False, claimed=None):
    """A red PNG; half of it transparent with `alpha`. `claimed` is a size that only its header has."""
    channels = b"\xff\0\0" + (b"\x80" if alpha else b"")
    rows = b"".join(b"\0" + channels * width for _ in range(height))
    header = struct.pack(">IIBBBBB", *(claimed or (width, height)), 8, 6 if alpha else 2, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )


GIF = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
SVG = b'<?xml version="1.0"?>\n<!-- a circle -->\n<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>'
JPEG_HEAD = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08\0\x05\0\x07\x03"
JPEG = JPEG_HEAD + b"\x01\x22\0\x02\x11\x01\x03\x11\x01\xff\xd9"
WEBP = b"RIFF\x16\0\0\0WEBPVP8L\x09\0\0\0/\x02\x40\x00\x00\0\0\0\0\0"


class Web(http.server.ThreadingHTTPServer):
    """Pages by path: bytes, or a function of the handler. `seen` are (path, headers) of the requests."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages, self.seen = {}, []
        self.closing = threading.Event()

    def url(self, path="", host="127.0.0.1"):
        return f"http://{host}:{self.server_address[1]}{path}"


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.seen.append((self.path, dict(self.headers)))
        page = self.server.pages.get(self.path)
        if callable(page):
            return page(self)
        self.send_response(200 if page is not None else 404)
        self.send_header("Content-Type", "image/png")
        self.end_headers()
        self.wfile.write(page or b"")

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
