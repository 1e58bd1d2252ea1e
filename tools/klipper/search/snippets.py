"""The line of running text shown of a page."""

import re

LEAST, MOST = 150, 184
LEAD = 80
"""So far before the match the line begins, or with the first sentence after that."""

REACH = 1000
"""Characters looked at on either side; more only where most are blanks."""

# What becomes one blank on the line shown, and the place between two sentences on it.
BLANK = re.compile(r"\s+")
SENTENCE = re.compile(r"[.!?:] (?=[A-ZА-ЯЁ`\[(*])")
CUT = "…"


def snippet(text: str, at: int, section: int = 0) -> str:
    """150 to 184 characters around `at` on one line, cut between words with `…`; fewer only if the page has no more.

    It begins no earlier than the `section` (the offset of a line), unless too little is left there.
    """
    reach = REACH
    first, last, line, place = _line(text, at, section, reach)
    while len(line) < MOST and (first or last < len(text)):
        reach *= 4
        first, last, line, place = _line(text, at, 0, reach)
    start, stop = _window(line, place)
    before = CUT if start or text[:first].strip() else ""
    after = CUT if stop < len(line) or text[last:].strip() else ""
    return before + line[start:stop].strip() + after


def _line(text: str, at: int, section: int, reach: int) -> tuple[int, int, str, int]:
    """From where to where the text is looked at, that text on one line, and where `at` is in it."""
    first, last = max(section, at - reach, 0), min(at + reach, len(text))
    before = BLANK.sub(" ", text[first:at]).lstrip()
    after = BLANK.sub(" ", text[at:last]).rstrip()
    if before.endswith(" ") or not before:
        after = after.lstrip()
    return first, last, before + after, len(before)


def _window(line: str, at: int) -> tuple[int, int]:
    """From where to where the line is shown."""
    room = MOST - 2 * len(CUT)
    if len(line) <= room:
        return 0, len(line)
    begins = [match.end() for match in SENTENCE.finditer(line, max(0, at - LEAD), at)]
    start = max(0, min(begins[0] if begins else at - LEAD, len(line) - room))
    start = _word_start(line, start, max(0, at - LEAST), start + room - LEAST)
    stop = min(len(line), start + room)
    return start, stop if stop == len(line) else _word_end(line, stop, start + LEAST)


def _word_start(line: str, at: int, least: int, most: int) -> int:
    """Where the next word begins, or the one before if the next is further than `most` (a long address)."""
    if not at or line[at - 1] == " ":
        return at
    blank = line.find(" ", at, most)
    if blank < 0:
        blank = line.rfind(" ", least, at)
    return blank + 1 if blank >= 0 else at


def _word_end(line: str, at: int, least: int) -> int:
    """Where the last word ends before `at`, unless that is less than `least`."""
    blank = line.rfind(" ", least, at + 1)
    return blank if blank >= 0 else at
