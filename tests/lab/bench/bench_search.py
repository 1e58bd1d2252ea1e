"""What `search_docs` costs, over real questions, in processor time and in memory. The anchor is a plain pass:
opening, reading and decoding every page once, measured beside each query; the least of some rounds counts."""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import DEVNULL, run

from tests.conftest import documentation
from tests.lab.bench.measuring import Row, at_most, memory_mib
from tests.support.client import PROJECT

ROUNDS = 5
QUESTIONS = PROJECT / "tests" / "klipper" / "questions.json"
ANCHOR = "a pass over the pages"


def rows() -> Iterator[Row]:
    """Of the documentation beside the project, else of the one that setup.sh fetched; nothing without one."""
    if not (docs := documentation()):
        print("left out: there is no documentation here; ./setup.sh fetches it")
        return
    os.environ["KLIPPER_DOCS_DIR"] = str(docs)
    # The index is there, as after a sync.
    run(
        [sys.executable, "-m", "tools", "call", "search_docs", '{"query": "mesh"}'],
        stdout=DEVNULL,
        check=True,
    )
    queries = [question["query"] for question in json.loads(QUESTIONS.read_text(encoding="utf-8"))]
    yield memory(queries)
    yield from times(docs / "docs", queries)


def memory(queries: list[str]) -> Row:
    from tools.core import registry
    from tools.klipper.search_docs import search_docs

    registry.load()
    before = memory_mib(os.getpid())
    for number in range(100):
        search_docs(queries[number % len(queries)])
    now = memory_mib(os.getpid())
    return Row(
        "memory after 100 queries",
        now,
        "MiB",
        before,
        "before them",
        "at most 5 MiB more",
        now <= before + 5,
    )


def times(docs: Path, queries: list[str]) -> Iterator[Row]:
    from tools.klipper.search.index import _cached_index
    from tools.klipper.search_docs import search_docs

    def plain_pass() -> int:
        return sum(len(path.read_text(encoding="utf-8")) for path in docs.rglob("*.md"))

    def first_query() -> None:
        _cached_index.cache_clear()
        search_docs(queries[0])

    first, plain = (min(seconds(side) for _ in range(ROUNDS)) for side in (first_query, plain_pass))
    yield at_most(20, "a session's first query", first * 1000, "ms", plain * 1000, ANCHOR)
    pairs = []
    for query in queries:
        rounds = [
            (seconds(lambda query=query: search_docs(query)), seconds(plain_pass))
            for _ in range(ROUNDS)
        ]
        pairs.append(tuple(map(min, zip(*rounds, strict=True))))
    plain_ms = statistics.median(plain for _, plain in pairs) * 1000
    ratios = sorted(query / plain for query, plain in pairs)
    slow = ratios[int(len(ratios) * 0.95)]
    for what, ratio, limit in (
        ("median", statistics.median(ratios), 20),
        ("95th of 100", slow, 60),
    ):
        yield at_most(limit, f"a query, {what}", ratio * plain_ms, "ms", plain_ms, ANCHOR)


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
