#!/usr/bin/env python3
"""Break the sources in one small place at a time, and see whether the related tests notice.

usage: mutations.py [COUNT] [--seed N] [--only PREFIX] [--part N/M] [--map FILE]     e.g. mutations.py 20 --only tools/klipper

Works on a copy of the committed sources beside the .venv in use. The related tests are those that execute the function,
as executed.py found out; it runs first unless `--map` names its result. Exit status 1 if fewer than 90 % are noticed.
What survives is either equivalent (nothing that anybody could see changed) or a missing test.
"""

import argparse
import ast
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from tests.bench import executed  # noqa: E402

ENOUGH = 0.9
SLOWER = 4
"""How many times as long as without a mutation tests may take, beside GRACE_S, until they count as hanging."""
GRACE_S = 60
MOST_S = 150
"""The slowest related tests are left out beyond so many seconds of a run without a mutation."""

SWAPPED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv,
}  # fmt: skip


class Mutation(NamedTuple):
    """One small change of a file: what stands at `node` becomes `text`; `function` is the one around it, if any."""

    path: Path
    node: ast.AST
    function: str
    text: str
    kind: str

    def apply(self, source: str) -> str:
        lines = source.splitlines(keepends=True)
        node = self.node
        start = len("".join(lines[: node.lineno - 1]).encode()) + node.col_offset
        end = len("".join(lines[: node.end_lineno - 1]).encode()) + node.end_col_offset
        data = source.encode()
        return (data[:start] + self.text.encode() + data[end:]).decode()

    def __str__(self) -> str:
        place = f"{self.path}:{self.node.lineno} {self.function}"
        return f"{place} {self.kind}: {ast.unparse(self.node)[:70]!r} → {self.text.strip()[:90]!r}"

    @property
    def toolset(self) -> str:
        return self.path.parts[1] if len(self.path.parts) > 2 else self.path.stem


def mutations(path: Path) -> Iterator[Mutation]:
    """Every mutation of a file."""
    tree = ast.parse((PROJECT / path).read_text(encoding="utf-8"))
    for node, function in walk(tree, ""):
        for text, kind in changed(node):
            yield Mutation(path, node, function, text, kind)


def walk(node: ast.AST, function: str) -> Iterator[tuple[ast.AST, str]]:
    """Every node with the name of the function it is executed in."""
    yield node, function
    for field, value in ast.iter_fields(node):
        inside = field == "body" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from walk(child, node.name if inside else function)


def changed(node: ast.AST) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in SWAPPED:
            swapped = ast.Compare(node.left, [SWAPPED[type(operator)]()], node.comparators)
            yield f"({ast.unparse(swapped)})", "comparison"
        case ast.BoolOp():
            yield f"({ast.unparse(ast.BoolOp(SWAPPED[type(node.op)](), node.values))})", "and/or"
        case ast.UnaryOp(op=ast.Not()):
            yield f"bool({ast.unparse(node.operand)})", "not dropped"
        case ast.BinOp() if type(node.op) in SWAPPED and not isinstance(node.left, ast.Constant):
            yield f"({ast.unparse(ast.BinOp(node.left, SWAPPED[type(node.op)](), node.right))})", "arithmetic"
        case ast.Constant(value=bool()):
            yield str(not node.value), "constant"
        case ast.Constant(value=int()) if node.value > 1:
            yield str(node.value + 1), "constant"
        case ast.If() if not node.orelse and isinstance(node.body[0], ast.Raise | ast.Return | ast.Continue):
            yield "pass", "guard dropped"
        case ast.Expr(value=ast.Call()):
            yield "pass", "call dropped"
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            yield "return None", "result dropped"


class Related(NamedTuple):
    """The tests to run for a mutation, and how long they take without one."""

    files: list[str]
    duration_s: float
    failing: list[str]


