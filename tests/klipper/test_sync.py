"""sync_docs: what it answers and where it ends, on real histories."""

import os

import pytest

from tests.klipper.upstreams import Upstream, contents, git, page, serving, smart_http
from tools.core import calls, registry, settings


def sync() -> dict:
    """The answer of sync_docs, through its whole wrapper stack."""
    tool = registry.find("sync_docs", registry.listed(settings.current()).values())
    return tool.call({})


def done() -> dict:
    """The answer of a sync that must succeed."""
    answer = sync()
    assert answer["success"], answer
    return answer


def assert_at_tip(docs, upstream, branch="master"):
    assert contents(docs / "docs") == upstream.pages()
    assert git(docs, "rev-parse", "HEAD") == git(docs, "rev-parse", "@{u}") == upstream.tip
    assert git(docs, "symbolic-ref", "HEAD") == f"refs/heads/{branch}"
    assert git(docs, "status", "--porcelain") == ""
    git(docs, "fsck", "--connectivity-only")
    state = docs / ".pi-mcp"
    assert sorted(os.listdir(state)) == ["current", "generations", "lock"]
    assert os.listdir(state / "generations") == [(state / "current").resolve().name]


def test_the_first_call_clones_only_the_docs_shallow_and_without_other_contents(docs, upstream):
    upstream.commit({"docs/Bed_Mesh.md": page("Bed Mesh, again")})

    answer = done()

    assert answer["status"] == "cloned" and answer["old"] is None and answer["new"].startswith(upstream.tip[:9])
    assert answer["added"] == {name: len(text) for name, text in upstream.pages().items()}
    assert_at_tip(docs, upstream)
    assert not (docs / "src").exists()
    assert git(docs, "rev-list", "--count", "HEAD") == "1"
    code = git(upstream.folder, "rev-parse", "HEAD:src/code.c")
    assert f"?{code}" in git(docs, "rev-list", "--objects", "--missing=print", "HEAD").splitlines()


def test_a_second_call_says_that_nothing_changed(docs, upstream):
    done()

    assert done() == {
        "success": True,
        "status": "already up to date",
        "new": git(docs, "log", "-1", "--format=%h %cs", "--abbrev=9"),
    }


def test_the_answer_names_each_page_by_what_became_of_it_with_its_change_of_size(docs, upstream):
    first = upstream.tip
    upstream.commit({"docs/img/x.png": b"\x89PNG", "docs/Gone.md": page("Gone", 9)})
    done()
    upstream.commit(
        {
            "docs/Bed_Mesh.md": page("Bed Mesh") + "more\n",
            "docs/New.md": "# New\n",
            "docs/Gone.md": None,
            "docs/BLTouch.md": None,
            "docs/probe/BLTouch.md": page("BLTouch") + "moved\n",
            "docs/img/x.png": b"\x89PNG2",
        }
    )

    answer = done()

    assert answer["status"] == "updated" and not answer["old"].startswith(first[:9])
    assert answer["changed"] == {"Bed_Mesh.md": 5}
    assert answer["added"] == {"New.md": 6}
    assert answer["removed"] == {"Gone.md": -len(page("Gone", 9))}
    assert answer["renamed"] == {"BLTouch.md → probe/BLTouch.md": 6}
    assert answer["other_files"] == 1
    assert_at_tip(docs, upstream)


def test_several_commits_behind_end_at_the_tip(docs, upstream):
    done()
    for number in range(5):
        upstream.commit({f"docs/P{number}.md": page(f"P{number}")})

    assert len(done()["added"]) == 5
    assert_at_tip(docs, upstream)
    assert git(docs, "rev-list", "--count", "HEAD") == "1"


def test_a_force_pushed_upstream_ends_at_its_tip(docs, upstream):
    upstream.commit({"docs/Draft.md": page("Draft")})
    done()
    git(upstream.folder, "reset", "-q", "--hard", "HEAD~1")
    upstream.commit({"docs/Final.md": page("Final")})

    answer = done()

    assert "Draft.md" in answer["removed"] and "Final.md" in answer["added"]
    assert "local_commits" not in answer
    assert_at_tip(docs, upstream)


def test_a_rewritten_history_ends_at_its_tip(docs, upstream):
    done()
    git(upstream.folder, "checkout", "-q", "--orphan", "fresh")
    upstream.commit({"docs/Bed_Mesh.md": "# Rewritten\n"})
    git(upstream.folder, "branch", "-M", "fresh", "master")

    assert "local_commits" not in done()
    assert_at_tip(docs, upstream)


def test_an_upstream_set_back_ends_at_the_older_commit(docs, upstream):
    upstream.commit({"docs/Bed_Mesh.md": "# Newer\n"})
    done()
    git(upstream.folder, "reset", "-q", "--hard", "HEAD~1")

    done()

    assert_at_tip(docs, upstream)


@pytest.mark.parametrize("new", ["main", "master/v2"])
def test_a_renamed_default_branch_is_followed(docs, upstream, new):
    done()
    git(upstream.folder, "branch", "-M", "master", "passing")
    git(upstream.folder, "branch", "-M", "passing", new)
    upstream.commit({"docs/Bed_Mesh.md": page("renamed")})

    done()

    assert_at_tip(docs, upstream, new)


def test_a_default_branch_renamed_there_and_back_is_no_commit_made_here(docs, upstream):
    for name in ("main", "master", "main"):
        done()
        git(upstream.folder, "branch", "-M", name)
        upstream.commit({"docs/Bed_Mesh.md": page(name)}, "--amend")

        assert "local_commits" not in done()
        assert_at_tip(docs, upstream, name)


