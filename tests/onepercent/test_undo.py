"""Undo: the exact reversal of what was applied last, as an ordinary preview."""

import json
from pathlib import Path

import pytest

from tests.onepercent.person import Clock, act, apply, call, do, items, ref, snapshot
from tools.onepercent.database import store
from tools.onepercent.transfer.backup import export


def state(folder: Path) -> str:
    """What the person has, as an export writes it."""
    export(str(folder / "export.json"))
    return json.dumps(
        json.loads((folder / "export.json").read_text(encoding="utf-8"))["state"],
        ensure_ascii=False,
    )


def undo(**more: bool) -> dict:
    previewed = call("undo_last", **more)
    assert previewed["success"], previewed
    return apply(previewed)


@pytest.fixture
def life() -> tuple[int, int, int, int]:
    step = act("step.create", goal_id=None, title="Шаг")
    entry = act("diary.create_entry", what_done="Раз")
    return tuple(do(act("goal.create", title="Цель"), step, act("habit.create", name="Бег"), entry))


SHIFTED = [{"title": f"Шаг {at}", "dt": "2026-04-01"} for at in range(7)]

# Each is applied to a goal, a step, a habit and a diary entry with the id 1.
CHANGES = [
    [act("goal.create", title="Ещё"), act("step.create", goal_id=None, title="Ещё шаг")],
    [act("goal.complete", goal_id=1), act("step.complete", step_id=1)],
    [act("goal.delete", goal_id=1)],
    [act("step.update", step_id=1, title="Другой", dt="2026-04-01"), act("step.delete", step_id=1)],
    [act("habit.mark_completed", habit_id=1), act("habit.mark_missed", habit_id=1)],
    [act("habit.update", habit_id=1, frequency_type="weekends"), act("habit.delete", habit_id=1)],
    [act("diary.update_entry", diary_id=1, plans="П" * 9000), act("diary.create_entry", plans="план")],
    [act("step.complete", step_id=1), act("step.reopen", step_id=1), act("goal.create", title="Другая"),
     act("step.update", step_id=1, goal_id=None)],
    [act("habit.mark_missed", habit_id=1), act("habit.unmark", habit_id=1), act("diary.delete_entry", diary_id=1)],
    [act("ssp.rate", category="work", score=7), act("goal.complete", goal_id=1), act("goal.reopen", goal_id=1)],
    [act("habit.update", habit_id=1, frequency_type="times_per_week", times=3),
     act("habit.update", habit_id=1, target={"amount": 2, "unit": "л"}),
     act("habit.mark_completed", habit_id=1, dates=["2026-03-10..2026-03-18"], amount=1),
     act("habit.pause", habit_id=1, **{"from": "2026-03-01", "to": "2026-03-09"}), act("habit.archive", habit_id=1)],
    [act("goal.update", goal_id=1, due="2026-12-31", append={"why_important": "x"}),
     act("step.create", inbox=True, title="Билет"), act("goal.create", title="Новая", steps=SHIFTED),
     act("step.shift", goal_id=None, days=7), act("step.complete", step_ids=[1], date="2026-03-17"),
     act("goal.archive", goal_id=1), act("person.update", time_zone="Asia/Tokyo", day_start_hour=2)],
    [act("habit.pause", habit_id=1, **{"from": "2026-03-01"}), act("habit.resume", habit_id=1),
     act("habit.mark_missed", habit_id=1, excuse_reason="x")],
]  # fmt: skip


@pytest.mark.parametrize("changes", CHANGES)
def test_undo_gives_the_state_before_byte_for_byte_and_redo_brings_it_back(
    changes, life, clock: Clock, tmp_path: Path
):
    with store.writing() as db:
        # So that a new schedule has days before it.
        db.execute("UPDATE habits SET created_on = '2026-02-01'")
    before, shown = state(tmp_path), snapshot()
    clock.set("2026-03-18T13:00:00+00:00")
    do(*changes)
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
    states.append(state(tmp_path))
    for _ in range(20):
        assert "Отменено — Цель" in undo()["message"]
    assert state(tmp_path) == states[2]
    assert call("undo_last")["code"] == "NOTHING_TO_UNDO"
    for after in states[3:]:
        assert undo(redo=True)["message"].startswith("✓ Возвращено — Цель")
        assert state(tmp_path) == after
    assert call("undo_last", redo=True)["code"] == "NOTHING_TO_UNDO"


def test_what_one_plan_makes_and_deletes_is_undone_and_redone_in_silence():
    short = act("diary.create_entry", what_done="x")
    do(short, act("diary.delete_entry", diary_id=ref(short)), act("goal.create", title="Дом"))
    for redo, end in ((False, []), (True, ["Дом"])):
        previewed = call("undo_last", redo=redo)
        assert "Дом" in previewed["message"] and "дневник" not in previewed["message"].lower()
        apply(previewed)
        assert [goal["title"] for goal in items("goals")] == end


def test_the_words_of_an_undo_never_pile_up():
    do(*[act("goal.create", title=f"Цель {number}") for number in range(7)])
    for redo in (False, True) * 3:
        message = undo(redo=redo)["message"]
    assert message.count("Возвращено") == 1 and "Отменено" not in message
    assert message.endswith("Цель «Цель 2»: новая; ещё 4")


