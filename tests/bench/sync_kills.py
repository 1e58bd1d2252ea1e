"""Syncs that are killed, and readers while syncs switch: how many times something other than one whole commit was seen.

    .venv/bin/python tests/bench/sync_kills.py [--kills 300] [--at times] [--syncs 50] [--reads 2000] [--seed 1]

`--at times` kills at a random moment of a sync's usual time, `--at steps` at each of its steps in turn. Between kills the upstream is force-pushed, its branch renamed, its pages removed and edited. Exit status 1 if anything
was wrong.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from tests.klipper.upstreams import Upstream, contents, git, page  # noqa: E402

DYING = """
import os, pathlib, sys, threading, time
sys.path.insert(0, sys.argv[1])
left, delay = int(sys.argv[2]), float(sys.argv[3])
def counted(original):
    def step(*words, **names):
        global left
        left -= 1
        if left == 0: threading.Thread(target=lambda: (time.sleep(delay), os.kill(os.getpid(), 9)), daemon=True).start()
        return original(*words, **names)
    return step
for name in ("replace", "rename", "unlink", "symlink_to", "mkdir", "lstat", "write_text"):
    setattr(pathlib.Path, name, counted(getattr(pathlib.Path, name)))
for name in ("link", "rmdir", "fsync"): setattr(os, name, counted(getattr(os, name)))
from tools.core import processes
processes.run = counted(processes.run)
from tools.__main__ import main
sys.exit(main(["call", "sync_docs"]))
"""
"""A sync that kill -9 ends at its n-th step, or some milliseconds after: a file operation, or the start of a git."""
MAX_STEPS = 110
"""What a sync of an upstream of this size takes."""
SYNC = [sys.executable, "-B", "-I", "-S", str(PROJECT / "tools"), "call", "sync_docs"]


class Publisher:
    """An upstream whose every commit's pages are remembered."""

    def __init__(self, folder: Path, chance: random.Random):
        self.chance = chance
        self.upstream = Upstream(folder)
        self.states: list[dict[str, bytes]] = []
        self.did: Counter[str] = Counter()
        self.publish()

    def publish(self) -> None:
        """Change some pages in a way chosen at random."""
        way = self.chance.choice(["commit", "force push", "rename", "rewrite"])
        self.did[way] += 1
        turn = len(self.states)
        names = self.chance.sample(range(14), 4)
        files: dict[str, str | bytes | None] = {f"docs/P{name}.md": page(f"P{name}, {turn}") for name in names[:3]}
        if (self.upstream.folder / f"docs/P{names[3]}.md").exists():
            files[f"docs/P{names[3]}.md"] = None
        if way == "rename":
            git(self.upstream.folder, "branch", "-m", f"branch-{turn}")
        if way == "rewrite":
            git(self.upstream.folder, "checkout", "-q", "--orphan", f"orphan-{turn}")
        self.upstream.commit(files, *(["--amend"] if way == "force push" else []))
        self.states.append(self.upstream.pages())


