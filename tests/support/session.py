"""The server in this process, at the other end of two pipes: a session that starts no process."""

import os
import threading
from contextlib import suppress

from tests.support.client import TIMEOUT_S, Talk
from tools import listing, protocol, stdio
from tools.core import toolsets


class Lines(stdio.Lines):
    """Lines that, unlike those of a server, do not end this process when nobody reads them."""

    def write(self, line):
        with suppress(OSError):
            self.stdout.write(line)
            self.stdout.flush()


class Session(Talk):
    """A session with the server, under the settings of the environment."""

    def __init__(self):
        (requests, stdin) = os.pipe()
        (answers, stdout) = os.pipe()
        self.answers = os.fdopen(answers, "rb")
        self.lines = Lines(os.fdopen(requests, "rb"), os.fdopen(stdout, "wb"))
        self.session = protocol.Session(self.lines, lambda: None)
        self.listeners = [listing.forget, self.session.announce]
        toolsets.LISTENERS.extend(self.listeners)
        self.serving = threading.Thread(target=self._serve)
        self.serving.start()
        super().__init__(os.fdopen(stdin, "wb"), self.answers)

    def _serve(self):
        self.session.serve()
        with self.session.writing:
            self.session.send = lambda *_, **__: None  # what a slow tool answers later goes nowhere
            self.lines.stdin.close()
            self.lines.stdout.close()

    def end(self):
        """Leave, and wait until the server did so, too."""
        self.reading.set()
        self.stdin.close()
        self.serving.join(TIMEOUT_S)
        assert not self.serving.is_alive()

    def __exit__(self, *_):
        self.end()
        for listener in self.listeners:
            toolsets.LISTENERS.remove(listener)
        for thread in self.threads:
            thread.join(TIMEOUT_S)
        self.answers.close()
