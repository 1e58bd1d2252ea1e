"""A session as a client has it, line by line; the server is in this process."""

import json
import os
import select
from itertools import count
from unittest.mock import Mock

import pytest

from tests.support.client import ENVELOPE, HANDSHAKE, cases
from tests.support.serve_with_tools import misbehaving_tools
from tests.support.services import wait_until
from tests.support.session import Session
from tools import protocol

PAGES = {"Bed_Mesh.md": "# Bed Mesh\n\nThe mesh of the bed.\n"}


MODERN = {"_meta": ENVELOPE}
LISTEN = {
    "id": "listen",
    "method": "subscriptions/listen",
    "params": {"notifications": {"toolsListChanged": True}, **MODERN},
}


@pytest.fixture
def tools():
    """Tools that misbehave, beside the others."""
    with misbehaving_tools() as module:
        yield module


@pytest.fixture
def session(small_docs, tools):
    """A session whose handshake is done, over a small documentation and with the tools that misbehave."""
    small_docs(PAGES)
    with Session() as client:
        client.initialize(elicitation={})
        yield client


def listed(client, **params):
    return {
        tool["name"]: tool for tool in client.request("tools/list", **params)["result"]["tools"]
    }


def goes_on(client):
    """A call is served."""
    assert client.call("test_sleeps", seconds=0)["isError"] is False


def test_a_version_to_come_is_refused_with_the_one_that_is_served(session):
    later = {**ENVELOPE, protocol.PROTOCOL_VERSION: "2030-01-01"}
    error = session.request("tools/list", _meta=later)["error"]
    assert error["data"]["supported"] == [protocol.MODERN_VERSION]


BAD_CALLS = """
read_doc | {"path": "../../etc/passwd"} | INVALID_PATH
read_doc | {"path": 7} | INVALID_ARGUMENTS
read_doc | {"path": "Bed_Mesh.md", "ofset": 3} | UNKNOWN_ARGUMENT
reed_doc | {"path": "Bed_Mesh.md"} | UNKNOWN_TOOL
"""


def test_a_bad_call_is_an_error_with_a_hint_and_the_session_goes_on(session):
    for name, arguments, code in cases(BAD_CALLS):
        answer = session.call(name, **json.loads(arguments))
        assert (answer["isError"], answer["structuredContent"]["code"]) == (True, code)
        assert answer["structuredContent"]["hint"]
    bad_params = {"resources/read": {"uri": "x://y"}, "prompts/get": {"name": "no_such"}}
    for method, params in bad_params.items():
        error = session.request(method, **params)["error"]
        assert error["code"] == -32602
        assert error["data"]["hint"] in error["message"]
    goes_on(session)


def test_both_spellings_of_a_name_are_called_and_dotted_ones_listed_when_wanted(env, tools):
    for setting, name in (("underscore", "test_sleeps"), ("dotted", "test.sleeps")):
        env(MCP_TOOL_NAMES=setting)
        with Session() as client:
            client.initialize()
            assert listed(client)[name]["title"] == "Test: sleeps"
            assert client.call("test.sleeps", seconds=0) == client.call("test_sleeps", seconds=0)


@pytest.mark.parametrize("setting", [{"MCP_TOOLSETS": "server,klipper"}, {"MCP_READ_ONLY": "1"}])
def test_what_is_not_listed_is_not_called(env, setting):
    env(**setting)
    with Session() as client:
        client.initialize()
        tools = listed(client)
        assert {"greet", "read_doc"} <= tools.keys()
        if "MCP_READ_ONLY" in setting:
            assert all(tool["annotations"]["readOnlyHint"] for tool in tools.values())
        for name in ("anki_add_notes", "anki.add_notes"):
            assert client.call(name)["structuredContent"]["code"] == "UNKNOWN_TOOL"


BAD_LINES = [
    (b'{"jsonrpc": "2.0", "id": 5, "method": "\xff\xfe"}\n', -32700, None),
    ('{"jsonrpc": "2.0", "id": "a", "method": "x", "params": {"name": "\\ud83d"}}', -32700, "a"),
    ("[" * 10_000, -32700, None),
    ("[]", -32600, None),
    ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, None),
]


def test_a_line_that_is_no_request_gets_an_error_and_the_session_goes_on(session):
    for line, code, request_id in BAD_LINES:
        session.write("\n  ")  # blank lines are passed over
        session.write(line)
        answer = session.receive()
        assert (answer["error"]["code"], answer["id"]) == (code, request_id), line
        goes_on(session)


def test_a_long_line_is_served_and_one_that_is_too_long_is_refused_without_being_held(session):
    answer = session.call("read_doc", path="x" * 10_000_000)
    assert answer["isError"] is True
    assert len(answer["content"][0]["text"]) < 2000
    session.write(b"x" * (40 * 2**20) + b"\n")
    assert "too long" in session.receive()["error"]["message"]
    goes_on(session)


