"""Whom the resident service takes a session from."""

import os
import socket

from tools.resident import resident


def test_only_this_user_is_welcome_and_only_while_there_is_room(env, monkeypatch, caplog):
    env(MCP_MAX_SESSIONS=2)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert resident._is_welcome(ours, 1)
        assert not resident._is_welcome(ours, 2)
        assert b"2 sessions are running" in theirs.recv(1000)
        user = os.getuid()
        monkeypatch.setattr(resident.os, "getuid", lambda: user + 1)
        assert not resident._is_welcome(ours, 1)
    assert "another user" in caplog.text