def killed_at_a_time(chance: random.Random, usual_s: float) -> subprocess.Popen[bytes]:
    """A sync that was killed at a random moment of its usual time, if it had not ended."""
    process = subprocess.Popen(SYNC, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(chance.uniform(0, 1.5 * usual_s))
    except subprocess.TimeoutExpired:
        process.kill()
    return process


def killed_at_a_step(chance: random.Random, step: int) -> subprocess.Popen[bytes]:
    """A sync that is killed at a step, in one of three cases a moment after it."""
    moment = [str(step), str(chance.choice([0, 0, chance.uniform(0, 0.05)]))]
    words = [sys.executable, "-B", "-I", "-S", "-c", DYING, str(PROJECT), *moment]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def killed_syncs(publisher: Publisher, docs: Path, kills: int, at: str, chance: random.Random) -> Counter[str]:
    """Kill syncs, and look at what is there."""
    results: Counter[str] = Counter()
    start = time.monotonic()
    subprocess.run(SYNC, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    usual_s = time.monotonic() - start
    for turn in range(kills):
        publisher.publish()
        step = turn % MAX_STEPS + 1
        process = killed_at_a_time(chance, usual_s) if at == "times" else killed_at_a_step(chance, step)
        results["killed" if process.wait() < 0 else "ended before"] += 1
        pages = contents(docs / "docs")
        results["not one whole commit"] += pages not in publisher.states
        results["killed after the switch"] += process.returncode < 0 and pages == publisher.states[-1]
        if turn % 25 == 24:
            print(turn + 1, dict(results), flush=True)
    final = subprocess.run(SYNC, capture_output=True, text=True, check=False)
    results["wrong at the end"] += final.returncode != 0 or contents(docs / "docs") != publisher.states[-1]
    results["left behind"] += sorted(os.listdir(docs / ".pi-mcp")) != ["current", "generations", "lock"]
    results["left behind"] += len(os.listdir(docs / ".pi-mcp/generations")) != 1
    results["taken for an edit"] += (docs / "local-edits").exists()
    return results


def reads_during_syncs(publisher: Publisher, syncs: int, reads: int) -> Counter[str]:
    """Searches, readings and maps from several threads while syncs switch; each must be of one commit."""
    from tools.core import calls
    from tools.klipper import pages
    from tools.klipper.list_docs_map import list_docs_map
    from tools.klipper.read_doc import read_doc
    from tools.klipper.search_docs import search_docs

    results: Counter[str] = Counter()

    def all_pages() -> bool:
        return {found.path: found.file.read_bytes() for found in pages.pages()} in publisher.states

    def read() -> bool:
        text, path = read_doc("Bed_Mesh.md")["text"], "Bed_Mesh.md"
        return any(state[path].decode() == text for state in publisher.states)

    def search() -> bool:
        return search_docs("bed mesh")[0]["path"] == "Bed_Mesh.md"

    def listing() -> bool:
        sizes = {entry["name"]: entry["size"] for entry in list_docs_map()["pages"]}
        return sizes in [{name: len(text) for name, text in state.items()} for state in publisher.states]

    def look(number: int) -> None:
        kind = [all_pages, read, search, listing][number % 4]
        with calls.calling(lambda *_: None, lambda: False):
            try:
                right = kind()
            except Exception as error:
                print(f"{kind.__name__}: {error!r}")
                right = False
        results[f"{kind.__name__} {'right' if right else 'WRONG'}"] += 1

    with ThreadPoolExecutor(4) as pool:
        jobs, made = [], 0
        while made < syncs:
            publisher.publish()
            process = subprocess.Popen(SYNC, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            made += 1
            share = range(len(jobs), reads * made // syncs)
            jobs += [pool.submit(look, number) for number in share]
            for job in jobs:
                job.result()
            results["syncs failed"] += process.wait() != 0
    results["syncs"] = made
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("kills", 300), ("syncs", 50), ("reads", 2000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--at", choices=("times", "steps"), default="times")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="sync-kills-") as name:
        folder = Path(name)
        docs = folder / "docs_repo/klipper"
        os.environ |= {
            "HOME": name,
            "MCP_STATE_DIR": f"{name}/state",
            "XDG_CONFIG_HOME": f"{name}/config",
            "KLIPPER_DOCS_DIR": str(docs),
            "KLIPPER_DOCS_URL": f"file://{folder}/upstream",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        publisher = Publisher(folder / "upstream", chance)
        killed = killed_syncs(publisher, docs, options.kills, options.at, chance)
        print("kills:", dict(killed), "published:", dict(publisher.did), flush=True)
        read = reads_during_syncs(publisher, options.syncs, options.reads)
        print("reads:", dict(sorted(read.items())))
    wrong = ("not one whole commit", "wrong at the end", "left behind", "taken for an edit")
    failed = any(killed[name] for name in wrong) or read["syncs failed"] or any("WRONG" in name for name in read)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
