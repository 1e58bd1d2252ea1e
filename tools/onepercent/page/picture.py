"""The marks of habits as a picture and as a line of text, for clients that show no pages.

A calendar for each habit under its name: a column is a week, Monday on top, the month's number above the week
in which it begins. A PNG made of `zlib`; its colours are see-through, so that it stands on light and on dark
ground.
"""

import zlib
from collections.abc import Sequence
from datetime import date, timedelta

from tools.onepercent import texts, words
from tools.onepercent.database import Database
from tools.onepercent.days import WEEK, YEAR
from tools.onepercent.habits.histories import LEGEND, HabitSigns, signs_between

DEFAULT_DAYS = 28

# Pixels, of which each is drawn as four: most screens show two for one.
SCALE = 2
CELL, STEP = 9, 10
LETTER, LINE = 6, 10
LEFT, TOP = 8, 21
"""Room for the letters of the weekdays, for a name and the numbers of the months."""
HEIGHT = TOP + WEEK * STEP + 6
WIDEST = 545
"""A calendar of a year; smaller ones stand beside each other."""
SHORTEST_NAME = 18
"""Letters of a name that are shown whatever the width."""
NARROWEST = 120
"""Room for the longest line of the legend."""

PAPER, INK, DONE, EXCUSED, MISSED, OFF, OPEN = range(7)
COLOURS = {"+": DONE, "e": EXCUSED, "~": EXCUSED, "-": MISSED, ".": OFF, "p": OFF, "?": OPEN}
PALETTE = bytes.fromhex("000000 7d7b74 2f7fd1 2f7fd1 d9603b 808080 808080")
OPACITY = bytes.fromhex("00 ff ff 80 c0 28 68")

TEXT = {"+": "■", "e": "◇", "-": "□", ".": "·"}
RUSSIAN = dict(
    zip("+-e~.?p", "сделано,пропущено,по причине,начато,не нужно,не отмечено,пауза".split(","), strict=True)
)

# A character, and its seven rows of five pixels from the top, a digit of base 32 each.
FONT = {
    glyph[0]: [int(row, 32) for row in glyph[1:]]
    for glyph in """Aehhvhhh Buhhuhhu Cehggghe Duhhhhhu Evgguggv Fvgguggg Gehgnhhf Hhhhvhhh Ie44444e J72222ic Khikokih
    Lggggggv Mhrllhhh Nhhpljhh Oehhhhhe Puhhuggg Qehhhlid Ruhhukih Sfgge11u Tv444444 Uhhhhhhe Vhhhhha4 Whhhllla Xhha4ahh
    Yhha4444 Zv1248gv 0ehjlphe 14c4444e 2eh1248v 3v2421he 426aiv22 5vgu11he 668guhhe 7v124888 8ehhehhe 9ehhf12c Бvgguhhu
    Гvgggggg Д6aaaavh Жlle4ell Иhhjlphh Йa4hjlph Л799999h Пvhhhhhh Уhhhf11e Ф4ellle4 Цiiiiiv1 Чhhhf111 Шllllllv Щlllllv1
    Ъo88e99e Ыhhhpllp Ьggguhhu Эeh171he Юilltlli Яfhhf59h .00000cc ,0000c48 :0cc0cc0 -000v000 +044v440 !4444404 ?eh12404
    (2488842 )8422248 /01248g0 %op248j3""".split()
} | {" ": [0] * 7}
ALIKE = str.maketrans("АВЕЁЗКМНОРСТХ–—", "ABEE3KMHOPCTX--")


def text_row(signs: str) -> str:
    """The signs as they are told apart in any font."""
    return "".join(TEXT.get(sign, "▫") for sign in signs)


