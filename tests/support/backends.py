"""AnkiConnect and a search service in one, each with one answer: for tests of the way there."""

import json

from tests.support.web import Handler, listening

DECKS = {"result": {"Default": 1}, "error": None}
FOUND = {
    "results": [
        {"title": "Pi", "url": "https://example.org/pi", "snippet": "", "content": "", "score": 1}
    ]
}


class Backends(Handler):
    def do_POST(self):
        self.send(200, json.dumps(DECKS if "action" in json.loads(self.body()) else FOUND).encode())


def backends(port=0):
    """A context that gives their address, at any free port or at this one."""
    return listening(Backends, port)