def test_a_request_is_unanswered_until_its_answer_is_written_two_of_one_id_are_two(
    session, tools, caplog
):
    for request_id in (7, 7, "seven"):
        session.begin(request_id, "test_sleeps", seconds=60)
    session.request("ping")
    wait_until(lambda: len(session.session.unanswered) == 3)
    for request_id in (None, [7], 8, "7"):
        session.withdraw(request_id)
    session.request("ping")
    wait_until(lambda: len(session.session.unanswered) == 2)
    tools.AWAKE.set()
    session.end()
    answers = [session.receive() for _ in range(3)]
    assert {answer["id"] for answer in answers[:2]} == {7, "seven"}
    assert answers[2] is None
    assert not caplog.records


def test_a_withdrawn_call_takes_its_question_along(session):
    session.begin("q", "test_asks", text="May I?")
    session.notification("elicitation/create")
    question = session.notifications[-1]
    session.withdraw("q")
    session.notification("notifications/cancelled")
    assert session.notifications[-1]["params"] == {"requestId": question["id"]}


ANSWERS = """
{"result": {"action": "accept"}} | accept | accept
{"result": {"action": "accept", "content": {}}} | accept | accept
{"result": {"action": "accept", "content": 5}} | cancel | cancel
{"result": {"action": ["accept"]}} | cancel | cancel
{"result": {"action": "yes"}} | cancel | cancel
{"result": {}} | cancel | cancel
{"result": {"action": "decline"}} | decline | decline
{"error": {"code": -32601, "message": "no"}} | CANNOT_ASK | cancel
"""


@pytest.mark.parametrize("answer, expected, in_2026", cases(ANSWERS))
def test_only_a_well_formed_accept_is_a_yes_in_either_era(session, answer, expected, in_2026):
    answer = json.loads(answer)
    call = {"name": "test_asks", "arguments": {"text": "May I?"}}
    session.send(id="q", method="tools/call", params=call)
    session.notification("elicitation/create")
    session.send(id=str(session.notifications[-1]["id"]), **answer)  # an id may come back as text
    content = session.answer("q")["result"]["structuredContent"]
    assert expected in (content.get("answer"), content.get("code"))
    modern = call | {"_meta": {**ENVELOPE, protocol.CLIENT_CAPABILITIES: {"elicitation": {}}}}
    question = session.request("tools/call", **modern)["result"]
    assert question["resultType"] == "input_required"
    [key] = question["inputRequests"]
    modern["inputResponses"] = {key: answer.get("result", 5)}
    result = session.request("tools/call", **modern, requestState=question["requestState"])[
        "result"
    ]
    assert result["structuredContent"]["answer"] == in_2026
    forged = session.request("tools/call", **modern, requestState="0.a")["result"]
    assert forged["resultType"] == "input_required"


def test_progress_is_at_most_five_a_second_and_never_after_the_answer(session, monkeypatch):
    # A clock that goes on by a sixteenth of a second in each step: in 0.2 s there are three more.
    clock = Mock(monotonic=count(1, 1 / 16).__next__)
    monkeypatch.setattr(protocol, "time", clock)
    session.begin(5, "test_counts", {"progressToken": "p"}, steps=100)
    session.answer(5)
    session.request("ping")  # what came after the answer would come before this one
    notes = [note for note in session.notifications if note["method"] == "notifications/progress"]
    assert [note["params"]["progress"] for note in notes] == [*range(1, 100, 4), 100]


def test_odd_withdrawals_and_two_requests_in_one_write_end_no_reader(session):
    for request_id in ([], {}, True, None, 1.5, 10**400):
        session.withdraw(request_id)
    session.send(method="notifications/cancelled", params={})
    ping = b'{"jsonrpc": "2.0", "id": %d, "method": "ping"}'
    session.write(b"\r\n" + ping % 51 + b"\r\n" + ping % 52 + b"\n")
    assert session.answer(51)["result"] == session.answer(52)["result"] == {}


def test_what_nobody_foresaw_is_an_internal_error_and_the_session_goes_on(session, monkeypatch):
    monkeypatch.setattr(protocol.StdioRequest, "admit", lambda request: 1 / 0)
    assert session.request("tools/list")["error"]["code"] == -32603
    monkeypatch.undo()
    goes_on(session)


def test_a_deaf_server_finds_the_probe_its_stream_and_a_handshake_in_one_pipe(small_docs):
    """Claude Code 2.1.330 gives its probe up after 3 s and begins a handshake in the same pipe."""
    small_docs(PAGES)
    with Session() as client:
        client.session.writing.acquire()  # deaf: nothing is answered before everything was sent
        client.send(id=0, method="server/discover", params=MODERN)
        client.send(**LISTEN)
        client.send(id=1, method="server/discover", params=MODERN)
        client.send(id=2, method="tools/list", params=MODERN)
        client.withdraw(2)
        client.send(id=3, method="initialize", params=HANDSHAKE)
        client.send(method="notifications/initialized")
        client.send(id=4, method="tools/list")
        client.session.writing.release()
        assert client.answer(3)["result"]["protocolVersion"] == "2025-11-25"
        assert client.answer(4)["result"]["tools"]
        assert client.call("read_doc", path="Bed_Mesh.md")["isError"] is False


