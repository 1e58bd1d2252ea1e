"""What `search_docs` costs, over real questions, in processor time and in memory. The anchor is a plain pass: opening,
reading and decoding every page once, measured beside each query; the least of some rounds counts.

    python tests/bench/bench_search.py [--docs DIR] [--queries FILE]      how well it finds, too

`--docs` is a checkout with its pages in `docs/` (default: the one that setup.sh fetched), `--queries` a JSON list of
{"query", "kind", "gold": [path, …]} (default: those of tests/klipper).
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
ROUNDS = 5
sys.path.insert(0, str(PROJECT))

from tests.bench.documentation import searched, there  # noqa: E402
from tests.bench.processes import rss_mib  # noqa: E402
from tests.bench.rows import Row, line  # noqa: E402
from tests.conftest import SHARED  # noqa: E402

QUERIES = [SHARED / "klipper_queries_dev.json", PROJECT / "tests" / "klipper" / "questions.json"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--queries", type=Path, default=there(QUERIES))
    options = parser.parse_args()
    if not searched(options.docs):
        return 2
    for row in rows(options.docs, options.queries):
        print(line(row.cells()))
    show_scores(json.loads(options.queries.read_text(encoding="utf-8")))
    return 0


def rows(docs: Path | None = None, queries: Path | None = None) -> Iterator[Row]:
    if not (docs := searched(docs)):
        return
    questions = json.loads((queries or there(QUERIES)).read_text(encoding="utf-8"))
    yield memory(questions)
    yield from times(docs / "docs", questions)


def search(query: str) -> list[dict]:
    from tools.klipper.search_docs import search_docs

    answer = search_docs(query)
    return answer if isinstance(answer, list) else answer["result"]


def plain_pass(docs: Path) -> int:
    size = 0
    for folder, _, names in os.walk(docs):
        for name in names:
            if name.endswith(".md"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    size += len(file.read())
    return size


def seconds(function, *arguments) -> float:
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def times(docs: Path, questions: list[dict]) -> Iterator[Row]:
    plain_pass(docs)
    pairs = [least(docs, question["query"]) for question in questions]
    plain_ms = statistics.median(plain for _, plain in pairs) * 1000
    passes = sorted(query / plain for query, plain in pairs)
    for what, ratio, limit in (
        ("a query, median", statistics.median(passes), 20),
        ("a query, 95th of 100", passes[int(len(passes) * 0.95)], 60),
    ):
        yield Row(what, ratio * plain_ms, "ms", plain_ms, "a pass over the pages", f"at most {limit}", ratio <= limit)


def least(docs: Path, query: str) -> tuple[float, float]:
    """Seconds of a query and of a plain pass, taken in turns."""
    rounds = [(seconds(search, query), seconds(plain_pass, docs)) for _ in range(ROUNDS)]
    return tuple(map(min, zip(*rounds, strict=True)))


def memory(questions: list[dict]) -> Row:
    from tools.core import registry

    registry.load()
    before = rss_mib(os.getpid())
    for number in range(100):
        search(questions[number % len(questions)]["query"])
    after = rss_mib(os.getpid())
    return Row(
        "memory after 100 queries", after, "MiB", before, "before them", "at most 4 MiB more", after <= before + 4
    )


def show_scores(questions: list[dict]) -> None:
    places: dict[str, list[int]] = {}
    for question in questions:
        paths = dict.fromkeys(result["path"] for result in search(question["query"]))
        place = next((number for number, path in enumerate(paths, 1) if path in question["gold"]), 0)
        places.setdefault(question["kind"], []).append(place)
    print(f"\n{'kind':<12} {'n':>4} {'hit@1':>7} {'hit@7':>7} {'MRR':>7}")
    places["all"] = [place for of_kind in list(places.values()) for place in of_kind]
    for kind, of_kind in places.items():
        first, any_place = sum(place == 1 for place in of_kind), sum(place > 0 for place in of_kind)
        rank = sum(1 / place for place in of_kind if place)
        count = len(of_kind)
        print(f"{kind:<12} {count:>4} {first / count:>7.3f} {any_place / count:>7.3f} {rank / count:>7.3f}")


if __name__ == "__main__":
    sys.exit(main())
