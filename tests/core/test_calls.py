"""The state of a question, by which an answer to it is known in a later call."""

import time
import weakref

from tools.core import calls

ASKED = {
    "question": "Anki: delete 3 notes?",
    "key": "",
    "call": 'anki.delete_notes {"noteIds":[1,2,3]}',
}


def test_an_answer_is_to_its_question_within_ten_minutes():
    assert calls.is_state_of(calls.state_of(**ASKED), **ASKED)
    for before_s in (calls.QUESTION_S + 1, -60):
        state = calls.state_of(**ASKED, issued=str(int(time.time()) - before_s))
        assert not calls.is_state_of(state, **ASKED)


def test_a_yes_is_good_for_nothing_and_nobody_else():
    for name in ASKED:
        assert not calls.is_state_of(calls.state_of(**ASKED | {name: "another"}), **ASKED), name
    state = calls.state_of(**ASKED)
    with calls.acting_for(calls.caller_of_scope("anna", "anki", "")):
        assert not calls.is_state_of(state, **ASKED)


def test_a_forged_state_is_none():
    zeros = "0" * 64
    for state in (None, 7, "", *"x . 1.x 1.\ud800".split(), f"9999999999.{zeros}", f"٣.{zeros}"):
        assert not calls.is_state_of(state, **ASKED)


def test_of_a_toolset_that_a_scope_names_whole_and_for_readers_all_is_allowed():
    caller = calls.caller_of_scope("anna", "klipper klipper:read anki:read", "")
    assert (caller.toolsets, caller.read_only) == ({"klipper", "anki"}, {"anki"})


def test_a_line_that_is_added_outside_of_a_call_is_dropped():
    class Line(str):
        pass

    line = Line("anki_restore puts it back")
    reference = weakref.ref(line)
    calls.append_line(line)
    del line
    assert reference() is None
