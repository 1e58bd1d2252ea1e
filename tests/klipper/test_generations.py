"""Generations of pages in a checkout, made by hand: what a switch promises."""

from unittest.mock import Mock

import pytest

from tools.klipper.checkout import generations
from tools.klipper.settings import Source


@pytest.fixture
def source(tmp_path):
    (tmp_path / generations.STATE_FOLDER / generations.GENERATIONS).mkdir(parents=True)
    return Source("", "file:///nowhere", "master", "docs", tmp_path)


def switched(source, commit):
    """The generation that a fetch of this commit makes."""
    made = source.checkout / generations.STATE_FOLDER / f"new-{commit}"
    (made / "docs").mkdir(parents=True)
    (made / "docs/Page.md").write_text(commit)
    return generations._switch(source, made, f"2026-01-01_{commit}")


def test_pages_are_on_the_disk_before_readers_are_led_to_them(source, monkeypatch):
    steps = Mock()
    steps.link.side_effect = generations._link
    monkeypatch.setattr(generations.os, "sync", steps.sync)
    monkeypatch.setattr(generations, "_link", steps.link)
    switched(source, "aaa")
    assert [name for name, *_ in steps.mock_calls] == ["sync", "link"]
