"""Generations of pages in a checkout, made by hand: what a switch promises."""

import os
from unittest.mock import Mock

from tools.klipper.checkout import generations
from tools.klipper.settings import Source, folders_to_write


def test_pages_are_on_the_disk_before_readers_are_led_to_them(tmp_path, monkeypatch):
    new_folder = tmp_path / generations.STATE_FOLDER / "new-1"
    (new_folder / "docs").mkdir(parents=True)
    (new_folder / "docs/Page.md").touch()
    source = Source("", "file:///nowhere", "master", "docs", tmp_path)
    steps = Mock()
    steps.link.side_effect = generations.replace_link
    monkeypatch.setattr(generations.os, "sync", steps.sync)
    monkeypatch.setattr(generations, "replace_link", steps.link)
    generations.switch(source, new_folder, "2026-01-01_aaa")
    assert [name for name, *_ in steps.mock_calls] == ["sync", "link"]


def test_of_older_generations_only_the_previous_one_stays(tmp_path):
    source = Source("", "file:///nowhere", "master", "docs", tmp_path)
    folder = tmp_path / generations.STATE_FOLDER / generations.GENERATIONS
    for name in ("1_aaa", "2_bbb", "3_ccc"):
        (folder / name).mkdir(parents=True)
    generations.tidy(source, folder / "3_ccc")
    assert sorted(os.listdir(folder)) == ["2_bbb", "3_ccc"]


def test_a_sync_writes_to_the_checkout_and_to_one_folder_of_all_further_sources(env, docs):
    env(KLIPPER_DOCS_EXTRA="a=https://example.org/a.git b=https://example.org/b.git")
    assert folders_to_write() == [docs, docs.parent / ".klipper.extra"]
