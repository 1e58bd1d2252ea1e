"""The marks as a picture and as a line of text."""

import base64
import io
import json
import random
from datetime import date

import pytest

from tests.onepercent import person
from tests.support.client import Client
from tools.onepercent.database import store
from tools.onepercent.habits.histories import HabitSigns
from tools.onepercent.page import picture

FIRST = date(2025, 11, 22)
MOST_BYTES = {28: 3_000, 366: 9_000}


def year(seed, days=366, weights=(70, 15, 5, 10)):
    draw = random.Random(seed)
    return [
        HabitSigns(number, f"habit {number}", "".join(draw.choices("+-e.", weights, k=days)))
        for number in range(8)
    ]


@pytest.mark.parametrize("weights", [(70, 15, 5, 10), (1, 1, 1, 1)])
@pytest.mark.parametrize("days", MOST_BYTES)
def test_a_picture_of_eight_habits_is_small_whatever_was_done(days, weights):
    for seed in range(5):
        assert len(picture.calendars(year(seed, days, weights), FIRST)) <= MOST_BYTES[days]


@pytest.mark.parametrize("days", [1, 7, 28, 92, 366])
@pytest.mark.parametrize("habits", [1, 8])
def test_another_reader_of_pngs_sees_every_mark(days, habits):
    image = pytest.importorskip("PIL.Image")
    marks = [(year(1, days) * 2)[number] for number in range(habits)]
    pixels = image.open(io.BytesIO(picture.calendars(marks, FIRST))).convert("RGBA")
    colours = {
        "+": (47, 127, 209, 255),
        "-": (217, 96, 59, 192),
        "e": (47, 127, 209, 128),
        ".": (128, 128, 128, 40),
    }
    weeks = (FIRST.weekday() + days + 6) // 7
    width = max(picture.LEFT + weeks * picture.STEP, picture.LETTER * len("habit 0")) + picture.LETTER
    beside = min(habits, picture.WIDEST // width)
    for number, habit in enumerate(marks):
        left = number % beside * width + picture.LEFT
        top = number // beside * picture.HEIGHT + picture.TOP
        for place, sign in enumerate(habit.signs, FIRST.weekday()):
            x, y = left + place // 7 * picture.STEP + 4, top + place % 7 * picture.STEP + 4
            assert pixels.getpixel((x * picture.SCALE, y * picture.SCALE)) == colours[sign]
    assert pixels.getpixel((pixels.width - 1, 0))[3] == 0  # The ground is clear.


def test_names_are_drawn_in_both_scripts_and_what_cannot_be_drawn_is_left_out():
    assert picture._drawable("Ёж, 5 км — «бег»!🏃") == "EЖ, 5 KM - БEГ!"
    every = "АБВГДЕЁЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    assert len(picture._drawable(every.lower())) == len(every)
    assert all(len(rows) == 7 and max(rows) < 32 for rows in picture.FONT.values())


@pytest.mark.slow
def test_a_snapshot_brings_the_picture_beside_its_json(file):
    with Client() as client:
        client.initialize()
        person.do(person.act("habit.create", name="Бег"), person.act("habit.mark_completed", habit_id=1))
        result = client.call("get_user_snapshot", picture=True, date_from="2026-03-01", date_to="2026-03-20")
        text, image, lines = result["content"]
        assert json.loads(text["text"])["user_name"]
        assert "structuredContent" not in result  # Codex would show that in place of the picture
        assert image["mimeType"] == "image/png"
        assert base64.b64decode(image["data"]).startswith(b"\x89PNG")
        assert lines["text"].startswith("2026-03-18 – 2026-03-20: ■ ")  # from the first mark on
        assert lines["text"].endswith("\n1 Бег ■▫▫")
        assert len(client.call("get_user_snapshot")["content"]) == 1


def test_a_picture_is_of_four_weeks_and_of_a_year_at_most():
    person.do(person.act("habit.create", name="Бег"))
    with store.writing() as db:
        db.execute("UPDATE habits SET created_on = '2020-01-01'")
    for dates, days in (({}, 28), ({"date_from": "2020-01-01"}, 366), ({"date_from": "2027-01-01"}, 1)):
        _, lines = person.call("get_user_snapshot", picture=True, **dates).content
        assert len(lines.splitlines()[1]) == len("1 Бег ") + days


def test_without_habits_there_is_no_picture():
    assert picture.calendars([], FIRST) == b""
    assert person.call("get_user_snapshot", picture=True).content == ()
