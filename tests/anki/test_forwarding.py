"""Anki on the computer that an ssh session comes from: a forwarded socket of each client's own, over a real sshd."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.support.client import PROJECT
from tests.support.decks_only import decks_only
from tests.support.sshd import NO_SSHD, Sshd

if NO_SSHD:
    pytest.skip(NO_SSHD, allow_module_level=True)


@pytest.fixture
def anki_port():
    """Where Anki listens on the computer of the person."""
    with decks_only() as port:
        yield port


def forwarding(sshd, path, port, command):
    """The words of a session that brings its Anki along at `path`, as the README has it."""
    *words, target = sshd.ssh()
    return [*words, "-R", f"{path}:127.0.0.1:{port}", target, command]


def decks(sshd, path, port):
    command = f"cd {PROJECT} && ANKI_CONNECT_URL=unix:{path} {sys.executable} -m tools call anki.list_decks"
    done = subprocess.run(forwarding(sshd, path, port, command), capture_output=True, text=True, timeout=60)
    return done.stdout.strip() or done.stderr


@contextmanager
def session(sshd, path, port):
    """A session that has its forwarded socket."""
    command = f"until [ -S {path} ]; do sleep 0.05; done; echo there; cat"  # which ends with the client
    words = forwarding(sshd, path, port, command)
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "there\n"
        yield process
    finally:
        process.kill()
        process.communicate()


LISTED = '[{"id":1,"name":"Default"}]'


def test_two_clients_with_a_socket_each_both_have_anki_also_when_one_leaves(anki_port, tmp_path):
    with Sshd(StreamLocalBindUnlink="yes") as sshd:
        with session(sshd, tmp_path / "code.sock", anki_port):
            assert decks(sshd, tmp_path / "desktop.sock", anki_port) == LISTED
        assert decks(sshd, tmp_path / "desktop.sock", anki_port) == LISTED


def test_after_sleep_a_new_session_has_anki_at_once(anki_port, tmp_path):
    with Sshd(StreamLocalBindUnlink="yes") as sshd, session(sshd, tmp_path / "anki.sock", anki_port) as asleep:
        os.kill(asleep.pid, signal.SIGSTOP)
        assert decks(sshd, tmp_path / "anki.sock", anki_port) == LISTED


def test_without_the_setting_of_sshd_the_hint_names_the_way(anki_port, tmp_path):
    with Sshd() as sshd:
        assert decks(sshd, tmp_path / "anki.sock", anki_port) == LISTED
        refused = decks(sshd, tmp_path / "anki.sock", anki_port)
    assert "ANKI_UNREACHABLE" in refused
    assert "StreamLocalBindUnlink" in refused
