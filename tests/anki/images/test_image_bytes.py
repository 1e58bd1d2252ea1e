"""Telling images by their bytes."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.anki.anki_images import GIF, JPEG, SVG, WEBP, png
from tools.anki.images.image_bytes import ImageError, kind

AVIF = b"\0\0\0\x1cftypavif\0\0\0\0"
BMP = b"BM" + b"\0" * 12 + b"\x28\0\0\0" + b"\x04\0\0\0\xfd\xff\xff\xff" + b"\0" * 20
IMAGES = [(png(3, 2), "png"), (JPEG, "jpg"), (GIF, "gif"), (WEBP, "webp"), (BMP, "bmp"), (AVIF, "avif"), (SVG, "svg")]


@pytest.mark.parametrize(("data", "extension"), [*IMAGES, (b"\xef\xbb\xbf<svg />", "svg"), (b"II*\0", "tiff")])
def test_each_format_is_known_by_its_bytes(data, extension):
    assert kind(data) == extension


@pytest.mark.parametrize("data", [b"", b"<html><svg></html>", b"%PDF-1.7", b"GIF", b"RIFF1234WAVE", b"%!PSftypavif"])
def test_other_data_is_refused(data):
    with pytest.raises(ImageError, match="not an image"):
        kind(data)


@pytest.mark.parametrize("whole", [png(20, 20), JPEG, GIF, WEBP])
def test_an_image_cut_anywhere_is_refused(whole):
    for length in range(12, len(whole) - 1):
        with pytest.raises(ImageError):
            kind(whole[:length])


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.sampled_from([png(9, 9), JPEG, GIF, WEBP, SVG]), st.data())
def test_damaged_images_are_images_or_refused(whole, data):
    damaged = bytearray(whole)
    for at in data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=8)):
        damaged[at] = data.draw(st.integers(0, 255))
    try:
        assert kind(bytes(damaged))
    except ImageError as error:
        assert error.hint
