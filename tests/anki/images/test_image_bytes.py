"""Telling images by their bytes."""

import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.anki.anki_images import GIF, JPEG, SVG, WEBP, png
from tools.anki.images.image_bytes import ImageError, Kind, kind

PREVIEW, WHOLE = struct.pack(">III", 0, 160, 120), struct.pack(">III", 0, 4800, 4990)
AVIF = b"\0\0\0\x1cftypavif" + b"\0" * 16 + b"\0\0\0\x14ispe" + PREVIEW + b"\0\0\0\x14ispe" + WHOLE


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (png(3, 2), Kind("png", 3, 2)),
        (JPEG, Kind("jpg", 7, 5)),
        (GIF, Kind("gif", 1, 1)),
        (WEBP, Kind("webp", 3, 2)),
        (b"BM" + b"\0" * 4 + b"\0" * 8 + b"\x28\0\0\0" + b"\x04\0\0\0\xfd\xff\xff\xff" + b"\0" * 20, Kind("bmp", 4, 3)),
        (SVG, Kind("svg")),
        (b"\xef\xbb\xbf<svg/>".replace(b"/", b" /"), Kind("svg")),
        (b"\0\0\0\x1cftypavif\0\0\0\0", Kind("avif")),
        (AVIF, Kind("avif", 4800, 4990)),
    ],
)
def test_each_format_is_known_with_its_size(data, found):
    assert kind(data) == found


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"<html><svg></html>",
        b"%PDF-1.7",
        b"GIF",
        b"RIFF1234WAVE",
        b"MZ\x90",
        b"<?xml version='1.0'?><a/>",
        b"%!PSftypavif",
    ],
)
def test_other_data_is_refused(data):
    with pytest.raises(ImageError, match="not an image"):
        kind(data)


@pytest.mark.parametrize("whole", [png(20, 20), JPEG, GIF, WEBP])
def test_an_image_cut_anywhere_is_refused(whole):
    for length in range(12, len(whole) - 1):
        with pytest.raises(ImageError):
            kind(whole[:length])


def test_an_image_of_too_many_pixels_is_refused():
    assert kind(png(claimed=(8000, 8000))).width == 8000
    with pytest.raises(ImageError, match="8000 x 8001 pixels"):
        kind(png(claimed=(8000, 8001)))
    with pytest.raises(ImageError, match="50000 x 50000 pixels"):
        kind(png(claimed=(50000, 50000)))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.sampled_from([png(9, 9), JPEG, GIF, WEBP, SVG]), st.data())
def test_damaged_images_are_images_or_refused(whole, data):
    damaged = bytearray(whole)
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=8)):
        damaged[at] = data.draw(st.integers(0, 255))
    try:
        assert kind(bytes(damaged)).width >= 0
    except ImageError as error:
        assert error.hint


def test_a_drawing_after_very_many_comments_is_decided_at_once():
    assert kind(b"<!-- -->" * 400 + b"<svg>") == Kind("svg")
    with pytest.raises(ImageError):
        kind(b"<!---->" * 5000)
