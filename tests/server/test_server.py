"""The server as clients meet it: its own process, its own stdio."""

import json
import os
import select
import signal
import subprocess
import sys

import pytest

from server import StdioTransport, ToolServer
from tests.support.client import ENVELOPE, HANDSHAKE, PROJECT, SERVER, TEST_SERVER, TIMEOUT_S, Client, pipe

PAGES = {"Bed_Mesh.md": "# Bed Mesh\n\nThe mesh of the bed.\n"}
INITIALIZE = {"id": 1, "method": "initialize", "params": HANDSHAKE}
INITIALIZED = {"method": "notifications/initialized"}


def call(request_id, name, **arguments):
    return {"id": request_id, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_handshake_version_lists_and_calls(version, small_docs):
    small_docs(PAGES)
    with Client() as client:
        assert client.initialize(version)["protocolVersion"] == version
        tools = {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}
        assert {"search_docs", "read_doc", "list_docs_map", "sync_docs"} <= tools
        assert "The mesh" in client.call("read_doc", path="Bed_Mesh.md")["content"][0]["text"]


def test_the_2026_era_discovers_lists_and_calls_without_a_handshake(small_docs):
    small_docs(PAGES)
    with Client() as client:
        found = client.request("server/discover", _meta=ENVELOPE)["result"]
        assert found["supportedVersions"] == ["2026-07-28"]
        assert client.request("tools/list", _meta=ENVELOPE)["result"]["tools"]
        answer = client.request("tools/call", name="read_doc", arguments={"path": "bed_mesh"}, _meta=ENVELOPE)["result"]
        assert answer["structuredContent"]["path"] == "Bed_Mesh.md"


def test_an_unknown_version_is_offered_the_newest_handshake():
    with Client() as client:
        assert client.initialize("1999-01-01")["protocolVersion"] == "2025-11-25"


def test_list_changed_is_advertised():
    with Client() as client:
        assert client.initialize()["capabilities"]["tools"] == {"listChanged": True}


def test_an_answer_is_one_compact_json_text_and_the_same_structured(small_docs):
    small_docs(PAGES)
    with Client() as client:
        client.initialize()
        answer = client.call("read_doc", path="Bed_Mesh.md")
    [block] = answer["content"]
    assert json.loads(block["text"]) == answer["structuredContent"]
    assert block["text"] == json.dumps(answer["structuredContent"], ensure_ascii=False, separators=(",", ":"))
    assert answer["isError"] is False


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("read_doc", {"path": "../../etc/passwd"}, "INVALID_PATH"),
        ("read_doc", {}, "INVALID_ARGUMENTS"),
        ("read_doc", {"path": 7}, "INVALID_ARGUMENTS"),
        ("read_doc", {"path": "Bed_Mesh.md", "offset": True}, "INVALID_ARGUMENTS"),
        ("read_doc", {"path": "Bed_Mesh.md", "ofset": 3}, "UNKNOWN_ARGUMENT"),
        ("reed_doc", {"path": "Bed_Mesh.md"}, "UNKNOWN_TOOL"),
    ],
)
def test_a_bad_call_is_an_error_with_a_hint_and_the_session_goes_on(small_docs, name, arguments, code):
    small_docs(PAGES)
    with Client() as client:
        client.initialize()
        answer = client.call(name, **arguments)
        assert answer["isError"] is True
        assert answer["structuredContent"]["code"] == code
        assert answer["structuredContent"]["hint"]
        assert "pydantic" not in answer["content"][0]["text"]
        assert client.call("read_doc", path="Bed_Mesh.md")["isError"] is False


def test_an_unknown_argument_names_the_nearest_right_one():
    with Client() as client:
        client.initialize()
        assert "Did you mean offset?" in client.call("read_doc", path="x", ofset=1)["structuredContent"]["hint"]


def test_both_spellings_of_a_name_are_called():
    with Client(TEST_SERVER) as client:
        client.initialize()
        listed = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}
        assert listed["test_sleeps"]["title"] == "test.sleeps"
        assert client.call("test.sleeps", seconds=0) == client.call("test_sleeps", seconds=0)


