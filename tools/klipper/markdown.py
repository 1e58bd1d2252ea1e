"""Headings of a Markdown page."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

ATX = re.compile(r"(#{1,6})(?![^ \t\r\n])([^\n]*)")
"""A heading: one to six marks, then a blank or the end of the line."""

MARKS = re.compile(r"\[([^\[\]]{0,300})\]\([^()]{0,300}\)|[`*]|(?<!\w)__?|__?(?!\w)")
"""What a reader does not see: the address of a link, marks of emphasis and code. Bounded, so that it stays linear."""

DROPPED = re.compile(r"[^\w\- ]")
"""What an anchor leaves out."""

LONGEST_HEADING = 500
"""Characters of a heading that are looked at; the plain text of one has at most …"""

LONGEST_TEXT = 200
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
        line = self._line(at)
        match = ATX.match(self.text, at) if line >= 0 else None
        return Spot(line, match.end(), len(match[1]), match[2][:LONGEST_HEADING]) if match else None

    def _line(self, at: int) -> int:
        """Where the line begins if nothing but three blanks at most stands in it before `at`, else -1."""
        line = at
        while line and self.text[line - 1] == " " and at - line <= MOST_INDENT:
            line -= 1
        return line if at - line <= MOST_INDENT and (not line or self.text[line - 1] == "\n") else -1

    def _code_at(self, at: int) -> int:
        """The number of the code block around `at`, or -1."""
        block = bisect_right(self.starts, at) - 1
        return block if block >= 0 and at < self.ends[block] else -1

    def _find_code(self) -> None:
        text = self.text
        fences = [mark * 3 for mark in "`~" if mark in text and mark * 3 in text]
        at = self._next(fences, 0)
        while at >= 0:
            start, end = at, self._line_end(at)
            info = text[at:end].lstrip(text[at])
            if self._line(at) >= 0 and (text[at] == "~" or "`" not in info):
                end = self._closed(text[at : end - len(info)], end)
                self.starts.append(start)
                self.ends.append(end)
            at = self._next(fences, end)

    def _next(self, fences: list[str], at: int) -> int:
        """Where the next of them stands from `at` on, or -1."""
        if len(fences) == 1:
            return self.text.find(fences[0], at)
        return min((place for fence in fences if (place := self.text.find(fence, at)) >= 0), default=-1)

    def _closed(self, fence: str, at: int) -> int:
        """Where the line ends that closes the code block which `fence` opened: the end of the text if none does."""
        text = self.text
        while (at := text.find(fence, at)) >= 0:
            end = self._line_end(at)
            if self._line(at) >= 0 and not text[at:end].strip(" \t\r").strip(fence[0]):
                return end
            at = end
        return len(text)

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end


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
