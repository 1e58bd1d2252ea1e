#!/usr/bin/env python3
"""Break the sources in one small place at a time, and see whether the related tests notice.

usage: mutations.py [COUNT] [--seed N] [--only PREFIX]      e.g. mutations.py 20 --only tools/klipper

Works on a copy of the committed sources beside the .venv in use. Exit status 1 if fewer than 90 % are noticed. What
survives is either equivalent (nothing that anybody could see changed) or a missing test.
"""

import argparse
import ast
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 240
ENOUGH = 0.9

SWAPPED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv,
}  # fmt: skip


class Mutation(NamedTuple):
    """One small change of a file: what stands at `node` becomes `text`."""

    path: Path
    node: ast.AST
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
        return f"{self.path}:{self.node.lineno} {self.kind}: {self.text.strip()[:90]}"


def mutations(path: Path) -> Iterator[Mutation]:
    """Every mutation of a file."""
    tree = ast.parse((PROJECT / path).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        for text, kind in changed(node):
            yield Mutation(path, node, text, kind)


def changed(node: ast.AST) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in SWAPPED:
            yield ast.unparse(ast.Compare(node.left, [SWAPPED[type(operator)]()], node.comparators)), "comparison"
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


def related(path: Path) -> list[str]:
    """The tests of a file: those beside it that speak of it; else all of its folder."""
    parts = path.parts
    folder = PROJECT / "tests" / ("server" if path.name == "server.py" else parts[1])
    if not folder.is_dir():
        return ["tests/core"]
    files = sorted(folder.rglob("test_*.py"))
    word = parts[-2] if path.stem == "__init__" else path.stem
    speaking = [file for file in files if word in file.read_text(encoding="utf-8") or word in file.stem]
    chosen = [str(file.relative_to(PROJECT)) for file in (speaking or files)]
    return [*chosen, *([] if path.name == "server.py" else ["tests/test_promises.py"])]


def noticed(copy: Path, mutation: Mutation) -> bool:
    """Whether the related tests fail, or hang, with this mutation."""
    target = copy / mutation.path
    source = target.read_text(encoding="utf-8")
    target.write_text(mutation.apply(source), encoding="utf-8")
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        *related(mutation.path),
    ]
    child = subprocess.Popen(
        words, cwd=copy, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        return child.wait(TIMEOUT_S) != 0
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        return True
    finally:
        target.write_text(source, encoding="utf-8")


def sources(prefix: str) -> list[Path]:
    paths = [PROJECT / "server.py", *sorted((PROJECT / "tools").rglob("*.py"))]
    relative = [path.relative_to(PROJECT) for path in paths]
    return [path for path in relative if str(path).startswith(prefix)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=120)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--only", default="", help="only files whose path begins so")
    chosen = parser.parse_args()
    every = [mutation for path in sources(chosen.only) for mutation in mutations(path)]
    drawn = random.Random(chosen.seed).sample(every, min(chosen.count, len(every)))
    killed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "pi-mcp"
        subprocess.run(["git", "clone", "-q", str(PROJECT), str(copy)], check=True)
        os.symlink(PROJECT / ".venv", copy / ".venv")
        for number, mutation in enumerate(drawn, 1):
            if noticed(copy, mutation):
                killed += 1
            else:
                print(f"survived  {mutation}", flush=True)
            print(f"{number}/{len(drawn)}, {killed} noticed", file=sys.stderr, flush=True)
        shutil.rmtree(copy)
    print(f"{killed} of {len(drawn)} noticed ({killed / len(drawn):.0%}), {len(every)} possible, seed {chosen.seed}")
    return 0 if killed >= ENOUGH * len(drawn) else 1


if __name__ == "__main__":
    sys.exit(main())
