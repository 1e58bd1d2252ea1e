"""The account of answers that are due: the server leaves after EOF once it is empty, and stops reading when
it is long."""

import json

import mcp_types

from tools import stdio


def message(method: str, request_id=None, **params):
    """What the SDK makes of a line; a notification has no id."""
    identity = {} if request_id is None else {"id": request_id}
    text = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **identity})
    return mcp_types.jsonrpc_message_adapter.validate_json(text, by_name=False)


def test_a_request_is_owed_one_answer_and_a_notification_and_a_standing_stream_none():
    pending = stdio.PendingAnswers()
    for request_id in (1, "a", 0, 1):
        pending.note_incoming(message("ping", request_id))
    pending.note_incoming(message("notifications/initialized"))
    pending.note_incoming(message("subscriptions/listen", 3))
    assert pending == {1: 2, "a": 1, 0: 1}


def test_a_withdrawn_call_is_owed_nothing_and_answering_it_all_the_same_takes_nothing_from_others():
    for request_id in (7, "seven"):
        pending = stdio.PendingAnswers()
        pending.note_incoming(message("tools/call", request_id))
        pending.note_incoming(message("ping", 1))
        for params in ({}, {"requestId": None}, {"requestId": [7]}, {"requestId": 8}):
            pending.note_incoming(message("notifications/cancelled", **params))
        assert pending.total() == 2
        pending.note_incoming(message("notifications/cancelled", requestId=request_id))
        assert pending.total() == 1
        pending -= stdio.PendingAnswers([request_id])
        assert pending.total() == 1


def test_the_id_of_a_line_that_is_too_long_is_looked_for_at_its_beginning_only():
    long = " " * stdio.LONGEST_LINE
    assert stdio.id_of(json.dumps({"id": 12, "x": long}).encode()) == 12
    assert stdio.id_of(json.dumps({"id": "a b", "x": long}).encode()) == "a b"
    assert stdio.id_of(json.dumps({"x": long, "id": 12}).encode()) is None


def dense(piece: bytes, count: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":[' + piece * count + b"1]}}"


def test_a_line_of_very_many_values_is_refused_with_its_id_and_one_of_many_is_not():
    """Each value costs a hundred bytes and more once it is read: 16 MiB of them were a gigabyte."""
    most = stdio.MOST_VALUES
    for piece in (b"{},", b"[],", b"1,", b'"",', b'{"a":1},', b'"\\"",', b'"\\\\",'):
        assert "values" in stdio.refusal(dense(piece, most))
        assert stdio.id_of(dense(piece, most)) == 5
        assert not stdio.refusal(dense(piece, most // 5))


def test_what_stands_in_one_long_text_counts_as_one_value():
    for text in ("a, b, " * 10**6, '{"x": [1, 2]}, ' * 10**5, "\\" * 10**6, '"' * 10**6, "я, " * 10**6):
        for ascii_only in (True, False):
            line = json.dumps({"id": 1, "params": {"text": text}}, ensure_ascii=ascii_only)
            assert not stdio.refusal(line.encode())
