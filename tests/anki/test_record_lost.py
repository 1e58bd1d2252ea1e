"""A record of added notes that fails once the notes are in Anki: what was done is told all the same."""

import pytest

from tools.core import settings

NOTES = [{"fields": {"Front": text, "Back": "x"}} for text in ("a", "b")]


@pytest.fixture
def losing_record(anki):
    """Anki adds the notes, and by then the record cannot be used any more."""
    method = anki._method

    def damaging(name):
        if name == "addNote":
            (settings.current().state_dir / "anki-added.sqlite3").write_bytes(b"no database" * 100)
        return method(name)

    anki._method = damaging
    return anki


def test_notes_that_were_added_are_told_though_the_record_of_them_is_lost(losing_record, call):
    answer = call("anki.add_notes", notes=NOTES, deck="Default")

    assert [detail["status"] for detail in answer["details"]] == ["ok", "ok"]
    assert "anki-added.sqlite3" in " ".join(answer["warnings"])
    assert losing_record.collection.note_count() == 2


def test_with_keys_the_call_fails_and_says_which_notes_are_there(losing_record, call):
    keyed = [{**note, "dedup_key": note["fields"]["Front"]} for note in NOTES]

    answer = call("anki.add_notes", notes=keyed, deck="Default")

    assert answer["code"] == "STATE_NOT_WRITABLE"
    assert [detail["status"] for detail in answer["details"]] == ["ok", "ok"]
