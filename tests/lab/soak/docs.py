"""The Klipper documentation: an upstream that keeps publishing, and calls checked against what it ever
published."""

import random
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass

from tests.klipper.upstreams import Upstream, page
from tests.lab.soak.record import expect

QUERIES = (
    "bltouch;pressure advance;bed mesh;[extruder] rotation_distance;как настроить;resonance".split(
        ";"
    )
)
# What is asked for, for pages of our own.
WORDS = "bltouch, pressure advance, bed mesh, rotation_distance of the extruder, resonance: configure, настроить"
# The line below a window that is not the last one.
CLOSING = re.compile(r"\n\[… \d+ characters more: read_doc again with offset=\d+\]$")


class Published:
    """The upstream; `history` has the pages of each commit in the order of publishing, `synced` the newest
    one that a finished sync brought here. Whoever reads holds `lock`, so that no commit is out and not noted
    yet."""

    def __init__(self, folder, chance):
        self.lock = threading.Lock()
        self.chance = chance
        self.history = []
        self.commits = []
        self.synced = 0
        self.gone = False
        self.upstream = Upstream(folder)
        pages = [page(f"Page {number} {WORDS}", 5 * number) for number in range(40)]
        self.publish({f"docs/Page_{number}.md": text for number, text in enumerate(pages)})

    def publish(self, files=None):
        """Commit some changed pages, if it is there."""
        with self.lock:
            if self.gone:
                return
            self.upstream.commit(files or self._changes())
            self.history.append(texts(self.upstream.pages()))
            self.commits.append(self.upstream.tip)

    def _changes(self):
        """Some pages with a word of their own below the title, a new one, and one less."""
        pages = self.history[-1]
        number = len(self.history)
        files = {}
        for path in self.chance.sample(sorted(pages), self.chance.randint(1, 6)):
            mark = f"\nMarker zq{number}{self.chance.getrandbits(20):05x}\n"
            files[f"docs/{path}"] = re.sub(r"\n(Marker zq.*\n)?", mark, pages[path], count=1)
        extra = sorted(path for path in pages if path.startswith("Soak_"))
        if self.chance.random() < 0.4:
            files[f"docs/Soak_{number}.md"] = page(f"Soak {number}")
        if extra and self.chance.random() < 0.4:
            files[f"docs/{self.chance.choice(extra)}"] = None
        return files

    @contextmanager
    def vanished(self):
        elsewhere = self.upstream.folder.with_name("vanished")
        with self.lock:
            self.gone = True
            self.upstream.folder.rename(elsewhere)
        yield
        with self.lock:
            elsewhere.rename(self.upstream.folder)
            self.gone = False

    def versions(self, path, since):
        """The texts a page may have by now; empty where some commit does not have it."""
        with self.lock:
            return list(dict.fromkeys(pages.get(path, "") for pages in self.history[since:]))


def texts(pages):
    return {path: text.decode() for path, text in pages.items()}


@dataclass
class Docs:
    """One reader of the documentation, whose checkout all share."""

    published: Published
    chance: random.Random

    def flow(self, ask):
        self.chance.choice((self.search, self.search, self.read, self.read, self.sync))(ask)

    def search(self, ask):
        """Check that results name pages of some commit."""
        since = self.published.synced
        answer = ask("search_docs", query=self.chance.choice(QUERIES))
        for result in answer.value["result"] if not answer.code else ():
            is_published = any(self.published.versions(result["path"], since))
            expect(is_published, f"a page of no commit: {result}")

    def read(self, ask):
        """Check that a window of a page is a piece of one version."""
        since = self.published.synced
        pages = self.published.history[-1]
        path = self.chance.choice(sorted(pages))
        offset = self.chance.choice((0, len(pages[path]) // 2))
        answer = ask("read_doc", path=path, offset=offset)
        versions = self.published.versions(path, since)
        if answer.code:
            expect("" in versions, f"{answer.code} of {path}")
            return
        start, end, text = (answer.value[name] for name in ("offset", "next_offset", "text"))
        windows = [version[start:end] for version in versions]
        piece = CLOSING.sub("", text) if end else text
        expect(piece in windows, f"{path} at {offset} is of no commit: {text[:80]!r}")

    def sync(self, ask):
        """Check that a sync brings the newest commit."""
        least = len(self.published.commits) - 1
        answer = ask("sync_docs")
        if not answer.code:
            tip = answer.value["new"].split()[0]
            with self.published.lock:
                number = [commit[: len(tip)] for commit in self.published.commits].index(tip)
            expect(number >= least, f"brought {tip} ({number}), older than {least}")
            self.published.synced = max(self.published.synced, number)
