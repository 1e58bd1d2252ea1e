"""The words of all pages, counted by section."""

# The contract of the index: it is made at a sync, or when it is first asked for, and kept in a file of the
# state folder as long as no page has changed (name, time and size of each are looked at in every search), nor
# what makes it. The file has a line that says of which pages it is, a checksum, a line of JSON, and numbers,
# which sessions share in memory. It has no text: a section is a page, where it begins and how many
# words it has; a word has a run of postings. Words joined by `_` or `-` count one by one and as
# one, so that `bed_mesh`, `bed-mesh` and `bedmesh` find each other; so do the pairs of words in a longer
# identifier.

import json
import os
import re
from array import array
from binascii import crc32
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from mmap import ACCESS_READ, mmap
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from tools.core.calls import checkpoint
from tools.core.errors import ToolError
from tools.core.files import plain_file, replace_file
from tools.core.json_types import compact_json
from tools.core.settings import state_path
from tools.klipper import headings, pages
from tools.klipper.headings import ENTRY_LEVEL, Section
from tools.klipper.pages import Page
from tools.klipper.search.spelling import ENDINGS, RUSSIAN, STOP_WORDS, stem

# Letters and digits, joined by single marks.
CHUNK = re.compile(r"[^\W_]+(?:[_-][^\W_]+)*")
MARK = re.compile("[_-]")
HEADING = 4
"""A word in a section's heading counts as often as so many in its text."""
FILE, KEY = "klipper-index", b"%08x\n"
"""Its first line is of which pages it is, its second the checksum of the rest."""
HEAD = 2 * len(KEY % 0)
ASKED_FILE = Path(__file__).with_name("asked.txt")
# The sources that make an index, as they are while they are imported.
SOURCES = sorted([Path(headings.__file__), *Path(__file__).parent.glob("*.*")])
MAKERS = [(path.name, path.stat().st_mtime_ns) for path in SOURCES]


class Place(NamedTuple):
    """A section of a page: the number of the page, its heading, where it begins, how many words it has; the
    words of its heading that say something."""

    page: int
    heading: str
    level: int
    offset: int
    size: int
    headed: list[str]


class Index:
    """`places` are the sections of all pages, `sections` their numbers by page; `text` has all words in order, each
    from one of `starts`. The postings of a word, the sections that have it with the count in each, lie between two of
    `ends`.

    `titles` are the first headings of the pages that say something else than their file names; `names` the words
    of both.
    """

    def __init__(self, files: Sequence[Page], kept: bytes | mmap):
        """`kept` is what `counted` gives."""
        end = kept.find(b"\n", HEAD) + 1
        start = kept.find(b"\n", end) + 1
        lists = json.loads(kept[HEAD:end])
        self.files = files
        self.places = [Place(*place) for place in lists["places"]]
        self.titles = dict(zip((page.path for page in files), lists["titles"], strict=True))
        self.names = list(map(frozenset, lists["names"]))
        self.sections: list[list[int]] = [[] for _ in files]
        for number, place in enumerate(self.places):
            self.sections[place.page].append(number)
        self.count: int = lists["words"]
        self.text = kept[end:start].decode()
        numbers = memoryview(kept)[start:].cast("I")
        self.starts = numbers[: self.count + 1]
        self.ends = numbers[self.count + 1 : 2 * self.count + 2]
        self.postings = numbers[2 * self.count + 2 :]
        total = sum(place.size for place in self.places)
        self.mean = max(total, 1) / max(len(self.places), 1)

    def word(self, number: int) -> str:
        """A word by its number: as a list of texts they would take a megabyte more."""
        return self.text[self.starts[number] : self.starts[number + 1] - 1]

    def place(self, text: str) -> int:
        """The number of a word, or of the next one if there is no such word."""
        return bisect_left(range(self.count), text, key=self.word)

    def row(self, word: str) -> Iterator[tuple[int, int]]:
        """The sections that have a word, with its count in each."""
        place = self.place(word)
        if place < self.count and self.word(place) == word:
            run = self.postings[self.ends[place] : self.ends[place + 1]]
            yield from zip(run[::2], run[1::2], strict=True)

    def forms(self, word: str) -> frozenset[str]:
        """The words of the pages that are forms of this one, `calibrating` of `calibrate`."""
        text, endings = stem(word)
        found = []
        for other in self.beginning(text):
            tail = other[len(text) :]
            doubled = endings is ENDINGS and tail[:1] == text[-1:] and tail[1:] in ENDINGS  # `stop` + `ping`
            if tail in endings or doubled:
                found.append(other)
        return frozenset(found)

    def beginning(self, text: str) -> Iterator[str]:
        """The words of the pages that begin with a text."""
        for number in range(self.place(text), self.count):
            word = self.word(number)
            if not word.startswith(text):
                return
            yield word

    def containing(self, part: str) -> Iterator[str]:
        """The words of the pages that this is a part of."""
        end = 0
        while (found := self.text.find(part, end)) >= 0:
            end = self.text.index(" ", found)
            yield self.text[self.text.rindex(" ", 0, found) + 1 : end]


