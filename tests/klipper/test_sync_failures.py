"""sync_docs when something goes wrong: the old pages stay readable and the next call ends at the tip."""

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest

from tests.klipper.test_sync import assert_at_tip, done, sync
from tests.klipper.upstreams import Stalled, contents, git, page, serving, smart_http
from tools.core import calls
from tools.klipper.checkout import git as tool_git

PROJECT = Path(__file__).parents[2]


MAIN = "from tools.__main__ import main\nsys.exit(main(['call', 'sync_docs']))"


def command(*parts: str) -> list[str]:
    """A process that runs these pieces of Python, as `python3 -m tools` does. Without -B one whose files may not grow
    would leave half a .pyc behind, which Python 3.11 takes for whole and stumbles over for ever after."""
    lines = [f"import sys; sys.path.insert(0, {str(PROJECT)!r})", *parts]
    return [sys.executable, "-B", "-I", "-S", "-c", "\n".join(lines)]


CALL = command(MAIN)


def both_states(upstream, change: dict) -> tuple[dict, dict]:
    """The pages before and after a change of the upstream."""
    before = upstream.pages()
    upstream.commit(change)
    return before, upstream.pages()


def assert_one_whole_generation(docs, *states: dict):
    assert contents(docs / "docs") in states, "the pages are those of no single commit"


def test_an_upstream_that_is_gone_leaves_the_pages_and_says_what_to_do(docs, upstream):
    done()
    pages = upstream.pages()
    upstream.folder.rename(upstream.folder.with_name("away"))

    answer = sync()

    assert answer["code"] == "UPSTREAM_UNREACHABLE" and "KLIPPER_DOCS_URL" in answer["hint"]
    assert contents(docs / "docs") == pages
    upstream.folder.with_name("away").rename(upstream.folder)
    upstream.commit({"docs/Bed_Mesh.md": "# Back\n"})
    done()
    assert_at_tip(docs, upstream)


def test_no_network_is_an_error_with_a_hint_and_no_half_clone(env, docs):
    env(KLIPPER_DOCS_URL="http://127.0.0.1:9/klipper.git")

    answer = sync()

    assert answer["code"] == "UPSTREAM_UNREACHABLE" and answer["hint"]
    assert sorted(path.name for path in docs.rglob("*")) == [".pi-mcp", "lock"]


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("KLIPPER_DOCS_URL", "--upload-pack=touch /tmp/evil", "INVALID_UPSTREAM"),
        ("KLIPPER_DOCS_URL", "ext::sh -c 'touch evil'", "INVALID_UPSTREAM"),
        ("KLIPPER_DOCS_BRANCH", "--upload-pack=evil", "INVALID_UPSTREAM"),
        ("KLIPPER_DOCS_BRANCH", "a..b", "INVALID_UPSTREAM"),
        ("KLIPPER_DOCS_BRANCH", "nowhere", "INVALID_UPSTREAM"),
    ],
)
def test_an_address_or_branch_that_cannot_be_is_refused_with_a_hint(env, docs, upstream, name, value, code):
    env(**{name: value})

    answer = sync()

    assert answer["code"] == code and answer["hint"]
    assert not (docs / "docs").exists()


def test_passwords_in_the_address_are_not_repeated(env, docs):
    env(KLIPPER_DOCS_URL="http://user:secret@127.0.0.1:9/klipper.git")

    assert "secret" not in str(sync())


def test_a_commit_without_docs_is_refused_and_the_pages_stay(docs, upstream):
    done()
    pages = upstream.pages()
    git(upstream.folder, "mv", "docs", "documentation")
    upstream.commit({})

    assert sync()["code"] == "NO_DOCS"
    assert contents(docs / "docs") == pages


def test_a_folder_that_is_no_checkout_is_left_alone(docs, upstream):
    docs.mkdir(parents=True)
    (docs / "mine.txt").write_text("mine")

    assert sync()["code"] == "NOT_A_CHECKOUT"
    assert contents(docs) == {"mine.txt": b"mine"}


def test_an_empty_folder_is_taken(docs, upstream):
    docs.mkdir(parents=True)
    done()
    assert_at_tip(docs, upstream)


def test_the_rest_of_a_killed_clone_is_cleared(docs, upstream):
    half = docs / ".pi-mcp/new"
    (half / ".git").mkdir(parents=True)
    (half / "docs").mkdir()
    (half / "docs/Half.md").write_text("# Ha")

    done()

    assert not half.exists()
    assert_at_tip(docs, upstream)