def calendars(habits: Sequence[HabitSigns], first: date) -> bytes:
    """A PNG with a calendar for each habit, whose signs begin on `first`, and a legend; nothing if there are
    no habits."""
    if not habits:
        return b""
    lead, letters = first.weekday(), texts.SHORT_WEEKDAYS[words.language()]
    weeks = -(-(lead + max(len(habit.signs) for habit in habits)) // WEEK)
    longest = max(SHORTEST_NAME, (LEFT + weeks * STEP) // LETTER)
    names = [_drawable(habit.name)[:longest].strip() or str(number) for number, habit in enumerate(habits, 1)]
    width = max(LEFT + weeks * STEP, LETTER * max(map(len, names))) + LETTER
    beside = min(len(habits), max(1, WIDEST // width))
    canvas = [bytearray(max(beside * width, NARROWEST)) for _ in range(-(-len(habits) // beside) * HEIGHT)]
    for index, (habit, name) in enumerate(zip(habits, names, strict=True)):
        x, y = index % beside * width, index // beside * HEIGHT
        _write(canvas, x, y, name)
        for weekday, letter in enumerate(letters):
            _write(canvas, x, y + TOP + weekday * STEP + 1, letter[0])
        for place, sign in enumerate(habit.signs, lead):
            day, left = first + timedelta(place - lead), x + LEFT + place // WEEK * STEP
            _cell(canvas, left, y + TOP + place % WEEK * STEP, sign)
            if day.day == 1 and left + 2 * STEP < x + width:
                _write(canvas, left, y + LINE, str(day.month))
    x = len(canvas[0])
    for sign in (sign for sign in "+-e~?" if any(sign in habit.signs for habit in habits)):
        meaning = _meaning(sign)
        if x + STEP + LETTER * len(meaning) > len(canvas[0]):
            canvas += [bytearray(len(canvas[0])) for _ in range(STEP + 1)]
            x = 0
        _cell(canvas, x, len(canvas) - STEP, sign)
        _write(canvas, x + STEP + 2, len(canvas) - STEP + 1, meaning)
        x += STEP + LETTER * (len(meaning) + 2)
    return _png(canvas)


def _meaning(sign: str) -> str:
    return (LEGEND if words.language() == "en" else RUSSIAN)[sign]


def _drawable(text: str) -> str:
    """The text in capitals, without what FONT does not have."""
    return "".join(letter for letter in text.upper().translate(ALIKE) if letter in FONT)


def _write(canvas: list[bytearray], x: int, y: int, text: str) -> None:
    for index, letter in enumerate(_drawable(text)):
        for row, bits in enumerate(FONT[letter]):
            pixels = bytes(INK * (bits >> 4 - column & 1) for column in range(5))
            canvas[y + row][x + index * LETTER : x + index * LETTER + 5] = pixels


def _cell(canvas: list[bytearray], x: int, y: int, sign: str) -> None:
    for line in canvas[y : y + CELL]:
        line[x : x + CELL] = bytes([COLOURS[sign]]) * CELL


def _png(canvas: list[bytearray]) -> bytes:
    """Four bits a pixel, so that a byte is a pixel twice; a line like the one before it is all zeros under
    the filter Up."""
    width, lines, before = SCALE * len(canvas[0]), [], None
    twice = bytes(index % 16 * 17 for index in range(256))
    for line in canvas:
        again = b"\2" + bytes(len(line))
        lines += [again if line == before else b"\0" + line.translate(twice), again]
        before = line
    header = width.to_bytes(4, "big") + len(lines).to_bytes(4, "big") + bytes((4, 3, 0, 0, 0))
    parts = (
        (b"IHDR", header),
        (b"PLTE", PALETTE),
        (b"tRNS", OPACITY),
        (b"IDAT", zlib.compress(b"".join(lines), 9)),
    )
    chunks = (kind + data for kind, data in (*parts, (b"IEND", b"")))
    framed = (
        (len(each) - 4).to_bytes(4, "big") + each + zlib.crc32(each).to_bytes(4, "big") for each in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


def pictured(
    db: Database, user: str, today: date, first: str | None, last: str | None
) -> tuple[bytes | str, ...]:
    """The PNG of the marks between two dates, and its lines; by default of the last four weeks.

    At most a year, which ends today at the latest and begins with the first day on which something was due.
    """
    end = min(today, date.fromisoformat(last) if last else today)
    begin = min(end, date.fromisoformat(first) if first else end - timedelta(DEFAULT_DAYS - 1))
    begin = max(begin, end - timedelta(YEAR - 1))
    habits = signs_between(db, user, begin, end, today)
    empty = min((len(habit.signs) - len(habit.signs[:-1].lstrip(".")) - 1 for habit in habits), default=0)
    habits = [habit._replace(signs=habit.signs[empty:]) for habit in habits]
    begin += timedelta(empty)
    legend = ", ".join(f"{text_row(sign)} {_meaning(sign)}" for sign in LEGEND)
    lines = [f"{number} {habit.name} {text_row(habit.signs)}" for number, habit in enumerate(habits, 1)]
    return (calendars(habits, begin), "\n".join([f"{begin} – {end}: {legend}", *lines])) if habits else ()
