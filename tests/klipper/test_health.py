"""What `server.py --check` says of the documentation."""

from tests.klipper.test_foreign_checkout import state_of
from tests.klipper.test_sync import done
from tests.klipper.upstreams import Upstream, git, page
from tools.core import registry
from tools.core.health import CHECKS
from tools.klipper.checkout import freshness
from tools.klipper.health import health


def test_docs_that_are_not_here_are_not_set_up_and_the_advice_says_how(docs, upstream):
    found = health()
    assert found.state == "unset" and "sync_docs" in found.advice


def test_docs_that_are_here_are_counted_with_commit_and_date(docs, upstream):
    done()
    found = health()
    assert found.state == "ok" and found.advice == ""
    commit = git(docs, "log", "-1", "--format=%h %cs", "--abbrev=9")
    assert found.summary == f"klipper: 2 pages, {commit}, up to date at the last look"


def test_docs_that_are_behind_are_said_to_be(env, docs, upstream):
    done()
    upstream.commit({"docs/Bed_Mesh.md": page("two")})
    env(KLIPPER_DOCS_CHECK_INTERVAL=0)
    freshness.check()

    found = health()

    assert found.state == "ok" and "behind" in found.summary and "sync_docs" in found.advice


def test_a_source_that_is_not_here_yet_is_named(env, docs, upstream):
    done()
    env(KLIPPER_DOCS_EXTRA=f"more={Upstream(env() / 'more').url}")

    found = health()

    assert "more: 0 pages" in found.summary and "sync_docs" in found.advice


def test_looking_needs_no_lock_and_writes_nothing_into_the_checkout(docs, upstream):
    done()
    before = state_of(docs)
    health()
    assert state_of(docs) == before


def test_a_checkout_without_its_manifest_is_said_to_need_a_sync(docs, upstream):
    done()
    (docs / ".pi-mcp/current/.git/pi-mcp.json").write_bytes(b"")

    found = health()

    assert "damaged" in found.summary and "sync_docs" in found.advice


def test_the_check_is_declared():
    registry.load()
    assert CHECKS["klipper"] is health
