"""The index of the pages: their words, counted by section."""

# The contract of the index: it is made at a sync, or at its first use, and kept in a file of the state
# folder until a page changes (every search looks at the name, time and size of each) or the code that makes
# it. The file has a line with a checksum, a line of JSON, and numbers, which sessions share in
# memory. It holds no text: a section is a page, an offset and a count of words; a word is its run of
# postings. Words joined by `_` or `-` count one by one and as one, so that `bed_mesh`, `bed-mesh` and
# `bedmesh` find each other; so do the pairs of words in a longer identifier.

import json
import os
import re
from array import array
from binascii import crc32
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from tools.toolkit import ToolError, checkpoint, compact_json, plain_file, replace_file, state_path

from .. import headings, pages
from ..pages import DocsPage
from .spelling import ENDINGS, RUSSIAN_ENDING, STOP_WORDS, stem

# Letters and digits, joined by single marks.
CHUNK = re.compile(r"[^\W_]+(?:[_-][^\W_]+)*")
WORD_JOINT = re.compile("[_-]")
# A word of a heading counts as this many of the text.
WORDS_PER_HEADING_WORD = 4
CHECKSUM = b"%08x\n"
CHECKSUM_BYTES = 9
# When the newest of the sources that make an index was written.
MADE_NS = max(
    path.stat().st_mtime_ns
    for path in (Path(headings.__file__), *Path(__file__).parent.glob("*.*"))
)


class IndexedSection(NamedTuple):
    """A section of a page: the number of the page, its heading, where it begins and ends, how many words it
    has; the words of its heading without stop words. The first section of a page has the file name's, too."""

    page: int
    heading: str
    level: int
    offset: int
    end: int
    size: int
    heading_words: list[str]


class Index:
    """`sections` are those of all pages, `words` all words in order. The postings of a word, the
    sections that have it with the count in each, lie between two of `ends`."""

    def __init__(self, files: list[DocsPage], kept: bytes | mmap):
        """`kept` is a checksum and what `build_index` gives."""
        end = kept.find(b"\n", CHECKSUM_BYTES)
        rows, self.words = json.loads(kept[CHECKSUM_BYTES:end])
        self.files = files
        self.sections = [IndexedSection(*row) for row in rows]
        numbers = memoryview(kept)[end + 1 :].cast("I")
        count = len(self.words) + 1
        self.ends = numbers[:count]
        self.postings = numbers[count:]
        sizes = [section.size for section in self.sections]
        self.mean = sum(sizes) / (len(sizes) or 1) or 1

    def counts_of(self, word: str) -> dict[int, int]:
        """Sections that have a word of the pages, with its count in each."""
        number = bisect_left(self.words, word)
        run = self.postings[self.ends[number] : self.ends[number + 1]]
        return dict(zip(run[::2], run[1::2]))

    def forms(self, word: str) -> frozenset[str]:
        """Words of the pages that are forms of this one, `calibrating` of `calibrate`."""
        prefix = stem(word)
        # Every word of the pages begins with an empty stem.
        others = self.beginning(prefix) if prefix else []
        return frozenset(other for other in others if other[len(prefix) :] in ENDINGS)

    def beginning(self, prefix: str) -> list[str]:
        """Words of the pages that begin with a prefix."""
        after = prefix + "\U0010ffff"  # sorts after all letters
        return self.words[bisect_left(self.words, prefix) : bisect_left(self.words, after)]

    def containing(self, fragment: str) -> frozenset[str]:
        """Words of the pages that contain a fragment."""
        return frozenset(word for word in self.words if fragment in word)


def build_index(files: list[DocsPage]) -> bytes:
    """Count the words of pages into the bytes that an Index reads."""
    indexed: list[IndexedSection] = []
    postings: dict[str, array[int]] = defaultdict(lambda: array("I"))
    for number, page in enumerate(files):
        checkpoint()
        try:
            text = pages.page_text(page)
        except ToolError:  # it is not text
            continue
        # First, what stands before the first heading.
        sections = [("", headings.PageSection("", 1, 0)), *headings.page_sections(text).items()]
        section_ends = [section.offset for _, section in sections[1:]] + [len(text)]
        for (anchor, section), end in zip(sections, section_ends):
            if section.offset == end:  # nothing stands before the first heading
                continue
            body = list(tokens(text[section.offset : end]))
            head = list(tokens(section.heading)) if section.level < headings.ENTRY_LEVEL else []
            if section.offset == 0:
                head += tokens(Path(page.path).stem)
            counts = Counter(body + WORDS_PER_HEADING_WORD * head)
            counts.update(asked_words().get(page.path, {}).get(anchor, ()))  # each once

            for word, count in counts.items():
                postings[word].extend((len(indexed), count))

            heading_words = sorted(set(head) - STOP_WORDS)
            indexed.append(IndexedSection(number, *section[:3], end, len(body), heading_words))
    # A run of postings is section, count, section, count …; `ends` are the positions between two runs.
    words = sorted(postings)
    runs = [postings[word] for word in words]
    ends = array("I", accumulate(map(len, runs), initial=0))
    lists = compact_json((indexed, words)).encode()
    return b"".join((lists, b"\n", bytes(ends), *map(bytes, runs)))


@cache
def asked_words() -> dict[str, dict[str, set[str]]]:
    """Read the words with which people ask for a section, by its page and anchor."""
    asked: dict[str, dict[str, set[str]]] = {}
    lines = Path(__file__).with_name("asked.txt").read_text("utf-8")
    # A line is `page#anchor`, tab, English, tab, Russian.
    for page, anchor, text in re.findall(r"(?m)^([^#\n]+)#([^\t\n]*)\t(.*)", lines):
        asked.setdefault(page, {})[anchor] = set(tokens(text)) - STOP_WORDS
    return asked


def tokens(text: str) -> Iterator[str]:
    """Yield the words of a text in lower case, joined ones also as one word."""
    for chunk in CHUNK.findall(text.lower()):
        if "_" not in chunk and "-" not in chunk:
            yield chunk if chunk.isascii() else RUSSIAN_ENDING.sub("", chunk)
            continue
        parts = WORD_JOINT.split(chunk)
        yield from parts
        yield "".join(parts)
        if len(parts) > 2:
            yield from (before + after for before, after in pairwise(parts))


def index_of_pages() -> Index:
    """Give the index of the pages as they are now."""
    stamped = []
    for page in pages.pages():
        with suppress(OSError):
            status = os.stat(page.location)
            stamped.append((page, status.st_mtime_ns, status.st_size))
    with _one_at_a_time:
        return _cached_index(tuple(stamped))


# Over HTTP several first questions may come at once: each would count all pages.
_one_at_a_time = Lock()


@lru_cache(1)
def _cached_index(stamped: tuple[tuple[DocsPage, int, int], ...]) -> Index:
    """Load the index that an earlier session stored, if it is undamaged and of these pages, or make one."""
    files = [page for page, *_ in stamped]
    # The checksum starts from the pages' stamps and the sources' time, so that it never fits other pages.
    start = crc32(repr((MADE_NS, stamped)).encode())
    path = state_path("klipper-index")
    with suppress(OSError, ValueError), plain_file(path, of_this_user=True) as file:
        kept = mmap(file.fileno(), 0, access=ACCESS_READ)
        if kept[:CHECKSUM_BYTES] == CHECKSUM % crc32(memoryview(kept)[CHECKSUM_BYTES:], start):
            return Index(files, kept)
    content = build_index(files)
    index = CHECKSUM % crc32(content, start) + content
    with suppress(OSError):  # then the next session counts again
        replace_file(path, index)
    return Index(files, index)
