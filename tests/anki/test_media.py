"""Files in the media folder."""

import json
from pathlib import Path

import pytest

from tests.anki.anki_helpers import both_versions, call, entries, png
from tests.support.client import cases
from tools.anki import journal
from tools.core import results

NOT_NAMES = ["", " .. ", "../x", "/etc/hostname", "a\\b.png", "a\nb.png", "a\0.png", "x\x7f.png"]


def get_media(filename, **more):
    return call("anki.get_media", filename=filename, **more)


def store_media(data, filename="a.mp3"):
    return call("anki.store_media", filename=filename, data=data)


def delete_media(filename, **more):
    return call("anki.delete_media", filename=filename, **more)


@both_versions
def test_delete_media_tells_the_truth(anki):
    for name in ("hello[1].mp3", "hello1.mp3"):
        Path(anki.collection.media.dir(), name).write_bytes(b"sound")

    answer = delete_media("hello[1].mp3")

    assert answer == {"filename": "hello[1].mp3", "deleted": True, "anki_response": None}
    for gone in ("hello[1].mp3", "*.mp3"):
        assert delete_media(gone)["error"].startswith("FileNotFoundError: ")
    assert get_media("hello1.mp3")["sizeBytes"] == 5


@pytest.mark.parametrize("tool", [get_media, delete_media])
@pytest.mark.parametrize("name", NOT_NAMES)
def test_a_name_that_could_harm_is_never_sent(anki, tool, name):
    answer = tool(name)

    assert answer["code"] == "MEDIA_NOT_FOUND" and "FileNotFoundError" in answer["error"]
    assert answer["hint"]
    assert anki.requests == []


def test_a_picture_follows_the_answer_as_one_and_a_sound_does_not(anki, collection):
    collection.media.write_data("a.png", png())
    collection.media.write_data("a.mp3", b"ID3")

    picture, sound = get_media("a.png"), get_media("a.mp3")

    assert (picture["sizeBytes"], sound["sizeBytes"]) == (len(png()), 3)
    _, image = results.as_result(picture)["content"]
    assert image["data"] == picture["dataBase64"]
    assert len(results.as_result(sound)["content"]) == 1


def test_a_sound_is_stored_under_the_name_that_anki_gives_it(anki):
    stored = {"filename": "a.mp3", "sizeBytes": 3}
    assert store_media("SUQz") == stored
    assert store_media("data:audio/mpeg;base64,SUQz") == stored
    assert store_media("eHl6")["filename"] != "a.mp3"
    assert get_media("a.mp3")["dataBase64"] == "SUQz"


NOT_STORED = """
{"filename": "../a.mp3", "data": "eA=="} | INVALID_FILENAME
{"filename": "a.mp3", "data": "%%%"} | IMAGE
{"filename": "a.mp3"} | INVALID_ARGUMENTS
{"filename": "a.mp3", "url": "http://127.0.0.1:1/x"} | PRIVATE_ADDRESS
"""


@pytest.mark.parametrize("arguments, code", cases(NOT_STORED))
def test_a_file_that_cannot_be_stored_is_refused_before_anything_is_sent(anki, arguments, code):
    assert call("anki.store_media", **json.loads(arguments))["code"] == code
    assert anki.requests == []


def test_a_large_file_is_answered_only_on_demand(anki):
    anki.collection.media.write_data("big.mp3", b"x" * 300_000)

    refused = get_media("big.mp3")
    answer = get_media("big.mp3", max_bytes=refused["sizeBytes"])

    assert refused["code"] == "MEDIA_TOO_LARGE"
    assert refused["sizeBytes"] == answer["sizeBytes"] == 300_000
    assert len(str(refused)) < 1000


def test_the_size_of_what_is_not_base64_is_not_known(anki):
    anki.addon.retrieveMediaFile = lambda filename: "QUJD*RA=="

    answer = get_media("a.mp3")

    assert answer == {"filename": "a.mp3", "dataBase64": "QUJD*RA==", "sizeBytes": None}


def test_deleting_a_sound_says_which_note_plays_it(geo):
    note = geo.ids[3]

    dry = delete_media("a.mp3", dryRun=True)
    deletion = delete_media("a.mp3")

    assert dry["examples"] == [{"noteId": note, "text": "d"}]
    assert deletion["warnings"] == [f"still named by 1 note: {note}"]


def test_a_file_that_is_larger_than_the_journal_may_be_is_not_kept_in_it(geo, monkeypatch):
    monkeypatch.setattr(journal, "JOURNAL_MOST_BYTES", 2)
    assert get_media("a.mp3")["sizeBytes"] == 3

    assert delete_media("a.mp3")["deleted"]

    assert entries() == []


def test_a_sound_is_found_by_the_name_it_was_stored_under_and_the_new_one_is_said(anki):
    anki.addon.storeMediaFile = lambda filename, **params: anki.collection.media.write_data(
        filename.lower(), b"ID3"
    )

    stored = store_media("SUQz", "Bibi & Bubu.mp3")

    assert stored["filename"] == "bibi & bubu.mp3" and "stored it as bibi" in stored["warnings"][0]
    assert get_media("Bibi & Bubu.mp3")["filename"] == "bibi & bubu.mp3"
    assert get_media("none.mp3")["code"] == "MEDIA_NOT_FOUND"
