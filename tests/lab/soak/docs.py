"""The Klipper documentation: an upstream that keeps publishing, and calls checked against what it ever
published."""

import random
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import documentation
from tests.klipper.upstreams import Upstream, contents, page
from tests.lab.soak.record import Flow, Request, expect

QUERIES = (
    "bltouch",
    "pressure advance",
    "bed mesh",
    "[extruder] rotation_distance",
    "как настроить",
    "resonance",
)
# What is asked for, for pages of our own.
WORDS = "bltouch, pressure advance, bed mesh, rotation_distance of the extruder, resonance: configure, настроить"
# The line below a window that is not the last one.
CLOSING = "\n[… {} characters more: read_doc again with offset={}]"


class Published:
    """The upstream; `history` has the pages of each commit in the order of publishing, `synced` the newest
    one that a finished sync brought here. Whoever reads holds `lock`, so that no commit is out and not noted
    yet."""

    def __init__(self, folder: Path, chance: random.Random):
        self.lock = threading.Lock()
        self.chance = chance
        self.history: list[dict[str, str]] = []
        self.commits: list[str] = []
        self.synced, self.gone = 0, False
        self.upstream = Upstream(folder)
        self.publish(_first_pages())

    def publish(self, files: dict[str, str | None] | None = None) -> None:
        """Commit some changed pages, if it is there."""
        with self.lock:
            if self.gone:
                return
            self.upstream.commit(files or self._changes())
            self.history.append(
                {path: text.decode() for path, text in self.upstream.pages().items()}
            )
            self.commits.append(self.upstream.tip)

    def _changes(self) -> dict[str, str | None]:
        """Some pages with a word of their own below the title, a new one, and one less."""
        pages, number = self.history[-1], len(self.history)
        files: dict[str, str | None] = {}
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
    def vanished(self) -> Iterator[None]:
        elsewhere = self.upstream.folder.with_name("vanished")
        with self.lock:
            self.gone = True
            self.upstream.folder.rename(elsewhere)
        yield
        with self.lock:
            elsewhere.rename(self.upstream.folder)
            self.gone = False

    def versions(self, path: str, since: int) -> list[str]:
        """The texts a page may have by now; empty where some commit does not have it."""
        with self.lock:
            return list(dict.fromkeys(pages.get(path, "") for pages in self.history[since:]))


def _first_pages() -> dict[str, str]:
    if real := documentation():
        return {
            f"docs/{path}": text.decode()
            for path, text in contents(real / "docs").items()
            if path.endswith(".md")
        }
    return {
        f"docs/Page_{number}.md": page(f"Page {number} {WORDS}", 5 * number)
        for number in range(1, 40)
    }


class Docs:
    """One reader of the documentation, whose checkout all share."""

    def __init__(self, published: Published, chance: random.Random):
        self.published, self.chance = published, chance

    def flow(self) -> Flow:
        return self.chance.choice((self.search, self.search, self.read, self.read, self.sync))()

    def search(self) -> Flow:
        """Results name pages that some commit had."""
        since = self.published.synced
        answer = yield Request("search_docs", {"query": self.chance.choice(QUERIES)})
        for result in answer.value["result"] if not answer.code else ():
            expect(
                any(self.published.versions(result["path"], since)),
                f"a page of no commit: {result}",
            )

    def read(self) -> Flow:
        """A window of a page is a piece of one version."""
        since, pages = self.published.synced, self.published.history[-1]
        path = self.chance.choice(sorted(pages))
        offset = self.chance.choice((0, len(pages[path]) // 2))
        answer = yield Request(
            "read_doc", {"path": path, "offset": offset}, ("NOT_FOUND", "INVALID_OFFSET")
        )
        versions = self.published.versions(path, since)
        if answer.code:
            expect(
                "" in versions or any(offset > len(text) for text in versions),
                f"{answer.code} of {path}",
            )
            return
        start, end = answer.value["offset"], answer.value["next_offset"]
        piece = answer.value["text"].removesuffix(
            CLOSING.format(answer.value["total_chars"] - (end or 0), end)
        )
        is_window = any(piece == text[start:end] for text in versions)
        expect(is_window, f"{path} at {offset} is of no commit: {answer.value['text'][:80]!r}")

    def sync(self) -> Flow:
        """Brings the newest commit."""
        least = len(self.published.commits) - 1
        answer = yield Request("sync_docs")
        if not answer.code:
            shown = answer.value["new"].split()[0]
            with self.published.lock:
                brought = max(
                    at
                    for at, commit in enumerate(self.published.commits)
                    if commit.startswith(shown)
                )
            expect(
                brought >= least, f"brought {answer.value['new']} ({brought}), older than {least}"
            )
            self.published.synced = max(self.published.synced, brought)
