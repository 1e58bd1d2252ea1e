"""The state of a question, by which an answer to it is known in a later call."""

import time

from tools.core import calls

ASKED = {
    "question": "Anki: delete 3 notes?",
    "key": "",
    "call": 'anki.delete_notes {"noteIds":[1,2,3]}',
}


def test_an_answer_is_to_its_question_within_ten_minutes():
    assert calls.is_current(calls.state_of(**ASKED), **ASKED)
    for before_s in (calls.QUESTION_S + 1, -60):
        assert not calls.is_current(
            calls.state_of(**ASKED, issued_s=int(time.time()) - before_s), **ASKED
        )


def test_a_yes_is_good_for_nothing_and_nobody_else():
    for name, other in {
        "question": "4 notes?",
        "call": 'anki.delete_notes {"noteIds":[4]}',
        "key": "another",
    }.items():
        assert not calls.is_current(calls.state_of(**ASKED | {name: other}), **ASKED), name
    state = calls.state_of(**ASKED)
    with calls.acting_for(calls.caller_of_scope("anna", "anki", "")):
        assert not calls.is_current(state, **ASKED)


def test_a_forged_state_is_none():
    for state in (
        None,
        "",
        "x",
        ".",
        "1.x",
        "9999999999." + "0" * 64,
        "٣." + "0" * 64,
        7,
        "1.\ud800",
    ):
        assert not calls.is_current(state, **ASKED)


def test_of_a_toolset_that_a_scope_names_whole_and_for_readers_all_is_allowed():
    caller = calls.caller_of_scope("anna", "klipper klipper:read anki:read", "")
    assert (caller.toolsets, caller.read_only) == ({"klipper", "anki"}, {"anki"})
