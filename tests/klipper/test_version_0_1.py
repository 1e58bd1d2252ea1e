"""A checkout that version 0.1 made goes on, and what was edited in it is kept."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.klipper.test_freshness import described
from tests.klipper.test_sync import assert_at_tip, done
from tests.klipper.test_sync_failures import BREAKING, MAIN, command
from tests.klipper.upstreams import Upstream, contents, git, page
from tools.klipper.checkout import freshness
from tools.klipper.pages import pages

CONFIG = {
    "core.sparseCheckout": "true",
    "core.sparseCheckoutCone": "false",
    "extensions.partialClone": "origin",
    "remote.origin.promisor": "true",
    "remote.origin.partialclonefilter": "blob:none",
    "branch.master.remote": "origin",
    "branch.master.merge": "refs/heads/master",
}


def made_by_version_0_1(folder: Path, upstream: Upstream) -> None:
    """What version 0.1 left at the upstream's tip."""
    folder.parent.mkdir(exist_ok=True)
    git(folder.parent, "init", "-q", "-b", "master", "--template=", str(folder))
    git_dir = folder / ".git"
    (git_dir / "info").mkdir()
    (git_dir / "info/exclude").write_text("/local-edits/\n")
    (git_dir / "info/sparse-checkout").write_text("/docs/\n")
    git(folder, "remote", "add", "origin", upstream.url)
    for name, value in CONFIG.items():
        git(folder, "config", name, value)
    git(folder, "fetch", "-q", "--depth=1", "--filter=blob:none", "--no-tags", "origin")
    git(folder, "checkout", "-q", "-B", "master", "origin/master")
    git(folder, "update-ref", f"refs/pi-mcp/seen/{upstream.tip}", upstream.tip)
    assert contents(folder / "docs") == upstream.pages() and not (folder / "src").exists()


@pytest.fixture
def old(docs, upstream):
    made_by_version_0_1(docs, upstream)
    return docs


def test_it_is_read_and_checked_before_any_sync(env, old, upstream):
    assert [one.path for one in pages()] == ["BLTouch.md", "Bed_Mesh.md"]
    upstream.commit({"docs/New.md": page("New")})
    env(KLIPPER_DOCS_CHECK_INTERVAL=0)

    freshness.check()

    assert described()


def test_a_sync_brings_it_to_the_tip_and_tells_the_changes(old, upstream):
    before = upstream.tip
    upstream.commit({"docs/New.md": page("New"), "docs/BLTouch.md": None, "docs/Bed_Mesh.md": page("Bed Mesh") + "x\n"})

    answer = done()

    assert answer["status"] == "updated" and answer["old"].startswith(before[:9])
    assert (answer["added"], answer["changed"], answer["removed"]) == (
        {"New.md": len(page("New"))},
        {"Bed_Mesh.md": 2},
        {"BLTouch.md": -len(page("BLTouch"))},
    )
    assert "local_edits" not in answer
    assert_at_tip(old, upstream)


def test_one_that_is_at_the_tip_is_brought_over_too(old, upstream):
    answer = done()

    assert answer["status"] == "already up to date" and "local_edits" not in answer
    assert_at_tip(old, upstream)


def test_edits_commits_and_files_beside_the_docs_are_kept(old, upstream):
    (old / "docs/Bed_Mesh.md").write_text("my notes\n")
    git(old, "commit", "-q", "-am", "mine")
    mine = git(old, "rev-parse", "HEAD")
    (old / "docs/BLTouch.md").write_text("more notes\n")
    (old / "docs/Mine.md").write_text("mine\n")
    (old / "local-edits/edits-1/docs").mkdir(parents=True)
    (old / "local-edits/edits-1/docs/Old.md").write_text("earlier\n")
    (old / "beside.txt").write_text("beside\n")
    upstream.commit({"docs/Bed_Mesh.md": page("Bed Mesh, 2")})

    edits = done()["local_edits"]

    kept = contents(Path(edits["moved_to"]) / "docs")
    assert kept["BLTouch.md"] == b"more notes\n" and kept["Mine.md"] == b"mine\n"
    assert git(Path(edits["moved_to"]), "show", f"{mine}:docs/Bed_Mesh.md") == "my notes"
    assert (old / "local-edits/edits-1/docs/Old.md").read_text() == "earlier\n"
    assert (old / "beside.txt").read_text() == "beside\n"
    assert_at_tip(old, upstream)


@pytest.mark.parametrize("name", ["HEAD", "config", "objects", "refs/heads/master"])
def test_a_damaged_one_is_brought_over_without_losing_edits(old, upstream, name):
    (old / "docs/BLTouch.md").write_text("my notes\n")
    upstream.commit({"docs/Bed_Mesh.md": page("Bed Mesh, 2")})
    path = old / ".git" / name
    for file in [path] if path.is_file() else path.rglob("*.pack"):
        file.chmod(0o600)
        file.write_bytes(b"")

    edits = done()["local_edits"]

    assert contents(Path(edits["moved_to"]) / "docs")["BLTouch.md"] == b"my notes\n"
    assert_at_tip(old, upstream)


def test_programs_named_in_its_configuration_do_not_run(env, old, upstream):
    evil = env() / "evil"
    for name in ("remote.origin.uploadpack", "core.fsmonitor", "core.sshCommand", "core.alternateRefsCommand"):
        git(old, "config", name, f"touch {evil} #")
    for pack in (old / ".git/objects/pack").glob("*.pack"):
        pack.chmod(0o600)
        pack.write_bytes(b"")

    done()

    assert not evil.exists()
    assert_at_tip(old, upstream)


def test_further_repositories_of_it_stay_where_they_are(env, old, upstream):
    other = Upstream(env() / "other")
    made_by_version_0_1(old.parent / "other", other)
    other.commit({"docs/New.md": page("New")})
    env(KLIPPER_DOCS_EXTRA=f"other={other.url}")

    done()

    assert_at_tip(old.parent / "other", other)
    assert not (old.parent / ".klipper.extra").exists()


def test_killed_between_any_two_steps_it_is_readable_and_the_next_sync_goes_on(old, upstream):
    (old / "docs/Bed_Mesh.md").write_text("edited here\n")
    states = [contents(old / "docs")]
    upstream.commit({"docs/New.md": page("New"), "docs/Bed_Mesh.md": page("Bed Mesh, 2")})
    states.append(upstream.pages())
    dying_after = command(BREAKING, MAIN)
    for steps in range(400):
        killed = subprocess.run([*dying_after, str(steps)], capture_output=True, check=False)
        assert {one.path: one.file.read_bytes() for one in pages()} in states
        if killed.returncode == 0:
            break
    assert steps >= 20
    assert_at_tip(old, upstream)
    kept = [text for path, text in contents(old / "local-edits").items() if path.endswith("Bed_Mesh.md")]
    assert kept == [b"edited here\n"]
    assert os.listdir(old / "local-edits") and not (old / ".pi-mcp/generations/0").exists()
