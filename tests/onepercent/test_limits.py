"""Rate limits: per user and tool in a sliding minute, across processes."""

import json
import time
from pathlib import Path

import pytest

import tests.onepercent.person as person
from tests.onepercent.children import together
from tests.onepercent.person import act, call
from tools.onepercent.database import limits, store


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch, file: Path) -> list[float]:
    """The wall clock the limits look at; the first element is the time."""
    found = [1_000_000.0]
    monkeypatch.setattr(time, "time", lambda: found[0])
    person.use(file, ONEPERCENT_RATE_LIMIT="on")
    return found


@pytest.mark.parametrize(("tool", "most"), limits.PER_MINUTE.items())
def test_each_tool_has_its_calls_a_minute(tool: str, most: int, wall: list[float]):
    arguments = {"actions": []} if tool == "preview_actions" else {}
    for _ in range(most):
        assert call(tool, **arguments).get("code") != "RATE_LIMITED"
    answer = call(tool, **arguments)
    assert (answer["success"], answer["error"], answer["code"]) == (False, "Rate limit exceeded", "RATE_LIMITED")
    assert answer["retry_after"] == 60 and answer["hint"]


def test_the_contracts_numbers():
    assert limits.PER_MINUTE == {
        "get_user_snapshot": 60, "preview_actions": 30, "apply_actions": 20, "cancel_preview": 30, "undo_last": 30,
        "apply_by_press": 20, "tick_by_press": 60,
    }  # fmt: skip


def test_the_minute_slides_and_refused_calls_do_not_count(wall: list[float]):
    for second in range(20):
        wall[0] = 1_000_000.0 + second
        call("apply_actions")
    wall[0] = 1_000_030.0
    assert call("apply_actions")["retry_after"] == 30
    wall[0] = 1_000_060.5
    assert call("apply_actions")["code"] == "FIELD_REQUIRED"
    assert call("apply_actions")["retry_after"] == 1


def test_calls_within_a_millisecond_all_count(wall: list[float]):
    for call_number in range(20):
        wall[0] = 1_000_000.0006 + call_number / 100_000
        assert call("apply_actions")["code"] == "FIELD_REQUIRED"
    assert call("apply_actions")["code"] == "RATE_LIMITED"


def test_a_user_is_not_limited_by_another(wall: list[float], file: Path):
    for _ in range(21):
        answer = call("apply_actions")
    assert answer["code"] == "RATE_LIMITED"
    person.use(file, ONEPERCENT_RATE_LIMIT="on", ONEPERCENT_USER="other")
    assert call("apply_actions")["code"] == "FIELD_REQUIRED"


def test_it_holds_across_processes(wall: list[float]):
    call("get_user_snapshot")
    store.release()
    answers = [
        one
        for told in together(8, lambda number, tell: [tell(call("get_user_snapshot")["success"]) for _ in range(10)])
        for one in told
    ]
    assert answers.count(True) == 59


def test_a_model_in_a_loop_fills_no_disk(wall: list[float]):
    for _ in range(35):
        call("preview_actions", actions="x" * 1_000_000)
    with store.reading() as db:
        assert db.execute("SELECT count(*), max(length(request)) < 9000 FROM audit").fetchone()[:] == (30, 1)
        assert db.execute("SELECT count(*) FROM audit WHERE error = 'RATE_LIMITED'").fetchone()[0] == 0
        request = json.loads(db.execute("SELECT request FROM audit").fetchone()[0])
    assert request["characters"] > 1_000_000 and request["cut"].startswith('{"actions":"xxx')


def test_a_clock_set_back_locks_nobody_out(wall: list[float]):
    for _ in range(20):
        call("apply_actions")
    wall[0] -= 100_000
    assert call("apply_actions")["code"] == "FIELD_REQUIRED"


@pytest.mark.parametrize("content", [b"", b"garbage", b"[1,2]", b'{"apply_actions local": "x"}', b"\xff" * 99])
def test_a_spoilt_file_is_begun_anew(wall: list[float], file: Path, content: bytes):
    Path(f"{file}.limits").write_bytes(content)
    assert call("apply_actions")["code"] == "FIELD_REQUIRED"


def test_off_means_off(file: Path):
    person.use(file, ONEPERCENT_RATE_LIMIT="off")
    assert {call("apply_actions")["code"] for _ in range(25)} == {"FIELD_REQUIRED"}


def test_a_person_who_does_much_is_not_stopped_by_the_size_of_the_file(wall: list[float], file: Path):
    for user in range(50):
        person.use(file, ONEPERCENT_RATE_LIMIT="on", ONEPERCENT_USER=f"user {user}")
        assert call("preview_actions", actions=[act("goal.create", title="x")])["success"]
    wall[0] += 61
    call("get_user_snapshot")
    assert Path(f"{file}.limits").stat().st_size < 100
