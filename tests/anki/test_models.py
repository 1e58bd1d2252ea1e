"""Note types: shown, and made."""

import json

import pytest

from tests.anki.anki_helpers import (
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

QA = {
    "modelName": "Custom QA",
    "inOrderFields": ["Question", "Answer"],
    "cardTemplates": [
        {"name": "Card 1", "front": "{{Question}}", "back": "{{FrontSide}}\n<hr>{{Answer}}"}
    ],
    "css": ".card {\n  font-family: 'Inter', sans-serif;\n}",
    "isCloze": False,
    "options": {"latexPre": "\\documentclass{article}"},
}


@both_versions
def test_create_model_answers_as_the_requirement_shows_and_tells_what_anki_does_not_take(
    anki, collection
):
    answer = call("anki.create_model", **QA)

    warnings = answer.pop("warnings")
    assert answer == {
        "model_name": "Custom QA",
        "in_order_fields": QA["inOrderFields"],
        "card_templates": QA["cardTemplates"],
        "css": QA["css"],
        "options": {"latexPre": "\\documentclass{article}", "isCloze": False},
        "anki_response": None,
    }
    assert "latexPre" in warnings[0]
    assert (
        collection.models.field_names(collection.models.by_name("Custom QA")) == QA["inOrderFields"]
    )


REFUSED = """
{"modelName": "Basic"} | Model name already exists
{"modelName": " "} | at least 1 character
{"isCloze": true} | type 'Custom QA' has a problem. Expected to find '{{cloze:Text}}'
{"inOrderFields": ["A"]} | not found.
{"inOrderFields": []} | List should have at least 1 item
"""


@pytest.mark.parametrize("changes, text", cases(REFUSED))
def test_create_model_refuses_with_anki_s_own_text_as_plain_text(anki, collection, changes, text):
    before = collection.models.all_names()

    answer = call("anki.create_model", **{**QA, **json.loads(changes)})

    assert text in answer["error"]
    assert "<br>" not in answer["error"]
    assert collection.models.all_names() == before


def test_model_info_shows_fields_templates_and_styling_in_one_request(anki):
    info = call("anki.model_info", model="basic")

    assert info["model"] == "Basic"
    assert info["fields"] == ["Front", "Back"]
    assert info["templates"]["Card 1"]["Front"] == "{{Front}}"
    assert info["styling"].startswith(".card {")
    assert len(anki.requests) == 1


def test_model_info_brings_the_call_that_makes_the_default_model(anki, env):
    env(ANKI_DEFAULT_MODEL="")

    missing = call("anki.model_info")
    assert missing["code"] == "MODEL_NOT_FOUND"
    call("anki.create_model", **missing["create_model"])

    info = call("anki.model_info", model="")
    assert info["model"] == "Поля для ChatGPT"
    assert info["fields"] == ["Prompt", "Response", "Context", "Sources"]
    assert "tts" not in info["templates"]["Card 1"]["Front"]


@both_versions
def test_create_model_answers_with_the_names_that_anki_keeps(anki):
    answer = call(
        "anki.create_model",
        modelName='He said "hi"',
        inOrderFields=[" A ", "{{x}}", "a"],
        cardTemplates=[{"name": "C", "front": "{{A}}", "back": "{{x}}"}],
    )

    assert (answer["model_name"], answer["in_order_fields"]) == ("He said hi", ["A", "x", "a+"])
    assert call("anki.model_info", model=answer["model_name"])["fields"] == ["A", "x", "a+"]
    assert add_items({"A": "1", "x": "2"}, model=answer["model_name"])["added"] == 1


BOX = "{{c1::image-occlusion:rect:left=.1:top=0:width=1:height=0.25:oi=1}}"


def test_a_type_of_image_occlusion_says_how_its_boxes_are_written(anki, collection):
    collection.add_image_occlusion_notetype()

    hint = call("anki.model_info", model="Image Occlusion")["hint"]
    picture = {"target_field": "Image", "image_base64": in_base64(png())}
    fields = {"Occlusion": f"{BOX}<br>{BOX.replace('c1', 'c2')}", "Header": "h"}
    answer = add_items({"fields": fields, "images": [picture]}, model="Image Occlusion")

    assert (
        hint.startswith("Occlusion takes {{c1::image-occlusion:rect:left=.1:")
        and "fractions" in hint
    )
    assert answer["added"] == 1
    assert len(collection.find_cards("note:Image*")) == 2
    assert "hint" not in call("anki.model_info", model="Cloze")


@pytest.mark.parametrize("left", ["10%", "1.4", "120", "-.1", ""])
def test_a_box_outside_of_its_picture_is_that_note_s_error(anki, left):
    anki.collection.add_image_occlusion_notetype()
    wrong = {"Occlusion": BOX.replace("left=.1", f"left={left}")}

    bad, good = add_items(wrong, {"Occlusion": BOX}, model="Image Occlusion")["details"]

    assert bad["reason"] == "occlusion" and f"left={left} is not" in bad["error"]
    updated = update_detail(good["noteId"], fields=wrong)
    assert updated["reason"] == "occlusion"


CLOZES = json_lines(r"""
["the root {{c1::\\(x^{y^{z}}\\)}} here", false]
["{{c1::{{x}}}}", false]
["\\({{c1::\\frac{a}{b}}}\\)", false]
["{1, {{c1::2}}}", true]
["{{c1::\\(x^{y^{z} }\\)}}", true]
["{{c1::a {{c2::b}} c}} {{c3::d::hint}}", true]
["{{c1::a}} and {{c2::b}}", true]
""")


@pytest.mark.parametrize("text, is_whole", CLOZES)
def test_a_cloze_that_ends_too_early_is_said(anki, text, is_whole):
    added = add_item({"Text": text}, model="Cloze")
    updated = update_note(added["noteId"], fields={"Text": text + "."})

    for answer in (added, updated):
        is_warned = "write } }" in "".join(answer.get("warnings", []))
        assert is_warned is not is_whole
