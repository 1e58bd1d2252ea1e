"""A search service on a loopback port that answers as a test tells it to."""

import json
from contextlib import ExitStack

import pytest

from tests.support.web import Handler, listening


class Upstream:
    """`reply` answers each request, given its handler; `seen` holds (method, path, headers, JSON body or
    None)."""

    def __init__(self):
        self.seen = []

    def answers(self, value, status=200, **headers):
        """Answer with a text, or with JSON of anything else."""
        body = (value if isinstance(value, str) else json.dumps(value)).encode()
        self.reply = lambda handler: handler.send(status, body, headers)


class Recorder(Handler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.body() or "null")
        self.upstream.seen.append((self.command, self.path, self.headers, body))
        self.upstream.reply(self)

    do_GET = do_POST


@pytest.fixture
def service():
    """A function that starts one more Upstream."""
    with ExitStack() as servers:

        def start():
            upstream = Upstream()
            recorder = type("Its", (Recorder,), {"upstream": upstream})
            upstream.url = servers.enter_context(listening(recorder))
            return upstream

        yield start


@pytest.fixture
def upstream(service, env):
    """The service that the settings name."""
    upstream = service()
    env(SEARCH_API_URL=f"{upstream.url}/webhook/x", SEARCH_API_KEY="s3cret-key")
    return upstream
