"""The house: who may import whom, where a tool is found, how long things are, and how many there are of
each."""

import ast
import importlib
import re
import statistics
import sys
import tokenize
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from importlib.util import resolve_name
from itertools import pairwise

import pytest

from tests.support.air import check_cap
from tests.support.client import PROJECT
from tools.core import places, registry
from tools.core.errors import ToolError
from tools.core.http import HttpError
from tools.core.tool import TOOLS

TOOLS_FOLDER = PROJECT / "tools"
SOURCES = sorted(TOOLS_FOLDER.rglob("*.py"))
EVERY = [PROJECT / "server.py", *SOURCES]
# A toolset that stands on another: the printer's log is told in Klipper's messages and checks.
ABOVE = {"printer": "klipper"}
# The names of the core that toolsets take.
TOOLKIT = "tools.toolkit"
# What is used where it is installed, and the one file that may import it, inside a function.
EXTRAS = {"PIL": ["resize.py"]}
# Names that several folders have a file of: each declares the same thing.
OF_EACH_TOOLSET = {"__init__", "settings", "health", "prompts", "resources", "errors"}
# Lines of a file with one subject.
LONGEST = 415
# Lines of the one place that has the whole of the protocol.
PROTOCOL = 570
WEIGHED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}

registry.load()


def module_of(path):
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in SOURCES}
TREES = {path: ast.parse(path.read_text("utf-8")) for path in EVERY}


def imported(path):
    """Every module that a file imports, wherever in it; of `from package import name` the module if it is
    one."""
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = ".".join(path.relative_to(PROJECT).parent.parts)
            source = resolve_name("." * node.level + (node.module or ""), package)
            for alias in node.names:
                full = f"{source}.{alias.name}"
                yield full if full in MODULES else source


def folder(module):
    """The folder that a module lies in, seen from `tools`: core, anki, anki.images."""
    return ".".join(MODULES[module].parent.relative_to(TOOLS_FOLDER).parts)


def room(module):
    """The folder inside a toolset that a module lies in; whatever lies above those is a room of its own."""
    return folder(module) if "." in folder(module) else module


def line_count(path):
    return len(path.read_text("utf-8").splitlines())


def relative(path):
    return str(path.relative_to(PROJECT))


def test_core_imports_itself_and_every_other_folder_the_core_and_itself():
    wrong = []
    for module, path in MODULES.items():
        own = folder(module).partition(".")[0]
        reachable = {own, "core", ABOVE.get(own)}
        for name in imported(path):
            top = name.partition(".")[0]
            if name in MODULES:
                is_right = (
                    not own
                    or folder(name).partition(".")[0] in reachable
                    or (name == TOOLKIT and own != "core")
                )
            else:
                is_right = top in sys.stdlib_module_names or path.name in EXTRAS.get(top, ())
            if not is_right:
                wrong.append(f"{module} imports {name}")
    assert not wrong


# In Python inside of a shell script: `from tools.core import settings`, its module and its names.
SHELL_IMPORT = re.compile(r"\bfrom (tools[\w.]*) import ([\w ,]+)")


def test_what_shell_scripts_import_is_there():
    """No other check reads the Python inside of them."""
    scripts = [
        PROJECT / "systemd" / "pi-mcp",
        *PROJECT.glob("*.sh"),
        *PROJECT.glob("tests/**/*.sh"),
    ]
    imports = {found for path in scripts for found in SHELL_IMPORT.findall(path.read_text("utf-8"))}
    assert len(imports) > 5
    for module, clause in imports:
        for name in re.sub(r" as \w+", "", clause).split(","):
            full = f"{module}.{name.strip()}"
            assert full in MODULES or hasattr(importlib.import_module(module), name.strip()), full


@pytest.mark.parametrize("unit", [str, room])
def test_neither_modules_nor_rooms_import_each_other_in_a_circle(unit):
    """`unit`: what a module counts as."""
    arrows = TopologicalSorter()
    for module, path in MODULES.items():
        others = {unit(other) for other in imported(path) if other in MODULES}
        arrows.add(unit(module), *others - {unit(module)})
    arrows.prepare()  # raises CycleError


def test_a_room_of_onepercent_imports_only_those_that_the_documentation_names_before_it():
    page = (PROJECT / "docs" / "architecture.md").read_text("utf-8")
    sentence = re.search(r"OnePercent's rooms are layers[^.]*", page)[0]
    order = [f"onepercent.{name}" for name in re.findall("`(.*?)`", sentence)]
    assert set(order) == {room for room in map(folder, MODULES) if room.startswith("onepercent.")}
    wrong = []
    for module, path in MODULES.items():
        if folder(module) in order:
            later = order[order.index(folder(module)) + 1 :]
            others = [name for name in imported(path) if name in MODULES]
            wrong += [f"{module} imports {name}" for name in others if folder(name) in later]
    assert not wrong


