"""Eight processes on one file at once."""

from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest

from tests.onepercent.children import a_day, check_whole, together
from tests.onepercent.person import (
    apply,
    balance,
    call,
    do,
    items,
    mark,
    new_goal,
    new_habit,
    preview,
    propose,
    rows,
    snapshot,
)
from tools.onepercent.database import store
from tools.onepercent.transfer.backup import check_database as health

EIGHT = 8


@pytest.mark.slow
def test_eight_sessions_make_one_database():
    answers = together(EIGHT, lambda number, tell: tell(apply(preview(*a_day()))))
    assert all(answer["success"] for [answer] in answers), answers
    check_whole([answer["results"][0]["created_id"] for [answer] in answers])
    assert balance() == EIGHT * 35


@pytest.mark.slow
@pytest.mark.parametrize("key", [None, "A3C6C1E9-5D5C-4E0E-8B57-0B3F6A5D3D11"])
def test_one_preview_is_applied_exactly_once_and_one_key_gets_one_answer(key):
    previewed = preview(*a_day())
    store.release()
    tellings = together(EIGHT, lambda number, tell: tell(apply(previewed, key)))
    answers = [answer for [answer] in tellings]
    if key:
        assert answers[0]["success"] and all(answer == answers[0] for answer in answers)
    else:
        codes = sorted(answer.get("code", "") for answer in answers)
        assert codes == ["", *["PREVIEW_APPLIED"] * (EIGHT - 1)]
    assert len(items("goals")) == 1


@pytest.mark.slow
def test_applying_cancelling_and_previewing_at_once_settles_each_preview_once():
    do(new_habit("Бег"))
    previews = [preview(*a_day()) for _ in range(20)]
    ids = [each["preview_id"] for each in previews]
    store.release()

    def session(number, tell):
        for at in range(len(previews)):
            previewed = previews[(at + number * 3) % len(previews)]
            key = previewed["preview_id"]
            tell([key, apply(previewed)])
            tell([key, call("cancel_preview", preview_id=key)])
            tell(["", propose(mark(1))])

    answers = [*chain.from_iterable(together(EIGHT, session))]
    codes = {answer.get("code") for _, answer in answers}
    assert codes <= {None, "PREVIEW_APPLIED", "PREVIEW_CANCELLED"}
    settled = [key for key, answer in answers if key and answer["success"]]
    assert sorted(settled) == sorted(ids)
    [(applied,)] = rows("SELECT count() FROM previews WHERE status = 'applied'")
    assert balance() == 35 * (applied - 1)  # the habit is one, too
    assert health().state == "ok"


def test_threads_of_one_session_do_not_get_in_each_others_way():
    with ThreadPoolExecutor(EIGHT) as pool:
        answers = list(pool.map(lambda _: apply(preview(*a_day())), range(EIGHT * 4)))
    check_whole([answer["results"][0]["created_id"] for answer in answers])


def test_readers_and_a_writer_do_not_wait_for_each_other():
    do(new_goal("Цель"))
    with store.writing():
        assert snapshot()["goals"]["total_count"] == 1
    with store.reading() as db:
        db.execute("SELECT * FROM goals").fetchall()
        assert apply(preview(*a_day()))["success"]
        assert len(db.execute("SELECT * FROM goals").fetchall()) == 1


def test_a_writer_that_is_stuck_is_named_not_waited_for_for_ever(monkeypatch):
    do(new_goal("Цель"))
    monkeypatch.setattr(store, "BUSY_S", 0.1)
    with store.writing():
        answer = propose(new_goal("Ещё"))
    assert answer["code"] == "DATABASE_ERROR" and "Another session" in answer["error"]
    assert "locked" not in str(answer)
