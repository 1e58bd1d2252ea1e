"""The marks of habits as a picture and as a line of text, for clients that show no pages.

A calendar for each habit, as wide as its weeks: a column is a week, Monday on top. A PNG with a palette, made of `zlib`.
"""

import zlib
from collections.abc import Sequence
from datetime import date, timedelta

from tools.onepercent.database.types import Database
from tools.onepercent.habits import marks
from tools.onepercent.habits.marks import HabitSigns

DEFAULT_DAYS = 28
MOST_DAYS = 366

WIDEST = 760
"""Pixels; calendars that fit stand beside each other."""
CELL, GAP = 9, 1
LEFT, TOP = 16, 12
"""Room for a calendar's number on its left and for the numbers of the months above it."""
WEEK = 7

PAPER, INK, DONE, EXCUSED, MISSED, OFF, OPEN = range(7)
PALETTE = bytes.fromhex("ffffff 5c5a54 1f5fa6 a9c8e8 f0b9ad f1f0ec dedcd3")
COLOURS = {"+": DONE, "e": EXCUSED, "-": MISSED, ".": OFF}
TEXT = {"+": "■", "e": "◇", "-": "□", ".": "·"}

DIGITS = ("75557", "26227", "71747", "71717", "55711", "74717", "74757", "71222", "75757", "75717")
"""Each digit's five lines from the top; the bits of a figure are the three pixels of a line."""
UPPER_HALF = bytes(index % 16 * 16 for index in range(256))
"""A pixel as the upper half of a byte."""


def text_row(signs: str) -> str:
    """The signs as they are told apart in any font."""
    return "".join(TEXT.get(sign, "▫") for sign in signs)


def calendars(habits: Sequence[HabitSigns], first: date) -> bytes:
    """A PNG with a numbered calendar for each habit, whose signs begin on `first`; nothing if there are no habits."""
    if not habits:
        return b""
    lead = first.weekday()
    weeks = max((lead + len(habit.signs) + WEEK - 1) // WEEK for habit in habits)
    width, height = LEFT + weeks * (CELL + GAP), TOP + WEEK * (CELL + GAP) + GAP
    beside = min(len(habits), max(1, WIDEST // width))
    below = -(-len(habits) // beside)
    canvas = [bytearray(beside * width) for _ in range(below * height)]
    for index, habit in enumerate(habits):
        x, y = index % beside * width, index // beside * height
        _number(canvas, x + 2, y + TOP + 2, index + 1, 2)
        _months(canvas, x + LEFT, y + 3, first, len(habit.signs))
        _days(canvas, x + LEFT, y + TOP, habit.signs, lead)
    return _png(canvas)


def _days(canvas: list[bytearray], left: int, top: int, signs: str, lead: int) -> None:
    for weekday in range(WEEK):
        y = top + weekday * (CELL + GAP)
        line = canvas[y]
        for place in range((weekday - lead) % WEEK, len(signs), WEEK):
            x = left + (place + lead) // WEEK * (CELL + GAP)
            line[x : x + CELL] = bytes([COLOURS.get(signs[place], OPEN)]) * CELL
        for copy in range(y + 1, y + CELL):
            canvas[copy][left:] = line[left:]


def _months(canvas: list[bytearray], left: int, top: int, first: date, days: int) -> None:
    """The number of each month above the week that it begins in."""
    for place in range(days):
        day = date.fromordinal(first.toordinal() + place)
        if day.day == 1:
            _number(canvas, left + (place + first.weekday()) // WEEK * (CELL + GAP), top, day.month, 1)


def _number(canvas: list[bytearray], left: int, top: int, number: int, scale: int) -> None:
    for index, digit in enumerate(str(number)):
        for row, bits in enumerate(DIGITS[int(digit)]):
            for column in range(3):
                if int(bits) >> (2 - column) & 1:
                    x = left + (index * 4 + column) * scale
                    for y in range(top + row * scale, top + (row + 1) * scale):
                        canvas[y][x : x + scale] = bytes([INK]) * scale


def _png(canvas: list[bytearray]) -> bytes:
    """Four bits a pixel; a line like the one before it is all zeros under PNG's filter Up."""
    width, lines, before = len(canvas[0]), [], None
    for line in canvas:
        same = line == before
        lines.append(b"\2" + bytes(width // 2) if same else b"\0" + _packed(line))
        before = line
    header = width.to_bytes(4, "big") + len(canvas).to_bytes(4, "big") + bytes((4, 3, 0, 0, 0))
    parts = ((b"IHDR", header), (b"PLTE", PALETTE), (b"IDAT", zlib.compress(b"".join(lines), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _packed(line: bytearray) -> bytes:
    return bytes(map(int.__or__, line[::2].translate(UPPER_HALF), line[1::2]))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def pictured(db: Database, user: str, today: date, first: str | None, last: str | None) -> tuple[bytes | str, ...]:
    """The PNG of the marks between two dates, and its lines; by default of the last four weeks.

    At most a year, which ends today at the latest.
    """
    end = min(today, date.fromisoformat(last) if last else today)
    begin = min(end, date.fromisoformat(first) if first else end - timedelta(DEFAULT_DAYS - 1))
    begin = max(begin, end - timedelta(MOST_DAYS - 1))
    habits = marks.signs(db, user, begin, end, today)
    legend = ", ".join(f"{text_row(sign)} {meaning}" for sign, meaning in marks.LEGEND.items())
    lines = [f"{number} {habit.name} {text_row(habit.signs)}" for number, habit in enumerate(habits, 1)]
    return (calendars(habits, begin), "\n".join([f"{begin} to {end}: {legend}", *lines])) if habits else ()
