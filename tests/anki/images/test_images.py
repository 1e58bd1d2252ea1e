"""Pictures of notes, from what a client gives to what Anki keeps."""

import base64
import hashlib
import html
import io
import subprocess
import sys
import time

import pytest

from tests.anki.anki_helpers import add_notes, both_versions
from tests.anki.anki_images import GIF, SVG, png, serving
from tools.anki.batches.note_input import ImageSpec
from tools.anki.images import image_bytes, pictures, resize, upload
from tools.anki.images.image_bytes import ImageError


def text(data):
    return base64.b64encode(data).decode()


@pytest.fixture
def without_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)


@pytest.fixture
def web(env):
    env(IMAGE_ALLOW_PRIVATE=1)
    with serving() as one:
        yield one


def add(call, *images, front="f", **more):
    """The one detail of a note added with images in Back."""
    note = {"fields": {"Front": front, "Back": "text"}, "images": list(images), **more}
    (detail,) = call("anki.add_notes", notes=[note])["details"]
    return detail


def back(anki, detail):
    return anki.collection.get_note(detail["noteId"])["Back"]


def media(anki, name):
    with open(f"{anki.collection.media.dir()}/{name}", "rb") as file:
        return file.read()


@both_versions
def test_an_image_goes_into_its_field_in_the_one_form(anki, call, without_pillow):
    data = png()
    name = f"img_{hashlib.sha1(data).hexdigest()}.png"

    detail = add(call, {"image_base64": text(data), "target_field": "bAcK"})

    assert back(anki, detail) == f'text\n\n<div><img src="{name}" style="max-width:100%;height:auto"/></div>'
    assert media(anki, name) == data
    assert "Pillow is not installed" in detail["warnings"][0]


def test_a_data_url_in_a_field_is_stored_as_it_is_by_its_hash_and_true_type(anki, call):
    data = png()

    answer = call("anki.add_from_model", items=[{"Front": "a", "Back": f"DATA:image/JPEG;BASE64,{text(data)}"}])

    (detail,) = answer["details"]
    name = f"img_{hashlib.sha1(data).hexdigest()}.png"
    assert back(anki, detail) == f'<div><img src="{name}" style="max-width:100%;height:auto"/></div>'
    assert detail["images"] == [{"field": "Back", "filename": name, "sizeBytes": len(data)}]
    assert media(anki, name) == data


@pytest.mark.parametrize("payload", ["%%%", "QUJD", text(png())[:-8], ""])
def test_a_wrong_data_url_in_a_field_stays_with_a_warning(anki, call, payload):
    value = f"data:image/png;base64,{payload}"

    (detail,) = call("anki.add_from_model", items=[{"Front": "a", "Back": value}])["details"]

    assert detail["status"] == "ok"
    assert "left as it is" in detail["warnings"][0]
    assert back(anki, detail) == value
    assert "storeMediaFile" not in anki.actions()


@pytest.mark.parametrize(
    ("image", "words"),
    [
        ({"image_base64": "%%%"}, "base64 is wrong"),
        ({"image_base64": text(png())[:-3]}, "base64 is wrong"),
        ({"image_base64": text(png())[:-8]}, "cut short"),
        ({"image_base64": text(b"<html></html>")}, "not an image"),
        ({"image_base64": "data:image/png;base64," + text(b"%PDF-1.7")}, "not an image"),
        ({"image_base64": text(png(claimed=(60000, 60000)))}, "60000 x 60000 pixels"),
        ({}, "no content"),
        ({"image_base64": ""}, "no content"),
        ({"image_base64": "data:image/png;base64,"}, "empty"),
        ({"image_url": "file:///etc/passwd"}, "not an http(s) address"),
        ({"image_url": "ftp://example.com/a.png"}, "not an http(s) address"),
        ({"image_url": "a.png"}, "not an http(s) address"),
        ({"image_url": "http://127.0.0.1:9/a.png"}, "this machine or its network"),
        *(
            ({"image_base64": text(png()), "filename": name}, "not a media file name")
            for name in (" ", ".", "..", "a/b.png", "a\\b.png", "a\nb.png")
        ),
    ],
)
@pytest.mark.parametrize("tool", ["anki.add_notes", "anki.add_from_model"])
def test_a_bad_image_fails_its_note_and_no_other(anki, call, tool, image, words):
    notes = [{"fields": {"Front": "bad"}, "images": [image]}, {"fields": {"Front": "good"}}]

    answer = call(tool, **{"notes" if tool == "anki.add_notes" else "items": notes})

    bad, good = answer["details"]
    assert words in bad["error"]
    assert bad["hint"]
    assert bad["status"] == "error"
    assert good["status"] == "ok"
    assert "storeMediaFile" not in anki.actions()


