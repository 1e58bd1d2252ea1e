"""The check at start: what it says, when, and how sessions share it."""

import json
import logging
import os
import shutil
import subprocess
import sys
import threading

import pytest

from tests.klipper.test_foreign_checkout import state_of
from tests.klipper.test_sync import done
from tests.klipper.test_sync_failures import command
from tests.klipper.upstreams import Upstream, page
from tests.support.services import wait_until
from tools.core import registry, settings
from tools.klipper.checkout import freshness

NOTE = "(РЕКОМЕНДУЕТСЯ: база устарела)"


@pytest.fixture
def heard(monkeypatch):
    """How often the list of tools was said to have changed."""
    times = []
    monkeypatch.setattr(registry, "LISTENERS", [lambda: times.append(described())])
    return times


@pytest.fixture
def behind(env, docs, upstream):
    """A checkout one commit behind its upstream, checked at every start."""
    done()
    upstream.commit({"docs/Bed_Mesh.md": page("two")})
    env(KLIPPER_DOCS_CHECK_INTERVAL=0)
    return upstream


def described() -> bool:
    """Whether the description of sync_docs recommends a sync."""
    tool = registry.find("sync_docs", registry.listed(settings.current()).values())
    return NOTE in tool.description


def stamp(env) -> dict:
    return json.loads((env() / "home/state/klipper-docs.json").read_text())


def test_the_check_is_declared_a_job_for_the_start():
    registry.load()
    assert freshness.check in registry.START_JOBS


def test_a_checkout_that_is_behind_is_said_on_stderr_and_in_the_description(docs, behind, heard, caplog):
    before = state_of(docs)

    freshness.check()

    assert heard == [True]
    assert [record.levelno for record in caplog.records] == [logging.WARNING] and "sync_docs" in caplog.text
    assert state_of(docs) == before, "the upstream is asked for its tip, and nothing is fetched"


def test_a_sync_takes_the_note_away_and_tells_so(docs, behind, heard):
    freshness.check()

    done()

    assert heard == [True, False]
    assert not described()


def test_a_failed_sync_leaves_the_note(docs, behind, heard):
    freshness.check()
    behind.folder.rename(behind.folder.with_name("away"))

    from tests.klipper.test_sync import sync

    assert not sync()["success"]
    assert described() and heard == [True]


def test_an_up_to_date_checkout_says_nothing(env, docs, upstream, heard, caplog):
    done()
    env(KLIPPER_DOCS_CHECK_INTERVAL=0)

    freshness.check()

    assert heard == [] and caplog.text == "" and not described()


def test_without_network_there_is_one_line_on_stderr_and_nothing_else(env, docs, behind, heard, caplog):
    behind.folder.rename(behind.folder.with_name("away"))

    freshness.check()

    assert len(caplog.records) == 1 and heard == [] and not described()


def test_the_note_of_the_last_check_outlives_a_network_that_is_gone(env, docs, behind, caplog):
    freshness.check()
    behind.folder.rename(behind.folder.with_name("away"))

    freshness.check()

    assert described()


def test_docs_that_are_not_here_are_not_checked(env, docs, upstream, caplog):
    freshness.check()

    assert caplog.text == "" and not docs.exists() and not described()


def test_sessions_share_one_check_an_interval(env, docs, behind, caplog):
    env(KLIPPER_DOCS_CHECK_INTERVAL=3600)
    freshness.check()
    assert not described(), "the sync before has just compared"
    forget(env)
    freshness.check()
    assert described()
    behind.folder.rename(behind.folder.with_name("away"))
    caplog.clear()

    freshness.check()

    assert "not asked" not in caplog.text
    assert len(caplog.records) == 1, "a new session says too that the docs are behind"


def forget(env) -> None:
    (env() / "home/state/klipper-docs.json").write_text(json.dumps({**stamp(env), "checked": 0}))


def test_an_attempt_without_network_counts_for_the_interval(env, docs, behind, caplog):
    env(KLIPPER_DOCS_CHECK_INTERVAL=3600)
    forget(env)
    behind.folder.rename(behind.folder.with_name("away"))
    freshness.check()
    caplog.clear()

    freshness.check()

    assert caplog.text == ""


@pytest.fixture
def traced(env):
    """The calls of git, each written to a file before `wait` lets it go on."""
    trace, program = env() / "trace", env() / "bin/git"
    real = shutil.which("git")

    def wrap(wait=""):
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\necho "$@" >> {trace}\n{wait}\nexec {real} "$@"\n')
        program.chmod(0o755)
        env(PATH=f"{program.parent}:{os.environ['PATH']}")
        return lambda: sum(" ls-remote " in line for line in trace.read_text().splitlines()) if trace.exists() else 0

    return wrap