def test_the_preview_of_an_undo_shows_what_it_takes_back(life):
    do(
        act("goal.complete", goal_id=1),
        act("step.delete", step_id=1),
        act("habit.mark_completed", habit_id=1),
    )
    answer = call("undo_last")
    diff = answer["diff"]
    assert answer["xp_total"] == -160
    assert diff["updates"][0]["changes"]["status"] == {"from": "complete", "to": "work"}
    assert (diff["creates"][0]["title"], diff["creates"][0]["restored"]) == ("Шаг", True)
    assert (diff["deletes"][0]["name"], diff["deletes"][0]["date"]) == ("Бег", "2026-03-18")
    assert "• Цель «Цель»: снова в работе" in answer["message"]


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("UPDATE goals SET title = 'Тайком'", "goal 'Тайком' changed: title"),
        (
            """INSERT INTO steps (user, goal_id, title, priority, created_at, updated_at)
            SELECT user, id, 'Тайком', 'attention', created_at, updated_at FROM goals""",
            "something that depends on it was added",
        ),
    ],
)
def test_undo_refuses_what_has_changed_or_is_built_upon_since(statement: str, why: str, life):
    with store.writing() as db:
        db.execute(statement)
    answer = call("undo_last")
    assert (answer["success"], answer["code"]) == (False, "PREVIEW_STALE")
    assert answer["error"].startswith(f"Cannot undo: {why}")


def test_undo_is_a_preview_like_any_other_and_with_nothing_applied_there_is_nothing_to_undo():
    answer = call("undo_last")
    assert (answer["error"], answer["code"]) == ("Nothing to undo", "NOTHING_TO_UNDO")
    do(act("diary.create_entry", plans="план"))
    assert call("cancel_preview", preview_id=call("undo_last")["preview_id"])["success"]
    assert len(items("diary")) == 1
    assert undo()["xp"] == {"delta": -10, "balance": 0}
    do(act("goal.create", title="Два"))
    assert call("undo_last", redo=True)["error"] == "Nothing to redo"


def test_a_change_further_back_is_taken_back_alone_or_not_at_all(life):
    do(act("goal.create", title="Раз"))
    do(act("goal.update", goal_id=life[0], title="Два"))
    previewed = call("undo_last", number=2)
    assert "• Удалить: цель «Раз»" in previewed["message"]
    do(act("diary.create_entry", plans="x"))
    assert apply(previewed)["success"] and [goal["title"] for goal in items("goals")] == ["Два"]
    assert "changed: title" in call("undo_last", number=3)["error"]


def test_what_is_undone_already_or_ended_by_a_new_change_is_stale(life):
    twice = call("undo_last")
    undo()
    answer = apply(twice)
    assert answer["code"] == "PREVIEW_STALE" and "it was taken back" in answer["error"]
    again = call("undo_last", redo=True)
    do(act("goal.create", title="Ещё"))
    assert apply(again)["code"] == "PREVIEW_STALE"


def test_ids_of_undone_things_are_not_given_again_and_streaks_follow(life):
    do(*[act("habit.mark_completed", habit_id=life[2], date=f"2026-03-{day}") for day in (17, 18)])
    assert items("habits")[0]["best_streak"] == 2
    undo()
    assert items("habits")[0]["best_streak"] == 0
    undo()
    assert do(act("goal.create", title="Новая"))[0] > life[0]


def test_the_list_names_what_can_be_undone_and_redone_newest_first(clock):
    clock.set("2026-03-18T12:34:00+00:00")
    for number in range(22):
        do(act("goal.create", title=f"Цель {number}"))
    do(*[act("goal.create", title=f"Ещё {number}") for number in range(5)])
    undo()
    changes, at = call("undo_last", list=True)["changes"], "2026-03-18 12:34"
    words = "Цель «Ещё 0»: новая; Цель «Ещё 1»: новая; Цель «Ещё 2»: новая; ещё 2"
    assert changes[:2] == [
        {"at": at, "change": words, "undone": True},
        {"number": 1, "at": at, "change": "Цель «Цель 21»: новая"},
    ]
    assert len(changes) == 20
    assert call("undo_last", list=True, redo=True)["changes"] == changes


def test_a_refusal_names_no_column_of_the_database(life, clock: Clock):
    do(act("goal.update", goal_id=1, title="Два"))
    clock.set("2026-03-18T13:00:00+00:00")
    do(act("goal.update", goal_id=1, why_important="x"))
    start = "Cannot undo: goal 'Два' "
    assert call("undo_last", number=2)["error"] == start + "changed: it was written again"
    clock.set("2026-03-18T13:05:00+00:00")
    do(act("goal.delete", goal_id=1))
    assert call("undo_last", number=3)["error"] == start + "was deleted"


@pytest.mark.parametrize("count", [1, 7])
def test_the_undo_of_a_move_to_another_goal_says_from_which_goal_to_which(count: int, life):
    steps = [act("step.create", goal_id=1, title=f"Шаг {number}") for number in range(count)]
    ids = do(act("goal.create", title="Другая"), *steps)
    do(*[act("step.update", step_id=step, goal_id=ids[0]) for step in ids[1:]])
    for redo, move in ((False, "цель: «Другая» → «Цель»"), (True, "цель: «Цель» → «Другая»")):
        previewed = call("undo_last", redo=redo)
        assert (move if count == 1 else "7 шагов цели") in previewed["message"]
        assert "goal_id" not in previewed["message"]
        assert apply(previewed)["success"]


def test_what_an_undo_brings_back_is_counted_as_brought_back(life):
    do(act("goal.delete", goal_id=1), act("habit.delete", habit_id=1))
    question = call("undo_last")["diff"].dry.question()
    assert question.startswith("Применить? Вернуть: 1 цель, 1 шаг, 1 привычка. XP не изменятся\n")