def test_an_image_over_the_limit_is_refused_before_it_is_decoded(anki, call, env):
    env(IMAGE_MAX_BYTES=1000)

    assert add(call, {"image_base64": text(bytes(2000))})["reason"] == "image_too_large"
    assert "storeMediaFile" not in anki.actions()


def test_max_side_must_be_a_number_of_pixels(anki, call):
    note = {"fields": {"Front": "a"}, "images": [{"image_base64": text(png()), "max_side": 0}]}

    assert "max_side: Input should be greater than or equal to 1" in call("anki.add_notes", notes=[note])["error"]


def test_add_notes_refuses_an_unknown_target_field_before_anything_is_sent(anki, call):
    good = {"fields": {"Front": "a"}}
    bad = {"fields": {"Front": "b"}, "images": [{"image_base64": text(png()), "target_field": "Image"}]}

    answer = call("anki.add_notes", notes=[good, bad])

    assert answer["error"].startswith("ValueError: ")
    assert "notes.1: 'Image'" in answer["error"]
    assert "Front, Back" in answer["hint"]
    assert anki.collection.note_count() == 0
    assert "storeMediaFile" not in anki.actions()


def test_add_from_model_warns_of_an_unknown_target_field_and_adds_the_note(anki, call):
    (detail,) = call(
        "anki.add_from_model",
        items=[{"Front": "a", "Back": "b", "images": [{"image_base64": text(png()), "target_field": "Image"}]}],
    )["details"]

    assert detail["status"] == "ok"
    assert detail["warnings"] == ["unknown_target_field"]
    assert back(anki, detail) == "b"
    assert "storeMediaFile" not in anki.actions()


def test_a_picture_used_fifty_times_is_uploaded_once(anki, call):
    image = {"image_base64": text(png(40, 30)), "target_field": "Back"}
    items = [{"Front": f"{number}", "images": [image, image]} for number in range(50)]

    answer = call("anki.add_from_model", items=items)

    assert answer["added"] == 50
    assert anki.actions().count("storeMediaFile") == 1
    assert len({back(anki, one) for one in answer["details"]}) == 1
    assert back(anki, answer["details"][0]).count("<img") == 1
    assert len(anki.requests) <= 7


def test_a_url_used_fifty_times_is_fetched_and_uploaded_once(anki, call, web):
    web.pages["/a.png"] = png()
    items = [{"Front": f"{number}", "images": [{"url": web.url("/a.png")}]} for number in range(50)]

    assert call("anki.add_from_model", items=items)["added"] == 50
    assert anki.actions().count("storeMediaFile") == 1
    assert len(web.seen) == 1


def test_updating_with_the_same_image_again_does_not_show_it_twice(anki, call):
    (one,) = add_notes(anki.collection, "A", "a")
    notes = [{"noteId": one, "attachments": [{"image_base64": "data:image/png;base64," + text(png())}]}]

    first = call("anki.update_notes", notes=notes)
    call("anki.update_notes", notes=notes)

    assert first["details"][0]["updatedFields"] == ["Back"]
    shown = anki.collection.get_note(one)["Back"]
    assert shown.startswith("answer\n\n<div><img ")
    assert shown.count("<img") == 1


def test_an_update_with_a_bad_image_changes_nothing_of_its_note(anki, call):
    (one,) = add_notes(anki.collection, "A", "a")

    (detail,) = call(
        "anki.update_notes", notes=[{"noteId": one, "fields": {"Front": "new"}, "images": [{"image_base64": "%"}]}]
    )["details"]

    assert detail["reason"] == "image"
    assert anki.collection.get_note(one)["Front"] == "a"


def test_the_client_s_file_name_is_used_as_anki_keeps_it(anki, call, without_pillow):
    detail = add(call, {"image_base64": text(png()), "filename": "UP.PNG"})

    assert detail["images"][0]["filename"] == "up.png"
    assert 'src="up.png"' in back(anki, detail)


@pytest.mark.parametrize("name", ["n" * 300 + ".png", "photo", 'a"&<b.png', "\u0435\u0308.png"])
def test_odd_file_names_show_the_file_that_anki_kept(anki, call, without_pillow, name):
    detail = add(call, {"image_base64": text(png()), "filename": name})

    stored = detail["images"][0]["filename"]
    assert media(anki, stored) == png()
    assert stored.endswith(".png")
    shown = anki.collection.media.files_in_str(anki.collection.models.by_name("Basic")["id"], back(anki, detail))
    assert [html.unescape(one) for one in shown] == [stored]


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("evil.html", "evil.html.png"),
        ("_editor.js", "_editor.js.png"),
        ("collection.anki2", "collection.anki2.png"),
        ("photo.jpeg", "photo.png"),
        ("photo.svg", "photo.png"),
        (".png", ".png.png"),
        ("...", "image.png"),
        ("v1.2 draft", "v1.2 draft.png"),
    ],
)
def test_a_file_name_ends_as_the_content_does(anki, call, without_pillow, name, stored):
    detail = add(call, {"image_base64": text(png()), "filename": name})

    assert detail["images"][0]["filename"] == stored


