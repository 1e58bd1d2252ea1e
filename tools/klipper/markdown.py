"""Headings of a Markdown page."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
MARKS = re.compile(r"\[([^\]]*)\]\([^)]*\)|[`*]|(?<!\w)__?|__?(?!\w)")
DROPPED = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class Heading:
    """A heading: its `level` (1 to 6), plain `text`, 1-based `line`, and `offset`, in characters, of that line."""

    level: int
    text: str
    line: int
    offset: int


def headings(text: str) -> Iterator[Heading]:
    """The headings (`# …`) of a page in order. A `#` in a fenced code block is none."""
    fence = ""
    offset = 0
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.rstrip("\r")
        if "```" in bare or "~~~" in bare:
            fence = _fence(fence, bare)
        if not fence and "#" in bare and (match := ATX.fullmatch(bare)):
            yield Heading(len(match[1]), plain(match[2] or ""), number, offset)
        offset += len(line) + 1


def _fence(fence: str, line: str) -> str:
    match = FENCE.fullmatch(line)
    if not match:
        return fence
    marks, info = match[1], match[2]
    if not fence:
        return "" if "`" in info and marks[0] == "`" else marks
    closes = marks[0] == fence[0] and len(marks) >= len(fence) and not info.strip()
    return "" if closes else fence


def plain(text: str) -> str:
    """Inline Markdown as a reader sees it: links by their text, without emphasis and code marks."""
    return MARKS.sub(lambda match: match[1] or "", text).strip()


def anchor(text: str) -> str:
    """The anchor that GitHub gives a heading: `#` links end in it."""
    return DROPPED.sub("", plain(text).lower()).replace(" ", "-")
