"""AnkiConnect and a search service in one, as far as one call of each needs them: for tests that are about the way there."""

import json
from http.server import BaseHTTPRequestHandler

from tests.klipper.upstreams import serving

DECKS = {"result": {"Default": 1}, "error": None}
FOUND = {"results": [{"title": "Pi", "url": "https://example.org/pi", "snippet": "", "content": "", "score": 1}]}


class Backends(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(DECKS if "action" in request else FOUND).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def backends(port=0):
    """A context that gives their address, at any free port or at this one."""
    return serving(Backends, port)