def test_the_core_names_no_toolset():
    names = set(places.toolsets()) - {"search", "server"}
    assert not [
        f"{relative(path)}:{node.lineno} {node.value}"
        for path in (TOOLS_FOLDER / "core").glob("*.py")
        for node in ast.walk(TREES[path])
        if isinstance(node, ast.Constant) and node.value in names
    ]


def test_a_tool_is_found_by_its_name():
    hidden = []
    for tool in TOOLS.values():
        place, _, file = tool.function.__module__.removeprefix("tools.").rpartition(".")
        nouns = {f"{word}{ending}" for word in tool.listed_name.split("_") for ending in ("", "s")}
        nouns.add(tool.name.rpartition(".")[2])
        if place != tool.toolset or file not in nouns:
            hidden.append(f"{tool.name} in {place}.{file}")
    assert not hidden


def test_a_file_s_name_says_which_it_is():
    """An editor's tab has nothing but the name."""
    times = Counter(path.stem for path in SOURCES)
    assert {name for name, count in times.items() if count > 1} <= OF_EACH_TOOLSET


@pytest.mark.filterwarnings("default:a cap")
def test_a_file_has_one_subject_and_is_short():
    lengths = {relative(path): line_count(path) for path in SOURCES}
    assert lengths.pop("tools/protocol.py") <= PROTOCOL
    for name, lines in lengths.items():
        check_cap(name, lines, LONGEST)


def blocks():
    """The body of each file, class and function."""
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield path, node.body


def test_a_constant_or_attribute_is_documented_by_a_comment_above_it():
    """Of two ways one is enough; a text below a constant is not its docstring for Python."""
    below = []
    for path, block in blocks():
        for node, following in pairwise(block):
            is_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            if is_text and isinstance(node, ast.Assign | ast.AnnAssign):
                below.append(f"{relative(path)}:{following.lineno}")
    assert not below


def test_functions_are_short():
    lengths = sorted(
        node.end_lineno - node.lineno + 1
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    check_cap("the median function", statistics.median(lengths), 10)
    check_cap("nine functions in ten", lengths[int(len(lengths) * 0.9)], 27)


# "`watch` in `server.py`", "`Session.serve` in protocol.py": a name, and the end of its file's path.
NAME_IN_FILE = r"`(?:\w+\.)?(\w+)` in `?([\w/]+\.(?:py|js))\b"
# A function, a class or a constant where it is defined, in Python or in a page's script.
DEFINITION = r"(?m)^\s*(?:async )?(?:def|class|function|const|let) {0}\b|^{0}\b[^=\n]* = "


def test_guides_and_comments_name_what_is_there():
    references = set()
    for guide in [*PROJECT.glob("*.md"), *PROJECT.glob("docs/*.md"), *EVERY]:
        references |= set(re.findall(NAME_IN_FILE, guide.read_text("utf-8")))
    missing = []
    for name, file in references:
        paths = [*PROJECT.glob(file), *TOOLS_FOLDER.rglob(file)]
        texts = [path.read_text("utf-8") for path in paths]
        if not any(re.search(DEFINITION.format(name), text) for text in texts):
            missing.append(f"{name} in {file}")
    assert len(references) > 25 and not missing


def test_the_tree_of_errors_in_the_documentation_is_whole():
    text = (PROJECT / "docs" / "architecture.md").read_text("utf-8")
    tree = text.partition("## Errors")[2].partition("## ")[0]
    errors = [ToolError, HttpError]
    for error in errors:
        errors += error.__subclasses__()
    ours = [error.__name__ for error in errors if error.__module__.startswith("tools.")]
    assert not [name for name in ours if name not in tree]


def budget():
    """The share of each room in tokens, from the table in CONTRIBUTING.md."""
    text = (PROJECT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.+`) \| ([\d,]+) \|", text, re.M)
    return {rooms.replace("`", ""): int(share.replace(",", "")) for rooms, share in rows}


def sources_of(rooms):
    """The files of one row: single files, files by a pattern, whole folders."""
    paths = [path for name in rooms.split() for path in PROJECT.glob(name)]
    return [file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])]


@cache
def weight_of(path):
    """Tokens of Python; of a table, its words."""
    if path.suffix != ".py":
        return len(path.read_text("utf-8").split())
    weight = depth = 0
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            name = tokenize.tok_name[token.type]
            # Since Python 3.12 an f-string comes in pieces; it is one string here.
            weight += not depth and (name == "FSTRING_START" or token.type in WEIGHED)
            depth += (name == "FSTRING_START") - (name == "FSTRING_END")
    return weight


@pytest.mark.filterwarnings("default:a cap")
def test_every_room_weighs_about_its_share():
    """`pytest -s` prints what each room weighs. A room that is not in the table counts in the sum alone."""
    for rooms, share in budget().items():
        files = sources_of(rooms)
        weight = sum(map(weight_of, files))
        lines = sum(map(line_count, files))
        print(f"\n{weight:7} of {share:7}, {weight / lines:.2f} a line  {rooms}", end="")
        check_cap(rooms, weight, share)
