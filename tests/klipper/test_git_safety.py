"""Nothing that lies in a checkout, or comes from an upstream, runs or leads astray."""

import subprocess

import pytest

from tests.klipper.test_sync import assert_at_tip, sync, synced
from tests.klipper.upstreams import git, page
from tools.core import settings
from tools.klipper.checkout import freshness
from tools.klipper.checkout.git import ENVIRON
from tools.server.resources import printable_settings

pytestmark = pytest.mark.slow

HOOKS = ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc", "post-index-change")
# Where git's configuration names a program, and where one of a shell.
PROGRAMS = """core.fsmonitor core.sshCommand core.gitProxy core.askPass core.pager core.editor core.alternateRefsCommand
diff.external diff.md.textconv diff.md.command gpg.program filter.x.clean filter.x.smudge filter.x.process
gc.recentObjectsHook sequence.editor remote.origin.uploadpack uploadpack.packObjectsHook""".split()
SHELL_PROGRAMS = (
    "alias.fetch alias.ls-remote credential.helper credential.http://127.0.0.1.helper".split()
)


def set_hooks(folder, evil):
    """Hooks that leave the file `evil` behind."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in HOOKS:
        (folder / name).write_text(f"#!/bin/sh\ntouch {evil}\n")
        (folder / name).chmod(0o755)


def poison(docs, evil):
    """Name a program wherever git's configuration, hooks and attributes take one."""
    program = f"touch {evil} #"
    git_folder = docs / ".git"
    for name in PROGRAMS:
        git(docs, "config", name, program)
    for name in SHELL_PROGRAMS:
        git(docs, "config", name, f"!{program}")
    git(docs, "config", "core.hooksPath", str(git_folder / "evil"))
    git(docs, "config", f"url.ext::sh -c 'touch {evil}' .insteadOf", "file://")
    git(docs, "config", "include.path", str(git_folder / "more"))
    (git_folder / "more").write_text(f'[filter "y"]\n\tsmudge = "{program}"\n\trequired = true\n')
    (git_folder / "info/attributes").write_text("*.md filter=x diff=md\n")
    set_hooks(git_folder / "hooks", evil)
    set_hooks(git_folder / "evil", evil)


@pytest.mark.smoke
def test_no_hook_of_the_persons_own_runs_in_a_sync(env, docs, upstream):
    home, evil = env() / "home", env() / "evil"
    set_hooks(home / "hooks", evil)
    set_hooks(home / "template/hooks", evil)
    settings_of_git = home / "gitconfig"
    settings_of_git.write_text(
        f"[core]\n\thooksPath = {home}/hooks\n[init]\n\ttemplateDir = {home}/template\n"
    )
    env(GIT_CONFIG_GLOBAL=settings_of_git)
    subprocess.run(["git", "init", "-q", "plain"], cwd=home, check=True)
    commit = "git -C plain -c user.name=a -c user.email=a@b commit -q --allow-empty -m x".split()
    subprocess.run(commit, cwd=home, check=True)
    assert evil.exists(), "they run in a git that is run plainly"
    evil.unlink()
    synced()
    upstream.publish("Bed_Mesh", "two")
    synced()
    assert not evil.exists()


def test_no_hook_and_no_program_of_the_checkouts_configuration_runs(env, docs, upstream):
    upstream.commit(
        {
            "docs/.gitattributes": "*.md filter=x diff=md\n*.txt filter=y\n",
            ".gitattributes": "* filter=y\n",
        }
    )
    synced()
    evil = env() / "evil"
    poison(docs, evil)
    upstream.commit(
        {"docs/Bed_Mesh.md": page("two"), "docs/New.txt": "new\n", "docs/Sub.md": "x\n"}
    )
    env(KLIPPER_DOCS_CHECK_INTERVAL=0)
    subprocess.run(["git", "-C", docs, "status"], capture_output=True, check=False)
    assert evil.exists(), "the poison works on a git that is run plainly"
    evil.unlink()

    freshness.at_start()
    answer = synced()

    assert list(answer["changed"]) == ["Bed_Mesh.md"]
    assert not evil.exists()
    assert_at_tip(docs, upstream)


def test_a_login_in_an_address_is_refused_and_shown_nowhere(env, docs):
    """git would show it in the list of processes and keep it in a file that everybody may read."""
    for login in ("user:SECRET", "SECRET"):
        env(KLIPPER_DOCS_URL=f"https://{login}@127.0.0.1:9/klipper.git")
        answer = sync()
        assert answer["code"] == "INVALID_UPSTREAM" and "git credential" in answer["error"]
        assert "SECRET" not in str(
            [answer, *(printable_settings(section.current()) for section in settings.sections())]
        )
    env(KLIPPER_DOCS_EXTRA="-x=https://user:SECRET@host/x")
    with pytest.raises(settings.SettingsError) as error:
        settings.check_all()
    assert "SECRET" not in str(error.value)


def test_variables_of_another_git_do_not_reach_ours(env, docs, upstream, monkeypatch):
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(env() / "elsewhere"))
    monkeypatch.setenv("GIT_SSH_COMMAND", "touch evil")
    assert ENVIRON["GIT_TERMINAL_PROMPT"] == "0" and "BatchMode=yes" in ENVIRON["GIT_SSH_COMMAND"]
    assert synced()["status"] == "cloned"
    assert not (env() / "elsewhere").exists()


def test_a_path_that_leaves_the_checkout_is_refused(docs, upstream):
    synced()
    blob = git(upstream.folder, "rev-parse", "HEAD:docs/Bed_Mesh.md")
    inner = make_tree(upstream.folder, {"100644 x.md": blob})
    for entry in ("..", ".git", "."):
        pages = make_tree(upstream.folder, {"100644 Bed_Mesh.md": blob, f"40000 {entry}": inner})
        top = make_tree(upstream.folder, {"40000 docs": pages})
        commit = git(upstream.folder, "commit-tree", "-m", "evil", top)
        git(upstream.folder, "update-ref", "refs/heads/master", commit)

        answer = sync()

        assert answer["code"] == "UNSAFE_TREE", answer
        assert not (docs / "x.md").exists() and not (docs / ".git/x.md").exists()


def make_tree(folder, rows):
    """A tree object of any names (with their modes) and objects: git itself refuses to make some."""
    rows_data = [f"{name}\0".encode() + bytes.fromhex(of) for name, of in rows.items()]
    words = "git hash-object -t tree -w --literally --stdin".split()
    tree = subprocess.check_output(words, input=b"".join(rows_data), cwd=folder)
    return tree.decode().strip()
