"""The house: who may import whom, where a tool is found, how long things are, and how many there are of each."""

import ast
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.support.client import PROJECT
from tools.core import places, registry
from tools.core.errors import ToolError
from tools.core.http import HttpError
from tools.core.tool import READ_ONLY_VARIANTS, TOOLS

TOOLS_FOLDER = PROJECT / "tools"
SOURCES = sorted(TOOLS_FOLDER.rglob("*.py"))
EVERY = [PROJECT / "server.py", *SOURCES]
ABOVE = {"printer": "klipper"}
"""A toolset that stands on another: the printer's log is told in Klipper's messages and checks."""
EXTRAS = {"PIL": ["resize.py"]}
"""What is used where it is installed, and the one file that may import it, inside a function."""
OF_EACH_TOOLSET = {"__init__", "settings", "health", "prompts", "resources", "errors"}
"""Names that several folders have a file of: each declares the same thing."""
FILES = 170
SHORTEST, LONGEST = 30, 300
COMMENTS = 0.015
"""Lines that are a comment, of all."""

registry.load()


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in SOURCES}
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in EVERY}


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in it; of `from package import name` the module if it is one."""
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else node.module


def folder(module: str) -> str:
    """The folder that a module lies in, seen from `tools`: core, anki, anki.images."""
    return ".".join(MODULES[module].parent.relative_to(TOOLS_FOLDER).parts)


def room(module: str) -> str:
    """The folder inside a toolset that a module lies in; whatever lies above those is a room of its own."""
    return folder(module) if "." in folder(module) else module


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def shown(path: Path) -> str:
    return str(path.relative_to(PROJECT))


def test_core_imports_itself_and_every_other_folder_the_core_and_itself():
    wrong = []
    for module, path in MODULES.items():
        own = folder(module).partition(".")[0]
        for name in imported(path):
            top = name.partition(".")[0]
            known = top in {*sys.stdlib_module_names, "tools"} or path.name in EXTRAS.get(top, ())
            reachable = (
                not own or name not in MODULES or folder(name).partition(".")[0] in {own, "core", ABOVE.get(own)}
            )
            wrong += [] if known and reachable else [f"{module} imports {name}"]
    assert not wrong


def in_circles(of) -> dict[str, set[str]]:
    """The arrows of imports between modules that lead back to where they began; `of` is what a module counts as."""
    arrows: dict[str, set[str]] = {of(module): set() for module in MODULES}
    for module, path in MODULES.items():
        arrows[of(module)] |= {of(other) for other in imported(path) if other in MODULES} - {of(module)}
    while leaves := [name for name, others in arrows.items() if not others & arrows.keys()]:
        for leaf in leaves:
            del arrows[leaf]
    return arrows


def test_neither_modules_nor_rooms_import_each_other_in_a_circle():
    assert not in_circles(lambda module: module)
    assert not in_circles(room)


def test_the_core_names_no_toolset():
    names = set(places.toolsets()) - {"search", "server"}
    assert not [
        f"{shown(path)}:{node.lineno} {node.value}"
        for path in (TOOLS_FOLDER / "core").glob("*.py")
        for node in ast.walk(TREES[path])
        if isinstance(node, ast.Constant) and node.value in names
    ]


def test_a_tool_is_found_by_its_name():
    hidden = []
    for tool in [*TOOLS.values(), *READ_ONLY_VARIANTS.values()]:
        place, _, file = tool.function.__module__.removeprefix("tools.").rpartition(".")
        nouns = {f"{word}{ending}" for word in tool.listed_name.split("_") for ending in ("", "s")}
        nouns.add(tool.name.rpartition(".")[2])
        hidden += [] if place == tool.toolset and file in nouns else [f"{tool.name} in {place}.{file}"]
    assert not hidden


def test_a_file_s_name_says_which_it_is():
    """An editor's tab has nothing but the name."""
    times = Counter(path.stem for path in SOURCES)
    assert {name for name, count in times.items() if count > 1} <= OF_EACH_TOOLSET


def test_a_file_has_one_subject_and_is_short():
    long = [f"{shown(path)}: {line_count(path)}" for path in SOURCES if line_count(path) > LONGEST]
    assert not long, f"more than one subject? At most {LONGEST} lines"


def test_a_file_is_worth_its_docstring_and_imports():
    tools = {tool.function.__module__ for tool in [*TOOLS.values(), *READ_ONLY_VARIANTS.values()]}
    short = [
        f"{shown(path)}: {line_count(path)}"
        for module, path in MODULES.items()
        if line_count(path) < SHORTEST and path.stem != "__init__" and module not in tools
    ]
    assert not short, f"shorter than {SHORTEST} lines they belong to a neighbour"
    assert len(EVERY) <= FILES


def test_functions_are_short():
    lengths = sorted(
        node.end_lineno - node.lineno + 1
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert statistics.median(lengths) <= 10
    assert lengths[int(len(lengths) * 0.9)] <= 25


def test_the_tree_of_errors_in_the_documentation_is_whole():
    text = (PROJECT / "docs" / "architecture.md").read_text(encoding="utf-8")
    tree = text.partition("## Errors")[2].partition("## ")[0]
    kinds = [ToolError, HttpError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    assert not [kind for kind in kinds if kind.__module__.startswith("tools.") and kind.__name__ not in tree]


def test_the_reasons_are_told():
    lines = [line.strip() for path in EVERY for line in path.read_text(encoding="utf-8").splitlines()]
    comments = sum(line.startswith("#") for line in lines)
    assert comments >= COMMENTS * len(lines), f"{comments} comments in {len(lines)} lines"


def test_a_docstring_begins_with_a_noun_or_a_verb():
    """A first sentence such as "What is said" has its noun left out: nobody can tell of what it speaks."""
    headless = [
        f"{shown(path)}:{node.lineno} {node.value.value.partition('.')[0]}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if re.match(r"(What|Whether|Where|When|How|Who|Whose|Which|Of|That)\b", node.value.value.strip())
    ]
    assert not headless


def test_every_room_keeps_to_its_lines():
    """The budget is CONTRIBUTING's; `pytest -s` shows what each room has."""
    text = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    budget = {
        row[0].replace("`", ""): int(row[1].replace(",", ""))
        for row in re.findall(r"^\| (`.+`) \| ([\d,]+) \|", text, re.M)
    }
    lines = {row: sum(line_count(path) for path in sources_below(row)) for row in budget}
    print("", *(f"{lines[row]:6} of {most:6}  {row}" for row, most in budget.items()), sep="\n")
    assert lines["server.py tools"] == sum(lines[row] for row in budget if row not in ("server.py tools", "tests"))
    over = {row: (lines[row], most) for row, most in budget.items() if lines[row] > most}
    assert not over, f"more than CONTRIBUTING.md allows: {over}"


def sources_below(row: str) -> Iterator[Path]:
    for name in row.split():
        path = PROJECT / name
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]
