"""sync_docs: what it answers and where it ends, on real histories."""

import os
from pathlib import Path

import pytest

from tests.klipper.asking import call
from tests.klipper.upstreams import Upstream, contents, git, page, smart_http
from tests.support.web import listening
from tools.core import calls
from tools.klipper.settings import sources

pytestmark = pytest.mark.slow


def sync(**arguments):
    """The answer of sync_docs, through its whole wrapper stack."""
    return call("sync_docs", **arguments)


def synced(**arguments):
    """The answer of a sync that must succeed."""
    answer = sync(**arguments)
    assert answer["success"], answer
    return answer


def commit_of(docs):
    """The commit of a checkout, as the tools name it."""
    return git(docs, "log", "-1", "--format=%h %cs", "--abbrev=9")


def assert_at_tip(docs, upstream, branch="master"):
    assert contents(docs / "docs") == upstream.pages()
    assert git(docs, "rev-parse", "HEAD") == git(docs, "rev-parse", "@{u}") == upstream.tip
    assert git(docs, "symbolic-ref", "HEAD") == f"refs/heads/{branch}"
    assert git(docs, "status", "--porcelain") == ""
    git(docs, "fsck", "--connectivity-only")
    state = docs / ".pi-mcp"
    assert sorted(os.listdir(state)) == ["current", "generations", "lock"]
    kept = os.listdir(state / "generations")
    assert len(kept) <= 2 and max(kept) == (state / "current").resolve().name


@pytest.mark.smoke
def test_the_first_call_clones_only_the_docs_shallow_and_without_other_contents(docs, upstream):
    upstream.publish("Bed_Mesh", "Bed Mesh, again")

    answer = synced()

    assert (answer["status"], answer["old"]) == ("cloned", None)
    assert answer["new"] == commit_of(docs)
    assert answer["added"] == sorted(upstream.pages())
    assert_at_tip(docs, upstream)
    assert not (docs / "src").exists()
    assert git(docs, "rev-list", "--count", "HEAD") == "1"
    code = git(upstream.folder, "rev-parse", "HEAD:src/code.c")
    assert f"?{code}" in git(docs, "rev-list", "--objects", "--missing=print", "HEAD")
    assert synced() == {"success": True, "status": "already up to date", "new": answer["new"]}


def test_the_answer_names_each_page_by_what_became_of_it(docs, upstream):
    upstream.commit({"docs/img/x.png": "PNG", "docs/Gone.md": page("Gone", 9)})
    old = synced()["new"]
    upstream.commit(
        {
            "docs/Bed_Mesh.md": page("Bed Mesh") + "more\n",
            "docs/New.md": "# New\n",
            "docs/Gone.md": None,
            "docs/BLTouch.md": None,
            "docs/probe/BLTouch.md": page("BLTouch") + "moved\n",
            "docs/img/x.png": "PNG2",
        }
    )

    answer = synced()

    assert (answer["status"], answer["old"]) == ("updated", old)
    assert answer["changed"] == ["Bed_Mesh.md"]
    assert answer["added"] == ["New.md", "probe/BLTouch.md"]
    assert answer["removed"] == ["BLTouch.md", "Gone.md"]
    assert_at_tip(docs, upstream)


def test_a_call_that_began_before_a_sync_ends_with_the_pages_it_began_with(docs, upstream):
    synced()
    source, *_ = sources()  # as a call looks at them, once
    upstream.publish("Bed_Mesh", "Bed Mesh, again")
    synced()
    assert (source.root / "Bed_Mesh.md").read_text() == page("Bed Mesh")
    upstream.publish("Bed_Mesh", "Bed Mesh, once more")
    synced()
    assert not source.root.exists()


@pytest.mark.parametrize("back, forth", [(0, 5), (1, 1), (1, 0)])
def test_whatever_became_of_the_history_the_sync_ends_at_its_tip(docs, upstream, back, forth):
    """Several commits, a forced push, and one commit less."""
    upstream.publish("Draft")
    synced()
    git(upstream.folder, "reset", "-q", "--hard", f"HEAD~{back}")
    for number in range(forth):
        upstream.publish(f"P{number}")

    assert "local_edits" not in synced()

    assert_at_tip(docs, upstream)
    assert git(docs, "rev-list", "--count", "HEAD") == "1"


def test_another_default_branch_another_one_in_the_settings_and_another_address_are_followed(
    env, docs, upstream
):
    synced()
    # A name below the one before: git cannot keep both.
    git(upstream.folder, "branch", "-M", "passing")
    git(upstream.folder, "branch", "-M", "master/v2")
    upstream.publish("Bed_Mesh", "renamed")
    synced()
    assert_at_tip(docs, upstream, "master/v2")

    git(upstream.folder, "checkout", "-q", "-b", "beta")
    upstream.publish("Beta")
    env(KLIPPER_DOCS_BRANCH="beta")
    assert list(synced()["added"]) == ["Beta.md"]
    assert_at_tip(docs, upstream, "beta")

    other = Upstream(env() / "other", "main")
    other.publish("Other")
    env(KLIPPER_DOCS_URL=other.url, KLIPPER_DOCS_BRANCH="")
    assert list(synced()["added"]) == ["Other.md"]
    assert_at_tip(docs, other, "main")
    assert git(docs, "remote", "get-url", "origin") == other.url


