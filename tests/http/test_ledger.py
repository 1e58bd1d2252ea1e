"""The tokens that were given out, and `python3 -m tools token`, which gives them out and takes them back."""

import os
import re
import shlex
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.http.test_sign_in import Person, ahead, query_of
from tests.support.client import cases
from tests.support.http_memory import InMemory
from tools.__main__ import main
from tools.core.settings import current
from tools.http import ledger, tokens
from tools.http.ledger import Ledger

DAY_S = 86_400
# What sqlite calls it: after a commit the folder is synced, too.
EXTRA = 3


def given_out(state, token_id, *, days=30):
    grant = {"token_id": token_id, "user": "anna", "scope": "onepercent", "label": "phone"}
    Ledger(state).add(grant, days * DAY_S)


def test_what_was_given_out_is_listed_until_it_ends_and_then_forgotten(tmp_path):
    opened = Ledger(tmp_path)
    for token_id, days in (("ended", -1), ("one", 30), ("two", 30)):
        given_out(tmp_path, token_id, days=days)
        opened.make_secret("code", days, {})
    first, second = Ledger(tmp_path).entries()
    expected = {"id": "one", "user": "anna", "label": "phone", "used": 0}
    assert expected.items() <= dict(first).items()
    assert second["id"] == "two"
    for table in ("tokens", "secrets"):
        assert len(opened.db.execute(f"SELECT * FROM {table}").fetchall()) == 2


def test_a_use_is_noted_once_a_minute_for_every_process(tmp_path, monkeypatch):
    given_out(tmp_path, "one")
    times = set()
    for _ in range(3):
        assert Ledger(tmp_path).check_use("one")
        times.add(Ledger(tmp_path).entries()[0]["used"])
        ahead(monkeypatch, 31)
    assert len(times) == 2


def test_a_revoked_token_stays_revoked_whatever_the_clock_says(tmp_path, monkeypatch):
    given_out(tmp_path, "lost")
    assert Ledger(tmp_path).revoke("lost")
    assert not Ledger(tmp_path).revoke("of-a-backend")
    now_s = time.time()
    for days in (31, 4000, -9000):
        monkeypatch.setattr(ledger.time, "time", lambda days=days: now_s + days * DAY_S)
        given_out(tmp_path, f"new-{days}")
    monkeypatch.undo()
    lost = {"lost", "of-a-backend"}
    assert not any(map(Ledger(tmp_path).check_use, lost))
    assert {row["id"] for row in Ledger(tmp_path).entries() if row["revoked"]} == lost


@pytest.mark.parametrize("remains", ["nothing", "an empty file"])
def test_a_ledger_that_is_gone_is_said_since_what_was_revoked_holds_again(
    tmp_path, caplog, remains
):
    tokens.ensure_keys(tmp_path / "http-keys")
    if remains == "an empty file":
        (tmp_path / "http-tokens.sqlite3").touch()
    Ledger(tmp_path)
    assert "python3 -m tools token rotate, twice" in caplog.text
    caplog.clear()
    Ledger(tmp_path)
    assert not caplog.text


def test_a_first_start_says_nothing_of_a_ledger(env, caplog):
    assert status_of("token new --user anna --scope onepercent") == 0
    with InMemory():
        assert not caplog.text


def test_a_commit_is_on_the_disk_with_its_folder_and_only_its_owner_may_read_the_file(tmp_path):
    before = os.umask(0o022)
    try:
        opened = Ledger(tmp_path / "state")
    finally:
        os.umask(before)
    assert opened.db.execute("PRAGMA synchronous").fetchone()[0] == EXTRA
    assert (tmp_path / "state" / "http-tokens.sqlite3").stat().st_mode & 0o777 == 0o600


def test_the_servers_event_loop_waits_half_a_second_at_most_for_a_lock_of_the_ledger(env):
    with InMemory() as server:
        timeout_ms = server.app.ledger.db.execute("PRAGMA busy_timeout").fetchone()[0]
    assert timeout_ms == 500


