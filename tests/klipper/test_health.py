"""What `server.py --check` says of the documentation."""

import pytest

from tests.klipper.test_foreign_checkout import state_of
from tests.klipper.test_sync import done
from tests.klipper.upstreams import Upstream, git, page
from tools.core import registry
from tools.core.health import CHECKS
from tools.klipper.checkout import freshness
from tools.klipper.health import health

pytestmark = pytest.mark.slow


def test_what_the_check_says_of_the_docs(env, docs, upstream):
    registry.load()
    assert CHECKS["klipper"] is health
    found = health()
    assert found.state == "unset" and "sync_docs" in found.advice

    done()
    before = state_of(docs)
    found = health()
    commit = git(docs, "log", "-1", "--format=%h %cs", "--abbrev=9")
    assert (found.state, found.advice) == ("ok", "")
    assert found.summary == f"klipper: 2 pages, {commit}, up to date at the last look"
    assert state_of(docs) == before, "looking writes nothing"

    upstream.commit({"docs/Bed_Mesh.md": page("two")})
    env(KLIPPER_DOCS_CHECK_INTERVAL=0)
    freshness.check()
    found = health()
    assert found.state == "ok" and "behind" in found.summary and "sync_docs" in found.advice

    env(KLIPPER_DOCS_EXTRA=f"more={Upstream(env() / 'more').url}")
    assert "more: 0 pages" in health().summary and "sync_docs" in health().advice
