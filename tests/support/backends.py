"""AnkiConnect and a search service in one, each with one answer: for tests of the way there."""

import json

from tests.support.web import Handler, listening

DECKS = {"result": {"Default": 1}, "error": None}
FOUND = {
    "results": [
        {"title": "Pi", "url": "https://example.org/pi", "snippet": "", "content": "", "score": 1}
    ]
}
# A call of each system but OnePercent, with what is in the answer; the documentation is up to date.
CALLS = (
    ("greet", {"name": "Pi"}, "Pi"),
    ("sync_docs", {}, "up to date"),
    ("list_docs_map", {}, "Bed_Mesh.md"),
    ("read_doc", {"path": "Bed_Mesh.md"}, "Bed Mesh"),
    ("search_docs", {"query": "bltouch"}, "BLTouch.md"),
    ("anki_list_decks", {}, "Default"),
    ("search", {"query": "pi"}, "https://example.org/pi"),
)


class Backends(Handler):
    def do_POST(self):
        self.send(200, json.dumps(DECKS if "action" in json.loads(self.body()) else FOUND).encode())


def backends(port=0):
    """A context that gives their address, at any free port or at this one."""
    return listening(Backends, port)


def each_system_answers(client):
    """Check the answer to each of CALLS."""
    for name, arguments, expected in CALLS:
        result = client.call(name, **arguments)
        assert not result["isError"] and expected in result["content"][0]["text"], (name, result)
