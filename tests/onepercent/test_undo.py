"""Undo: the exact reversal of what was applied last, as an ordinary preview."""

import json
from pathlib import Path

import pytest

import tests.onepercent.person as person
from tests.onepercent.person import Clock, act, apply, call, do, items, preview, ref, snapshot
from tools.onepercent.database import store, transfer


def state(folder: Path) -> str:
    """What the person has, as an export writes it."""
    transfer.export(str(folder / "export.json"))
    return json.dumps(json.loads((folder / "export.json").read_text(encoding="utf-8"))["state"], ensure_ascii=False)


def undo(**more: bool) -> dict:
    previewed = call("undo_last", **more)
    assert previewed["success"], previewed
    return apply(previewed)


@pytest.fixture
def life() -> tuple[int, int, int, int]:
    goal, step, habit, entry = (
        act("goal.create", title="Цель"),
        act("step.create", goal_id=None, title="Шаг"),
        act("habit.create", name="Бег"),
        act("diary.create_entry", what_done="Раз"),
    )
    return tuple(do(goal, step, habit, entry))


CHANGES = [
    lambda goal, step, habit, entry: [
        act("goal.create", title="Ещё"),
        act("step.create", goal_id=None, title="Ещё шаг"),
    ],
    lambda goal, step, habit, entry: [act("goal.complete", goal_id=goal), act("step.complete", step_id=step)],
    lambda goal, step, habit, entry: [act("goal.delete", goal_id=goal)],
    lambda goal, step, habit, entry: [
        act("step.update", step_id=step, title="Другой", dt="2026-04-01"),
        act("step.delete", step_id=step),
    ],
    lambda goal, step, habit, entry: [
        act("habit.mark_completed", habit_id=habit),
        act("habit.mark_missed", habit_id=habit),
    ],
    lambda goal, step, habit, entry: [
        act("habit.update", habit_id=habit, frequency_type="weekends"),
        act("habit.delete", habit_id=habit),
    ],
    lambda goal, step, habit, entry: [
        act("diary.update_entry", diary_id=entry, plans="П" * 9000),
        act("diary.create_entry", plans="план"),
    ],
    lambda goal, step, habit, entry: [
        act("step.complete", step_id=step),
        act("step.reopen", step_id=step),
        act("goal.create", title="Другая"),
        act("step.update", step_id=step, goal_id=None),
    ],
    lambda goal, step, habit, entry: [
        act("habit.mark_missed", habit_id=habit),
        act("habit.unmark", habit_id=habit),
        act("diary.delete_entry", diary_id=entry),
    ],
    lambda goal, step, habit, entry: [
        act("ssp.rate", category="work", score=7),
        act("ssp.rate", category="hobby", score=3),
        act("goal.complete", goal_id=goal),
        act("goal.reopen", goal_id=goal),
    ],
]


@pytest.mark.parametrize("changes", CHANGES)
def test_undo_gives_the_state_before_byte_for_byte_and_redo_brings_it_back(changes, life, clock: Clock, tmp_path: Path):
    before, shown = state(tmp_path), snapshot()
    clock.set("2026-03-18T13:00:00+00:00")
    do(*changes(*life))
    after = state(tmp_path)
    clock.set("2026-03-18T14:00:00+00:00")
    assert undo()["success"]
    assert state(tmp_path) == before and snapshot() == shown
    assert undo(redo=True)["success"]
    assert state(tmp_path) == after
    assert undo()["success"]
    assert state(tmp_path) == before


def test_undo_walks_back_twenty_changes_and_redo_forth_again(tmp_path: Path):
    states = []
    for number in range(22):
        states.append(state(tmp_path))
        do(act("goal.create", title=f"Цель {number}"))
    last = state(tmp_path)
    for before in reversed(states[2:]):
        assert "Отменено: Цель" in undo()["message"]
        assert state(tmp_path) == before
    assert call("undo_last")["code"] == "NOTHING_TO_UNDO"
    for after in [*states[3:], last]:
        assert undo(redo=True)["message"].startswith("✓ Возвращено: Цель")
        assert state(tmp_path) == after
    assert call("undo_last", redo=True)["code"] == "NOTHING_TO_UNDO"


def test_a_new_change_is_the_end_of_redoing():
    do(act("goal.create", title="Раз"))
    undo()
    do(act("goal.create", title="Два"))
    assert call("undo_last", redo=True)["error"] == "Nothing to redo"
    assert "Отменить: Цель 'Два' создана" in call("undo_last")["message"]


