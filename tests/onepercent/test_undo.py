"""Undo: the exact reversal of what was applied last, as an ordinary preview."""

import pytest

from tests.onepercent.examples import EXAMPLES, lived
from tests.onepercent.person import (
    act,
    apply,
    behind_the_tools,
    call,
    complete,
    do,
    errand,
    items,
    mark,
    miss,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    pause,
    ref,
    snapshot,
    state,
    titles,
    undo,
)


@pytest.fixture
def life():
    """One change: a goal with a step, a habit and an entry, all with the id 1."""
    do(new_goal("Цель"), new_step("Шаг"), new_habit("Бег"), new_entry(what_done="Раз"))


SHIFTED = [{"title": f"Шаг {at}", "dt": "2026-04-01"} for at in range(7)]


@pytest.mark.parametrize(
    "changes",
    [
        *([act(name, **params)] for name, params in EXAMPLES.items()),
        [new_goal("Ещё"), new_step("Ещё шаг"), complete(1), act("step.reopen", 1), new_goal("Другая"),
         act("step.update", 1, title="Другой", dt="2026-04-01", goal_id=None), act("step.delete", 1)],
        [mark(1), miss(1), act("habit.unmark", 1), miss(1, excuse_reason="x"),
         act("habit.update", 1, frequency_type="weekends"), act("habit.delete", 1)],
        [act("habit.update", 1, frequency_type="times_per_week", times=3),
         act("habit.update", 1, target="2 л"),
         mark(1, dates=["2026-03-10..2026-03-18"], amount=1),
         pause(1, "2026-03-01", "2026-03-09"), act("habit.archive", 1)],
        [act("goal.update", 1, due="2026-12-31", append={"why_important": "x"}), errand("Билет"),
         new_goal("Новая", steps=SHIFTED), act("step.shift", goal_id=None, days=7),
         act("step.complete", step_ids=[1], date="2026-03-17"), act("goal.archive", 1),
         act("person.update", time_zone="Asia/Tokyo", day_start_hour=2)],
        [pause(1, "2026-03-01"), act("habit.resume", 1)],
    ],
    ids=lambda changes: changes[0]["action"],
)  # fmt: skip
def test_undo_gives_the_state_before_and_redo_brings_it_back(changes, clock):
    lived()
    # So that a new schedule has days before it.
    behind_the_tools("UPDATE habits SET created_on = '2026-02-01'")
    before = state()
    seen = snapshot()
    clock.set("2026-03-18T13:00:00+00:00")
    do(*changes)
    after = state()
    clock.set("2026-03-18T14:00:00+00:00")
    undo()
    assert state() == before and snapshot() == seen
    undo(redo=True)
    assert state() == after
    undo()
    assert state() == before


def test_undo_walks_back_twenty_changes_and_redo_forth_again_and_their_words_never_pile_up():
    states = []
    for number in range(22):
        states.append(state())
        do(new_goal(f"Цель {number}"))
    states.append(state())
    for _ in range(20):
        assert "Отменено — Цель" in apply(call("undo_last"))["message"]
    assert state() == states[2]
    assert call("undo_last")["code"] == "NOTHING_TO_UNDO"
    for after in states[3:]:
        answer = apply(call("undo_last", redo=True))
        assert answer["message"].startswith("✓ Возвращено — Цель")
        assert state() == after
    assert call("undo_last", redo=True)["code"] == "NOTHING_TO_UNDO"


def test_what_one_plan_makes_and_deletes_is_undone_and_redone_in_silence():
    short = new_entry(what_done="x")
    do(short, act("diary.delete_entry", ref(short)), new_goal("Дом"))
    for redo, left in ((False, []), (True, ["Дом"])):
        message = undo(redo=redo)["message"]
        assert "Дом" in message and "дневник" not in message.lower()
        assert titles() == left


def test_the_preview_of_an_undo_shows_what_it_takes_back(life):
    do(act("goal.complete", 1), act("step.delete", 1), mark(1))
    answer = call("undo_last")
    diff = answer["diff"]
    assert answer["xp_total"] == -160
    assert diff["updates"][0]["changes"]["status"] == {"from": "complete", "to": "work"}
    assert (diff["creates"][0]["title"], diff["creates"][0]["restored"]) == ("Шаг", True)
    assert (diff["deletes"][0]["name"], diff["deletes"][0]["date"]) == ("Бег", "2026-03-18")
    assert "• Цель «Цель»: снова в работе" in answer["message"]


