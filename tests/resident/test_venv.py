"""The server's own start as the project's Python, which has the SDK."""

import pytest

from tests.support.client import HANDSHAKE, PROJECT, PYTHON, SERVING, pipe

INITIALIZE = {"id": 1, "method": "initialize", "params": HANDSHAKE}


@pytest.mark.slow
def test_started_without_its_packages_it_starts_again_with_them():
    if not SERVING.exists():
        pytest.skip("there is no .venv")
    answers, status = pipe([INITIALIZE], [PYTHON, "-S", str(PROJECT / "server.py"), "--standalone"])
    assert (answers[0]["id"], status) == (1, 0)
