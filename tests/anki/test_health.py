"""What --check tells of Anki, and what its tools cost in every conversation."""

import json
import shlex

from tests import golden
from tests.anki.anki_helpers import add_notes, call
from tools.anki.health import health


def test_health_counts_decks_and_notes_and_offers_the_default_note_type(anki, collection, env):
    add_notes(collection, "A", "1", "2")
    env(ANKI_DEFAULT_MODEL="")

    report = health()
    call("anki.create_model", **json.loads(shlex.split(report.advice)[-1]))

    assert report.state == "unset"
    assert "AnkiConnect 6" in report.summary and "2 decks, 2 notes" in report.summary
    assert "'Поля для ChatGPT' is missing" in report.summary
    assert health().state == "ok"


def test_health_tells_why_anki_cannot_be_asked(anki, env):
    anki.addon._profile_open = False

    assert (health().state, "profile" in health().advice) == ("broken", True)
    env(ANKI_CONNECT_URL="http://127.0.0.1:9")
    assert health().state == "unset"


def test_all_anki_tools_together_stay_below_their_share_of_the_context_and_are_named_as_listed():
    tools = [tool for tool in golden.listing() if tool["name"].startswith("anki_")]

    assert len(tools) == 20
    assert sum(map(golden.size_bytes, tools)) <= 12_500
    assert not [tool["name"] for tool in golden.listing() if "anki." in tool["description"]]
