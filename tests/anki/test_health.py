"""What --check tells of Anki."""

import json
import shlex

from tests.anki.anki_helpers import add_notes
from tools.anki.health import health


def test_health_counts_decks_and_notes(anki, collection):
    add_notes(collection, "A", "1", "2")

    found = health()

    assert found.state == "ok"
    assert "AnkiConnect 6" in found.summary
    assert "2 decks, 2 notes" in found.summary


def test_health_offers_the_default_note_type_where_it_is_missing(anki, call, env):
    env(ANKI_DEFAULT_MODEL="")

    found = health()
    call("anki.create_model", **json.loads(shlex.split(found.advice)[-1]))

    assert found.state == "unset"
    assert "'Поля для ChatGPT' is missing" in found.summary
    assert health().state == "ok"


def test_health_tells_why_anki_cannot_be_asked(anki):
    anki.addon._profile_open = False

    assert health().state == "broken"
    assert "profile" in health().advice


def test_health_is_unset_where_no_anki_listens(env):
    env(ANKI_CONNECT_URL="http://127.0.0.1:9")

    assert health().state == "unset"
