"""Where the services listen, whom they and their callers trust: this user alone, with the same sources; the
status with which a session ends."""

import os
import socket
from unittest.mock import Mock

import pytest

from tests.support.client import cases
from tools.core import places
from tools.resident import handover, listening, resident


@pytest.fixture
def path(tmp_path):
    """A socket of this user alone, where nobody listens."""
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(folder / "s"))
        (folder / "s").chmod(0o600)
        yield folder / "s"


def test_a_socket_of_ones_own_in_a_folder_of_ones_own_is_trusted(path):
    handover.check_owner(str(path))
    path.parent.chmod(0o755)
    handover.check_owner(str(path))


def test_any_bit_for_the_group_or_others_on_the_socket_is_too_much(path):
    for bit in (0o040, 0o020, 0o010, 0o004, 0o002, 0o001):
        path.chmod(0o600 | bit)
        with pytest.raises(handover.ServeHere, match="of this user alone"):
            handover.check_owner(str(path))


def test_a_folder_in_which_others_can_replace_the_socket_is_neither_used_nor_listened_in(path):
    for bit in (0o020, 0o002):
        path.parent.chmod(0o700 | bit)
        with pytest.raises(handover.ServeHere, match="in a folder that others cannot change"):
            handover.check_owner(str(path))
        with pytest.raises(OSError, match="closed to others"):
            listening.listen_at(path)
    path.parent.chmod(0o755)
    listener, lock = listening.listen_at(path)
    listener.close()
    os.close(lock)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_neither_used_nor_listened_in(path):
    os.chown(path.parent, 12345, -1)
    with pytest.raises(handover.ServeHere, match="in a folder that others cannot change"):
        handover.check_owner(str(path))
    with pytest.raises(OSError, match="must belong to you"):
        listening.listen_at(path)


def test_a_file_that_is_not_a_socket_is_not_replaced(path):
    path.unlink()
    path.write_text("a person's")
    with pytest.raises(OSError, match="not a socket"):
        listening.listen_at(path)
    assert path.read_text() == "a person's"


def test_http_is_listened_for_at_a_host_of_either_family_or_at_a_path(tmp_path, monkeypatch):
    monkeypatch.setenv("LISTEN_PID", "1")  # systemd's socket is another process's
    create = Mock()
    monkeypatch.setattr(socket, "create_server", create)
    for host, family in (("127.0.0.1", socket.AF_INET), ("[::1]", socket.AF_INET6)):
        listening.listen_for_http(f"{host}:80")
        place = (host.strip("[]"), 80)
        create.assert_called_with(place, family=family, backlog=listening.BACKLOG)
    listener, is_kept = listening.listen_for_http(str(tmp_path / "s"))
    with listener:
        assert (listener.family, is_kept) == (socket.AF_UNIX, False)


def test_only_this_user_is_welcome_as_long_as_there_is_room(env, monkeypatch, caplog):
    env(MCP_MAX_SESSIONS=2)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert [resident.is_welcome(ours, count) for count in (1, 2)] == [True, False]
        assert theirs.recv(99).startswith(b"full: 2 sessions are running")
        user = os.getuid()
        monkeypatch.setattr(resident.os, "getuid", lambda: user + 1)
        assert not resident.is_welcome(ours, 1)
    assert "another user" in caplog.text


# Each written in its turn: a file, its text, the time of its change.
SOURCES = """
server.py | x | 1000
tools/deep/one.py | x | 1000
tools/deep/one.py | x | 1001
tools/deep/one.py | xx | 1001
tools/deep/two.py | xx | 1001
server.py | xx | 1000
"""


def test_changed_sources_are_other_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(handover, "PROJECT", str(tmp_path))
    (tmp_path / "tools" / "deep").mkdir(parents=True)
    identities = set()
    for name, text, changed_s in cases(SOURCES):
        (tmp_path / name).write_text(text)
        os.utime(tmp_path / name, (int(changed_s), int(changed_s)))
        identities.add(handover.identity())
    assert len(identities) == len(cases(SOURCES))


def test_the_socket_is_found_by_the_settings_file_below_the_runtime_folder_then_where_the_units_listen(
    tmp_path,
):
    environ = {"XDG_RUNTIME_DIR": "/run/user/7", "XDG_CONFIG_HOME": str(tmp_path)}
    assert places.sockets(environ) == ["/run/user/7/pi-mcp/socket", "/run/pi-mcp/socket"]
    (tmp_path / "pi-mcp").mkdir()
    (tmp_path / "pi-mcp" / "env").write_text("MCP_SOCKET=/elsewhere/socket\n")
    assert places.sockets(environ) == ["/elsewhere/socket"]


# How a session ends, and its exit status.
ENDS = [(ValueError("x"), 1), (ConnectionResetError(), 1), (SystemExit("x"), 1), (SystemExit(0), 0)]


@pytest.mark.parametrize("end, status", ENDS)
def test_a_session_ends_with_status_0_only_if_it_says_so(monkeypatch, end, status):
    monkeypatch.setattr(resident, "signal", Mock())
    monkeypatch.setattr(resident.os, "setsid", Mock())
    monkeypatch.setattr(resident.leaving, "leave", leave := Mock())
    resident._run_child(Mock(side_effect=end), Mock())
    leave.assert_called_once_with(status)