def test_the_branch_of_the_settings_is_followed_and_a_change_of_it_too(env, docs, upstream):
    git(upstream.folder, "checkout", "-q", "-b", "beta")
    upstream.commit({"docs/Beta.md": page("Beta")})
    done_on_beta = done()
    assert "Beta.md" in done_on_beta["added"]
    git(upstream.folder, "checkout", "-q", "master")
    env(KLIPPER_DOCS_BRANCH="master")

    assert list(done()["removed"]) == ["Beta.md"]
    assert_at_tip(docs, upstream)


def test_another_address_in_the_settings_is_followed(env, docs, upstream):
    done()
    other = Upstream(env() / "other", "main")
    other.commit({"docs/Other.md": page("Other")})
    env(KLIPPER_DOCS_URL=other.url)

    assert list(done()["added"]) == ["Other.md"]
    assert_at_tip(docs, other, "main")
    assert git(docs, "remote", "get-url", "origin") == other.url


def test_folders_and_pages_may_change_places(docs, upstream):
    upstream.commit({"docs/a": "a file", "docs/b/c.md": page("c")})
    done()
    upstream.commit({"docs/a": None, "docs/b/c.md": None})
    upstream.commit({"docs/a/d.md": page("d"), "docs/b": "a file now"})

    done()

    assert_at_tip(docs, upstream)


def test_links_and_modes_come_as_they_are(docs, upstream):
    (upstream.folder / "docs/Alias.md").symlink_to("Bed_Mesh.md")
    upstream.commit({"docs/tool.sh": "#!/bin/sh\n"})
    (upstream.folder / "docs/tool.sh").chmod(0o755)
    upstream.commit({})

    done()

    assert (docs / "docs/Alias.md").readlink().name == "Bed_Mesh.md"
    assert os.access(docs / "docs/tool.sh", os.X_OK)
    assert_at_tip(docs, upstream)


def test_names_that_are_hard_to_write_come_as_they_are(docs, upstream):
    upstream.commit({"docs/Русский файл.md": page("r"), "docs/-x.md": page("x"), 'docs/a"b\\\n\tc.md': page("q")})

    answer = done()

    assert {"Русский файл.md", "-x.md"} < set(answer["added"])
    assert_at_tip(docs, upstream)


def test_a_missing_page_is_restored(docs, upstream):
    done()
    (docs / "docs/Bed_Mesh.md").unlink()

    answer = done()

    assert answer["status"] == "restored" and answer["restored"] == ["Bed_Mesh.md"]
    assert_at_tip(docs, upstream)


def test_an_upstream_over_http_without_filters_works_too(env, docs, upstream):
    git(upstream.folder, "config", "uploadpack.allowFilter", "false")
    handler = smart_http(upstream.folder.parent)
    with serving(handler) as url:
        env(KLIPPER_DOCS_URL=f"{url}/upstream/.git")
        done()
        upstream.commit({"docs/Bed_Mesh.md": page("two")})
        done()
    assert_at_tip(docs, upstream)


def test_an_upstream_over_http_is_asked_for_contents_in_one_go(env, docs, upstream):
    upstream.commit({f"docs/P{number}.md": page(f"P{number}") for number in range(30)})
    handler = smart_http(upstream.folder.parent)
    with serving(handler) as url:
        env(KLIPPER_DOCS_URL=f"{url}/upstream/.git")
        done()
        asked = len(handler.asked)
        done()
        again = len(handler.asked) - asked
    assert_at_tip(docs, upstream)
    assert asked <= 8 and again <= 2


def test_a_sha256_repository_works(env, docs):
    folder = env() / "new"
    folder.mkdir()
    git(folder, "init", "-q", "--object-format=sha256", "-b", "master")
    upstream = Upstream.__new__(Upstream)
    upstream.folder = folder
    upstream.commit({"docs/Bed_Mesh.md": page("Bed Mesh")})
    env(KLIPPER_DOCS_URL=upstream.url)
    done()
    upstream.commit({"docs/Bed_Mesh.md": page("two")})

    done()

    assert_at_tip(docs, upstream)


def test_further_sources_are_synced_by_the_same_call_and_one_that_fails_stops_no_other(env, docs, upstream):
    moonraker = Upstream(env() / "moonraker", "main")
    moonraker.commit({"guide/Install.md": page("Install")})
    gone = env() / "gone"
    env(KLIPPER_DOCS_EXTRA=f"gone=file://{gone} moonraker={moonraker.url}#main:guide")

    klipper, failed, extra = done()["sources"]

    assert klipper["source"] == "klipper" and klipper["status"] == "cloned"
    assert failed["source"] == "gone" and failed["code"] == "UPSTREAM_UNREACHABLE" and failed["hint"]
    assert extra["added"] == {"moonraker/Install.md": len(page("Install"))}
    assert (docs.parent / ".klipper.extra/moonraker/guide/Install.md").is_file()
    assert not (docs.parent / ".klipper.extra/gone/docs").exists()


def test_progress_only_grows_and_stays_within_its_total(env, docs, upstream):
    env(KLIPPER_DOCS_EXTRA=f"more={upstream.url}")
    upstream.commit({f"docs/P{number}.md": page(f"P{number}") for number in range(60)})
    reports = []

    with calls.calling(lambda *report: reports.append(report), lambda: False):
        done()

    amounts = [done for done, _, _ in reports]
    assert amounts == sorted(set(amounts)) and amounts[-1] == 200 and {total for _, total, _ in reports} == {200}
    assert len(reports) < 40
    assert any("receiving objects" in message for _, _, message in reports)


def test_a_relative_folder_of_the_settings_works(env, upstream, monkeypatch):
    monkeypatch.chdir(env())
    env(KLIPPER_DOCS_DIR="relative/klipper")
    done()
    assert_at_tip(env() / "relative/klipper", upstream)
