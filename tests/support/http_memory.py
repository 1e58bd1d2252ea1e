"""The server over HTTP in this process, without a socket."""

import json
from contextlib import ExitStack

import anyio
from anyio.from_thread import start_blocking_portal

from tests.support.client import present
from tests.support.http_server import Callers, with_token
from tools.core import registry, settings
from tools.endpoint import Endpoint
from tools.http import guards


class InMemory(Callers):
    """The same application in this process, without a socket; its settings are those of the environment."""

    def __enter__(self):
        registry.load()
        self.settings = settings.current()
        self.state = self.settings.state_dir
        self.url = self.settings.http_url
        self.begun = []
        self.open = ExitStack()
        self.portal = self.open.enter_context(start_blocking_portal())
        self.app = self.application()
        return self

    def application(self):
        """The application, whose tasks run in `portal`."""
        return guards.Guards(self.settings, Endpoint().answer)

    def __exit__(self, *words):
        for request in self.begun:  # a test that failed may have left one unanswered
            request.cancel()
        self.open.__exit__(*words)

    def send(self, body=None, **options):
        """Status, headers and body of the answer to one request; a header of None is left out."""
        exchange = Exchange(body, **options)
        self.portal.call(exchange.run, self.app)
        return exchange.answer()

    def begin(self, body=None, **options):
        """Begin a request, which is answered meanwhile."""
        exchange = Exchange(body, **options)
        exchange.done = self.portal.start_task_soon(exchange.run, self.app)
        self.begun.append(exchange.done)
        return exchange


class Exchange:
    """A request and its answer, as the HTTP server would pass them. The body may come in `parts`, the last of
    them once `hold` is set to False; headers in `again` come beside others of their name."""

    def __init__(
        self,
        body=None,
        *,
        token=None,
        method="POST",
        path="/mcp",
        headers=(),
        again=(),
        parts=None,
        hold=False,
    ):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        path, _, query = path.partition("?")
        self.parts = [body] if parts is None else parts
        self.hold = hold
        length = str(sum(map(len, self.parts)))
        present_headers = {
            "Host": "localhost",
            "Content-Length": length,
            **with_token(token),
            **dict(headers),
        }
        self.scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": [
                (name.lower().encode(), value.encode("latin1"))
                for name, value in [*present(present_headers).items(), *again]
            ],
            "query_string": query.encode(),
        }
        self.read = 0
        self.sent = []
        # Set to True, the client hangs up.
        self.ends = False

    async def run(self, app):
        await app(self.scope, self.receive, self.send)

    async def receive(self):
        if self.read < len(self.parts):
            while self.hold and self.read == len(self.parts) - 1:
                await anyio.sleep(0.01)
            self.read += 1
            more = self.read < len(self.parts)
            return {"type": "http.request", "body": self.parts[self.read - 1], "more_body": more}
        while not self.ends:
            await anyio.sleep(0.01)
        return {"type": "http.disconnect"}

    async def send(self, message):
        assert not self.sent or self.sent[-1].get("more_body", True), "the answer has ended"
        self.sent.append(message)

    def text(self):
        """The body of the answer so far."""
        return b"".join(message.get("body", b"") for message in self.sent)

    def status(self):
        """Wait for the whole answer, and return its status."""
        self.done.result(20)
        return self.answer()[0]

    def answer(self):
        headers = {name.decode().lower(): value.decode() for name, value in self.sent[0]["headers"]}
        return self.sent[0]["status"], headers, self.text()
