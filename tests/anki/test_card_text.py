"""The question and the answer of a card as Anki's window shows them."""

import json

import pytest

from tests.anki.anki_helpers import add_note, add_notes, answer_cards, call, due_cards
from tests.support.client import cases
from tools.anki import due


def typing_note(collection, template, fields):
    """A note of a type whose front is `template`, with the answer to type below it and on the back."""
    models = collection.models
    model = models.copy(models.by_name("Cloze" if "cloze" in template else "Basic"), add=False)
    model["name"] = template
    model["tmpls"][0]["qfmt"] = template
    model["tmpls"][0]["afmt"] = "{{FrontSide}}<hr id=answer>" + template.partition("<br>")[2]
    models.add_dict(model)
    add_note(collection, "Geo", template, *fields)


def one_card():
    (card,) = due_cards()
    return card["question"], card["answer"]


# A template, the fields, the question above the place to type, the answer.
TYPED = """
{{Front}}<br>{{type:Back}} | ["2+2", "<b>4</b>"] | 2+2 | 4
{{Front}}<br>{{type:nc:Back}} | ["cafe", "café"] | cafe | café
{{cloze:Text}}<br>{{type:cloze:Text}} | ["{{c1::Lima::city}}, {{c1::Peru}}", ""] | [city], [...] | Lima, Peru
"""


@pytest.mark.parametrize("template, fields, question, answer", cases(TYPED))
def test_a_card_to_type_has_its_answer_on_the_back_alone(anki, template, fields, question, answer):
    typing_note(anki.collection, template, json.loads(fields))
    question += "\n[type it]"

    assert one_card() == (question, answer)
    (card,) = due.STUDY_PAGE.private(call("anki.due"))[due.CARDS_KEY]
    assert card["typed"] == answer and card["state"] == "new"
    assert card["texts"] == [question, answer]
    assert all("[[type:" in side for side in card["sides"])  # the page puts its input there


# A field, and the question that it is: a sign that is no tag, and a formula by its text.
READ = """
При каких x верно x < 5 и x > 3? | При каких x верно x < 5 и x > 3?
Условие a < b & b > c | Условие a < b & b > c
x<5 and y>3 | x<5 and y>3
if (a <= b && c >= d) | if (a <= b && c >= d)
What is <img class=latex alt="\\( x^2 &lt; 4 \\)" src="latex-70461e5.png">? | What is \\( x^2 < 4 \\)?
"""


@pytest.mark.parametrize("field, question", cases(READ))
def test_what_looks_like_a_tag_is_read_as_anki_shows_it(anki, field, question):
    add_notes(anki.collection, "Geo", field)

    assert one_card()[0] == question


@pytest.fixture
def occluded(anki, collection):
    """A card of image occlusion."""
    collection.add_image_occlusion_notetype()
    box = "{{c1::image-occlusion:rect:left=.1:top=.1:width=.2:height=.2}}"
    note = add_note(collection, "Geo", "Image Occlusion", box, '<img src="oc.png">')
    return list(collection.card_ids_of_note(note))


def test_an_image_occlusion_card_is_left_to_anki_s_window(occluded):
    masked = "[image occlusion: Anki's window shows it]"
    assert one_card() == (masked, masked)
    assert answer_cards(occluded)["skipped"][0]["reason"] == "occlusion"
    (on_page,) = due.STUDY_PAGE.private(call("anki.due"))[due.CARDS_KEY]
    assert "image-occlusion" in on_page["sides"][0] and "typed" not in on_page


def test_an_image_occlusion_card_on_the_screen_can_be_answered(anki, occluded):
    anki.addon.guiDeckReview("Geo")

    assert answer_cards(occluded)["answered"] == 1
