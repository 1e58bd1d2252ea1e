"""Small files, whole or not at all; locks between threads and processes."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from tests.support.client import PROJECT, TIMEOUT_S, Client
from tools import listing
from tools.core import calls, files, presses, settings
from tools.core.errors import Cancelled, ToolError
from tools.core.files import exclusive_lock, replace_file

make_file = partial(replace_file, keeps_existing=True)


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


def test_content_is_on_the_disk_before_its_name_and_the_name_before_the_write_returns(
    tmp_path, monkeypatch
):
    steps = []
    replace = os.replace

    def synced(handle):
        steps.append("folder" if os.path.isdir(f"/proc/self/fd/{handle}") else "file")

    monkeypatch.setattr(files.os, "fsync", synced)
    monkeypatch.setattr(files.os, "replace", lambda *paths: steps.append("name") or replace(*paths))
    replace_file(tmp_path / "key", "x")
    assert steps == ["file", "name", "folder"]


@pytest.fixture
def saved_at(monkeypatch):
    """A function that makes the listing of a number the saved one, and returns its path."""

    def place(number):
        path = settings.current().state_dir / f"listing-{number:08x}.json"
        monkeypatch.setattr(listing, "_path", lambda: path)
        return path

    return place


def test_saved_listings_do_not_pile_up_and_one_of_another_user_is_not_taken(saved_at):
    for number in range(listing.MOST_KEPT + 2):
        path = saved_at(number)
        listing.save({"tools": []})
        os.utime(path, (number, number))
    assert len(os.listdir(path.parent)) == listing.MOST_KEPT
    assert path.exists() and listing.load()
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
        assert listing.load() == {}


def test_a_saved_listing_with_a_flipped_bit_is_not_taken(saved_at):
    path = saved_at(1)
    saved = {"tools": [{"name": "a", "description": "б" * 50}], "toolsets": {"a": "x"}}
    listing.save(saved)
    whole = path.read_bytes()
    assert listing.load() == saved
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        assert listing.load() in ({}, saved), bit
    for damaged in (b"", whole[:-1], b"{}", b'{"tools": []}', b"\n" + whole):
        path.write_bytes(damaged)
        assert listing.load() == {}
    path.unlink()
    assert listing.load() == {}


def test_what_killed_writes_left_is_removed_by_the_next_and_what_runs_is_left_alone(tmp_path):
    folder = tmp_path / "state"
    folder.mkdir()
    gone = 2**22 + 1  # no process has a number above that
    of_another_program = f".key.{gone}.0123abcd"
    others = {f".key.{os.getppid()}.0123abcd.pi-mcp", of_another_program, ".hidden"}
    for name in (f".day.zip.{gone}.0123abcd.pi-mcp", *others):
        (folder / name).touch()
    replace_file(folder / "key", "x")
    assert {*os.listdir(folder)} == {"key", *others}


HOLD = """
import sys
from tools.core.files import exclusive_lock
with exclusive_lock("anki"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder():
    """Another process that holds the lock `anki` until it is killed."""
    with Client(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(PROJECT)!r}){HOLD}"]
    ) as client:
        assert client.messages.get(timeout=TIMEOUT_S) == b"held\n"
        yield client.process


def take(name, **options):
    with exclusive_lock(name, **options):
        pass


@pytest.mark.slow
def test_a_lock_held_by_another_process_is_waited_for_and_then_named(holder):
    with pytest.raises(ToolError, match="Another session") as error:
        take("anki", timeout_s=0.1)
    assert error.value.code == "BUSY"
    take("klipper", timeout_s=0)  # another name is another lock


@pytest.mark.slow
def test_a_lock_is_free_once_its_holder_is_killed(holder):
    holder.kill()
    holder.wait()
    take("anki", timeout_s=10)


def test_a_lock_is_not_entered_twice_and_waiting_stops_when_the_call_is_withdrawn():
    with exclusive_lock("anki"), calls.calling(calls.RunningCall(cancelled=lambda: True)):
        for error, timeout_s in ((ToolError, 0), (Cancelled, 1)):
            with pytest.raises(error):
                take("anki", timeout_s=timeout_s)


def test_a_state_folder_that_cannot_be_made_says_what_to_do(env, tmp_path):
    (tmp_path / "file").touch()
    env(MCP_STATE_DIR=tmp_path / "file" / "state")
    with pytest.raises(ToolError, match="Cannot write") as error:
        take("anki")
    assert "MCP_STATE_DIR" in error.value.hint


@pytest.mark.parametrize(
    "in_its_place", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), os.mkdir]
)
def test_what_is_not_a_plain_file_in_place_of_a_listing_or_a_secret_is_never_waited_for(
    tmp_path, in_its_place
):
    """Nor read without end: whoever may write to the state folder could stop every start."""
    saved = listing._path()
    saved.parent.mkdir(exist_ok=True)
    in_its_place(saved)
    assert listing.load() == {}
    in_its_place(tmp_path / "press.key")
    with pytest.raises(OSError):
        presses.make_key(tmp_path / "press.key", "a preview")


def test_a_secret_that_the_group_or_others_can_read_is_not_used(tmp_path):
    secret = tmp_path / "press.key"
    presses.make_key(secret, "a preview")
    for mode in (0o640, 0o604):
        secret.chmod(mode)
        with pytest.raises(ToolError, match="others can read it"):
            presses.make_key(secret, "a preview")
