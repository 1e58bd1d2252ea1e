"""Limits: calls per user and tool in a sliding minute of one process."""

import json

import pytest

from tests.onepercent.person import call, rows, use
from tools.onepercent.phases import dispatch


@pytest.fixture
def seconds(monkeypatch, file):
    """The clock that the limits look at; the first element is the time."""
    time = [1000.0]
    monkeypatch.setattr(dispatch, "monotonic", lambda: time[0])
    monkeypatch.setattr(dispatch, "_recent", {})
    use(file, ONEPERCENT_RATE_LIMIT="on")
    return time


def test_each_tool_has_the_contracts_calls_a_minute_per_user(seconds, file):
    for tool, most in {"get_user_snapshot": 60, "preview_actions": 30, "apply_actions": 20, "cancel_preview": 30,
                       "undo_last": 30, "apply_by_press": 20, "tick_by_press": 60}.items():  # fmt: skip
        arguments = {"actions": []} if tool == "preview_actions" else {}
        assert "RATE_LIMITED" not in {call(tool, **arguments).get("code") for _ in range(most)}
        answer = call(tool, **arguments)
        assert answer.pop("hint")
        assert answer == {
            "success": False,
            "error": "Rate limit exceeded",
            "code": "RATE_LIMITED",
            "retry_after": 60,
        }
    for change in ({"ONEPERCENT_USER": "other"}, {"ONEPERCENT_RATE_LIMIT": "off"}):
        use(file, **{"ONEPERCENT_RATE_LIMIT": "on"} | change)
        assert call("apply_actions")["code"] == "FIELD_REQUIRED"


def test_the_minute_slides_and_refused_calls_do_not_count(seconds):
    for second in range(20):
        seconds[0] = 1000.0 + second
        call("apply_actions")
    seconds[0] = 1030.0
    assert call("apply_actions")["retry_after"] == 30
    seconds[0] = 1060.5
    assert call("apply_actions")["code"] == "FIELD_REQUIRED"
    assert call("apply_actions")["retry_after"] == 1


def test_a_model_in_a_loop_fills_no_disk(seconds):
    for _ in range(35):
        call("preview_actions", actions="x" * 1_000_000)
    requests = [request for (request,) in rows("SELECT request FROM audit")]
    assert len(requests) == 30 and max(map(len, requests)) < 9000
    request = json.loads(requests[0])
    assert request["characters"] > 1_000_000 and request["cut"].startswith('{"actions":"xxx')
