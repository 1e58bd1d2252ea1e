"""The check at start: what it says, when, and how sessions share it."""

import json
import logging
import subprocess

import pytest

from tests.klipper.test_foreign_checkout import state_of
from tests.klipper.test_sync import commit_of, sync, synced
from tests.klipper.test_sync_failures import command
from tests.klipper.upstreams import Upstream
from tools.core import registry, toolsets
from tools.core.health import CHECKS
from tools.klipper.checkout.freshness import announcing, at_start, note, remember
from tools.klipper.settings import CURRENT, STATE_FOLDER, sources
from tools.klipper.sync_docs import health


@pytest.fixture
def announcements(monkeypatch):
    """What the description recommended whenever the list of tools was said to have changed."""
    times = []
    monkeypatch.setattr(toolsets, "LISTENERS", [lambda: times.append(recommends_sync())])
    return times


def recommends_sync():
    """Whether the description of sync_docs recommends a sync."""
    tool = registry.tool_named("sync_docs", registry.listed_tools().values())
    return "(РЕКОМЕНДУЕТСЯ: база устарела)" in tool.description


def test_a_tip_that_is_not_the_commit_of_the_pages_brings_the_note_and_tells_the_session(
    docs, announcements
):
    folder = docs / STATE_FOLDER
    folder.mkdir(parents=True)
    (folder / CURRENT).symlink_to("1_old")
    for tip in ("old", "old", "new"):
        with announcing():
            remember(*sources(), tip)
    assert announcements == [True]


@pytest.mark.slow
def test_a_checkout_that_is_behind_is_said_until_a_sync(docs, behind, announcements, caplog):
    registry.load()
    assert list(registry.start_jobs()) == [at_start]
    before = state_of(docs)

    at_start()

    (record,) = caplog.records
    assert record.levelno == logging.WARNING and "sync_docs" in record.message
    assert state_of(docs) == before, "the upstream is asked for its tip, and nothing is fetched"
    synced()
    assert announcements == [True, False] and not recommends_sync()


@pytest.mark.slow
def test_a_failed_sync_leaves_the_note(docs, behind, announcements):
    at_start()
    behind.go_away()
    assert not sync()["success"]
    assert recommends_sync() and announcements == [True]


@pytest.mark.slow
def test_what_is_up_to_date_or_not_here_or_only_read_is_not_said(
    env, docs, upstream, announcements, caplog
):
    at_start()
    assert not docs.exists()
    synced()
    env(KLIPPER_DOCS_CHECK_INTERVAL=0)
    at_start()
    upstream.publish("Bed_Mesh", "two")
    env(MCP_READ_ONLY=1)
    at_start()
    assert announcements == [False] and caplog.text == "" and not note()


@pytest.fixture
def expired_stamp(env, behind):
    """The file of a checkout's stamp, whose interval of an hour is over."""
    env(KLIPPER_DOCS_CHECK_INTERVAL=3600)
    file = env() / "home/state/klipper-docs.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"checked": 0}))
    return file


@pytest.mark.slow
def test_sessions_share_one_check_an_interval(expired_stamp, behind, caplog):
    at_start()
    behind.go_away()
    caplog.clear()

    at_start()

    assert recommends_sync() and "not asked" not in caplog.text
    assert len(caplog.records) == 1, "a new session says too that the docs are behind"


@pytest.mark.slow
def test_without_network_there_is_one_line_an_interval_on_stderr_and_nothing_else(
    expired_stamp, behind, announcements, caplog
):
    behind.go_away()
    at_start()
    assert len(caplog.records) == 1 and announcements == [] and not recommends_sync()
    caplog.clear()
    at_start()
    assert caplog.text == ""


@pytest.mark.slow
def test_a_broken_stamp_or_one_of_the_future_does_not_stop_the_checks(expired_stamp):
    """A Pi has no clock of its own: after a start without network its time may be anything."""
    of_the_future = json.dumps(json.loads(expired_stamp.read_text()) | {"checked": 4e9})
    for text in ("{", '{"x": 1}', "\0", of_the_future):
        expired_stamp.write_text(text)
        assert not recommends_sync()
        at_start()
        assert recommends_sync()


@pytest.mark.slow
def test_another_address_makes_the_stamp_void_and_one_of_several_sources_behind_is_enough(
    env, docs, behind
):
    at_start()
    other = Upstream(env() / "other")
    env(KLIPPER_DOCS_URL=other.url)
    assert not recommends_sync()

    env(KLIPPER_DOCS_URL=behind.url, KLIPPER_DOCS_EXTRA=f"other={other.url}")
    synced()
    other.publish("Bed_Mesh", "two")
    at_start()
    assert recommends_sync()


@pytest.mark.slow
def test_importing_the_sync_imports_nothing_that_only_a_call_needs():
    words = command("import tools.klipper.sync_docs", "print(*sys.modules)")
    loaded = subprocess.check_output(words, text=True).split()
    assert {"subprocess", "tempfile", "shutil", "urllib.request"}.isdisjoint(loaded)


@pytest.mark.slow
def test_what_the_check_says_of_the_docs(env, docs, upstream):
    registry.load()
    health_report = CHECKS["klipper"]()
    assert health_report.state == "unset" and "sync_docs" in health_report.advice

    synced()
    before = state_of(docs)
    health_report = health()
    assert (health_report.state, health_report.advice) == ("ok", "")
    assert (
        health_report.summary == f"klipper: 2 pages, {commit_of(docs)}, up to date at the last look"
    )
    assert state_of(docs) == before, "looking writes nothing"

    upstream.publish("Bed_Mesh", "two")
    env(KLIPPER_DOCS_CHECK_INTERVAL=0)
    at_start()
    health_report = health()
    assert (
        health_report.state == "ok"
        and "behind" in health_report.summary
        and "sync_docs" in health_report.advice
    )

    env(KLIPPER_DOCS_EXTRA=f"more={Upstream(env() / 'more').url}")
    assert "more: 0 pages" in health().summary and "sync_docs" in health().advice