def test_killed_at_any_moment_every_page_is_whole_and_the_next_sync_ends_at_the_tip(docs, upstream):
    upstream.commit({f"docs/P{number}.md": page(f"P{number}, 0") for number in range(12)})
    done()
    chance = random.Random(7)
    states = [upstream.pages()]
    for turn in range(1, 11):
        upstream.commit({f"docs/P{number}.md": page(f"P{number}, {turn}") for number in range(12)}, "--amend")
        states.append(upstream.pages())
        killed = subprocess.Popen(CALL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for line in islice(killed.stderr, chance.randrange(5)):
            assert line
        with suppress(subprocess.TimeoutExpired):
            killed.wait(chance.uniform(0, 0.1))
        killed.kill()
        killed.communicate()
        assert_one_whole_generation(docs, *states)
        assert git(docs, "rev-parse", "HEAD") == git(docs, "rev-parse", "@{u}")
    answer = done()
    assert "local_edits" not in answer
    assert_at_tip(docs, upstream)


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
    upstream.commit({"docs/Gone.md": page("Gone")})
    done()
    (docs / "docs/Bed_Mesh.md").write_text("edited here\n")
    states = [contents(docs / "docs"), upstream.pages()]
    upstream.commit({"docs/Gone.md": None, "docs/New.md": page("New"), "docs/Bed_Mesh.md": page("Bed Mesh, 2")})
    states.append(upstream.pages())
    dying_after = command(BREAKING, MAIN)
    for steps in range(400):
        killed = subprocess.run([*dying_after, str(steps)], capture_output=True, check=False)
        assert_one_whole_generation(docs, *states)
        assert git(docs, "rev-parse", "--verify", "HEAD^{commit}")
        if killed.returncode == 0:
            break
        assert killed.returncode == -signal.SIGKILL
    assert steps >= 20
    assert_at_tip(docs, upstream)
    assert b"edited here\n" in contents(docs / "local-edits").values()


def test_a_git_that_outlives_its_server_is_waited_for(docs, upstream):
    """Its lock goes down with the last process that holds it."""
    done()
    lock = docs / ".pi-mcp/lock"
    holder = subprocess.Popen(["flock", lock, "cat"], stdin=subprocess.PIPE)
    try:
        while subprocess.run(["flock", "-n", lock, "true"], check=False).returncode == 0:
            pass
        results = []
        waiting = threading.Thread(target=lambda: results.append(sync()))
        waiting.start()
        waiting.join(0.2)
        assert not results
    finally:
        holder.communicate()
    waiting.join()
    assert results[0]["success"]


def test_two_processes_at_once_both_end_at_the_tip(docs, upstream, env):
    env(MCP_STATE_DIR=env() / "one")
    first = subprocess.Popen(CALL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    env(MCP_STATE_DIR=env() / "two")
    second = subprocess.Popen(CALL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    answers = [first.communicate()[0], second.communicate()[0]]

    assert sorted(b'"cloned"' in answer for answer in answers) == [False, True], answers
    assert first.returncode == second.returncode == 0
    assert_at_tip(docs, upstream)


@pytest.mark.parametrize("limit", [500, 20_000])
def test_a_full_disk_leaves_the_old_pages(docs, upstream, limit):
    done()
    old, _ = both_states(upstream, {f"docs/P{number}.md": os.urandom(30_000).hex() for number in range(8)})
    before = git(docs, "rev-parse", "HEAD")

    full = subprocess.run(
        CALL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        check=False,
    )

    assert full.returncode == 1 and b'"code":"DISK_FULL"' in full.stdout, full
    assert contents(docs / "docs") == old
    assert git(docs, "rev-parse", "HEAD") == before
    done()
    assert_at_tip(docs, upstream)


@pytest.fixture
def small(env):
    """A function that mounts a small file system, which the checkout is to be on; skips where that is not allowed."""
    mount = env() / "small"
    mount.mkdir()
    mounted = []

    def make(size):
        words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", mount]
        if subprocess.run(words, check=False).returncode:
            pytest.skip("no small file system can be mounted here")
        mounted.append(mount)
        env(KLIPPER_DOCS_DIR=mount / "klipper")
        return mount

    yield make
    for one in mounted:
        subprocess.run(["umount", one], check=True)


@pytest.mark.mounts
def test_a_full_file_system_leaves_the_old_pages(small, upstream):
    mount = small("400k")
    docs = mount / "klipper"
    done()
    old, _ = both_states(upstream, {f"docs/P{number}.md": os.urandom(40_000).hex() for number in range(8)})
    assert sync()["code"] == "DISK_FULL"
    assert contents(docs / "docs") == old
    subprocess.run(["mount", "-o", "remount,size=8m", "tmpfs", mount], check=True)
    done()
    assert_at_tip(docs, upstream)
    upstream.commit({"docs/P1.md": "# New\n"})
    subprocess.run(["mount", "-o", "remount,ro", "tmpfs", mount], check=True)
    assert sync()["code"] == "NOT_WRITABLE"


@pytest.mark.mounts
def test_a_full_disk_is_named_whichever_file_was_too_much(small, upstream):
    mount = small("4m")
    done()
    old, _ = both_states(upstream, {f"docs/P{number}.md": os.urandom(2000).hex() for number in range(4)})
    codes = []
    while "" not in codes:
        with open(mount / "filling", "wb") as file:
            free = os.statvfs(mount)
            os.posix_fallocate(file.fileno(), 0, (free.f_bavail - len(codes)) * free.f_bsize)
        codes.append(sync().get("code", ""))
        assert codes[-1] == "" or contents(mount / "klipper" / "docs") == old
        (mount / "filling").unlink()
    assert len(codes) > 10 and set(codes[:-1]) == {"DISK_FULL"}, codes
    assert_at_tip(mount / "klipper", upstream)


def test_a_stalled_upstream_is_given_up(env, docs, monkeypatch):
    monkeypatch.setitem(tool_git.ENVIRON, "GIT_HTTP_LOW_SPEED_TIME", "1")
    with serving(Stalled) as url:
        env(KLIPPER_DOCS_URL=f"{url}/klipper.git")
        answer = sync()
    assert answer["code"] == "UPSTREAM_UNREACHABLE" and answer["hint"]


def test_git_ends_with_its_helpers_when_it_takes_too_long(env, docs, monkeypatch):
    monkeypatch.setattr(tool_git, "CONTACT_TIMEOUT_S", 0.5)
    with serving(Stalled) as url:
        env(KLIPPER_DOCS_URL=f"{url}/klipper.git")
        answer = sync()
    assert answer["code"] == "TIMEOUT" and answer["hint"]


def test_a_withdrawn_call_ends_git_and_leaves_the_pages(env, docs, upstream):
    handler = smart_http(upstream.folder.parent)
    with serving(handler) as url:
        env(KLIPPER_DOCS_URL=f"{url}/upstream/.git")
        done()
    pages = upstream.pages()
    withdrawn = threading.Event()

    class Cancelling(Stalled):
        def do_GET(self):
            withdrawn.set()
            super().do_GET()

    with serving(Cancelling) as url, calls.calling(lambda *_: None, withdrawn.is_set):
        env(KLIPPER_DOCS_URL=f"{url}/klipper.git")
        assert sync()["code"] == "CANCELLED"
    assert contents(docs / "docs") == pages


def test_without_git_the_answer_says_how_to_get_it(env, docs, upstream):
    env(PATH=env() / "home")
    answer = sync()
    assert answer["code"] == "GIT_MISSING" and "apt install git" in answer["hint"]


@pytest.mark.parametrize("left", [b"", b"\0" * 30], ids=["empty", "zeros"])
@pytest.mark.parametrize("name", [".git/HEAD", ".git/config", ".git/shallow", ".git/pi-mcp.json", "docs/Bed_Mesh.md"])
def test_a_file_lost_to_a_power_cut_is_no_matter_to_the_next_sync(docs, upstream, name, left):
    done()
    upstream.commit({"docs/Bed_Mesh.md": page("Bed Mesh, again")})
    (docs / ".pi-mcp/current" / name).write_bytes(left)

    done()

    assert_at_tip(docs, upstream)


def test_objects_lost_to_a_power_cut_are_not_missed(docs, upstream):
    done()
    upstream.commit({"docs/Bed_Mesh.md": page("Bed Mesh, again")})
    for pack in (docs / ".git/objects/pack").glob("*.pack"):
        pack.chmod(0o600)
        pack.write_bytes(b"")

    answer = done()

    assert answer["changed"] == {"Bed_Mesh.md": len(page("Bed Mesh, again")) - len(page("Bed Mesh"))}
    assert_at_tip(docs, upstream)


@pytest.mark.parametrize("gone", ["generations", "current", "."])
def test_a_state_folder_that_somebody_removed_is_made_anew(docs, upstream, gone):
    done()
    path = docs / ".pi-mcp" / gone
    path.unlink() if path.is_symlink() else shutil.rmtree(path)
    (docs / ".pi-mcp").mkdir(exist_ok=True)

    done()

    assert_at_tip(docs, upstream)
