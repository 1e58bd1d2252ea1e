"""The server in this process, at the other end of two pipes: a session that starts no process."""

import os
import threading
from contextlib import contextmanager
from unittest import mock

import anyio

import server
from tests.support.client import MISBEHAVING, TIMEOUT_S, Talk
from tests.support.serve_with_tools import more_tools
from tools import stdio
from tools.core import registry
from tools.core.settings import current


class Session(Talk):
    """Speaks to the server that the settings of the moment make; `drain_s` is how long it answers after
    EOF."""

    def __init__(self, drain_s=server.StdioTransport.DRAIN_S):
        server.import_sdk("stdio")
        (requests, stdin), (answers, stdout) = os.pipe(), os.pipe()
        self.answers = os.fdopen(answers, "rb")
        self.lines = stdio.Lines(os.fdopen(requests, "rb"), os.fdopen(stdout, "wb"))
        self.drain_s = drain_s
        self.serving = threading.Thread(target=anyio.run, args=(self._serve,))
        self.serving.start()
        super().__init__(os.fdopen(stdin, "wb"), self.answers)

    async def _serve(self):
        with self.lines, mock.patch.multiple(server, leave_at_a_signal=_nothing, leave_when_stuck=_nothing):
            tools = server.ToolServer(current())
            with anyio.CancelScope() as scope:
                transport = server.StdioTransport(self.lines, lambda: None, scope.cancel)
                transport.DRAIN_S = self.drain_s
                await tools.serve(transport)
            registry.LISTENERS.remove(tools.announce)

    def end(self):
        """Leave, and wait until the server did so, too."""
        self.reading.set()
        self.stdin.close()
        self.serving.join(TIMEOUT_S)
        assert not self.serving.is_alive()

    def __exit__(self, *_):
        self.end()
        for thread in self.threads:
            thread.join(TIMEOUT_S)
        self.answers.close()


async def _nothing():
    """In place of what would end this process."""


@contextmanager
def misbehaving_tools():
    """The tools of misbehaving.py beside the others; gives their module."""
    with more_tools(MISBEHAVING, "tools.testing.misbehaving") as module:
        try:
            yield module
        finally:
            module.AWAKE.set()
