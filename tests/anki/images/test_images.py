"""Pictures of notes, from what a client gives to what Anki keeps."""

import hashlib
import html
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.anki.anki_helpers import (
    SVG,
    add_item,
    add_items,
    both_versions,
    call,
    in_base64,
    png,
    update_detail,
    update_note,
)
from tests.support.client import cases, json_lines
from tools.anki.images import pictures, resize
from tools.anki.images.image_bytes import ImageError
from tools.anki.note_input import ImageSpec


@pytest.fixture
def without_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)


def add(data, front="f", **image):
    """The one detail of a note added with an image in Back."""
    images = [{"image_base64": in_base64(data), **image}]
    note = {"fields": {"Front": front, "Back": "text"}, "images": images}
    (detail,) = call("anki.add_notes", notes=[note])["details"]
    return detail


def back(anki, detail):
    return anki.collection.get_note(detail["noteId"])["Back"]


def media(anki, detail):
    """The bytes of the image that a detail names."""
    (image,) = detail["images"]
    return Path(anki.collection.media.dir(), image["filename"]).read_bytes()


@both_versions
def test_an_image_goes_into_its_field_in_the_one_form(anki, without_pillow):
    data = png()
    name = f"img_{hashlib.sha1(data).hexdigest()}.png"

    detail = add(data, target_field="bAcK")

    assert (
        back(anki, detail)
        == f'text\n\n<div><img src="{name}" style="max-width:100%;height:auto"/></div>'
    )
    assert media(anki, detail) == data
    assert "warnings" not in detail  # it needs no shrinking


def test_only_a_large_picture_says_that_pillow_is_missing(anki, without_pillow):
    data = png() + bytes(200_000)

    detail = add(data)

    assert "Pillow is not installed" in detail["warnings"][0]


