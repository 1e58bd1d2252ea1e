"""The owner's consent: the true count, or the person's own yes to a question that names the change; and
changes meanwhile."""

import pytest

from tests.anki.anki_helpers import (
    add_items,
    add_notes,
    call,
    each_kind_of_harm,
    entries,
    harm,
    numbered,
    restore,
)
from tools.core import calls


@pytest.fixture
def asking(geo, env):
    """Calls a tool as a client that asks the person; before their yes something may happen in Anki."""
    env(ANKI_CONFIRM="elicit")

    def run(name, meanwhile=lambda: None, answer="accept", **arguments):
        questions = []

        def ask(question, key):
            questions.append(question)
            meanwhile()
            return answer

        with calls.calling(calls.RunningCall(ask=ask)) as lines:
            return call(name, **arguments), questions, lines

    return run


@each_kind_of_harm
def test_the_person_is_asked_once_for_what_would_happen(asking, geo, collection, kind):
    tool, arguments, _, question = harm(geo)[kind]
    notes = collection.note_count()

    declined, asked, _ = asking(tool, answer="decline", **arguments)
    assert declined["code"] == "DECLINED"
    assert asked == [f"Anki: {question}?"]
    assert collection.note_count() == notes
    assert entries() == []

    answer, asked, lines = asking(tool, **arguments)
    assert answer is None or answer.get("success") is not False
    assert len(asked) == 1
    assert kind == "cards" or lines[0].startswith("anki_restore {entry: 1} puts ")
    assert len(entries()) == 1


def test_a_name_cannot_speak_in_the_question(asking, geo):
    name = "x”? Yes\u202e\u2028Geo"
    add_notes(geo.collection, name, "a\nb")

    _, (question,), _ = asking("anki.delete_decks", answer="decline", decks=[name])

    assert question == "Anki: delete “x’? Yes Geo”, 1 card moved to “Default”: “a b” …?"


@pytest.mark.parametrize("kind", ["decks", "decks, cards kept", "cards", "notes"])
def test_another_selection_than_the_person_was_asked_about_stays(asking, geo, collection, kind):
    tool, arguments, *_ = harm(geo)[kind]

    def meanwhile():
        if kind == "notes":
            collection.remove_notes(geo.ids[:1])
        else:
            add_notes(collection, "Geo::Sub", "late")

    answer, *_ = asking(tool, meanwhile, **arguments)

    gone = int(kind == "notes")
    assert answer["code"] == "EXPECTED_COUNT"
    assert f"added in the meantime: {1 - gone}, gone: {gone}" in answer["error"]
    assert (collection.note_count(), entries()) == (5 - 2 * gone, [])


def test_as_many_other_cards_as_the_person_was_asked_about_stay(asking, geo, collection):
    """One note goes and another comes meanwhile: the count is the same."""
    tool, arguments, *_ = harm(geo)["decks"]

    def replace_a_note():
        collection.remove_notes(geo.ids[:1])
        add_notes(collection, "Geo", "late")

    answer, *_ = asking(tool, replace_a_note, **arguments)

    assert answer["code"] == "EXPECTED_COUNT"
    assert "added in the meantime: 1, gone: 1" in answer["error"]
    assert (len(collection.find_cards("deck:Geo")), entries()) == (4, [])


def test_the_journal_has_the_texts_of_the_second_look(asking, geo, collection):
    """The person edits the note while they are asked: their text is what anki_restore puts back."""
    tool, arguments, *_ = harm(geo)["update"]

    def edit():
        note = collection.get_note(geo.ids[0])
        note["Back"] = "the person's"
        collection.update_note(note)

    asking(tool, meanwhile=edit, **arguments)
    restore()

    assert collection.get_note(geo.ids[0])["Back"] == "the person's"


@each_kind_of_harm
@pytest.mark.parametrize("setting, wrong", [("off", 9), ("count", 9), ("count", None)])
def test_a_wrong_count_is_refused_and_none_where_the_setting_demands_one(
    geo, env, kind, setting, wrong
):
    env(ANKI_CONFIRM=setting)
    tool, arguments, count, _ = harm(geo)[kind]

    refused = call(tool, **{**arguments, "expected": wrong})
    none_made = entries()
    answer = call(tool, **{**arguments, "expected": count})

    assert (refused["code"], refused["count"], none_made) == ("EXPECTED_COUNT", count, [])
    assert answer is None or answer.get("success") is not False


def test_a_dedup_key_counts_in_its_own_profile(geo, collection):
    key = {"Front": "once", "dedup_key": "k"}
    add_items(key)
    geo.addon.getActiveProfile = lambda: "Two"
    collection.remove_notes(collection.find_notes("once"))  # the other profile has other notes
    add_items(key)
    geo.addon.getActiveProfile = lambda: "User 1"
    first = add_items({"Front": "reworded", "dedup_key": "k"})

    assert first["added"] == 1, "its note is gone from this profile"
    assert add_items({"Front": "again", "dedup_key": "k"})["skipped"] == 1


def test_a_profile_switched_while_notes_are_added_gets_none(geo, collection):
    """The next part would go to the other person's collection."""
    parts = []

    def active():
        parts.append(collection.note_count())
        return "User 1" if len(parts) < 3 else "Two"

    geo.addon.getActiveProfile = active

    answer = add_items(*numbered(60))

    assert answer["code"] == "OTHER_PROFILE"
    assert (answer["added"], collection.note_count()) == (30, 4 + 30)
