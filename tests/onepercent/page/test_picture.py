"""The marks as a picture and as a line of text."""

import base64
import io
import json
import random
from datetime import date

import pytest

from tests.onepercent import person
from tests.support.client import Client
from tools.onepercent.habits.marks import HabitSigns
from tools.onepercent.page import picture

FIRST = date(2025, 11, 22)
MOST_BYTES = 4_000


def year(seed, days=366, weights=(70, 15, 5, 10)):
    draw = random.Random(seed)
    return [
        HabitSigns(number, f"habit {number}", "".join(draw.choices("+-e.", weights, k=days))) for number in range(8)
    ]


@pytest.mark.parametrize("weights", [(70, 15, 5, 10), (1, 1, 1, 1)])
def test_a_year_of_eight_habits_is_small_whatever_was_done(weights):
    for seed in range(5):
        assert len(picture.calendars(year(seed, weights=weights), FIRST)) <= MOST_BYTES


@pytest.mark.parametrize("days", [1, 7, 28, 92, 366])
@pytest.mark.parametrize("habits", [1, 2, 8, 12])
def test_another_reader_of_pngs_sees_every_mark(days, habits):
    image = pytest.importorskip("PIL.Image")
    marks = [(year(1, days) * 2)[number] for number in range(habits)]
    seen = image.open(io.BytesIO(picture.calendars(marks, FIRST)))
    seen.load()
    colours = {"+": (31, 95, 166), "-": (240, 185, 173), "e": (169, 200, 232), ".": (241, 240, 236)}
    step = picture.CELL + picture.GAP
    weeks = (FIRST.weekday() + days + 6) // 7
    width, height = picture.LEFT + weeks * step, picture.TOP + 7 * step + picture.GAP
    beside = seen.width // width
    pixels = seen.convert("RGB")
    for number, habit in enumerate(marks):
        left, top = number % beside * width + picture.LEFT, number // beside * height + picture.TOP
        for place, sign in enumerate(habit.signs):
            day = place + FIRST.weekday()
            assert pixels.getpixel((left + day // 7 * step + 4, top + day % 7 * step + 4)) == colours[sign]


def test_the_line_of_text_has_a_sign_a_day():
    assert picture.text_row("+-e.?") == "■□◇·▫"


def test_without_habits_there_is_no_picture():
    assert picture.calendars([], FIRST) == b""


def test_a_snapshot_brings_the_picture_beside_its_json(file):
    with Client() as client:
        client.initialize()
        person.do(person.act("habit.create", name="Бег"), person.act("habit.mark_completed", habit_id=1))
        result = client.call("get_user_snapshot", picture=True, date_from="2026-03-01", date_to="2026-03-20")
        text, image, lines = result["content"]
        assert json.loads(text["text"]) == result["structuredContent"]
        assert image["mimeType"] == "image/png"
        assert base64.b64decode(image["data"]).startswith(b"\x89PNG")
        assert lines["text"].startswith("2026-03-01 to 2026-03-20: ■ done")
        assert lines["text"].endswith("\n1 Бег " + "·" * 17 + "■▫▫")
        assert len(client.call("get_user_snapshot")["content"]) == 1


def test_a_picture_is_of_four_weeks_and_of_a_year_at_most():
    person.do(person.act("habit.create", name="Бег"))
    for dates, days in (({}, 28), ({"date_from": "2020-01-01"}, 366), ({"date_from": "2027-01-01"}, 1)):
        _, lines = person.call("get_user_snapshot", picture=True, **dates).content
        assert len(lines.splitlines()[1]) == len("1 Бег ") + days


def test_without_habits_the_snapshot_has_nothing_to_add():
    assert person.call("get_user_snapshot", picture=True).content == ()
