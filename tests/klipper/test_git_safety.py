"""Nothing that lies in a checkout, or comes from an upstream, runs or leads astray."""

import os
import subprocess

import pytest

from tests.klipper.test_sync import assert_at_tip, done, sync
from tests.klipper.upstreams import git, page
from tools.klipper.checkout import freshness
from tools.klipper.checkout import git as tool_git
from tools.klipper.checkout.git import environment

HOOKS = ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc", "post-index-change")
PROGRAMS = (
    *("core.fsmonitor", "core.sshCommand", "core.gitProxy", "core.askPass", "core.pager", "core.editor"),
    *("core.alternateRefsCommand", "diff.external", "diff.md.textconv", "diff.md.command", "gpg.program"),
    *("filter.x.clean", "filter.x.smudge", "filter.x.process", "gc.recentObjectsHook", "sequence.editor"),
    *("remote.origin.uploadpack", "uploadpack.packObjectsHook"),
)
SHELL_PROGRAMS = ("alias.fetch", "alias.ls-remote", "credential.helper", "credential.http://127.0.0.1.helper")


def poison(docs, evil) -> None:
    """Name a program wherever git's configuration, hooks and attributes take one."""
    program = f"touch {evil} #"
    for name in PROGRAMS:
        git(docs, "config", name, program)
    for name in SHELL_PROGRAMS:
        git(docs, "config", name, f"!{program}")
    git(docs, "config", "core.hooksPath", str(docs / ".git" / "evil"))
    git(docs, "config", f"url.ext::sh -c 'touch {evil}' .insteadOf", "file://")
    git(docs, "config", "include.path", str(docs / ".git" / "more"))
    (docs / ".git" / "more").write_text(f'[filter "y"]\n\tsmudge = "{program}"\n\trequired = true\n')
    (docs / ".git" / "info" / "attributes").write_text("*.md filter=x diff=md\n")
    for folder in ("hooks", "evil"):
        (docs / ".git" / folder).mkdir(exist_ok=True)
        for name in HOOKS:
            (docs / ".git" / folder / name).write_text(f"#!/bin/sh\ntouch {evil}\n")
            (docs / ".git" / folder / name).chmod(0o755)


def test_no_hook_and_no_program_of_the_checkouts_configuration_runs(env, docs, upstream):
    upstream.commit(
        {"docs/.gitattributes": "*.md filter=x diff=md\n*.txt filter=y\n", ".gitattributes": "* filter=y\n"}
    )
    done()
    evil = env() / "evil"
    poison(docs, evil)
    upstream.commit({"docs/Bed_Mesh.md": page("two"), "docs/New.txt": "new\n", "docs/Sub.md": "x\n"})
    env(KLIPPER_DOCS_CHECK_INTERVAL=0)
    subprocess.run(["git", "-C", docs, "status"], capture_output=True, check=False)
    assert evil.exists(), "the poison works on a git that is run plainly"
    evil.unlink()

    freshness.check()
    answer = done()

    assert list(answer["changed"]) == ["Bed_Mesh.md"]
    assert (docs / "docs/Bed_Mesh.md").read_text() == page("two")
    assert not evil.exists()
    assert_at_tip(docs, upstream)


def test_a_hook_of_the_users_own_configuration_does_not_run(env, docs, upstream):
    hooks, evil = env() / "hooks", env() / "evil"
    hooks.mkdir()
    for name in HOOKS:
        (hooks / name).write_text(f"#!/bin/sh\ntouch {evil}\n")
        (hooks / name).chmod(0o755)
    (env() / "config").write_text(f"[core]\n\thooksPath = {hooks}\n")
    env(GIT_CONFIG_GLOBAL=env() / "config")

    done()

    assert not evil.exists()


@pytest.mark.parametrize("fence", ["GIT_ALLOW_PROTOCOL", "protocol.ext.allow"])
def test_either_fence_alone_keeps_programs_in_an_address_from_running(env, docs, monkeypatch, fence):
    evil = env() / "evil"
    monkeypatch.delitem(tool_git.ENVIRON if fence in tool_git.ENVIRON else tool_git.CONFIG, fence)
    env(KLIPPER_DOCS_URL=f"ext::sh -c touch% {evil}")

    assert sync()["code"] == "INVALID_UPSTREAM"
    assert not evil.exists()