def test_a_running_server_follows_the_file_that_is_restored_in_place_of_its_own(tmp_path):
    for folder in ("here", "copy"):
        given_out(tmp_path / folder, "one")
    running = Ledger(tmp_path / "here")
    file = tmp_path / "here" / "http-tokens.sqlite3"
    os.replace(tmp_path / "copy" / "http-tokens.sqlite3", file)
    assert Ledger(tmp_path / "here").revoke("one")
    assert not running.check_use("one")
    file.unlink()
    assert running.check_use("one")
    Ledger(tmp_path / "here").revoke("one")
    assert not running.check_use("one")
    with running.writing():
        connection = running.db
        file.unlink()
        assert running.db is connection, "a transaction ends in the file in which it began"


def test_of_many_who_spend_a_secret_at_once_one_is_the_first(tmp_path):
    code = Ledger(tmp_path).make_secret("invitation", 60, {"user": "anna"})
    with ThreadPoolExecutor(8) as everybody:
        spent = list(everybody.map(lambda _: Ledger(tmp_path).spend("invitation", code), range(8)))
    assert spent.count(None) == 1


def status_of(line):
    """The exit status of a command of the shell."""
    try:
        return main(shlex.split(line))
    except SystemExit as ending:
        return ending.code


@pytest.fixture
def url(env):
    env(MCP_HTTP_URL="https://pi.example/mcp")
    return "https://pi.example/mcp"


def test_a_new_token_says_whose_it_is_for_how_long_and_what_to_paste_where(url, capsys, env):
    assert status_of("token new --user alice --scope 'onepercent klipper:read' --days 7") == 0
    printed, remark = capsys.readouterr()
    assert not remark
    assert "For alice (onepercent klipper:read), for 7 days" in printed
    [value] = {line for line in printed.splitlines() if line.startswith("ey")}
    claims = tokens.verify(value, tokens.read_keys(current().state_dir / "http-keys"), url)
    assert (claims.user, claims.toolsets) == ("alice", {"onepercent", "klipper"})
    assert claims.read_only == {"klipper"}
    for client in ("curl", "Responses API", "tools invite"):
        assert client in printed
    assert status_of("token list") == 0
    assert "alice" in capsys.readouterr().out
    env(MCP_HTTP_URL="")
    for command, days in (("new", 90), ("invite", 30)):
        assert status_of(f"token {command} --user alice --scope onepercent") == 0
        printed, remark = capsys.readouterr()
        assert f"{days} days" in printed and "MCP_HTTP_URL is not set" in remark


WRONG_WORDS = """
token | required
token new | tools token new: error: the following arguments are required: --user
token new --user x --scope nothing | there is no toolset 'nothing'
token new --user \x07 --scope onepercent | --user
token new --user x --scope onepercent --days 0 | --days
token invite | For example: python3 -m tools invite --user anna --scope "onepercent klipper:read"
token invite --user x --scope server --label y | unrecognized arguments: --label
"""


@pytest.mark.parametrize("line, words", cases(WRONG_WORDS))
def test_wrong_words_are_told(url, capsys, line, words):
    assert status_of(line) == 2
    assert words in capsys.readouterr().err


def test_revoking_says_whether_the_token_was_given_out_here_and_refuses_it_all_the_same(
    url, capsys
):
    given_out(current().state_dir, "known")
    assert status_of("token revoke known") == status_of("token revoke unknown") == 0
    known, unknown = capsys.readouterr().out.splitlines()
    assert "was not given out here" not in known
    assert "was not given out here" in unknown
    assert not Ledger(current().state_dir).check_use("unknown")


def test_an_invitation_and_the_list_say_how_long_it_holds(url, capsys):
    assert status_of("token invite --user anna --scope onepercent --days 7") == 0
    printed = capsys.readouterr().out
    assert "For anna (onepercent), 7 days, renewed while it is used." in printed
    [code] = re.findall(r"\b\w{4}-\w{4}\b", printed)
    with InMemory() as server:
        client = Person(server)
        began = time.time()
        _, headers, _ = client.type(code)
        client.token(code=query_of(headers)["code"])
    assert status_of("token list") == 0
    day = time.strftime("%Y-%m-%d", time.localtime(began + 7 * DAY_S))
    assert re.search(rf"{day} \d\d:\d\d, renewed while it is used", capsys.readouterr().out)


def test_a_damaged_file_is_said(url, capsys):
    path = current().state_dir / "http-tokens.sqlite3"
    path.parent.mkdir(exist_ok=True)
    path.write_text("damaged" * 100, "ascii")
    assert status_of("token list") == status_of("token revoke x") == 1
    assert "not a database" in capsys.readouterr().err
