"""Speaking to AnkiConnect: what goes out, and an error of its own for each way it can fail."""

import json
import socket
import threading

import pytest

from tests.anki.anki_standin import StandIn
from tools.anki import client
from tools.anki.settings import AnkiSettings
from tools.core import settings


def test_a_request_has_the_version_and_neither_key_nor_origin(anki, call):
    call("anki.list_decks")

    assert anki.requests == [{"action": "deckNamesAndIds", "version": 6}]
    assert anki.headers[0]["content-type"] == "application/json"
    assert "origin" not in anki.headers[0]


def test_the_key_goes_into_the_request_and_each_entry_of_a_multi(anki, call, env):
    anki.key = "s3cret"
    env(ANKI_CONNECT_KEY="s3cret")

    answer = call("anki.model_info", model="Basic")
    raw = call("anki.invoke", action="multi", params={"actions": [{"action": "deckNames", "version": 6}]})

    assert answer["fields"] == ["Front", "Back"]
    assert all(one["key"] == "s3cret" for one in anki.requests[0]["params"]["actions"])
    assert raw == [{"result": ["Default"], "error": None}]


def test_a_wrong_key_is_told_without_telling_it(anki, call, env):
    anki.key = "s3cret"
    env(ANKI_CONNECT_KEY="guess")

    answer = call("anki.list_decks")

    assert answer["code"] == "ANKI_KEY"
    assert "guess" not in str(answer)


def test_nothing_listening_is_told_with_the_address(call, env):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    env(ANKI_CONNECT_URL=f"http://127.0.0.1:{port}")

    answer = call("anki.list_decks")

    assert answer["code"] == "ANKI_UNREACHABLE"
    assert str(port) in answer["error"]
    assert "Start Anki" in answer["hint"]


def test_a_forwarded_socket_is_spoken_to_by_its_path(collection, call, env, tmp_path):
    anki = StandIn(collection, path=tmp_path / "anki.sock")
    env(ANKI_CONNECT_URL=anki.url)

    assert call("anki.list_decks") == [{"id": 1, "name": "Default"}]
    assert anki.headers[0]["host"] == "localhost"
    anki.close()
    assert call("anki.list_decks")["code"] == "ANKI_UNREACHABLE"


def test_an_unknown_host_is_told(call, env):
    env(ANKI_CONNECT_URL="http://no-such-host.invalid:8765")

    assert call("anki.list_decks")["code"] == "ANKI_UNREACHABLE"


def test_a_stall_is_told_with_what_may_be_open(anki, call, env):
    env(ANKI_CONNECT_TIMEOUT=1)
    anki.faults = {0: "stall"}

    answer = call("anki.list_decks")

    assert answer["code"] == "ANKI_NO_ANSWER"
    assert "dialog open in Anki" in answer["hint"]
    anki.released.set()


def test_headers_that_drip_are_cut_at_the_timeout_and_leave_the_lock(anki, call, env):
    env(ANKI_CONNECT_TIMEOUT=1)
    anki.faults = {0: "drip"}

    assert call("anki.list_decks")["code"] == "ANKI_NO_ANSWER"
    assert call("anki.list_decks") == [{"id": 1, "name": "Default"}]


@pytest.mark.parametrize("fault", ["cut_before", "cut_after", "html", "stall"])
def test_only_a_request_that_changes_something_may_have_been_done(anki, call, env, fault):
    env(ANKI_CONNECT_TIMEOUT=1)
    anki.faults = {0: fault, 1: fault, 2: fault}

    reading = [
        call("anki.list_decks"),
        call("anki.invoke", action="multi", params={"actions": [{"action": "version"}]}),
    ]
    anki.released.set()
    changing = call("anki.invoke", action="createDeck", params={"deck": "A"})

    assert not any("may or may not" in answer["hint"] for answer in reading)
    assert "may or may not have been made" in changing["hint"]


