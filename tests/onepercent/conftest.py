"""A database of its own, and a clock that only the test turns, for every test of OnePercent."""

import os

import hypothesis
import pytest

from tests.onepercent.person import Clock, use
from tools.core import settings
from tools.onepercent.base import days
from tools.onepercent.database import store

# The same lives on every machine; RANDOM_LIVES=1 draws new ones.
hypothesis.settings.register_profile(
    "any machine", deadline=None, derandomize="RANDOM_LIVES" not in os.environ
)
hypothesis.settings.load_profile("any machine")


@pytest.fixture(autouse=True)
def file(tmp_path):
    """The database file, not made yet."""
    before = dict(os.environ)
    use(tmp_path / "life.sqlite3")
    yield tmp_path / "life.sqlite3"
    store.release()
    os.environ.clear()
    os.environ.update(before)
    settings.forget()


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Noon of a Wednesday."""
    clock = Clock()
    monkeypatch.setattr(days, "now", clock)
    return clock