def related(mutation: Mutation, known: dict[str, executed.Executed]) -> Related:
    """The tests that execute the function: those named like the file first, then the quick ones. What is executed at
    import only concerns the tests of every function of the file."""
    beginning = f"{mutation.path} {mutation.function}".strip()
    where = {file: sum(name == beginning or (not mutation.function and name.startswith(beginning)) for name in row[0])
             for file, row in known.items()}  # fmt: skip
    stem = mutation.path.parts[-2] if mutation.path.stem == "__init__" else mutation.path.stem
    ordered = sorted(filter(where.get, where), key=lambda file: (stem not in file, known[file].duration_s))
    files, duration_s = [], 0.0
    for file in ordered:
        if not files or duration_s + known[file].duration_s <= MOST_S:
            files.append(file)
            duration_s += known[file].duration_s
    return Related(files, duration_s, [test for file in files for test in known[file].failing])


def noticed(copy: Path, mutation: Mutation, tests: Related) -> bool:
    """Whether the related tests fail, or hang, with this mutation."""
    target = copy / mutation.path
    source = target.read_text(encoding="utf-8")
    target.write_text(mutation.apply(source), encoding="utf-8")
    try:
        return bool(tests.files) and fails(copy, tests)
    finally:
        target.write_text(source, encoding="utf-8")


def fails(copy: Path, tests: Related) -> bool:
    """Whether this run ends with anything but success, which has to be printed too: one that became another program
    exits with 0 as well."""
    deselected = [word for test in tests.failing for word in ("--deselect", test)]
    with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "output", "w+", encoding="utf-8") as output:
        child = subprocess.Popen(
            executed.pytest_words("-x", *deselected, *tests.files),
            cwd=copy,
            env=executed.environ(Path(folder)),
            start_new_session=True,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            status = child.wait(GRACE_S + SLOWER * tests.duration_s)
        except subprocess.TimeoutExpired:
            return True
        finally:
            end_group(child)
        output.seek(0)
        return status != 0 or not executed.PASSED.search(output.read())


def end_group(child: subprocess.Popen) -> None:
    """End what the tests left behind, too."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def sources(prefix: str) -> list[Path]:
    paths = [PROJECT / "server.py", *sorted((PROJECT / "tools").rglob("*.py"))]
    relative = [path.relative_to(PROJECT) for path in paths]
    return [path for path in relative if str(path).startswith(prefix)]


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=120)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--only", default="", help="only files whose path begins so")
    parser.add_argument("--part", default="1/1", help="only the Nth of M parts of what is drawn")
    parser.add_argument("--map", type=Path, help="what executed.py wrote")
    return parser.parse_args()


def drawn(only: str, count: int, seed: int, part: str) -> list[Mutation]:
    every = [mutation for path in sources(only) for mutation in mutations(path)]
    number, parts = map(int, part.split("/"))
    return random.Random(seed).sample(every, min(count, len(every)))[number - 1 :: parts]


def main() -> int:
    chosen = options()
    selected = drawn(chosen.only, chosen.count, chosen.seed, chosen.part)
    killed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "pi-mcp"
        subprocess.run(["git", "clone", "-q", str(PROJECT), str(copy)], check=True)
        os.symlink(Path(sys.prefix).resolve(), copy / ".venv")
        table = chosen.map or Path(folder) / "map.json"
        if not chosen.map:
            subprocess.run([sys.executable, str(copy / "tests/bench/executed.py"), str(table)], check=True)
        known = {file: executed.Executed(*row) for file, row in json.loads(table.read_text(encoding="utf-8")).items()}
        for number, mutation in enumerate(selected, 1):
            began = time.monotonic()
            tests = related(mutation, known)
            fate = "noticed" if noticed(copy, mutation, tests) else "survived"
            killed[mutation.toolset] += fate == "noticed"
            print(
                f"{number}/{len(selected)} {fate} in {time.monotonic() - began:.0f} s, {len(tests.files)} files: ",
                end="",
            )
            print(mutation, flush=True)
    return summary(selected, killed)


def summary(selected: list[Mutation], killed: Counter[str]) -> int:
    counts = Counter(mutation.toolset for mutation in selected)
    for toolset, count in counts.most_common():
        print(f"{toolset}: {killed[toolset]} of {count}")
    total = sum(killed.values())
    print(f"{total} of {len(selected)} noticed ({total / len(selected):.0%})")
    return 0 if total >= ENOUGH * len(selected) else 1


if __name__ == "__main__":
    sys.exit(main())