def test_nothing_is_waited_for_after_eof_once_all_is_answered(tools, monkeypatch):
    monkeypatch.setattr(protocol, "DRAIN_S", 3600)
    with Session() as client:
        assert listed(client, **MODERN)
        client.send(**LISTEN)
        client.notification("notifications/subscriptions/acknowledged")
        meta = {**ENVELOPE, "progressToken": 1}
        client.begin(2, "test_counts", meta, steps=9000, mark=os.devnull)
        client.notification("notifications/progress")
        client.withdraw(2)
        client.end()


def test_a_request_unanswered_some_seconds_after_eof_is_reported_on_stderr(
    session, monkeypatch, capfd
):
    monkeypatch.setattr(protocol, "DRAIN_S", 0.1)
    session.begin(7, "test_sleeps", seconds=60)
    session.end()
    assert session.receive() is None
    assert "stdin ended, and 1 requests had no answer 0.1 s later" in capfd.readouterr().err


def test_a_tool_that_crashes_is_an_answer_with_the_text_of_its_exception(session):
    answer = session.call("test_crashes")["structuredContent"]
    assert answer["code"] == "INTERNAL_ERROR"
    assert "secret" in answer["error"] and "Traceback" not in answer["error"]
    goes_on(session)


def test_a_call_that_finds_no_turn_says_so_and_one_that_ended_makes_room(session, tools):
    for number in range(100, 100 + protocol.MOST_CALLS):
        session.begin(number, "test_sleeps", seconds=30)
    assert session.call("test_sleeps", seconds=0)["structuredContent"]["code"] == "BUSY"
    assert session.request("ping")["result"] == {}
    tools.AWAKE.set()
    for _ in range(protocol.MOST_CALLS):
        assert session.receive()["result"]
    goes_on(session)


def test_unanswered_questions_stop_neither_lists_nor_other_tools(session):
    for number in range(1000, 1012):
        session.begin(number, "test_asks", text="May I?")
    assert listed(session)
    assert session.request("resources/list")["result"]
    goes_on(session)
    for question in session.notifications:
        session.send(id=question["id"], result={"action": "cancel"})


def test_a_client_that_reads_nothing_is_not_read_from_for_ever(session):
    session.reading.clear()
    handle = session.stdin.fileno()
    os.set_blocking(handle, False)
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode() + b"\n"
    written = 0
    while written < 40_000 and select.select([], [handle], [], 1)[1]:
        written += os.write(handle, line) > 0
    assert written < 10_000


@pytest.mark.parametrize("envelope", [{}, ENVELOPE], ids=["handshake", "2026"])
def test_a_cancelled_tool_stops_at_its_next_checkpoint_unanswered(tmp_path, envelope, tools):
    mark = tmp_path / "mark"
    with Session() as client:
        if not envelope:
            client.initialize()
        meta = {**envelope, "progressToken": 1}
        client.begin(50, "test_counts", meta, steps=6000, mark=str(mark))
        client.notification("notifications/progress")
        client.withdraw(50)
        wait_until(lambda: mark.exists() and mark.read_text("utf-8"))
        assert client.request("tools/list", _meta=envelope)["result"]
        assert not any(message.get("id") == 50 for message in client.notifications)
    assert mark.read_text("utf-8").startswith("stopped after")


def test_a_changed_description_is_announced_and_listed_in_both_eras(tools):
    with Session() as client:
        client.initialize()
        client.call("test_notes", text="(new)")
        client.notification("notifications/tools/list_changed")
        assert listed(client)["test_notes"]["description"] == "Change its own description. (new)"
    with Session() as client:
        client.send(**LISTEN)
        client.notification("notifications/subscriptions/acknowledged")
        client.begin(1, "test_notes", ENVELOPE, text="(newer)")
        client.notification("notifications/tools/list_changed")
        params = client.notifications[-1]["params"]
        assert params == {"_meta": {protocol.SUBSCRIPTION_ID: "listen"}}


def test_every_structured_content_is_an_object_of_sound_text(session):
    for text in ("null", '[1,"a"]', "7", '"text"', '{"a":1}'):
        value = json.loads(text)
        answer = session.call("test_returns", value=text)
        content = value if isinstance(value, dict) else {"result": value}
        assert answer["structuredContent"] == content
        assert answer["content"] == [{"type": "text", "text": text.strip('"')}]
    assert session.call("test_surrogates")["structuredContent"] == {"success": True, "text": "a?b"}
