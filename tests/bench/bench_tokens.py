"""What a question about Klipper costs a model in tokens (characters / 4): the answer of search_docs, then the section
of its first result by read_doc, against the section that answers.

    python tests/bench/bench_tokens.py [--docs DIR] [--queries FILE]

Reading is measured on the questions whose first result is a page that answers them, against the section named there.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
QUESTIONS = PROJECT / "tests" / "klipper" / "questions.json"
sys.path.insert(0, str(PROJECT))

from tests.bench.documentation import searched  # noqa: E402
from tests.bench.rows import Row, line  # noqa: E402


class Cost(NamedTuple):
    """Characters of a question: searched, read, and of the section that answers it (0 if the first result does not)."""

    search: int
    reading: int
    needed: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--queries", type=Path, default=QUESTIONS)
    options = parser.parse_args()
    for row in rows(options.docs, options.queries):
        print(line(row.cells()))
    return 0


def rows(docs: Path | None = None, queries: Path = QUESTIONS) -> Iterator[Row]:
    if not searched(docs):
        return
    costs = [cost_of(question) for question in json.loads(queries.read_text(encoding="utf-8"))]
    answered = [cost for cost in costs if cost.needed]
    needed = sum(cost.needed for cost in answered)
    reading = sum(cost.reading for cost in answered) / needed
    yield Row("reading, of what is needed", reading, "times", 1.0, "the section", "at most 1.15", reading <= 1.15)
    median = statistics.median((cost.search + cost.reading) / 4 for cost in costs)
    search = statistics.median(cost.search / 4 for cost in costs)
    yield Row("a question, median", median, "tokens", search, "its search alone", "at most 900", median <= 900)


def cost_of(question: dict[str, Any]) -> Cost:
    """What a question costs, read by the heading of its first result."""
    searched = call("search_docs", query=question["query"])
    results = searched["result"]
    if not results:
        return Cost(size(searched), 0, 0)
    first = results[0]
    read = call("read_doc", path=first["path"], heading=first["heading"] or None, offset=first["offset"])
    right = first["path"] in question["gold"] and section(first["path"], question["heading"])
    here = read.get("text", "")
    same = right and here.startswith(right[:200])
    return Cost(size(searched), size(read), len(right) if same and right else 0)


def section(path: str, heading: str) -> str:
    """The text of a section, at most what one answer holds."""
    from tools.core.errors import ToolError
    from tools.klipper import headings, pages

    text = pages.read(pages.resolve(path))
    try:
        found = headings.find(text, heading, path)
    except ToolError:
        return ""
    return text[found.offset : found.end][:10_000]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    from tools.core import registry, settings

    given = {key: value for key, value in arguments.items() if value is not None}
    return registry.find(name, registry.listed(settings.current()).values()).call(given)


def size(answer: dict[str, Any]) -> int:
    return len(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    sys.exit(main())