def test_a_missing_page_is_restored_and_a_generation_of_an_earlier_version_is_fetched_anew(
    docs, upstream
):
    synced()
    link = docs / ".pi-mcp/current"
    current = link.resolve()
    number, _, commit = current.name.split("_")
    earlier = current.rename(current.with_name(f"{number}_{commit}"))
    link.unlink()
    link.symlink_to(earlier)
    synced()
    (docs / "docs/Bed_Mesh.md").unlink()

    answer = synced()

    assert (answer["status"], list(answer["added"])) == ("restored", ["Bed_Mesh.md"])
    assert "local_edits" not in answer
    assert_at_tip(docs, upstream)


@pytest.mark.parametrize("filters", ["true", "false"])
def test_an_upstream_over_http_is_asked_for_contents_in_one_go(env, docs, upstream, filters):
    git(upstream.folder, "config", "uploadpack.allowFilter", filters)
    upstream.commit({f"docs/P{number}.md": page(f"P{number}") for number in range(30)})
    upstream.commit(dict.fromkeys(("docs/.gitattributes", ".gitattributes"), "*.md text\n"))
    handler = smart_http(upstream.folder.parent)
    with listening(handler) as url:
        env(KLIPPER_DOCS_URL=f"{url}/upstream/.git")
        synced()
        asked = len(handler.asked)
        synced()
        again = len(handler.asked) - asked
    assert_at_tip(docs, upstream)
    assert asked <= 12 and again <= 2


def test_further_sources_are_synced_by_the_same_call_and_one_that_fails_stops_no_other(
    env, docs, upstream
):
    moonraker = Upstream(env() / "moonraker", "main")
    moonraker.commit({"guide/Install.md": page("Install")})
    gone = env() / "gone"
    env(KLIPPER_DOCS_EXTRA=f"gone=file://{gone} moonraker={moonraker.url}#main:guide")

    klipper, failed, extra = synced()["sources"]

    assert (klipper["source"], klipper["status"]) == ("klipper", "cloned")
    assert (failed["source"], failed["code"]) == ("gone", "UPSTREAM_UNREACHABLE")
    assert extra["added"] == ["moonraker/Install.md"]
    assert (docs.parent / ".klipper.extra/moonraker/guide/Install.md").is_file()
    assert not (docs.parent / ".klipper.extra/gone/docs").exists()


def test_progress_only_grows_and_stays_within_its_total(env, docs, upstream):
    env(KLIPPER_DOCS_EXTRA=f"more={upstream.url}")
    upstream.commit({f"docs/P{number}.md": page(f"P{number}") for number in range(60)})
    reports = []

    with calls.calling(calls.RunningCall(lambda *report: reports.append(report))):
        synced()

    amounts, totals, messages = zip(*reports, strict=True)
    assert sorted(set(amounts)) == list(amounts) and amounts[-1] == 200
    assert set(totals) == {200}
    assert len(reports) < 40
    assert "fetching" in "".join(messages)


def edited(docs):
    (docs / "docs/Bed_Mesh.md").write_text("my notes\n")


def added(docs):
    (docs / "docs/sub").mkdir()
    (docs / "docs/sub/Mine.md").write_text("my notes\n")


def committed(docs):
    git(docs, "checkout", "-q", "-b", "mine")
    edited(docs)
    git(docs, "commit", "-q", "-am", "mine")


def in_place_of_our_link(docs):
    (docs / "docs").unlink()
    (docs / "docs").mkdir()
    edited(docs)


EDITS = [edited, added, committed, in_place_of_our_link]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
@pytest.mark.parametrize("has_news", [False, True])
def test_what_a_person_wrote_is_put_aside_and_named(docs, upstream, edit, has_news):
    synced()
    edit(docs)
    if has_news:
        upstream.publish("News")

    edits = synced()["local_edits"]

    moved_to, (path,) = Path(edits["moved_to"]), edits["pages"]
    assert list(contents(moved_to).values()).count(b"my notes\n") == 1
    assert_at_tip(docs, upstream)
    assert "local_edits" not in synced()
    if edit is committed:
        repository = moved_to / path.partition("/")[0]
        assert git(repository, "show", "mine:docs/Bed_Mesh.md") == "my notes"


def test_the_entries_of_changes_since_a_day_are_shown(docs, upstream):
    entries = "20260301: New.\n\n20260201: Newer.\n\n20250101: Old.\n"
    upstream.commit(
        {"docs/Config_Changes.md": f"# Configuration Changes\n\n## Changes\n\n{entries}"}
    )

    newest = "2026-03-01: New."
    assert synced(since="2026-02-01")["config_changes_since"] == [newest, "2026-02-01: Newer."]
    for day in ("20260301", "2026-W09-7"):  # Python 3.11 and later read these, too
        assert sync(since=day).get("config_changes_since", [newest]) == [newest]
    assert not sync(since="yesterday")["success"]
    assert_at_tip(docs, upstream)
