"""The server's own start as the project's Python, which has the SDK."""

import os
import sys

import pytest

from tests.support.client import HANDSHAKE, PROJECT, pipe
from tools.service import handover

INITIALIZE = {"id": 1, "method": "initialize", "params": HANDSHAKE}


def test_started_without_its_packages_it_starts_again_with_them():
    if os.path.realpath(sys.prefix) != os.path.realpath(handover.VENV):
        pytest.skip("these tests do not run in the project's .venv")
    answers, status = pipe([INITIALIZE], [sys.executable, "-S", str(PROJECT / "server.py"), "--standalone"])
    assert (answers[0]["id"], status) == (1, 0)


def test_started_with_its_packages_it_does_not_start_again(monkeypatch):
    monkeypatch.setattr(handover, "VENV", sys.prefix)
    assert handover._is_in_venv()
    monkeypatch.setattr(handover, "VENV", "/elsewhere")
    assert not handover._is_in_venv()
