"""The house: who may import whom, where a tool is found, how long things are."""

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.client import PROJECT
from tools.core import registry
from tools.core.tool import READ_ONLY_VARIANTS, TOOLS

TOOLS_FOLDER = PROJECT / "tools"
SOURCES = sorted(TOOLS_FOLDER.rglob("*.py"))
EXTRAS = {"PIL": ["resize.py"]}
"""What is used where it is installed, and the one file that may import it, inside a function."""
AT_THE_TOP = ("__main__", "check", "__init__")
"""Modules right under `tools/`, which may import everything."""

registry.load()


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in SOURCES}


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in it; of `from package import name` the module if it is one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else node.module


def room(module: str) -> str:
    """The folder that a module lies in, seen from `tools`: core, anki, anki.images."""
    path = MODULES[module]
    folder = path.parent.relative_to(TOOLS_FOLDER)
    return ".".join(folder.parts)


def owner(module: str) -> str:
    """core, service, a toolset, or "" for the top."""
    return room(module).partition(".")[0]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_core_imports_itself_service_the_core_and_a_toolset_the_core_and_itself(path):
    own = owner(module_of(path))
    for name in imported(path):
        top = name.partition(".")[0]
        assert top in {*sys.stdlib_module_names, "tools"} or path.name in EXTRAS.get(top, ()), name
        if name in MODULES and own:
            assert owner(name) in {own, "core"}, f"{name} is not for {own}"


def test_no_modules_import_each_other_in_a_circle():
    arrows = {name: {other for other in imported(path) if other in MODULES} - {name} for name, path in MODULES.items()}
    while leaves := [name for name, others in arrows.items() if not others & arrows.keys()]:
        for leaf in leaves:
            del arrows[leaf]
    assert not arrows


def test_the_core_names_no_toolset():
    toolsets = {path.parent.name for path in TOOLS_FOLDER.glob("*/__init__.py")} - {"core", "service"}
    for path in (TOOLS_FOLDER / "core").glob("*.py"):
        words = {node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)}
        assert not words & (toolsets - {"search", "server"}), path


@pytest.mark.parametrize(
    "tool", [*TOOLS.values(), *READ_ONLY_VARIANTS.values()], ids=lambda tool: f"{tool.name} {tool.read_only_variant}"
)
def test_a_tool_is_found_by_its_name(tool):
    folder, _, file = tool.function.__module__.removeprefix("tools.").rpartition(".")
    assert folder == tool.toolset
    nouns = {tool.name.rpartition(".")[2]} | {
        f"{word}{ending}" for word in tool.listed_name.split("_") for ending in ("", "s")
    }
    assert file.removesuffix("_reading") in nouns or file == "changes"  # of OnePercent, still to be split


@pytest.mark.parametrize("path", [PROJECT / "server.py", *SOURCES], ids=lambda path: str(path.relative_to(PROJECT)))
def test_a_file_has_one_subject_and_is_short(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= (700 if path.name == "server.py" else 300)


def test_functions_are_short():
    lengths = sorted(
        node.end_lineno - node.lineno + 1
        for path in [PROJECT / "server.py", *SOURCES]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert statistics.median(lengths) <= 9
    assert lengths[int(len(lengths) * 0.9)] <= 22