def test_dotted_names_are_listed_on_request():
    with Client(TEST_SERVER, MCP_TOOL_NAMES="dotted") as client:
        client.initialize()
        assert "test.sleeps" in {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}


def test_piped_requests_that_end_in_eof_are_all_answered(small_docs):
    small_docs(PAGES)
    requests = [INITIALIZE, INITIALIZED, *(call(number, "read_doc", path="Bed_Mesh.md") for number in range(2, 12))]
    answers, status = pipe(requests)
    assert sorted(one["id"] for one in answers if "id" in one) == list(range(1, 12))
    assert status == 0


def test_a_slow_call_is_answered_after_eof():
    answers, _ = pipe([INITIALIZE, INITIALIZED, call(2, "test_sleeps", seconds=1)], TEST_SERVER)
    assert answers[-1]["result"]["structuredContent"] == {"success": True, "slept": 1.0}


def test_nothing_is_waited_for_after_eof_once_every_call_is_answered():
    patient = "import server; server.StdioTransport.DRAIN_S = 3600; server.main(['--standalone'])"
    with Client([sys.executable, "-c", patient]) as client:
        client.initialize()
        assert client.call("greet", name="Ann")["structuredContent"]
        client.process.stdin.close()
        assert client.process.wait(TIMEOUT_S) == 0


def test_a_withdrawn_call_is_not_waited_for_after_eof():
    cancel = {"method": "notifications/cancelled", "params": {"requestId": 2}}
    answers, status = pipe([INITIALIZE, INITIALIZED, call(2, "test_sleeps", seconds=50), cancel], TEST_SERVER)
    assert [one["id"] for one in answers if "id" in one] == [1]
    assert status == 0


def test_a_listen_stream_is_not_waited_for_after_eof():
    listen = {
        "id": 1,
        "method": "subscriptions/listen",
        "params": {"notifications": {"toolsListChanged": True}, "_meta": ENVELOPE},
    }
    _, status = pipe([listen])
    assert status == 0


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        ("garbage", -32700, None),
        ('{"jsonrpc": "2.0", "id": 5, "method"', -32700, None),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "\xff\xfe"}\n', -32700, None),
        ('{"jsonrpc": "2.0", "id": 5, "method": "\\ud800"}', -32700, 5),
        ('{"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "\\ud83d"}}', -32700, "a"),
        ("[" * 10_000, -32700, None),
        ("[]", -32600, None),
        ("7", -32600, None),
        ('{"jsonrpc": "2.0", "id": 5, "method": 7}', -32600, 5),
        ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, None),
        ('{"jsonrpc": "2.0", "id": 5, "method": "no/such"}', -32601, 5),
    ],
)
def test_a_line_that_is_no_request_gets_an_error_and_the_session_goes_on(line, code, request_id):
    with Client() as client:
        client.initialize()
        client.write(line)
        answer = client.receive()
        assert answer["error"]["code"] == code
        assert answer["id"] == request_id
        assert client.request("ping")["result"] == {}


def test_pipes_that_do_not_block_are_waited_for():
    (reading, requests), (answers, writing) = os.pipe(), os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    with subprocess.Popen(SERVER, stdin=reading, stdout=writing) as process:
        os.close(reading)
        os.close(writing)
        lines = [{"id": 1, "method": "initialize", "params": HANDSHAKE}]
        lines += [{"id": number, "method": "tools/list"} for number in range(2, 12)]  # more than a pipe holds
        with os.fdopen(answers) as found, os.fdopen(requests, "w", buffering=1) as client:
            for line in lines:
                client.write(json.dumps({"jsonrpc": "2.0", **line}) + "\n")
                if line["id"] == 1:
                    assert json.loads(found.readline())["id"] == 1
            assert sorted(json.loads(found.readline())["id"] for _ in lines[1:]) == list(range(2, 12))
        assert process.wait(TIMEOUT_S) == 0


def test_blank_lines_are_passed_over():
    answers, status = pipe(["", INITIALIZE, "", "  "])
    assert [one["id"] for one in answers] == [1]
    assert status == 0