@pytest.mark.parametrize("store", ["refuses deleteExisting", "answers null"])
def test_other_servers_that_speak_ankiconnect_store_images_too(anki, call, without_pillow, store):
    real = anki.addon.storeMediaFile

    def store_media_file(filename, data=None, path=None, **more):
        if more and store.startswith("refuses"):
            raise TypeError("store_media_file() got an unexpected keyword argument 'deleteExisting'")
        return real(filename, data, path, **more) if store.startswith("refuses") else real(filename, data) and None

    anki.addon.storeMediaFile = store_media_file
    detail = add(call, {"image_base64": text(png()), "filename": "a.png"})

    assert detail["images"][0]["filename"] == "a.png"
    assert media(anki, "a.png") == png()


def test_another_file_of_that_name_is_never_overwritten(anki, call, without_pillow):
    anki.collection.media.write_data("map.png", b"older")

    detail = add(call, {"image_base64": text(png()), "filename": "map.png"})

    assert media(anki, "map.png") == b"older"
    assert media(anki, detail["images"][0]["filename"]) == png()


def test_a_large_file_is_offered_by_its_path_and_sent_where_anki_does_not_see_it(
    anki, call, without_pillow, monkeypatch
):
    monkeypatch.setattr(upload, "BY_PATH_BYTES", 10)
    add(call, {"image_base64": text(png())})
    by_path = [request for request in anki.requests if request["action"] == "storeMediaFile"]

    anki.addon.storeMediaFile = _without_our_disk(anki.addon.storeMediaFile)
    detail = add(call, {"image_base64": text(png(3, 3))}, front="g")

    assert ["path" in request["params"] for request in by_path] == [True]
    assert media(anki, detail["images"][0]["filename"]) == png(3, 3)


def _without_our_disk(store):
    def store_media_file(filename, data=None, path=None, **more):
        if path:
            raise Exception(f"[Errno 2] No such file or directory: {path!r}")
        return store(filename, data, **more)

    return store_media_file


def test_a_cut_while_uploading_adds_no_note_and_says_so(anki, call):
    anki.faults = {1: "cut_after"}

    answer = call("anki.add_notes", notes=[{"fields": {"Front": "a"}, "images": [{"image_base64": text(png())}]}])

    assert answer["code"] == "ANKI_CUT"
    assert answer["details"] == [{"index": 0, "status": "not_sent"}]


@pytest.fixture
def pillow():
    return pytest.importorskip("PIL.Image", reason="Pillow is not installed")


def encoded(image, form, **more):
    out = io.BytesIO()
    image.save(out, form, **more)
    return out.getvalue()


def stored_image(anki, call, pillow, data, front="f", **more):
    detail = add(call, {"image_base64": text(data), **more}, front=front)
    return pillow.open(io.BytesIO(media(anki, detail["images"][0]["filename"])))


def test_a_large_image_becomes_a_small_jpeg(anki, call, pillow):
    found = stored_image(anki, call, pillow, encoded(pillow.new("RGB", (2000, 1000), "red"), "PNG"))

    assert (found.format, found.size) == ("JPEG", (768, 384))


def test_max_side_is_kept_and_nothing_is_enlarged(anki, call, pillow):
    data = encoded(pillow.new("RGB", (400, 300), "red"), "PNG")

    assert stored_image(anki, call, pillow, data, max_side=100).size == (100, 75)
    assert stored_image(anki, call, pillow, data, front="g").size == (400, 300)


def test_transparency_becomes_white(anki, call, pillow):
    image = pillow.new("RGBA", (10, 10), (255, 0, 0, 0))

    found = stored_image(anki, call, pillow, encoded(image, "PNG"))

    assert min(found.convert("RGB").getpixel((5, 5))) > 250


def test_a_photo_is_turned_upright(anki, call, pillow):
    image = pillow.new("RGB", (40, 20), "red")
    exif = image.getexif()
    exif[0x0112] = 6

    assert stored_image(anki, call, pillow, encoded(image, "JPEG", exif=exif)).size == (20, 40)


@pytest.mark.parametrize("form", ["GIF", "WEBP"])
def test_an_animated_image_is_left_alone(anki, call, pillow, form):
    frames = [pillow.new("RGB", (1000, 10), color) for color in ("red", "blue")]
    data = encoded(frames[0], form, save_all=True, append_images=frames[1:])

    detail = add(call, {"image_base64": text(data)})

    assert media(anki, detail["images"][0]["filename"]) == data