def test_pillow_is_taken_from_the_projects_own_venv(monkeypatch, tmp_path, without_pillow):
    """The server on stdio runs with Debian's Python, whose own packages may not have it."""
    monkeypatch.setattr(resize, "VENV_PACKAGES", tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    *_, warning = resize.shrink(bytes(resize.SMALL_PICTURE_BYTES + 1), "png", 768)

    assert (warning, sys.path[-1]) == (resize.NO_PILLOW, str(tmp_path))


def test_a_server_that_knows_no_delete_existing_stores_all_the_same(anki, without_pillow):
    """anki-connect-server of PyPI refuses the parameter."""
    store = anki.addon.storeMediaFile
    anki.addon.storeMediaFile = lambda filename, data: store(filename, data)

    detail = add(png())

    assert media(anki, detail) == png()


def test_what_keeps_a_file_from_being_stored_is_not_called_its_name(anki):
    anki.key = "secret"

    answer = call("anki.store_media", filename="a.mp3", data=in_base64(b"ID3"))

    assert "ANKI_CONNECT_KEY" in answer["hint"]


def test_a_data_url_in_a_field_is_stored_as_it_is_by_its_hash_and_true_type(anki):
    data = png()

    item = {"Front": "a", "Back": f"DATA:image/JPEG;BASE64,{in_base64(data)}"}
    detail = add_item(item)

    name = f"img_{hashlib.sha1(data).hexdigest()}.png"
    assert f'<img src="{name}"' in back(anki, detail)
    assert detail["images"] == [{"field": "Back", "filename": name, "sizeBytes": len(data)}]
    assert media(anki, detail) == data


# Among them HTML and a PDF.
BAD_IMAGES = """
{"image_base64": "%%%"} | base64 is wrong
{"image_base64": "CUT"} | cut short
{"image_base64": "PGh0bWw+PC9odG1sPg=="} | not an image
{"image_base64": "data:image/png;base64,JVBERi0xLjc="} | not an image
{"image_base64": "ZEROS"} | over the limit of 100
{"image_base64": "data:image/png;base64,"} | not an image
{"image_url": "file:///etc/passwd"} | not an http(s) address
{"image_url": "http://127.0.0.1:9/a.png"} | this machine or its network
{"image_base64": "WHOLE", "filename": ".."} | not a media file name
{"image_base64": "WHOLE", "filename": "a/b.png"} | not a media file name
"""


@pytest.mark.parametrize("image, words", cases(BAD_IMAGES))
def test_a_bad_image_fails_its_note_and_no_other(anki, env, image, words):
    env(IMAGE_MAX_BYTES=100)
    png_text = in_base64(png())
    image = (
        image.replace("CUT", png_text[:-8]).replace("WHOLE", png_text).replace("ZEROS", "A" * 200)
    )
    notes = [
        {"fields": {"Front": "bad"}, "images": [json.loads(image)]},
        {"fields": {"Front": "good"}},
    ]

    bad, good = call("anki.add_notes", notes=notes)["details"]

    assert words in bad["error"] and bad["hint"]
    assert (bad["status"], good["status"]) == ("error", "ok")
    assert "storeMediaFile" not in anki.actions()


def test_an_unknown_target_field_is_refused_by_add_notes_and_a_warning_of_add_from_model(anki):
    images = [{"image_base64": in_base64(png()), "target_field": "Image"}]

    notes = [{"fields": {"Front": "a"}}, {"fields": {"Front": "b"}, "images": images}]
    refused = call("anki.add_notes", notes=notes)
    warned = add_item({"Front": "a", "Back": "b", "images": images})

    assert refused["error"].startswith("ValueError: ") and "notes.1: 'Image'" in refused["error"]
    assert (warned["status"], warned["warnings"]) == ("ok", ["unknown_target_field"])
    assert back(anki, warned) == "b"
    assert anki.collection.note_count() == 1
    assert "storeMediaFile" not in anki.actions()


def test_an_image_goes_to_the_second_field_if_none_is_called_back(anki):
    images = [{"image_base64": in_base64(png())}]

    detail = add_item({"Text": "{{c1::text}}", "images": images}, model="Cloze")

    assert detail["images"][0]["field"] == "Back Extra"


def test_a_picture_used_fifty_times_is_fetched_and_uploaded_once(anki, web, private_allowed):
    web.pages["/a.png"] = png(40, 30)
    images = [{"url": web.url("/a.png")}, {"image_base64": in_base64(png(40, 30))}]
    items = [{"Front": f"{number}", "images": images} for number in range(50)]

    details = add_items(*items)["details"]

    assert anki.actions().count("storeMediaFile") == 1
    (text,) = {back(anki, detail) for detail in details}
    assert text.count("<img") == 1
    assert len(anki.requests) <= 7
    assert len(web.seen) == 1


def test_updating_with_the_same_image_again_does_not_show_it_twice(collection, note):
    images = [{"image_base64": "data:image/png;base64," + in_base64(png())}]

    first = update_detail(note, attachments=images)
    update_note(note, attachments=images)

    assert first["updatedFields"] == ["Back"]
    text = collection.get_note(note)["Back"]
    assert text.startswith("answer\n\n<div><img ")
    assert text.count("<img") == 1


@pytest.mark.parametrize(
    "name, stored",
    [
        ("evil.html", "evil.html.png"),
        ("photo.jpeg", "photo.png"),
        ("UP.PNG", "up.png"),
        ("n" * 300 + ".png", "n" * 115 + ".png"),
        ('a"&<b.png', "a&b.png"),
        ("\u0435\u0308.png", "\u0451.png"),
    ],
)
def test_a_file_name_ends_as_the_content_does_and_is_the_one_that_anki_kept(
    anki, without_pillow, name, stored
):
    detail = add(png(), filename=name)

    assert detail["images"][0]["filename"] == stored
    assert media(anki, detail) == png()
    assert f'src="{html.escape(stored)}"' in back(anki, detail)


def test_a_large_file_is_offered_by_its_path_and_sent_where_anki_does_not_see_it(
    anki, env, monkeypatch
):
    monkeypatch.setattr(pictures, "BY_PATH_BYTES", len(png()))
    monkeypatch.setitem(sys.modules, "PIL", None)
    add(png())
    store = anki.addon.storeMediaFile
    # Without data it fails, as if the file were on another machine.
    anki.addon.storeMediaFile = lambda filename, data=None, path=None, **more: store(
        filename, data, **more
    )

    detail = add(png(3, 3), front="g")

    stored = [request["params"] for request in anki.requests if "filename" in request["params"]]
    assert ["path" in params for params in stored] == [True, True, False]
    assert media(anki, detail) == png(3, 3)


def test_a_large_picture_leaves_a_file_of_its_name_alone(anki, monkeypatch, without_pillow):
    monkeypatch.setattr(pictures, "BY_PATH_BYTES", 10)
    first = add(png(), filename="a.png")

    second = add(png(3, 3), filename="a.png", front="g")

    assert (media(anki, first), media(anki, second)) == (png(), png(3, 3))


@pytest.fixture
def pillow():
    return pytest.importorskip("PIL.Image", reason="Pillow is not installed")


def encoded(image, form, **more):
    out = io.BytesIO()
    image.save(out, form, **more)
    return out.getvalue()


def stored_image(anki, pillow, data, **image):
    detail = add(data, **image)
    return pillow.open(io.BytesIO(media(anki, detail)))


# The size of a picture, what is asked for, and the size that is stored.
SIZES = json_lines("""
[[2000, 1000], {}, [768, 384]]
[[400, 300], {"max_side": 100}, [100, 75]]
[[400, 300], {}, [400, 300]]
""")


@pytest.mark.parametrize("size, more, small", SIZES)
def test_a_large_image_becomes_a_small_jpeg_and_nothing_is_enlarged(
    anki, pillow, size, more, small
):
    data = encoded(pillow.new("RGB", size, "red"), "PNG")

    stored = stored_image(anki, pillow, data, **more)

    assert (stored.format, [*stored.size]) == ("JPEG", small)


def test_a_photo_is_turned_upright_and_its_preview_is_no_animation(anki, pillow):
    """Phones put a preview behind the photo."""
    photo = pillow.new("RGB", (1000, 10), "red")
    exif = photo.getexif()
    exif[0x0112] = 6
    preview = pillow.new("RGB", (100, 10), "blue")
    data = encoded(photo, "MPO", exif=exif, save_all=True, append_images=[preview])

    assert stored_image(anki, pillow, data).size == (8, 768)


@pytest.mark.parametrize("kind", ["moving", "drawing", "logo", "too large", "broken"])
def test_what_moves_is_drawn_or_cannot_be_made_smaller_is_stored_as_it_came(
    anki, pillow, monkeypatch, kind
):
    red, blue = (pillow.new("RGB", (1000, 10), color) for color in ("red", "blue"))
    data = {
        "moving": encoded(red, "GIF", save_all=True, append_images=[blue]),
        "drawing": SVG,
        "logo": encoded(pillow.new("RGBA", (10, 10), (255, 0, 0, 0)), "PNG"),
        "too large": png(30, 30),
        "broken": png(30, 30)[:60] + bytes(10) + png(30, 30)[70:],
    }[kind]
    if kind == "too large":
        monkeypatch.setattr(resize, "MOST_DECODING_BYTES", 1000)

    detail = add(data)

    assert media(anki, detail) == data
    warned = {"too large": "900 pixels", "broken": "stored as it came"}.get(kind)
    assert warned in detail["warnings"][0] if warned else "warnings" not in detail


@pytest.mark.parametrize(
    "mode, form, color, grey",
    [
        ("1", "PNG", 0, 0),
        ("P", "PNG", 0, 0),
        ("I;16", "PNG", 128 * 256, 128),
        ("CMYK", "TIFF", 0, 255),
        ("F", "TIFF", 0, 0),
        ("RGBA", "PNG", (255, 0, 0, 0), 255),
    ],
)
def test_every_kind_of_pixel_becomes_a_jpeg_and_transparency_white(
    anki, pillow, mode, form, color, grey
):
    data = encoded(pillow.new(mode, (10, 10), color), form)

    stored = stored_image(anki, pillow, data, max_side=8)

    assert stored.format == "JPEG"
    assert abs(stored.convert("L").getpixel((5, 5)) - grey) < 3


PEAK = r"""
import re, sys
from tools.anki.images import image_bytes, resize
data = sys.stdin.buffer.read()
_, extension, warning = resize.shrink(data, image_bytes.file_extension(data), 768)
peak_kib = int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1])
print(extension, "stored as it came" in warning, peak_kib // 1024)
"""


LARGE = json_lines("""
["WEBP", "RGBA", [4800, 4990], {"lossless": true, "method": 0}, false]
["PNG", "RGBA", [4800, 4990], {}, false]
["PNG", "RGB", [4000, 2500], {}, true]
["AVIF", "RGB", [4800, 4990], {"speed": 10}, false]
["JPEG", "CMYK", [4000, 3000], {"progressive": true}, false]
["JPEG", "RGB", [6000, 4000], {}, true]
""")


@pytest.mark.slow
@pytest.mark.parametrize("form, mode, size, more, shrunk", LARGE)
def test_no_picture_needs_more_memory_than_a_small_board_has(
    pillow, form, mode, size, more, shrunk
):
    try:
        data = encoded(pillow.new(mode, size), form, **more)
    except (KeyError, OSError):
        pytest.skip(f"this Pillow writes no {form}")
    done = subprocess.run([sys.executable, "-c", PEAK], input=data, capture_output=True, check=True)

    extension, as_it_came, peak_mib = done.stdout.decode().split()
    assert (extension == "jpg" and as_it_came == "False") is shrunk
    assert int(peak_mib) < 130


def test_no_picture_runs_ghostscript(pillow, tmp_path, monkeypatch):
    (tmp_path / "gs").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (tmp_path / "gs").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    data = b"%!PSftypavif\n%!PS-Adobe-3.0 EPSF-3.0\nshowpage\n"

    *_, warning = resize.shrink(data, "avif", 768)

    assert "stored as it came" in warning
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "long", [" " * 1_000_000, "data:" * 200_000, "data:" + " " * 1_000_000], ids="abc"
)
def test_a_megabyte_of_anything_is_decided_at_once(long):
    """With a quadratic pattern this took an hour: it would run into the limit of time of a test."""
    with pytest.raises(ImageError):
        pictures.Pictures().prepare(ImageSpec(image_base64=long))