@pytest.mark.parametrize(("fault", "word"), [("stall", "sleep"), ("", "ssh -R")])
def test_over_ssh_the_hint_knows_where_anki_usually_is(anki, call, env, fault, word):
    env(ANKI_CONNECT_TIMEOUT=1)
    anki.faults = {0: fault}
    if not fault:
        anki.close()

    here = call("anki.list_decks")["hint"]
    anki.faults = {1: fault}
    anki.released.clear()
    env(SSH_CONNECTION="10.0.0.2 50000 10.0.0.3 22")
    over_ssh = call("anki.list_decks")["hint"]

    assert word not in here
    assert word in over_ssh


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("cut_before", "ANKI_CUT"),
        ("reset", "ANKI_CUT"),
        ("garbage", "NOT_ANKICONNECT"),
        ("html", "NOT_ANKICONNECT"),
        ("http_500", "NOT_ANKICONNECT"),
        ("http_403", "ANKI_FORBIDDEN"),
        ("http_500_envelope", "ANKI_ERROR"),
    ],
)
def test_each_failure_has_its_own_error_and_the_session_goes_on(anki, call, fault, code):
    anki.faults = {0: fault}

    answer = call("anki.list_decks")

    assert answer["code"] == code
    assert answer["hint"]
    assert call("anki.list_decks") == [{"id": 1, "name": "Default"}]
    assert len(anki.requests) == 2


def test_no_profile_open_is_told(anki, call):
    anki.addon._profile_open = False

    answer = call("anki.list_decks")

    assert answer["code"] == "ANKI_NO_PROFILE"
    assert "profile" in answer["hint"]


def test_a_search_error_is_anki_s_own_text_without_invisible_marks(anki, call):
    answer = call("anki.find_notes", query="is:zzz")

    assert answer["error"] == "RuntimeError: Invalid search: `is:` was given an invalid argument '`zzz`'."


def test_invoke_gives_the_raw_result_and_takes_any_version(anki, call):
    assert call("anki.invoke", action=" deckNames ") == ["Default"]
    assert call("anki.invoke", action="version", version=4) == 6
    assert anki.requests[0] == {"action": "deckNames", "version": 6, "params": {}}


def test_invoke_answers_a_multi_as_the_requirement_shows_it(anki, call):
    actions = [{"action": "deckNames", "params": {}}, {"action": "modelNames", "params": {}}]

    decks, models = call("anki.invoke", action="multi", params={"actions": actions})

    assert decks == ["Default"]
    assert "Basic" in models
    assert anki.requests[0]["params"] == {"actions": actions}


def test_invoke_tells_anki_s_error_as_a_runtime_error(anki, call):
    answer = call("anki.invoke", action="renameDeck", params={"oldName": "A", "newName": "B"})

    assert answer["error"] == "RuntimeError: unsupported action"
    assert answer["success"] is False


@pytest.mark.parametrize("name", ["", " ", ".", "..", "folder/", "a\\", "../.."])
def test_invoke_sends_no_file_name_that_would_take_the_media_folder_along(anki, call, name):
    harmful = {"action": "deleteMediaFile", "params": {"filename": name}}

    assert call("anki.invoke", **harmful)["code"] == "INVALID_FILENAME"
    assert call("anki.invoke", action="multi", params={"actions": [harmful]})["code"] == "INVALID_FILENAME"
    assert anki.requests == []


def test_requests_of_many_threads_go_one_at_a_time(anki, call):
    threads = [threading.Thread(target=call, args=("anki.list_decks",)) for _ in range(12)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert len(anki.requests) == 12


def test_an_endless_answer_is_cut_off(env, call, monkeypatch):
    monkeypatch.setattr(client, "LONGEST_REPLY_BYTES", 100_000)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        env(ANKI_CONNECT_URL=f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread = threading.Thread(target=_pour, args=(listener,))
        thread.start()
        answer = call("anki.list_decks")
        thread.join()

    assert answer["code"] == "ANKI_REPLY_TOO_LONG"


def _pour(listener):
    connection, _ = listener.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
        try:
            while True:
                connection.sendall(b"0," * 32768)
        except ConnectionError:
            return


def test_text_that_is_no_text_reaches_anki_or_an_error_and_ends_nothing(anki, call):
    call("anki.invoke", action="findNotes", params=json.loads('{"query": "\\ud800"}'))

    assert call("anki.list_decks") == [{"id": 1, "name": "Default"}]


@pytest.mark.parametrize(
    "url",
    ["localhost:8765", "ftp://h", "http://", "http://u:p@h", "http://h:99999", "http://h:x", "unix:", "unix:run/x"],
)
def test_a_wrong_address_is_told_at_the_start(url):
    with pytest.raises(settings.SettingsError, match="ANKI_CONNECT_URL"):
        settings.load({"ANKI_CONNECT_URL": url, "HOME": "/nonexistent"}, AnkiSettings)
