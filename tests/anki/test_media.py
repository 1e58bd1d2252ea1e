"""Files in the media folder."""

import base64
from pathlib import Path

import pytest

from tests.anki.anki_helpers import both_versions
from tests.anki.anki_images import png
from tools.core import answers

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
def test_get_media_gives_base64_and_size(anki, call):
    anki.collection.media.write_data("hello.mp3", b"sound")

    answer = call("anki.get_media", filename="hello.mp3")

    assert answer == {"filename": "hello.mp3", "dataBase64": base64.b64encode(b"sound").decode(), "sizeBytes": 5}


def test_get_media_of_a_missing_file_is_a_file_not_found_error(anki, call):
    answer = call("anki.get_media", filename="none.mp3")

    assert answer["error"].startswith("FileNotFoundError: ")
    assert answer["code"] == "MEDIA_NOT_FOUND"


def test_a_media_answer_that_is_no_base64_has_no_size(anki, call):
    anki.addon.retrieveMediaFile = lambda filename: "%%%"

    assert call("anki.get_media", filename="x.mp3") == {"filename": "x.mp3", "dataBase64": "%%%", "sizeBytes": None}


@both_versions
def test_delete_media_tells_the_truth(anki, call):
    for name in ("hello.mp3", "hello[1].mp3", "hello1.mp3"):
        Path(anki.collection.media.dir(), name).write_bytes(b"sound")

    answer = call("anki.delete_media", filename="hello[1].mp3")

    assert answer == {"filename": "hello[1].mp3", "deleted": True, "anki_response": None}
    assert call("anki.delete_media", filename="hello[1].mp3")["error"].startswith("FileNotFoundError: ")
    assert call("anki.delete_media", filename="*.mp3")["error"].startswith("FileNotFoundError: ")
    assert call("anki.get_media", filename="hello1.mp3")["sizeBytes"] == 5


def test_delete_media_says_false_where_the_file_stayed(anki, call):
    anki.collection.media.write_data("hello.mp3", b"sound")
    anki.addon.deleteMediaFile = lambda filename: None

    assert call("anki.delete_media", filename="hello.mp3")["deleted"] is False


@pytest.mark.parametrize("tool", ["anki.get_media", "anki.delete_media"])
@pytest.mark.parametrize("name", NOT_NAMES)
def test_a_name_that_could_harm_is_never_sent(anki, call, tool, name):
    answer = call(tool, filename=name)

    assert answer["code"] == "INVALID_FILENAME"
    assert answer["hint"]
    assert anki.requests == []


def test_a_name_too_long_to_be_there_is_not_found(anki, call):
    assert call("anki.get_media", filename="n" * 300)["code"] == "MEDIA_NOT_FOUND"
    assert call("anki.delete_media", filename="n" * 300)["code"] == "MEDIA_NOT_FOUND"


def test_the_requirement_s_example_name_is_told_that_the_folder_is_flat(anki, call):
    assert "flat" in call("anki.get_media", filename="audio/hello.mp3")["error"]


def test_a_name_in_decomposed_unicode_is_found(anki, call):
    anki.collection.media.write_data("\u00e9.mp3", b"x")

    assert call("anki.delete_media", filename="e\u0301.mp3")["deleted"] is True


@pytest.mark.parametrize("name", ["a.png", "a.mp3"])
def test_a_picture_follows_the_answer_as_one(anki, call, name):
    content = png() if name == "a.png" else b"ID3"
    anki.collection.media.write_data(name, content)

    answer = call("anki.get_media", filename=name)

    assert answer["sizeBytes"] == len(content)
    pictures = [block["data"] for block in answers.blocks(answer)]
    assert pictures == ([answer["dataBase64"]] if name == "a.png" else [])
