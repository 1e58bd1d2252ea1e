"""Small files: whole or not at all."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from tools.core.files import make_file, replace_file


def test_a_file_is_made_once_and_what_another_made_first_stays(tmp_path):
    path = tmp_path / "state" / "key"
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: make_file(path, bytes([number]) * 32), range(8)))
    first = path.read_bytes()
    assert len(first) == 32 and len(set(first)) == 1
    make_file(path, b"later")
    assert path.read_bytes() == first
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(path.parent) == ["key"]


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    folder = tmp_path / "state"
    (folder / "key").mkdir(parents=True)
    with pytest.raises(OSError):
        replace_file(folder / "key", "x")
    (folder / "file").touch()
    for write in (make_file, replace_file):
        with pytest.raises(OSError):
            write(folder / "file" / "key", "x")
    assert sorted(os.listdir(folder)) == ["file", "key"]
