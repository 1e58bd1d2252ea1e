"""Images recognized by their bytes, and placed in the HTML of a field."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.anki.anki_helpers import GIF, JPEG, SVG, WEBP, png
from tests.support.client import cases
from tools.anki.images.image_bytes import ImageError, file_extension
from tools.anki.images.pictures import replace_data_urls, with_image

DIV = '<div><img src="a.png" style="max-width:100%;height:auto"/></div>'
AVIF = b"\0\0\0\x1cftypavif\0\0\0\0"
BMP = b"BM" + b"\0" * 12 + b"\x28\0\0\0" + b"\x04\0\0\0\xfd\xff\xff\xff" + b"\0" * 20


@pytest.mark.parametrize(
    "data, extension",
    [
        (png(3, 2), "png"),
        (JPEG, "jpg"),
        (GIF, "gif"),
        (WEBP, "webp"),
        (BMP, "bmp"),
        (AVIF, "avif"),
        (SVG, "svg"),
        (b"\xef\xbb\xbf<svg />", "svg"),
        (b"II*\0", "tiff"),
    ],
)
def test_each_format_is_known_by_its_bytes(data, extension):
    assert file_extension(data) == extension


@pytest.mark.parametrize(
    "data", [b"", b"<html><svg></html>", b"%PDF-1.7", b"GIF", b"RIFF1234WAVE", b"%!PSftypavif"]
)
def test_other_data_is_refused(data):
    with pytest.raises(ImageError, match="not an image"):
        file_extension(data)


@pytest.mark.parametrize("whole", [png(20, 20), JPEG, GIF, WEBP])
def test_an_image_cut_anywhere_is_refused(whole):
    for length in range(12, len(whole) - 1):
        with pytest.raises(ImageError):
            file_extension(whole[:length])


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.sampled_from([png(9, 9), JPEG, GIF, WEBP, SVG]), st.data())
def test_damaged_images_are_images_or_refused(whole, data):
    damaged = bytearray(whole)
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=8)):
        damaged[at] = data.draw(st.integers(0, 255))
    try:
        assert file_extension(bytes(damaged))
    except ImageError as error:
        assert error.hint


def rows(table):
    """The rows of a table whose columns are JSON; DIV stands for the image."""
    texts = cases(table.replace("DIV", json.dumps(DIV)[1:-1]))
    return [list(map(json.loads, row)) for row in texts]


# A field before and after the image is put into it.
PUT_IN = r"""
"" | "DIV"
"a < b & c\nd" | "a < b & c\nd\n\nDIV"
"DIV" | "DIV"
"x <IMG width=5 SRC='a.png'> y" | "x <IMG width=5 SRC='a.png'> y"
"<img src=a.png>" | "<img src=a.png>"
"a.png" | "a.png\n\nDIV"
"""


@pytest.mark.parametrize("before, after", rows(PUT_IN))
def test_an_image_goes_after_the_text_and_never_in_twice(before, after):
    assert with_image(before, "a.png") == after
    once = with_image("", "a&b 100%.png")
    assert with_image(once, "a&b 100%.png") == once


# A field before and after, and what was stored of it; two of one file are shown once.
DATA_URLS = r"""
"data:image/png;base64,QUJD" | "DIV" | ["QUJD"]
" DATA:image/PNG;BASE64,QUJD\n" | "DIV" | ["QUJD"]
"data:image/svg+xml;charset=utf-8;base64,QU%2BD" | "DIV" | ["QU+D"]
"data:image/png;base64,QU\r\nJD" | "DIV" | ["QU\r\nJD"]
"a data:image/png;base64,QUJD b" | "a\n\nDIV b" | ["QUJD"]
"a <img alt=\"x\" src=\"data:image/png;base64,QUJD\" width=5> b" | "a DIV b" | ["QUJD"]
"<img src='Data:Image/jpeg;base64,QUJD'>" | "DIV" | ["QUJD"]
"no data:text/html;base64,QUJD" | "no data:text/html;base64,QUJD" | []
"no data:image/png,QUJD" | "no data:image/png,QUJD" | []
"a data:image/png;base64,QUJD data:image/png;base64,QUJD" | "a\n\nDIV" | ["QUJD", "QUJD"]
"""


@pytest.mark.parametrize("value, result, stored", rows(DATA_URLS))
def test_data_urls_become_stored_files(value, result, stored):
    seen = []

    assert replace_data_urls(value, lambda text: seen.append(text) or "a.png") == result
    assert seen == stored


@given(st.text(alphabet=st.sampled_from(list("<img src='\"data:image/png;base64,QUJD=> \n&"))))
def test_text_without_a_stored_image_stays_as_it_is(value):
    assert replace_data_urls(value, lambda _: None) == value
    once = with_image(value, "a.png")
    assert with_image(once, "a.png") == once


@pytest.mark.parametrize(
    "start", ["<img src=data:image/png;base64,", "<img src='data:image/png;base64,", "<img "]
)
def test_a_tag_that_is_never_closed_is_decided_at_once(start):
    """With a quadratic pattern 20 kB took 2.7 s, and this would run into the limit of time of a test."""
    replace_data_urls(start + "src=A" * 200_000, lambda text: None)
    with_image(start + "A" * 1_000_000, "a.png")