def test_a_drawing_is_left_alone(anki, call):
    detail = add(call, {"image_base64": text(SVG)})

    assert detail["images"][0]["filename"].endswith(".svg")
    assert media(anki, detail["images"][0]["filename"]) == SVG
    assert "warnings" not in detail


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "CMYK", "I;16", "F"])
def test_every_kind_of_pixel_becomes_a_jpeg(anki, call, pillow, mode):
    form = "PNG" if mode in ("1", "L", "LA", "P", "I;16") else "TIFF"

    assert stored_image(anki, call, pillow, encoded(pillow.new(mode, (9, 9)), form)).format == "JPEG"


def test_sixteen_bit_grey_keeps_its_brightness(anki, call, pillow):
    found = stored_image(anki, call, pillow, encoded(pillow.new("I;16", (9, 9), 128 * 256), "PNG"))

    assert abs(found.convert("L").getpixel((4, 4)) - 128) < 3


def test_a_palette_with_a_transparent_colour_becomes_white_there(anki, call, pillow):
    image = pillow.new("P", (9, 9), 0)
    image.putpalette([255, 0, 0])

    found = stored_image(anki, call, pillow, encoded(image, "PNG", transparency=0))

    assert min(found.convert("RGB").getpixel((4, 4))) > 250


def test_an_image_too_large_to_decode_is_stored_as_it_came(anki, call, pillow, monkeypatch):
    monkeypatch.setattr(resize, "MOST_BYTES", 1000)
    data = encoded(pillow.new("RGB", (20, 20), "red"), "PNG")

    detail = add(call, {"image_base64": text(data)})

    assert media(anki, detail["images"][0]["filename"]) == data
    assert "400 pixels" in detail["warnings"][0]


def test_a_photo_of_two_frames_becomes_a_small_jpeg(anki, call, pillow):
    """Phones put a preview behind the photo; it is not an animation."""
    frames = [pillow.new("RGB", (1000, 10), color) for color in ("red", "blue")]
    data = encoded(frames[0], "MPO", save_all=True, append_images=frames[1:])

    assert stored_image(anki, call, pillow, data).size == (768, 8)


PEAK = r"""
import re, sys
from tools.anki.images import image_bytes, resize
data = sys.stdin.buffer.read()
_, extension, warning = resize.shrink(data, image_bytes.kind(data), 768)
print(extension, "stored as it came" in warning, int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) // 1024)
"""


@pytest.mark.parametrize(
    ("form", "mode", "size", "more", "shrunk"),
    [
        ("WEBP", "RGBA", (4800, 4990), {"lossless": True, "method": 0}, False),
        ("PNG", "RGBA", (4800, 4990), {}, False),
        ("PNG", "RGB", (4000, 2500), {}, True),
        ("AVIF", "RGB", (4800, 4990), {"speed": 10}, False),
        ("JPEG", "CMYK", (4000, 3000), {"progressive": True}, False),
        ("JPEG", "RGB", (6000, 4000), {}, True),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_no_picture_needs_more_memory_than_a_small_board_has(pillow, form, mode, size, more, shrunk):
    try:
        data = encoded(pillow.new(mode, size), form, **more)
    except (KeyError, OSError):
        pytest.skip(f"this Pillow writes no {form}")
    done = subprocess.run([sys.executable, "-c", PEAK], input=data, capture_output=True, check=True)

    extension, as_it_came, peak_mib = done.stdout.decode().split()
    assert (extension == "jpg" and as_it_came == "False") is shrunk
    assert int(peak_mib) < 130


POSTSCRIPT = b"ftypavif\n%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 2 2\n%%EndComments\nshowpage\n"


def test_no_picture_runs_ghostscript(pillow, tmp_path, monkeypatch):
    (tmp_path / "gs").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (tmp_path / "gs").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    data = b"%!PS" + POSTSCRIPT

    with pytest.raises(ImageError, match="not an image"):
        image_bytes.kind(data)
    assert "stored as it came" in resize.shrink(data, image_bytes.Kind("avif"), 768)[2]
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("form", ["blanks", "data:", "data: of blanks"])
def test_a_megabyte_of_anything_is_decided_at_once(form):
    """By processor time: with a quadratic pattern this took an hour."""
    long = {"blanks": " " * 1_000_000, "data:": "data:" * 200_000, "data: of blanks": "data:" + " " * 1_000_000}[form]
    before = time.process_time()
    with pytest.raises(ImageError):
        pictures.Pictures().of(ImageSpec(image_base64=long))
    assert time.process_time() - before < 5


def test_an_image_that_pillow_cannot_read_goes_as_it_is_with_a_warning(anki, call, pillow):
    data = bytearray(png(30, 30))
    data[60:70] = bytes(10)

    detail = add(call, {"image_base64": text(bytes(data))})

    assert detail["status"] == "ok"
    assert "stored as it came" in detail["warnings"][0]


def test_a_static_gif_becomes_a_jpeg(anki, call, pillow):
    assert stored_image(anki, call, pillow, GIF).format == "JPEG"