def test_a_line_that_is_too_long_is_refused_without_being_held():
    with Client() as client:
        client.initialize()
        client.write(b"x" * (40 * 2**20) + b"\n")
        assert "too long" in client.receive()["error"]["message"]
        client.write(b'{"jsonrpc": "2.0", "id": 7, "method": "' + b"x" * (17 * 2**20) + b'"}\n')
        answer = client.receive()
        assert (answer["id"], answer["error"]["code"]) == (7, -32600)
        assert client.request("ping")["result"] == {}


def test_a_ten_megabyte_message_is_served():
    with Client() as client:
        client.initialize()
        answer = client.call("read_doc", path="x" * 10_000_000)
        assert answer["isError"] is True
        assert len(answer["content"][0]["text"]) < 2000


def test_stdout_carries_only_the_protocol_when_tools_and_children_print():
    with Client(TEST_SERVER) as client:
        client.initialize()
        assert client.call("test_prints")["structuredContent"] == {"success": True, "stdin": ""}
        assert client.end() == 0
        assert client.receive() is None
    errors = b"".join(client.errors).decode()
    assert all(text in errors for text in ("from print", "from sys.stdout", "from fd 1", "from a child"))


def test_sys_exit_in_a_tool_is_an_answer():
    with Client(TEST_SERVER) as client:
        client.initialize()
        assert client.call("test_exits")["structuredContent"]["code"] == "INTERNAL_ERROR"
        assert client.call("test_sleeps", seconds=0)["isError"] is False


def test_an_unforeseen_exception_tells_the_log_and_not_the_client():
    with Client(TEST_SERVER) as client:
        client.initialize()
        answer = client.call("test_crashes")
        assert answer["structuredContent"]["code"] == "INTERNAL_ERROR"
        assert "secret" not in json.dumps(answer)
        client.end()
    assert "secret of the house" in b"".join(client.errors).decode()


def test_a_slow_tool_delays_no_other():
    with Client(TEST_SERVER) as client:
        client.initialize()
        client.send(**call(100, "test_sleeps", seconds=30))
        assert client.call("test_sleeps", seconds=0)["isError"] is False


def test_more_slow_tools_than_threads_leave_the_wire_alive():
    with Client(TEST_SERVER) as client:
        client.initialize()
        for number in range(100, 160):
            client.send(**call(number, "test_sleeps", seconds=30))
        assert client.request("ping")["result"] == {}


def test_unanswered_questions_stop_neither_lists_nor_other_tools():
    with Client(TEST_SERVER) as client:
        capabilities = {"elicitation": {}}
        client.request("initialize", **{**HANDSHAKE, "capabilities": capabilities})
        client.send(method="notifications/initialized")
        for number in range(1000, 1045):
            client.send(**call(number, "test_asks", text="May I?"))
        busy = [client.answer_to_any(range(1000, 1045)) for _ in range(45 - ToolServer.MOST_QUESTIONS)]
        assert {one["result"]["structuredContent"]["code"] for one in busy} == {"BUSY"}
        assert client.request("tools/list")["result"]["tools"]
        assert client.request("resources/list")["result"]
        assert client.call("test_sleeps", seconds=0)["isError"] is False


