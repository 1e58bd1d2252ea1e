"""Files in the media folder."""

from pathlib import Path

import pytest

from tests.anki.anki_helpers import both_versions
from tests.anki.anki_images import png
from tools import results

NOT_NAMES = [
    "",
    " ",
    ".",
    "..",
    " .. ",
    "a/b.png",
    "../x",
    "/etc/hostname",
    "a\\b.png",
    "a\nb.png",
    "a\0.png",
    "x\x7f.png",
]


@both_versions
def test_delete_media_tells_the_truth(anki, call):
    for name in ("hello.mp3", "hello[1].mp3", "hello1.mp3"):
        Path(anki.collection.media.dir(), name).write_bytes(b"sound")

    answer = call("anki.delete_media", filename="hello[1].mp3")

    assert answer == {"filename": "hello[1].mp3", "deleted": True, "anki_response": None}
    assert call("anki.delete_media", filename="hello[1].mp3")["error"].startswith("FileNotFoundError: ")
    assert call("anki.delete_media", filename="*.mp3")["error"].startswith("FileNotFoundError: ")
    assert call("anki.get_media", filename="hello1.mp3")["sizeBytes"] == 5


@pytest.mark.parametrize("tool", ["anki.get_media", "anki.delete_media"])
@pytest.mark.parametrize("name", NOT_NAMES)
def test_a_name_that_could_harm_is_never_sent(anki, call, tool, name):
    answer = call(tool, filename=name)

    assert answer["code"] == "INVALID_FILENAME"
    assert answer["hint"]
    assert anki.requests == []


@pytest.mark.parametrize("name", ["a.png", "a.mp3"])
def test_a_picture_follows_the_answer_as_one(anki, call, name):
    content = png() if name == "a.png" else b"ID3"
    anki.collection.media.write_data(name, content)

    answer = call("anki.get_media", filename=name)

    assert answer["sizeBytes"] == len(content)
    pictures = [block["data"] for block in results.blocks(answer)]
    assert pictures == ([answer["dataBase64"]] if name == "a.png" else [])


def test_a_sound_is_stored_under_the_name_that_anki_gives_it(anki, call):
    assert call("anki.store_media", filename="a.mp3", data="SUQz") == {"filename": "a.mp3", "sizeBytes": 3}
    assert call("anki.store_media", filename="a.mp3", data="data:audio/mpeg;base64,SUQz")["filename"] == "a.mp3"
    other = call("anki.store_media", filename="a.mp3", data="eHl6")["filename"]
    assert other != "a.mp3"
    assert call("anki.get_media", filename="a.mp3")["dataBase64"] == "SUQz"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"filename": "../a.mp3", "data": "eA=="}, "INVALID_FILENAME"),
        ({"filename": "a.mp3", "data": "%%%"}, "IMAGE"),
        ({"filename": "a.mp3"}, "INVALID_ARGUMENTS"),
        ({"filename": "a.mp3", "url": "http://127.0.0.1:1/x"}, "PRIVATE_ADDRESS"),
    ],
)
def test_a_file_that_cannot_be_stored_is_refused_before_anything_is_sent(anki, call, arguments, code):
    assert call("anki.store_media", **arguments)["code"] == code
    assert anki.requests == []


def test_a_file_is_found_by_the_name_it_was_stored_with(anki, call):
    """Anki calls UP.TXT up.txt."""
    anki.collection.media.write_data("up.txt", b"x")

    assert call("anki.get_media", filename="UP.TXT")["filename"] == "up.txt"
