"""Generations of pages in a checkout, made by hand: what a switch and the tidying after it promise."""

from pathlib import Path

import pytest

from tools.klipper.checkout import generations
from tools.klipper.settings import Source


@pytest.fixture
def source(tmp_path):
    checkout = tmp_path / "checkout"
    (checkout / generations.STATE_FOLDER / generations.GENERATIONS).mkdir(parents=True)
    return Source("", "file:///nowhere", "master", "docs", checkout)


def switched(source, commit):
    """The generation that a fetch of this commit makes."""
    made = source.checkout / generations.STATE_FOLDER / f"new-{commit}"
    (made / "docs").mkdir(parents=True)
    (made / "docs" / "Page.md").write_text(commit)
    return generations._switch(source, made, f"2026-01-01_{commit}")


def test_pages_are_on_the_disk_before_readers_are_led_to_them(source, monkeypatch):
    steps = []
    link = generations._link
    monkeypatch.setattr(generations.os, "sync", lambda: steps.append("sync"))
    monkeypatch.setattr(generations, "_link", lambda *words: steps.append("link") or link(*words))
    switched(source, "aaa")
    assert steps == ["sync", "link"]


def test_the_previous_generation_stays_for_calls_that_read_it_and_older_ones_go(source):
    first, second, third = (switched(source, commit) for commit in ("aaa", "bbb", "ccc"))
    assert generations._tidy(source, third) == {}
    assert (first.exists(), second.exists(), third.exists()) == (False, True, True)
    assert (second / "docs" / "Page.md").read_text() == "bbb"


def test_what_a_person_wrote_in_a_generation_is_put_aside_and_named(source):
    first, _, third = (switched(source, commit) for commit in ("aaa", "bbb", "ccc"))
    (first / "docs" / "Page.md").write_text("my notes")
    answer = generations._tidy(source, third)
    assert answer["pages"] == [f"{first.name}/docs/Page.md"]
    assert (Path(answer["moved_to"]) / answer["pages"][0]).read_text() == "my notes"
    assert not first.exists()
