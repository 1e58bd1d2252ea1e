"""Where the services listen, and whom they and their callers trust: this user alone."""

import os
import socket
from unittest.mock import Mock

import pytest

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