def test_the_words_of_an_undo_never_pile_up():
    do(*[act("goal.create", title=f"Цель {number}") for number in range(7)])
    for redo in (False, True) * 3:
        message = undo(redo=redo)["message"]
    assert message.count("Возвращено") == 1 and "Отменено" not in message
    assert message.endswith("Цель 'Цель 4' создана; ещё 2")


def test_the_preview_of_an_undo_shows_what_it_takes_back(life):
    goal, step, habit, _ = life
    do(
        act("goal.complete", goal_id=goal),
        act("step.delete", step_id=step),
        act("habit.mark_completed", habit_id=habit),
    )
    answer = call("undo_last")
    diff = answer["diff"]
    assert answer["xp_total"] == -160
    assert diff["updates"][0]["changes"]["status"] == {"from": "complete", "to": "work"}
    assert (diff["creates"][0]["title"], diff["creates"][0]["restored"]) == ("Шаг", True)
    assert (diff["deletes"][0]["name"], diff["deletes"][0]["date"]) == ("Бег", "2026-03-18")
    assert "Отменить: Цель 'Цель' выполнена" in answer["message"]


def test_undo_is_a_preview_like_any_other(life):
    previewed = call("undo_last")
    assert call("cancel_preview", preview_id=previewed["preview_id"])["success"]
    assert len(items("goals")) == 1
    again = call("undo_last")
    assert apply(again)["xp"] == {"delta": -10, "balance": 0}


def test_with_nothing_applied_there_is_nothing_to_undo():
    preview(act("goal.create", title="Цель"))
    answer = call("undo_last")
    assert (answer["error"], answer["code"]) == ("Nothing to undo", "NOTHING_TO_UNDO")


def test_undo_refuses_when_something_it_touched_has_changed_since(life):
    with store.writing() as db:
        db.execute("UPDATE goals SET title = 'Тайком'")
    answer = call("undo_last")
    assert (answer["success"], answer["code"]) == (False, "PREVIEW_STALE")
    assert answer["error"] == "Cannot undo: goal 'Тайком' changed since it was applied: title"


def test_undo_refuses_when_something_depends_on_what_it_would_remove(life):
    with store.writing() as db:
        db.execute(
            """INSERT INTO steps (user, goal_id, title, priority, created_at, updated_at)
            SELECT user, id, 'Тайком', 'attention', created_at, updated_at FROM goals"""
        )
    assert call("undo_last")["error"].startswith("Cannot undo: something that depends on it was added")


def test_a_previewed_undo_is_stale_once_something_else_is_applied(life):
    previewed = call("undo_last")
    do(act("goal.create", title="Ещё"))
    answer = apply(previewed)
    assert answer["code"] == "PREVIEW_STALE" and "something else was applied" in answer["error"]


def test_ids_of_undone_things_are_not_given_again(life):
    undo()
    assert do(act("goal.create", title="Новая"))[0] > life[0]


def test_streaks_follow_an_undo(life):
    habit = life[2]
    do(act("habit.mark_completed", habit_id=habit), act("habit.mark_completed", habit_id=habit, date="2026-03-17"))
    assert items("habits")[0]["best_streak"] == 2
    undo()
    assert items("habits")[0]["best_streak"] == 0


def test_a_created_thing_may_be_referred_to_across_an_undo(life):
    goal = act("goal.create", title="Ещё")
    do(goal, act("step.create", goal_id=ref(goal), title="Ещё шаг"), act("goal.complete", goal_id=ref(goal)))
    undo()
    undo(redo=True)
    assert snapshot("goals", goals_status="complete")["goals"]["items"][0]["steps_count"] == 1


def test_an_undo_can_be_undone_after_another_user_earned_xp(file: Path, tmp_path: Path):
    do(act("diary.create_entry", what_done="Раз"))
    before = json.loads(state(tmp_path))
    undo()
    person.use(file, ONEPERCENT_USER="other")
    do(act("diary.create_entry", what_done="Два"))
    person.use(file)
    assert undo(redo=True)["xp"] == {"delta": 10, "balance": 10}
    assert before["xp_ledger"]["rows"][0] in json.loads(state(tmp_path))["xp_ledger"]["rows"]
