"""What `search_docs` costs, over real questions, in processor time and in memory. The anchor is a plain pass:
opening, reading and decoding every page once, measured beside each query; the least of some rounds counts."""

import json
import os
import statistics
import sys
import time
from itertools import cycle, islice
from subprocess import check_output

from tests.conftest import documentation
from tests.lab.bench.measuring import Row, at_most, memory_mib
from tests.support.client import PROJECT
from tools.core import registry
from tools.klipper.search.index import _cached_index
from tools.klipper.search_docs import search_docs

ROUNDS = 5
QUESTIONS = PROJECT / "tests" / "klipper" / "questions.json"
ANCHOR = "a pass over the pages"


def rows():
    """The rows for the documentation beside the project, or the one that setup.sh fetched; none without
    one."""
    if not (docs := documentation()):
        print("left out: there is no documentation here; ./setup.sh fetches it")
        return
    # The index is there, as after a sync.
    check_output([sys.executable, "-m", "tools", "call", "search_docs", '{"query": "mesh"}'])
    queries = [question["query"] for question in json.loads(QUESTIONS.read_text("utf-8"))]
    yield memory(queries)
    yield from times(docs / "docs", queries)


def memory(queries):
    registry.load()
    before = memory_mib(os.getpid())
    for query in islice(cycle(queries), 100):
        search_docs(query)
    now = memory_mib(os.getpid())
    what = "memory after 100 queries"
    promise = "at most 5 MiB more"
    return Row(what, now, "MiB", before, "before them", promise, now <= before + 5)


def times(docs, queries):
    def plain_pass():
        return sum(len(path.read_text("utf-8")) for path in docs.rglob("*.md"))

    def first_query():
        _cached_index.cache_clear()
        search_docs(queries[0])

    first_s, plain_s = (
        min(seconds(side) for _ in range(ROUNDS)) for side in (first_query, plain_pass)
    )
    yield at_most(20, "a session's first query", first_s * 1000, "ms", plain_s * 1000, ANCHOR)
    ratios = []
    plains = []
    for query in queries:
        rounds = [
            (seconds(lambda query=query: search_docs(query)), seconds(plain_pass))
            for _ in range(ROUNDS)
        ]
        took, plain_s = map(min, zip(*rounds, strict=True))
        ratios.append(took / plain_s)
        plains.append(plain_s)
    plain_ms = statistics.median(plains) * 1000
    slow = sorted(ratios)[int(len(ratios) * 0.95)]
    yield at_most(
        20, "a query, median", statistics.median(ratios) * plain_ms, "ms", plain_ms, ANCHOR
    )
    yield at_most(60, "a query, 95th of 100", slow * plain_ms, "ms", plain_ms, ANCHOR)


def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start