def test_a_client_that_reads_nothing_is_not_read_from_for_ever():
    with subprocess.Popen(TEST_SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        os.set_blocking(server.stdin.fileno(), False)
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode() + b"\n"
        os.write(server.stdin.fileno(), json.dumps({"jsonrpc": "2.0", **INITIALIZE}).encode() + b"\n")
        written, refused = 0, 0
        while refused < 30 and written < 40_000:
            if select.select([], [server.stdin], [], 0.1)[1]:
                written += os.write(server.stdin.fileno(), line) > 0
                refused = 0
            else:
                refused += 1
        assert written < 10_000
        server.kill()


def test_a_tool_that_holds_the_interpreter_is_ended_by_the_kernel():
    with Client(TEST_SERVER, TEST_STUCK_S="1") as client:
        client.initialize()
        client.send(**call(9, "test_hogs"))
        assert client.process.wait(TIMEOUT_S) == -signal.SIGPROF


def test_progress_goes_to_the_client_that_asked():
    with Client(TEST_SERVER) as client:
        client.initialize()
        client.request("tools/call", name="test_counts", arguments={"steps": 40}, _meta={"progressToken": "p"})
        reports = [one["params"] for one in client.notifications if one["method"] == "notifications/progress"]
        assert reports[-1] == {"progressToken": "p", "progress": 40.0, "total": 40.0, "message": "step 40"}


@pytest.mark.parametrize("envelope", [{}, ENVELOPE], ids=["handshake", "2026"])
def test_a_cancelled_tool_stops_at_its_next_checkpoint_unanswered(tmp_path, envelope):
    mark = tmp_path / "mark"
    with Client(TEST_SERVER) as client:
        if not envelope:
            client.initialize()
        meta = {**envelope, "progressToken": 1}
        params = {"name": "test_counts", "arguments": {"steps": 6000, "mark": str(mark)}, "_meta": meta}
        client.send(id=50, method="tools/call", params=params)
        client.notification("notifications/progress")
        client.send(method="notifications/cancelled", params={"requestId": 50})
        while not (mark.exists() and mark.read_text(encoding="utf-8")):
            assert client.request("tools/list", _meta=envelope)["result"]
        assert not any(one.get("id") == 50 for one in client.notifications)
    assert mark.read_text(encoding="utf-8").startswith("stopped after")


def test_a_changed_description_is_told_and_listed():
    with Client(TEST_SERVER) as client:
        client.initialize()
        client.call("test_notes", text="(new)")
        client.notification("notifications/tools/list_changed")
        listed = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}
        assert listed["test_notes"]["description"] == "Change its own description. (new)"


def test_a_changed_description_reaches_a_2026_listener():
    with Client(TEST_SERVER) as client:
        wanted = {"notifications": {"toolsListChanged": True}, "_meta": ENVELOPE}
        client.send(id="listen", method="subscriptions/listen", params=wanted)
        client.notification("notifications/subscriptions/acknowledged")
        client.request("tools/call", name="test_notes", arguments={"text": "(new)"}, _meta=ENVELOPE)
        client.notification("notifications/tools/list_changed")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_the_server_at_once_and_cleanly(number):
    with Client(TEST_SERVER) as client:
        client.initialize()
        client.send(**call(9, "test_sleeps", seconds=60))
        client.request("ping")
        client.process.send_signal(number)
        assert client.process.wait(10) == 0
    assert b"Traceback" not in b"".join(client.errors)


def test_a_client_that_is_gone_ends_the_server_even_in_a_slow_tool():
    lines = [INITIALIZE, INITIALIZED, call(9, "test_sleeps", seconds=60)]
    server = subprocess.Popen(TEST_SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    server.stdin.write("".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in lines).encode())
    server.stdin.flush()
    server.stdout.readline()
    server.stdout.close()
    server.stdin.close()
    assert server.wait(StdioTransport.DRAIN_S - 1) == 0


