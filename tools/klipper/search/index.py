"""The words of all pages, counted by section."""

# The contract of the index: it is made when it is first asked for and kept as long as no page has changed (name, time and
# size of each are looked at in every search), in about 3 MB. It has no text: a section is a page, where it begins and how
# many words it has; a word is a row of (section, count). Words joined by `_` or `-` count one by one and as one, so that
# `bed_mesh`, `bed-mesh` and `bedmesh` find each other; so do the pairs of words in a longer identifier.

import os
import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from tools.core.calls import checkpoint
from tools.core.errors import ToolError
from tools.klipper import headings, pages
from tools.klipper.headings import ENTRY_LEVEL, Section
from tools.klipper.pages import Page
from tools.klipper.search.spelling import ENDINGS, STOP_WORDS, stem

# Letters and digits, joined by single marks.
CHUNK = re.compile(r"[^\W_]+(?:[_-][^\W_]+)*")
MARK = re.compile("[_-]")
# Between the words of a name in CamelCase.
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
MOST_JOINED = 4
"""Words of an identifier that is counted as one, too."""
HEADING = 3
"""A word in a section's heading counts as often as so many in its text."""


class Place(NamedTuple):
    """A section of a page: the number of the page, its heading, where it begins, how many words it has."""

    page: int
    heading: str
    level: int
    offset: int
    size: int


class Index:
    """`places` are the sections of all pages, `words` all words in order, `rows` (section, count, …) of each word.

    `titles` are the first headings of the pages, or their file names; `names` the words of both, `headed` those of each
    section's heading.
    """

    def __init__(self, files: Sequence[Page]):
        self.files = files
        self.places: list[Place] = []
        self.sections: list[range] = []
        self.titles: dict[str, str] = {}
        self.names: list[frozenset[str]] = []
        self.headed: list[frozenset[str]] = []
        self.rows: dict[str, array[int]] = {}
        for number, page in enumerate(files):
            checkpoint()
            self._add(number, page.path, read(page))
        self.words = sorted(self.rows.keys() | {word for names in self.names for word in names})
        self.mean = sum(place.size for place in self.places) / max(1, len(self.places)) or 1

    def _add(self, number: int, path: str, text: str) -> None:
        first = len(self.places)
        named = list(headings.sections(text).values())
        start = named[0].offset if named else len(text)
        every = named if named and start == 0 else [Section("", 1, 0), *named]
        ends = [*(section.offset for section in every[1:]), len(text)]
        for section, end in zip(every, ends, strict=True):
            body = list(tokens(text[section.offset : end]))
            head = list(tokens(section.heading)) if section.level < ENTRY_LEVEL else []
            counts = Counter(body)
            for word in head:
                counts[word] += HEADING
            for word, count in counts.items():
                self.rows.setdefault(word, array("I")).extend((len(self.places), count))
            self.headed.append(frozenset(word for word in head if word not in STOP_WORDS))
            self.places.append(Place(number, section.heading, section.level, section.offset, len(body)))
        self.sections.append(range(first, len(self.places)))
        stem_of_name = path.rpartition("/")[2].removesuffix(pages.SUFFIX)
        title = next((section.heading for section in every if section.heading), "")
        self.titles[path] = title or stem_of_name.replace("_", " ")
        self.names.append(frozenset(tokens(f"{stem_of_name} {CAMEL.sub('_', stem_of_name)} {title}")))

    def forms(self, word: str) -> dict[str, float]:
        """The words of the pages that are forms of this one, `calibrating` of `calibrate`, each with the weight 1."""
        text, endings = stem(word)
        found = {}
        for place in range(bisect_left(self.words, text), len(self.words)):
            other = self.words[place]
            if not other.startswith(text):
                break
            tail = other[len(text) :]
            doubled = endings is ENDINGS and tail[:1] == text[-1:] and tail[1:] in ENDINGS  # `stop` + `ping`
            if tail in endings or doubled:
                found[other] = 1.0
        return found

    def containing(self, part: str) -> list[str]:
        """The words of the pages that this is a part of."""
        return [word for word in self.words if part in word]


def tokens(text: str) -> Iterator[str]:
    """The words of a text in lower case, those that are joined also as one."""
    for match in CHUNK.finditer(text.lower()):
        chunk = match[0]
        if "_" not in chunk and "-" not in chunk:
            yield chunk
            continue
        parts = MARK.split(chunk)
        yield from parts
        if len(parts) <= MOST_JOINED:
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
    return _of(tuple(stamped))


@lru_cache(maxsize=1)
def _of(stamped: tuple[tuple[Page, int, int], ...]) -> Index:
    return Index([page for page, *_ in stamped])


def read(page: Page) -> str:
    """The text of a page; "" if a sync has removed it, or it is not text, or too long."""
    try:
        return pages.read(page)
    except ToolError:
        return ""
