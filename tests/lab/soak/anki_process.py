"""Anki as a process of its own, to be killed: a real collection behind the stand-in for AnkiConnect.

    python anki_process.py FOLDER PORT

Each line on stdin is a number n: die in the middle of the nth action from now. It ends at EOF.
"""

import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
DECKS = ("Soak A", "Soak B")
START_S = 60


class Anki:
    """The process, seen from the soak; it comes back on the port it had, with the collection it had."""

    def __init__(self, folder):
        self.folder = folder
        self.port = 0
        self.start()
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self):
        words = [sys.executable, __file__, str(self.folder), str(self.port)]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.port = int(self.process.stdout.readline())

    def die_within(self, actions, timeout_s):
        """Die in the middle of an action soon, at the latest after `timeout_s`."""
        self.process.stdin.write(f"{actions}\n")
        self.process.stdin.flush()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout_s)
        self.process.kill()
        self.end()

    def end(self):
        self.process.stdin.close()
        self.process.wait(START_S)
        self.process.stdout.close()


def main(folder, port):
    from anki.collection import Collection

    from tests.anki.anki_standin import StandIn

    class Mortal(StandIn):
        """Dies in the action whose turn it is, before or after it was carried out."""

        left = 0

        def _method(self, name):
            method = super()._method(name)
            self.left -= 1
            if self.left == 0:
                return lambda **params: (
                    random.random() < 0.5 and method(**params),
                    os.kill(os.getpid(), signal.SIGKILL),
                )
            return method

    folder.mkdir(exist_ok=True)
    collection = Collection(str(folder / "collection.anki2"))
    for deck in DECKS:
        collection.decks.id(deck)
    standin = Mortal(collection, port=port)
    print(standin.url.rpartition(":")[2], flush=True)
    for line in sys.stdin:
        standin.left = int(line)
    standin.close()
    collection.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
