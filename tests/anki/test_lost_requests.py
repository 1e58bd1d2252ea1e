"""Every request of every writing tool is lost once, before its effect and after it; then the call is made again.

The end is as if nothing had happened: nothing twice, nothing lost. What the broken call said is true.
"""

import base64
from pathlib import Path

import pytest

from tests.anki.anki_helpers import add_notes
from tests.anki.anki_images import png
from tests.anki.anki_standin import StandIn, names
from tools.anki.action_names import READING

PICTURE = {"image_base64": base64.b64encode(png()).decode()}
MODEL = {"modelName": "M", "inOrderFields": ["A"], "cardTemplates": [{"name": "C", "front": "{{A}}", "back": "x"}]}


def calls_of(ids, cards):
    """(tool, arguments) of each writing tool that changes a collection step by step."""
    return {
        "add": (
            "anki.add_from_model",
            {"deck": "New", "items": [{"Front": f"n{i}", "dedup_key": f"k{i}"} for i in range(35)]},
        ),
        "add with pictures": (
            "anki.add_notes",
            {"deck": "Geo", "notes": [{"fields": {"Front": "p"}, "images": [PICTURE]}]},
        ),
        "update": (
            "anki.update_notes",
            {"notes": [{"noteId": note, "fields": {"Back": "new"}, "addTags": ["x"], "deckName": "B"} for note in ids]},
        ),
        "delete notes": ("anki.delete_notes", {"noteIds": ids[:3]}),
        "delete decks": ("anki.delete_decks", {"decks": ["Geo"], "cardsToo": True}),
        "create model": ("anki.create_model", MODEL),
        "delete media": ("anki.delete_media", {"filename": "a.mp3"}),
        "store media": ("anki.store_media", {"filename": "b.mp3", "data": "SUQz"}),
        "answer": ("anki.answer_cards", {"answers": [{"cardId": card, "ease": "again"} for card in cards]}),
        "suspend": ("anki.change_cards", {"cardIds": cards, "suspend": True, "dryRun": False, "expected": len(cards)}),
        "tag": ("anki.change_cards", {"noteIds": ids, "addTags": ["x"], "dryRun": False, "expected": len(ids)}),
    }


NAMES = list(calls_of([], []))


def state(collection):
    """Everything that must come out the same, without ids and times."""
    cards = [collection.get_card(card) for card in collection.find_cards("")]
    return {
        "cards": sorted(
            (*card.note().fields, *card.note().tags, collection.decks.name(card.did), card.queue, card.reps)
            for card in cards
        ),
        "decks": collection.decks.all_names(),
        "models": collection.models.all_names(),
        "answers": collection.db.scalar("select count() from revlog"),
        "media": sorted(path.name for path in Path(collection.media.dir()).iterdir()),
    }


def prepared(collection):
    """Six notes in Geo, and a sound."""
    ids = add_notes(collection, "Geo", *"abcdef")
    collection.media.write_data("a.mp3", b"ID3")
    return ids, [collection.card_ids_of_note(note)[0] for note in ids]


@pytest.mark.parametrize("version", ["2025-11", "2023-10"])
@pytest.mark.parametrize("fault", ["cut_before", "cut_after"])
@pytest.mark.parametrize("name", NAMES)
def test_a_lost_request_leaves_nothing_twice_and_nothing_lost(collection_in, env, call, tmp_path, name, fault, version):
    wanted, requests = None, 1
    number = -1
    while number < requests:
        anki = StandIn(collection_in(tmp_path / f"{number + 1}"), version)
        env(ANKI_CONNECT_URL=anki.url, ANKI_DEFAULT_MODEL="Basic", MCP_STATE_DIR=tmp_path / f"state {number + 1}")
        try:
            tool, arguments = calls_of(*prepared(anki.collection))[name]
            anki.faults = {number: fault}
            first = call(tool, **arguments)
            reached = len(anki.requests) > number >= 0
            anki.faults = {}
            if reached and isinstance(first, dict) and broken(first):
                assert first.get("hint") or first.get("details") or first.get("warnings")
                check_words(first, anki, number)
                call(tool, **arguments)
            if wanted is None:
                wanted, requests = state(anki.collection), len(anki.requests)
            assert state(anki.collection) == wanted, f"after {fault} of request {number}: {first}"
        finally:
            anki.close()
        number += 1


def broken(answer):
    """Whether the answer says that the call has to be made again."""
    advice = any("again" in text for text in answer.get("warnings", ()))
    return answer.get("success") is False or answer.get("skipped") or advice


def check_words(answer, anki, number):
    """Only a request that changes something may have been done without an answer."""
    if set(names(anki.requests[number])) <= READING:
        assert "may or may not" not in answer.get("hint", "") + answer.get("error", "")
