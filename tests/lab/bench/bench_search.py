"""What `search_docs` costs, over real questions, in processor time and in memory. The anchor is a plain pass:
opening, reading and decoding every page once, measured beside each query; the least of some rounds counts."""

import json
import os
import statistics
import sys
import time
from functools import partial
from itertools import cycle, islice
from subprocess import check_output

from tests.conftest import documentation
from tests.lab.bench.measuring import Row, at_most, memory_mib, turns
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

    def measured(work):
        """The least milliseconds that the work took, and a pass beside it."""
        sides = turns(ROUNDS, partial(cpu_ms, work), partial(cpu_ms, plain_pass))
        return map(min, sides)

    took_ms, plain_ms = measured(first_query)
    yield at_most(20, "a session's first query", took_ms, "ms", plain_ms, ANCHOR)
    figures = [tuple(measured(partial(search_docs, query))) for query in queries]
    ratios = sorted(took_ms / plain_ms for took_ms, plain_ms in figures)
    plain_ms = statistics.median(plain_ms for _, plain_ms in figures)
    median = statistics.median(ratios)
    slow = ratios[int(len(ratios) * 0.95)]
    yield at_most(20, "a query, median", median * plain_ms, "ms", plain_ms, ANCHOR)
    yield at_most(60, "a query, 95th of 100", slow * plain_ms, "ms", plain_ms, ANCHOR)


def cpu_ms(work):
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000