def test_it_finds_its_environment_from_any_python_and_folder(tmp_path):
    done = subprocess.run(
        ["python3", str(PROJECT / "server.py"), "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("pi-mcp ")
    answers, status = pipe([INITIALIZE], ["python3", str(PROJECT / "server.py"), "--standalone"])
    assert answers[0]["id"] == 1
    assert status == 0


@pytest.mark.parametrize("words", [["--wrong"], ["serve"], ["--check", "--list"]])
def test_a_wrong_flag_is_one_line_and_exit_2(words):
    done = subprocess.run([*SERVER[:2], *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def started(**environment):
    """A server without a client, and what it wrote."""
    return subprocess.run(
        SERVER,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
    )


def test_a_wrong_setting_is_one_line_that_names_it():
    done = started(MCP_TOOL_NAMES="camel")
    assert done.returncode == 2
    assert done.stderr.startswith("pi-mcp: MCP_TOOL_NAMES: ")
    assert len(done.stderr.splitlines()) == 1


def test_check_says_what_is_not_set_up_and_how_to():
    done = subprocess.run([*SERVER[:2], "--check"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("server")
    assert "not set up" in done.stdout


def test_list_and_help_answer_without_serving():
    assert "read_doc" in subprocess.run([*SERVER[:2], "--list"], capture_output=True, text=True, timeout=60).stdout
    assert "--check" in subprocess.run([*SERVER[:2], "--help"], capture_output=True, text=True, timeout=60).stdout


def test_read_only_lists_no_writer_and_calls_none():
    with Client(MCP_READ_ONLY="1") as client:
        client.initialize()
        tools = client.request("tools/list")["result"]["tools"]
        assert all(tool["annotations"]["readOnlyHint"] for tool in tools)
        assert client.call("sync_docs")["structuredContent"]["code"] == "UNKNOWN_TOOL"


def test_the_shell_answers_the_same(small_docs):
    small_docs(PAGES)
    with Client() as client:
        client.initialize()
        for arguments in ({"path": "Bed_Mesh.md"}, {"path": "no"}, {"pth": "x"}, {}, {"path": "x", "offset": -1}):
            text = client.call("read_doc", **arguments)["content"][0]["text"]
            shell = [sys.executable, "-I", "-S", str(PROJECT / "tools"), "call", "read_doc", json.dumps(arguments)]
            done = subprocess.run(shell, capture_output=True, text=True, timeout=60, encoding="utf-8")
            assert done.stdout == text + "\n"
            assert done.returncode == ("error" in text)


def test_without_mcp_it_says_what_to_run(tmp_path):
    code = f"import sys; sys.path.insert(0, {str(PROJECT)!r}); import server; server.main([])"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "setup.sh" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_half_a_surrogate_pair_from_outside_ends_no_session():
    with Client(TEST_SERVER) as client:
        client.initialize()
        assert client.call("test_surrogates")["structuredContent"] == {"success": True, "text": "a?b"}
        assert client.request("ping")["result"] == {}


def test_greet_answers_the_bare_text():
    with Client() as client:
        client.initialize()
        answer = client.call("greet", name="Алиса")
    text = "Привет, Алиса! Я твой MCP-сервер."
    assert answer["content"] == [{"type": "text", "text": text}]
    assert answer["structuredContent"] == {"result": text}


def test_every_structured_content_is_an_object():
    with Client(TEST_SERVER) as client:
        client.initialize()
        for value, text in ((None, "null"), ([1, "a"], '[1,"a"]'), (7, "7"), ("text", "text"), ({"a": 1}, '{"a":1}')):
            answer = client.call("test_returns", value=json.dumps(value))
            assert answer["structuredContent"] == (value if isinstance(value, dict) else {"result": value})
            assert answer["content"] == [{"type": "text", "text": text}]


def test_an_unknown_toolset_is_one_line_at_start():
    done = started(MCP_TOOLSETS="klipper,nope")
    assert done.returncode == 2
    assert done.stderr == (
        "pi-mcp: MCP_TOOLSETS: there is no toolset 'nope', there are anki, klipper, onepercent, search, server "
        "(it is 'klipper,nope')\n"
    )


def test_toolsets_list_and_call_only_what_they_name():
    with Client(MCP_TOOLSETS="server,klipper") as client:
        client.initialize()
        names = {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}
        assert {"greet", "read_doc"} <= names
        assert not [name for name in names if name.startswith("anki")]
        assert client.call("anki_list_decks")["structuredContent"]["code"] == "UNKNOWN_TOOL"
        assert client.call("anki.list_decks")["structuredContent"]["code"] == "UNKNOWN_TOOL"


def test_dotted_names_are_listed_when_wanted_and_both_are_called():
    with Client(MCP_TOOL_NAMES="dotted") as client:
        client.initialize()
        assert "anki.invoke" in {tool["name"] for tool in client.request("tools/list")["result"]["tools"]}
        assert client.call("anki_invoke")["structuredContent"]["code"] == "INVALID_ARGUMENTS"
        assert client.call("anki.invoke")["structuredContent"]["code"] == "INVALID_ARGUMENTS"