CHECK = command("from tools.klipper.checkout import freshness", "freshness.check()")


def test_two_that_start_at_once_check_once(env, docs, behind, traced):
    env(KLIPPER_DOCS_CHECK_INTERVAL=3600)
    forget(env)
    asked = traced()

    both = [subprocess.Popen(CHECK) for _ in range(2)]

    assert [one.wait() for one in both] == [0, 0]
    assert asked() == 1
    assert described()


@pytest.fixture
def checking(env, docs, behind, traced):
    """Another session in the middle of its check: its process, the file that lets it go on, and how often was asked."""
    env(KLIPPER_DOCS_CHECK_INTERVAL=3600)
    forget(env)
    go = env() / "go"
    os.mkfifo(go)
    asked = traced(f'case "$*" in *ls-remote*) read -r _ < {go} ;; esac')
    other = subprocess.Popen(CHECK)
    wait_until(asked)
    return other, go, asked


def test_a_session_that_starts_during_anothers_check_hears_what_it_finds(checking, heard):
    other, go, asked = checking
    mine = threading.Thread(target=freshness.check)
    mine.start()
    go.write_text("go\n")

    assert other.wait() == 0
    mine.join()
    assert heard == [True] and asked() == 1


def test_a_check_that_was_killed_does_not_count(checking, traced):
    cut, go, asked = checking
    cut.kill()
    cut.wait()
    go.write_text("go\n")
    traced()

    freshness.check()

    assert described() and asked() == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"x": 1}', "null", '"\\ud800"', b"\xff\xfe"])
def test_a_broken_stamp_is_no_stamp(env, docs, behind, text):
    env(KLIPPER_DOCS_CHECK_INTERVAL=3600)
    file = env() / "home/state/klipper-docs.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert not described()

    freshness.check()

    assert described()


def test_a_stamp_of_strange_members_is_no_stamp(env, docs, behind):
    env(KLIPPER_DOCS_CHECK_INTERVAL=3600)
    entry = stamp(env)
    for wrong in ({"checked": "now"}, {"checked": None}, {"checked": 9e99}, {"upstream": {}}):
        (env() / "home/state/klipper-docs.json").write_text(json.dumps({**entry, **wrong}))
        assert not described()
    freshness.check()
    (env() / "home/state/klipper-docs.json").write_text(json.dumps(7))
    freshness.check()
    assert described()


def test_a_clock_that_was_ahead_does_not_stop_the_checks(env, docs, behind):
    """A Pi has no clock of its own: after a start without network its time may be anything."""
    env(KLIPPER_DOCS_CHECK_INTERVAL=3600)
    entry = stamp(env)
    (env() / "home/state/klipper-docs.json").write_text(json.dumps({**entry, "checked": entry["checked"] + 86400}))

    freshness.check()

    assert described()


def test_another_address_in_the_settings_makes_the_stamp_void(env, docs, behind):
    freshness.check()
    env(KLIPPER_DOCS_URL=Upstream(env() / "other").url)

    assert not described()


def test_read_only_mode_checks_nothing(env, docs, behind, caplog):
    env(MCP_READ_ONLY=1)
    freshness.check()
    assert caplog.text == "" and not freshness.note()


def test_a_state_folder_that_cannot_be_written_is_one_line_on_stderr(env, docs, behind, caplog):
    (env() / "file").write_text("")
    env(MCP_STATE_DIR=env() / "file")

    freshness.check()

    assert len(caplog.records) == 1


def test_one_of_several_sources_behind_is_enough(env, docs, upstream):
    other = Upstream(env() / "other")
    env(KLIPPER_DOCS_EXTRA=f"other={other.url}", KLIPPER_DOCS_CHECK_INTERVAL=0)
    done()
    other.commit({"docs/Bed_Mesh.md": page("two")})

    freshness.check()

    assert described()


def test_the_note_costs_no_process(docs, behind, monkeypatch):
    freshness.check()
    monkeypatch.setattr(subprocess, "Popen", None)
    assert described()


def test_importing_the_sync_imports_nothing_that_only_a_call_needs():
    words = command("import tools.klipper.sync_docs, tools.klipper.health", "print(*sys.modules)")
    loaded = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert not {"subprocess", "tempfile", "shutil", "urllib.request"} & set(loaded), sys.version