def test_no_git_may_write_a_file_without_bound(env, docs, upstream, monkeypatch):
    upstream.commit({"docs/Large.md": os.urandom(3_000_000)})
    monkeypatch.setattr(tool_git, "LIMITED", tool_git.LIMITED.replace("524288", "2000"))

    answer = sync()

    assert not answer["success"] and not (docs / "docs").exists()
    assert [path.name for path in (docs / ".pi-mcp").iterdir()] == ["lock"]


def test_variables_of_another_git_do_not_reach_ours(env, docs, upstream, monkeypatch):
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(env() / "elsewhere"))
    monkeypatch.setenv("GIT_SSH_COMMAND", "touch evil")
    answer = done()
    monkeypatch.undo()

    assert answer["status"] == "cloned"
    assert not (env() / "elsewhere").exists()


def test_git_never_asks_and_fetches_nothing_by_itself():
    ours = environment()
    assert ours["GIT_NO_LAZY_FETCH"] == "1"
    assert ours["GIT_TERMINAL_PROMPT"] == "0" and ours["GIT_ASKPASS"] == ours["SSH_ASKPASS"] == ""
    assert "BatchMode=yes" in ours["GIT_SSH_COMMAND"] and "ConnectTimeout" in ours["GIT_SSH_COMMAND"]


@pytest.mark.parametrize("entry", ["..", ".git", "."])
def test_a_path_that_leaves_the_checkout_is_refused(docs, upstream, entry):
    done()
    blob = git(upstream.folder, "rev-parse", "HEAD:docs/Bed_Mesh.md")
    inner = make_tree(upstream.folder, f"100644 blob {blob}\tx.md\n")
    pages = make_tree(upstream.folder, f"100644 blob {blob}\tBed_Mesh.md\n040000 tree {inner}\t{entry}\n")
    top = make_tree(upstream.folder, f"040000 tree {pages}\tdocs\n")
    commit = git(upstream.folder, "commit-tree", "-m", "evil", top)
    git(upstream.folder, "update-ref", "refs/heads/master", commit)

    answer = sync()

    assert answer["code"] == "UNSAFE_TREE", answer
    assert not (docs / "x.md").exists() and not (docs / ".git/x.md").exists()


def make_tree(folder, rows: str) -> str:
    """A tree object of any names: git itself refuses to make some."""
    data = b""
    for row in rows.splitlines():
        about, name = row.split("\t")
        mode, _, blob = about.split(" ")
        data += f"{mode.lstrip('0')} {name}\0".encode() + bytes.fromhex(blob)
    words = ["git", "-C", folder, "hash-object", "-t", "tree", "-w", "--literally", "--stdin"]
    return subprocess.run(words, input=data, capture_output=True, check=True).stdout.decode().strip()


@pytest.mark.parametrize("link", ["sub", "sub/deep"])
def test_a_link_and_a_folder_of_one_name_are_refused(env, docs, upstream, link):
    """No tree that git makes: a page below it would be written through the link."""
    done()
    outside = env() / "outside"
    outside.mkdir()
    blob = git(upstream.folder, "rev-parse", "HEAD:docs/Bed_Mesh.md")
    (upstream.folder / "target").write_text(str(outside))
    target = git(upstream.folder, "hash-object", "-w", "target")
    tree = make_tree(upstream.folder, f"100644 blob {blob}\tx.md\n")
    for name in reversed(link.split("/")):
        tree = make_tree(upstream.folder, f"120000 blob {target}\t{name}\n040000 tree {tree}\t{name}\n")
    top = make_tree(upstream.folder, f"040000 tree {tree}\tdocs\n")
    git(upstream.folder, "update-ref", "refs/heads/master", git(upstream.folder, "commit-tree", "-m", "evil", top))

    assert sync()["code"] == "UNSAFE_TREE"
    assert not list(outside.iterdir()) and not (docs / "local-edits").exists()


def test_a_submodule_is_not_followed(docs, upstream):
    git(upstream.folder, "update-index", "--add", "--cacheinfo", f"160000,{upstream.tip},docs/module")
    git(upstream.folder, "commit", "-q", "-m", "module")

    done()

    assert os.listdir(docs / "docs/module") == []


def test_a_checkout_of_another_user_is_synced(docs, upstream):
    if os.getuid():
        pytest.skip("only root can give files to another user")
    done()
    for path in (docs, *docs.rglob("*")):
        os.lchown(path, 12345, 12345)
    upstream.commit({"docs/Bed_Mesh.md": page("two")})

    done()

    for path in (docs, *docs.rglob("*")):
        os.lchown(path, os.getuid(), os.getgid())
    assert_at_tip(docs, upstream)
