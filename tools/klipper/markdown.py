"""Headings of a Markdown page."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

# A heading: one to six marks, then a blank or the end of the line.
ATX = re.compile(r"(#{1,6})(?![^ \t\r\n])([^\n]*)")

FENCES = ("```", "~~~")
"""What a line with the fence of a code block begins with."""

# What a reader does not see: the address of a link, marks of emphasis and code. Bounded, so that it stays linear.
MARKS = re.compile(r"\[([^\[\]]{0,300})\]\([^()]{0,300}\)|[`*]|(?<!\w)__?|__?(?!\w)")

# What an anchor leaves out.
DROPPED = re.compile(r"[^\w\- ]")

LONGEST_HEADING = 500
"""Characters of a heading that are looked at."""

LONGEST_TEXT = 200
"""Characters that the plain text of a heading has at most."""

MOST_INDENT = 3
"""Blanks that may stand before a heading or a fence."""


@dataclass(frozen=True)
class Heading:
    """A heading: its `level` (1 to 6), plain `text`, 1-based `line`, and `offset`, in characters, of that line."""

    level: int
    text: str
    line: int
    offset: int


def headings(text: str) -> Iterator[Heading]:
    """The headings (`# …`) of a page in order. A `#` in a fenced code block is none."""
    outline = Outline(text)
    line, last = 1, 0
    spot = outline.below(0)
    while spot:
        line += text.count("\n", last, spot.offset)
        last = spot.offset
        yield Heading(spot.level, heading_text(spot.raw), line, spot.offset)
        spot = outline.below(spot.end)


class Spot(NamedTuple):
    """A heading as it stands in the text: `offset` of its line, where it ends, `level`, and what follows the marks."""

    offset: int
    end: int
    level: int
    raw: str


class Outline:
    """The headings of a page, found where they are asked for: a search needs few of them, and they cost the most."""

    def __init__(self, text: str):
        self.text = text
        self.starts: list[int] = []
        self.ends: list[int] = []
        self._find_code()

    def above(self, at: int) -> Spot | None:
        """The last heading that begins at `at` or before."""
        at = self.text.find("\n", at) % (len(self.text) + 1)
        while (at := self.text.rfind("#", 0, at)) >= 0:
            block = self._code_at(at)
            at = self.starts[block] if block >= 0 else self._run(at)
            if block < 0 and (spot := self._heading(at)):
                return spot
        return None

    def below(self, at: int) -> Spot | None:
        """The first heading whose marks stand at `at` or after."""
        while (at := self.text.find("#", at)) >= 0:
            block = self._code_at(at)
            if block < 0 and (spot := self._heading(at)):
                return spot
            at = self.ends[block] if block >= 0 else at + 1
        return None

    def _run(self, at: int) -> int:
        """Where the marks begin of which one stands at `at`."""
        while at and self.text[at - 1] == "#":
            at -= 1
        return at

    def _heading(self, at: int) -> Spot | None:
        """The heading whose marks stand at `at`, if they begin a line."""
        match = ATX.match(self.text, at) if _begins_line(self.text, at) else None
        if not match:
            return None
        line = self.text.rfind("\n", 0, at) + 1
        return Spot(line, match.end(), len(match[1]), match[2][:LONGEST_HEADING])

    def _code_at(self, at: int) -> int:
        """The number of the code block around `at`, or -1."""
        block = bisect_right(self.starts, at) - 1
        return block if block >= 0 and at < self.ends[block] else -1

    def _find_code(self) -> None:
        """Find the code blocks: from a fence to the next one that is at least as long and has nothing behind it."""
        opening = ""
        for start, end in sorted(_fences(self.text)):
            line = self.text[start:end].rstrip()
            rest = line.lstrip(line[0])
            if opening:
                if line.startswith(opening) and not rest:
                    opening = ""
                    self.ends.append(end)
            elif "`" not in rest or line[0] == "~":  # else it is code in running text
                opening = line[: len(line) - len(rest)]
                self.starts.append(start)
        if opening:
            self.ends.append(len(self.text))


def _fences(text: str) -> Iterator[tuple[int, int]]:
    """Where a fence begins that begins a line, and where the line ends."""
    for fence in FENCES:
        start = text.find(fence) if fence[0] in text else -1  # one character is found much faster than three
        while start >= 0:
            end = text.find("\n", start) % (len(text) + 1)  # -1 becomes the end of the text
            if _begins_line(text, start):
                yield start, end
            start = text.find(fence, end)


def _begins_line(text: str, place: int) -> bool:
    """Whether at most three blanks stand in the line before a place."""
    if not place or text[place - 1] == "\n":
        return True
    before = text[text.rfind("\n", 0, place) + 1 : place]
    return len(before) <= MOST_INDENT and not before.strip(" ")


def heading_text(raw: str) -> str:
    """The plain text of a heading, given what follows its marks: without the marks that may close it."""
    text = raw[:LONGEST_HEADING].strip()
    open_end = text.rstrip("#")
    if not open_end or open_end[-1] in " \t":
        text = open_end
    return plain(text)[:LONGEST_TEXT]


def plain(text: str) -> str:
    """Inline Markdown as a reader sees it: links by their text, without emphasis and code marks."""
    return MARKS.sub(lambda match: match[1] or "", text).strip()


def anchor(text: str) -> str:
    """The anchor that GitHub gives a heading: `#` links end in it."""
    return DROPPED.sub("", plain(text).lower()).replace(" ", "-")
