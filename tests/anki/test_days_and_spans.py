"""Anki's days, which begin at four, and its intervals in words."""

from datetime import date, datetime

import pytest

from tools.anki.images import image_bytes
from tools.anki.studying import answers, log, spans

DAY = 86400


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"), (59, "59s"), (60, "1m"), (600, "10m"), (3600, "1h"), (5400, "1.5h"), (DAY, "1d"), (29 * DAY, "29d"),
        (30 * DAY, "1mo"), (36 * DAY, "1.2mo"), (365 * DAY, "1y"), (730 * DAY, "2y"),
    ],
)  # fmt: skip
def test_an_interval_is_written_as_on_anki_s_buttons(seconds, text):
    assert spans.span(seconds) == text


def test_a_day_of_anki_begins_at_four_and_its_first_moment_is_its_own():
    day = date(2026, 3, 18)
    first = log.start_of(day)
    assert datetime.fromtimestamp(first / 1000) == datetime(2026, 3, 18, 4)
    assert (log.day_of(first), log.day_of(first - 1)) == (day, date(2026, 3, 17))


@pytest.mark.parametrize(("hour", "due"), [(3, "2026-03-27"), (5, "2026-03-28")])
def test_an_answered_card_comes_again_after_its_interval_counted_from_anki_s_day(hour, due):
    row = answers.LogRow(int(datetime(2026, 3, 18, hour).timestamp() * 1000), ease=3, interval=10)
    assert answers.outcome(1, row) == {"cardId": 1, "ease": "good", "interval": "10d", "due": due}


def test_the_size_of_a_jpeg_is_its_own_and_not_that_of_the_thumbnail_in_it():
    def segment(marker: int, data: bytes) -> bytes:
        return bytes((0xFF, marker)) + (len(data) + 2).to_bytes(2, "big") + data

    def frame(height: int, width: int) -> bytes:
        return segment(0xC0, b"\x08" + height.to_bytes(2, "big") + width.to_bytes(2, "big") + b"\x01\x01\x11\0")

    thumbnail = b"\xff\xd8" + frame(16, 16) + b"\xff\xd9"
    data = b"\xff\xd8" + segment(0xE1, b"Exif\0\0" + thumbnail) + frame(480, 640) + b"\xff\xd9"
    assert image_bytes.kind(data) == image_bytes.Kind("jpg", 640, 480)
