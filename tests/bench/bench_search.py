"""What search_docs costs and how well it finds, in one run.

    python3 tests/bench/bench_search.py [--docs DIR] [--queries FILE]

`--docs` is a checkout with its pages in `docs/`, `--queries` a JSON list of {"query", "kind", "gold": [path, …]}; both
default to `../shared/data` beside the project. Time is counted in plain passes: opening, reading and decoding every page
once, measured beside each query, so that the figures of different machines compare; it is time of the processor, the
least of some rounds, so that other work on the machine matters little.
"""

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
DATA = PROJECT.parent / "shared" / "data"
ROUNDS = 5
sys.path.insert(0, str(PROJECT))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path, default=DATA / "klipper")
    parser.add_argument("--queries", type=Path, default=DATA / "klipper_queries_dev.json")
    options = parser.parse_args()
    for path in (options.docs / "docs", options.queries):
        if not path.exists():
            print(f"{path} is not there; --docs and --queries say where the pages and questions are", file=sys.stderr)
            return 2
    os.environ["KLIPPER_DOCS_DIR"] = str(options.docs)
    questions = json.loads(options.queries.read_text(encoding="utf-8"))
    print(f"{len(questions)} questions\n")
    show_memory(questions)
    show_time(options.docs / "docs", questions)
    show_scores(questions)
    return 0


def search(query: str) -> list[dict]:
    from tools.klipper.search import search_docs

    found = search_docs(query)
    return found if isinstance(found, list) else found["result"]


def plain_pass(docs: Path) -> int:
    size = 0
    for folder, _, names in os.walk(docs):
        for name in names:
            if name.endswith(".md"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    size += len(file.read())
    return size


def seconds(work, *arguments) -> float:
    start = time.process_time()
    work(*arguments)
    return time.process_time() - start


def show_time(docs: Path, questions: list[dict]) -> None:
    plain_pass(docs)
    plain, ratios = [], []
    for one in questions:
        pairs = [(seconds(plain_pass, docs), seconds(search, one["query"])) for _ in range(ROUNDS)]
        plain.append(min(pass_s for pass_s, _ in pairs))
        ratios.append(min(search_s for _, search_s in pairs) / plain[-1])
    ratios.sort()
    print(f"plain pass          {statistics.median(plain) * 1000:8.2f} ms")
    print(f"query, median       {statistics.median(ratios):8.1f} passes   (limit 20)")
    print(f"query, 95th of 100  {ratios[int(len(ratios) * 0.95)]:8.1f} passes   (limit 60)\n")


def resident_kib() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def show_memory(questions: list[dict]) -> None:
    from tools import registry

    registry.load()
    before = resident_kib()
    for number in range(100):
        search(questions[number % len(questions)]["query"])
    print(f"after 100 queries   {(resident_kib() - before) / 1024:8.2f} MiB more  (limit 4)\n")


def show_scores(questions: list[dict]) -> None:
    places: dict[str, list[int]] = {}
    for one in questions:
        paths = [result["path"] for result in search(one["query"])]
        place = next((number for number, path in enumerate(paths, 1) if path in one["gold"]), 0)
        places.setdefault(one["kind"], []).append(place)
    print(f"{'kind':<12} {'n':>4} {'hit@1':>7} {'hit@7':>7} {'MRR':>7}")
    places["all"] = [place for found in list(places.values()) for place in found]
    for kind, found in places.items():
        first, any_place = sum(place == 1 for place in found), sum(place > 0 for place in found)
        rank = sum(1 / place for place in found if place)
        count = len(found)
        print(f"{kind:<12} {count:>4} {first / count:>7.3f} {any_place / count:>7.3f} {rank / count:>7.3f}")


if __name__ == "__main__":
    sys.exit(main())
