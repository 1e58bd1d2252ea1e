"""sync_docs when something goes wrong: the old pages stay readable and the next call ends at the tip."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.klipper.test_sync import assert_at_tip, sync, synced
from tests.klipper.upstreams import Stalled, contents, git, page
from tests.support.client import PROJECT, cases, finished
from tests.support.web import listening
from tools.core import calls
from tools.klipper.checkout import git as tool_git

pytestmark = pytest.mark.slow


MAIN = "from tools.__main__ import main\nsys.exit(main(['call', 'sync_docs']))"


def command(*parts):
    """A process that runs these pieces of Python, as `python3 -m tools` does. Without -B one whose files may
    not grow would leave half a .pyc behind, which Python 3.11 takes for whole and stumbles over for ever
    after."""
    lines = [f"import sys; sys.path.insert(0, {str(PROJECT)!r})", *parts]
    return [sys.executable, "-B", "-I", "-S", "-c", "\n".join(lines)]


CALL = command(MAIN)


def test_an_upstream_that_is_gone_leaves_the_pages_and_says_what_to_do(env, docs, upstream):
    env(KLIPPER_DOCS_URL="http://127.0.0.1:9/klipper.git")
    assert sync()["code"] == "UPSTREAM_UNREACHABLE"
    assert sorted(path.name for path in docs.rglob("*")) == [".pi-mcp", "lock"], "no half clone"

    env(KLIPPER_DOCS_URL=upstream.url)
    synced()
    pages = upstream.pages()
    git(upstream.folder, "mv", "docs", "documentation")
    upstream.commit({})
    assert sync()["code"] == "NO_DOCS"
    upstream.go_away()
    answer = sync()
    assert answer["code"] == "UPSTREAM_UNREACHABLE" and "KLIPPER_DOCS_URL" in answer["hint"]
    assert contents(docs / "docs") == pages


IMPOSSIBLE = """
KLIPPER_DOCS_BRANCH | --upload-pack=evil
KLIPPER_DOCS_BRANCH | a..b
KLIPPER_DOCS_BRANCH | nowhere
KLIPPER_DOCS_URL | --upload-pack=touch /tmp/evil
KLIPPER_DOCS_URL | ext::sh -c 'touch evil'
"""


def test_an_address_or_branch_that_cannot_be_is_refused(env, docs, upstream):
    for setting, value in cases(IMPOSSIBLE):
        env(**{"KLIPPER_DOCS_URL": upstream.url, setting: value})
        assert sync()["code"] == "INVALID_UPSTREAM"
        assert not (docs / "docs").exists()


BREAKING = """
import os, pathlib
left = int(sys.argv[1])
def counted(original):
    def step(*words, **names):
        global left
        left -= 1
        if left < 0: os.kill(os.getpid(), 9)
        return original(*words, **names)
    return step
for name in ("replace", "rename", "unlink", "symlink_to", "mkdir"):
    setattr(pathlib.Path, name, counted(getattr(pathlib.Path, name)))
for name in ("link", "unlink", "rmdir", "fsync"): setattr(os, name, counted(getattr(os, name)))
"""


def test_killed_between_any_two_steps_of_the_switch_the_next_sync_finishes_it(docs, upstream):
    """Each file operation in turn is the last one of a process."""
    upstream.publish("Gone")
    synced()
    (docs / "docs/Bed_Mesh.md").write_text("edited here\n")
    states = [contents(docs / "docs"), upstream.pages()]
    upstream.commit(
        {"docs/Gone.md": None, "docs/New.md": page("New"), "docs/Bed_Mesh.md": page("Bed Mesh, 2")}
    )
    states.append(upstream.pages())
    dying_after = command(BREAKING, MAIN)
    steps = 0
    while (status := finished([*dying_after, str(steps)]).returncode) == -signal.SIGKILL:
        steps += 1
        assert contents(docs / "docs") in states, "the pages are those of no single commit"
        assert git(docs, "rev-parse", "--verify", "HEAD^{commit}")
    assert status == 0 and steps >= 15
    assert_at_tip(docs, upstream)
    assert b"edited here\n" in contents(docs / "local-edits").values()


def test_two_processes_at_once_both_end_at_the_tip(docs, upstream, env):
    env(MCP_STATE_DIR=env() / "one")
    other = subprocess.Popen(CALL, stdout=subprocess.PIPE, text=True)
    env(MCP_STATE_DIR=env() / "two")

    answers = [finished(CALL).stdout, other.communicate()[0]]

    assert sorted('"cloned"' in answer for answer in answers) == [False, True], answers
    assert all('"success":true' in answer for answer in answers), answers
    assert_at_tip(docs, upstream)


def test_a_file_that_may_not_grow_leaves_the_old_pages(docs, upstream):
    synced()
    old = upstream.pages()
    upstream.commit({f"docs/P{number}.md": os.urandom(30_000).hex() for number in range(8)})

    full = finished(["prlimit", "--fsize=20000", *CALL])

    assert full.returncode == 1 and '"code":"DISK_FULL"' in full.stdout, full
    assert contents(docs / "docs") == old
    synced()
    assert_at_tip(docs, upstream)


def test_a_disk_that_is_full_when_the_pages_are_written_is_said():
    """Git's own words there, on a file system of 640 kB; it does not say why."""
    for words in (
        b"error: unable to write file docs/P5.md\n",
        b"fatal: unable to write new index file\n",
        b"error: failed to write new configuration file /x/.git/config.lock\nfatal: could not set 'core.bare'\n",
    ):
        assert tool_git._failed("read-tree", 128, words).code == "DISK_FULL"


def test_a_stalled_upstream_is_given_up(env, docs, monkeypatch):
    with listening(Stalled) as url:
        env(KLIPPER_DOCS_URL=f"{url}/klipper.git")
        monkeypatch.setitem(tool_git.ENVIRON, "GIT_HTTP_LOW_SPEED_TIME", "1")
        assert sync()["code"] == "UPSTREAM_UNREACHABLE"
        monkeypatch.setattr(tool_git, "CONTACT_TIMEOUT_S", 0.5)
        assert sync()["code"] == "TIMEOUT"


def test_a_withdrawn_call_ends_git_and_leaves_the_pages(env, docs, upstream):
    synced()
    pages = upstream.pages()
    withdrawn = threading.Event()

    class Cancelling(Stalled):
        def do_GET(self):
            withdrawn.set()
            super().do_GET()

    with listening(Cancelling) as url, calls.calling(calls.RunningCall(cancelled=withdrawn.is_set)):
        env(KLIPPER_DOCS_URL=f"{url}/klipper.git")
        assert sync()["code"] == "CANCELLED"
    assert contents(docs / "docs") == pages


def test_without_git_the_answer_says_how_to_get_it(env, docs, upstream):
    env(PATH=env() / "home")
    answer = sync()
    assert answer["code"] == "GIT_MISSING" and "apt install git" in answer["hint"]


def test_what_a_power_cut_or_a_person_took_from_the_state_folder_is_made_anew(docs, upstream):
    state = docs / ".pi-mcp"
    for lost in (".git/HEAD", "docs/Bed_Mesh.md", "generations", "current", ""):
        synced()
        upstream.publish("Bed_Mesh", f"Bed Mesh without {lost}")
        if "/" in lost:
            (state / "current" / lost).write_bytes(b"\0" * 30)
        else:
            finished(["rm", "-r", state / lost])
            state.mkdir(exist_ok=True)

        synced()

        assert_at_tip(docs, upstream)