def counted(files: Sequence[Page], key: bytes) -> bytes:
    """The words of pages, counted, as an Index reads them."""
    places: list[Place] = []
    titles: list[str] = []
    names: list[list[str]] = []
    postings: dict[str, array[int]] = {}
    for number, page in enumerate(files):
        checkpoint()
        text = read(page)
        asked = asked_words().get(page.path, {})
        for anchor, section, body in _sections(text):
            head = list(tokens(section.heading)) if section.level < ENTRY_LEVEL else []
            counts = Counter(body + HEADING * head)
            counts.update(asked.get(anchor, ()))  # each once
            for word, count in counts.items():
                postings.setdefault(word, array("I")).extend((len(places), count))
            headed = sorted(set(head) - STOP_WORDS)
            places.append(Place(number, section.heading, section.level, section.offset, len(body), headed))
        name = page.path.rpartition("/")[2].removesuffix(pages.SUFFIX)
        title = pages.title(text, page.path)
        bare_name, bare_title = (re.sub(r"[\W_]", "", words).lower() for words in (name, title))
        titles.append("" if bare_name == bare_title else title)
        names.append(sorted(set(tokens(f"{name} {title}"))))
    every = sorted(postings.keys() | {word for words in names for word in words})
    runs = [postings.get(word, array("I")) for word in every]
    ends = array("I", accumulate(map(len, runs), initial=0))
    starts = array("I", accumulate((len(word) + 1 for word in every), initial=1))
    lists = {"places": places, "titles": titles, "names": names, "words": len(every)}
    text = f"{compact_json(lists)}\n {' '.join(every)} \n"
    rest = b"".join((text.encode(), *map(bytes, (starts, ends, *runs))))
    return key + KEY % crc32(rest) + rest


def _sections(text: str) -> Iterator[tuple[str, Section, list[str]]]:
    """The anchor of each section of a page, the section, and its words down to the next heading."""
    sections = list(headings.sections(text).items())
    if not sections or sections[0][1].offset:
        sections.insert(0, ("", Section("", 1, 0)))
    ends = [section.offset for _, section in sections[1:]]
    for (anchor, section), end in zip(sections, [*ends, len(text)], strict=True):
        yield anchor, section, list(tokens(text[section.offset : end]))


@cache
def asked_words() -> dict[str, dict[str, set[str]]]:
    """The words with which people come to a section, by its page and anchor: `asked.txt` has a line `page#anchor`,
    tab, English, tab, Russian for each."""
    asked: dict[str, dict[str, set[str]]] = {}
    for line in ASKED_FILE.read_text("utf-8").splitlines():
        place, _, text = line.partition("\t")
        page, _, anchor = place.partition("#")
        asked.setdefault(page, {})[anchor] = set(tokens(text)) - STOP_WORDS
    return asked


def tokens(text: str) -> Iterator[str]:
    """The words of a text in lower case, those that are joined also as one."""
    for match in CHUNK.finditer(text.lower()):
        chunk = match[0]
        if "_" not in chunk and "-" not in chunk:
            yield chunk if chunk.isascii() else RUSSIAN.sub("", chunk)
            continue
        parts = MARK.split(chunk)
        yield from parts
        yield "".join(parts)
        if len(parts) > 2:
            yield from (before + after for before, after in pairwise(parts))


def current() -> Index:
    """The index of the pages as they are now."""
    stamped = []
    for page in pages.pages():
        with suppress(OSError):
            status = os.stat(page.location)
            stamped.append((page, status.st_mtime_ns, status.st_size))
    with _one_at_a_time:
        return _of(tuple(stamped))


# Over HTTP many may ask first at once: each would count all pages.
_one_at_a_time = Lock()


@lru_cache(maxsize=1)
def _of(stamped: tuple[tuple[Page, int, int], ...]) -> Index:
    key = KEY % crc32(repr((MAKERS, stamped)).encode())
    files = [page for page, *_ in stamped]
    if index := _kept(key, files):
        return index
    kept = counted(files, key)
    with suppress(OSError):  # then the next session counts again
        replace_file(state_path(FILE), kept)
    return _kept(key, files) or Index(files, kept)


def _kept(key: bytes, files: Sequence[Page]) -> Index | None:
    """The index that an earlier session kept, if it is of these pages and undamaged."""
    with suppress(OSError, ValueError), plain_file(state_path(FILE), of_this_user=True) as file:
        kept = mmap(file.fileno(), 0, access=ACCESS_READ)
        if kept[:HEAD] == key + KEY % crc32(memoryview(kept)[HEAD:]):
            return Index(files, kept)
    return None


def read(page: Page) -> str:
    """The text of a page; "" if a sync has removed it, or it is not text, or too long."""
    try:
        return pages.read(page)
    except ToolError:
        return ""