@pytest.mark.parametrize(
    "statement, why",
    [
        ("UPDATE goals SET title = 'Тайком'", "goal 'Тайком' changed: title"),
        (
            """INSERT INTO steps (user, goal_id, title, priority, created_at, updated_at)
            SELECT user, id, 'Тайком', 'attention', created_at, updated_at FROM goals""",
            "something that depends on it was added",
        ),
    ],
)
def test_undo_refuses_what_has_changed_or_is_built_upon_since(statement, why, life):
    behind_the_tools(statement)
    answer = call("undo_last")
    assert (answer["success"], answer["code"]) == (False, "PREVIEW_STALE")
    assert answer["error"].startswith(f"Cannot undo: {why}")


def test_undo_is_a_preview_like_any_other_and_with_nothing_applied_there_is_nothing_to_undo():
    assert call("undo_last")["error"] == "Nothing to undo"
    do(new_entry(plans="план"))
    assert call("cancel_preview", preview_id=call("undo_last")["preview_id"])["success"]
    assert len(items("diary")) == 1
    assert apply(call("undo_last"))["xp"] == {"delta": -10, "balance": 0}
    do(new_goal("Два"))
    assert call("undo_last", redo=True)["error"] == "Nothing to redo"


def test_a_change_further_back_is_taken_back_alone_or_not_at_all(life):
    do(new_goal("Раз"))
    do(act("goal.update", 1, title="Два"))
    previewed = call("undo_last", number=2)
    assert "• Удалить: цель «Раз»" in previewed["message"]
    do(new_entry(plans="x"))
    assert apply(previewed)["success"] and titles() == ["Два"]
    assert "changed: title" in call("undo_last", number=3)["error"]
    assert call("undo_last", number=2**70)["code"] == "NOTHING_TO_UNDO"


def test_what_is_undone_already_or_ended_by_a_new_change_is_stale(life):
    twice = call("undo_last")
    undo()
    answer = apply(twice)
    assert answer["code"] == "PREVIEW_STALE" and "it was taken back" in answer["error"]
    again = call("undo_last", redo=True)
    do(new_goal("Ещё"))
    assert apply(again)["code"] == "PREVIEW_STALE"


def test_the_list_names_what_can_be_undone_and_redone_newest_first(clock):
    clock.set("2026-03-18T12:34:00+00:00")
    for number in range(22):
        do(new_goal(f"Цель {number}"))
    do(*[new_goal(f"Ещё {number}") for number in range(5)])
    undo()
    changes, at = call("undo_last", list=True)["changes"], "2026-03-18 12:34"
    words = "Цель «Ещё 0»: новая; Цель «Ещё 1»: новая; Цель «Ещё 2»: новая; ещё 2"
    assert changes[:2] == [
        {"at": at, "change": words, "undone": True},
        {"number": 1, "at": at, "change": "Цель «Цель 21»: новая"},
    ]
    assert len(changes) == 20
    assert call("undo_last", list=True, redo=True)["changes"] == changes
    do(*map(new_goal, "abc"))
    newest = call("undo_last", list=True)["changes"][0]
    assert newest["change"] == "Цель «a»: новая; Цель «b»: новая; Цель «c»: новая"


def test_a_refusal_names_no_column_of_the_database(life, clock):
    do(act("goal.update", 1, title="Два"))
    clock.set("2026-03-18T13:00:00+00:00")
    do(act("goal.update", 1, why_important="x"))
    assert call("undo_last", number=2)["error"] == (
        "Cannot undo: goal 'Два' changed: it was written again"
    )
    clock.set("2026-03-18T13:05:00+00:00")
    do(act("goal.delete", 1))
    assert call("undo_last", number=3)["error"] == "Cannot undo: goal 'Два' was deleted"


@pytest.mark.parametrize("count", [1, 7])
def test_the_undo_of_a_move_to_another_goal_says_from_which_goal_to_which(count, life):
    steps = [new_step(f"Шаг {number}", 1) for number in range(count)]
    ids = do(new_goal("Другая"), *steps)
    do(*[act("step.update", step, goal_id=ids[0]) for step in ids[1:]])
    for redo, move in ((False, "цель: «Другая» → «Цель»"), (True, "цель: «Цель» → «Другая»")):
        message = undo(redo=redo)["message"]
        assert (move if count == 1 else "7 шагов цели") in message
        assert "goal_id" not in message


def test_the_undo_of_many_steps_is_said_in_one_sentence(life):
    do(act("step.create", goal_id=1, steps=SHIFTED))
    do(act("step.shift", goal_id=1, days=7))
    assert "• 7 шагов цели «Цель»: 08.04 → 01.04: «Шаг 0»" in undo()["message"]
    assert "• Удалить: 7 шагов цели «Цель»" in undo()["message"]


def test_what_an_undo_brings_back_is_counted_as_brought_back(life):
    do(act("goal.delete", 1), act("habit.delete", 1))
    words = "Применить? Вернуть: 1 цель, 1 шаг, 1 привычка. XP не изменятся\n"
    assert call("undo_last")["diff"].dry.question().startswith(words)
