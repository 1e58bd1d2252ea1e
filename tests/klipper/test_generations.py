"""Whoever reads while a sync switches sees one whole generation of pages."""

import os
import threading

import pytest

from tests.klipper.test_sync import assert_at_tip, done
from tests.klipper.upstreams import contents, page
from tools.core import calls
from tools.klipper import pages, sources


@pytest.fixture
def calling():
    """A call in progress, as every tool has one."""
    with calls.calling(lambda *_: None, lambda: False):
        yield


def read_all() -> dict[str, bytes]:
    return {one.path: one.file.read_bytes() for one in pages.pages()}


def test_a_call_sees_the_generation_it_began_with_to_its_end(docs, upstream, calling):
    done()
    before = upstream.pages()
    listed = list(pages.pages())
    upstream.commit({"docs/BLTouch.md": None, "docs/Bed_Mesh.md": page("two"), "docs/New.md": page("New")})
    sync_elsewhere()

    assert {one.path: one.file.read_bytes() for one in listed} == read_all() == before
    assert contents(docs / "docs") == upstream.pages()


def sync_elsewhere():
    """A sync in another thread, so in another call."""
    thread = threading.Thread(target=done)
    thread.start()
    thread.join()


def test_the_old_generation_is_removed_by_the_next_sync_once_nobody_reads_it(docs, upstream):
    done()
    with calls.calling(lambda *_: None, lambda: False):
        before = read_all()
        upstream.commit({"docs/Bed_Mesh.md": page("two")})
        sync_elsewhere()
        assert len(os.listdir(docs / ".pi-mcp/generations")) == 2
        assert read_all() == before
    done()

    assert_at_tip(docs, upstream)


def test_a_generation_removed_just_before_it_was_pinned_is_not_read(docs, upstream, monkeypatch):
    """The link is read, then a sync switches and removes what it led to."""
    done()
    pin, turns = sources.Pin, iter([True])

    def late(folder):
        if next(turns, False):
            upstream.commit({"docs/Bed_Mesh.md": page("two")})
            sync_elsewhere()
        return pin(folder)

    monkeypatch.setattr(sources, "Pin", late)

    assert read_all() == upstream.pages()


def test_pins_leave_no_descriptors_behind(docs, upstream):
    done()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        with calls.calling(lambda *_: None, lambda: False):
            read_all()
        read_all()
    assert len(os.listdir("/proc/self/fd")) == before
