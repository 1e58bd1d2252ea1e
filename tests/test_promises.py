"""What holds for every tool and every source file, so that a new one gets it for free."""

import ast
import inspect
import json
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.support.air import check_cap
from tests.support.client import PROJECT, finished
from tools.core import prompts, registry, resources
from tools.core.health import CHECKS
from tools.core.tool import READ_ONLY_VARIANTS, TOOLS, description

SOURCES = sorted((PROJECT / "tools").rglob("*.py"))
registry.load()
MODULES = [str(path.relative_to(PROJECT).with_suffix("")).replace("/", ".") for path in SOURCES]
TOOLS_LISTED = registry.listed()
EACH = [*TOOLS_LISTED.values(), *READ_ONLY_VARIANTS.values()]


@pytest.mark.slow
def test_the_standard_library_is_enough_for_every_module():
    names = [name for name in MODULES if not name.endswith("__main__")]
    code = f"import sys, importlib; sys.path.insert(0, {str(PROJECT)!r}); [importlib.import_module(n) for n in {names!r}]"
    done = finished([sys.executable, "-I", "-S", "-c", code])
    assert done.returncode == 0, done.stderr


@cache
def parsed(path: Path):
    return ast.parse(path.read_text(encoding="utf-8"))


def test_every_module_says_its_subject():
    assert not [
        path for path in [PROJECT / "server.py", *SOURCES] if not ast.get_docstring(parsed(path))
    ]


def test_every_tool_error_has_a_hint():
    assert not [
        f"{path.name}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ToolError"
        if len(node.args) < 2 and not any(one.arg == "hint" for one in node.keywords)
        if not any(isinstance(one, ast.Starred) for one in node.args)
    ]


def test_every_tool_has_a_name_that_clients_take():
    """Lower case, single underscores, at most one dot, as several clients ask."""
    names = [tool.name for tool in [*TOOLS.values(), *READ_ONLY_VARIANTS.values()]]
    valid = re.compile(r"(?!.*__|.*\._)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?")
    assert [name for name in names if not valid.fullmatch(name) or len(name) > 40] == []
    assert [
        tool.title for tool in TOOLS.values() if not re.fullmatch(r"[A-Z][\w' :,().]+", tool.title)
    ] == []
    assert [
        tool.title for tool in TOOLS.values() if "_" in tool.title or len(tool.title) > 40
    ] == []


def test_the_docstring_of_a_tool_a_prompt_or_a_resource_describes_and_names_its_source():
    for declared in (*EACH, *prompts.PROMPTS.values(), *resources.RESOURCES.values()):
        doc, told = inspect.getdoc(declared.function), description(declared.function)
        assert re.search(r"^Source: ", doc, re.MULTILINE), declared
        assert doc.split("\n\n")[0].rstrip().endswith((".", "!", "?")) and "Source:" not in told, (
            declared
        )


def test_the_sources_cite_only_documents_that_a_clone_has():
    own = re.compile(r"\bdocs/[a-z]\w*\.md|\b\w+\.ru\.md|\bREADME\.md")  # not Klipper's pages
    cited = {
        (path.name, name)
        for path in SOURCES
        for name in own.findall(path.read_text(encoding="utf-8"))
    }
    assert {place for place, name in cited if not (PROJECT / name).exists()} == set()
    assert cited


def test_a_client_pays_little_for_a_tool_whose_schema_has_no_references():
    for tool in EACH:
        text = json.dumps(tool.schema, ensure_ascii=False, separators=(",", ":"))
        check_cap(tool.name, len((tool.description + text).encode()), 5600)
        assert '"$ref":' not in text, tool.name
        is_closed = tool.toolset == "onepercent" or not tool.parameters.members
        assert ("additionalProperties" in tool.schema) == is_closed, tool.name


# What the server checks by itself, and some model APIs refuse.
LIMITS = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}


def keywords(schema):
    """The keywords of a schema and of those in it; names of properties are none."""
    yield from schema
    for inner in schema.get("properties", {}).values():
        yield from keywords(inner)
    for inner in (schema.get("items"), schema.get("additionalProperties")):
        yield from keywords(inner) if isinstance(inner, dict) else ()


def test_no_schema_has_limits_and_no_description_leans_on_the_order_of_fields():
    for tool in EACH:
        assert not LIMITS.intersection(keywords(tool.schema)), tool.name
        text = json.dumps(tool.schema)
        names = set(re.findall(r'"(\w+)": \{', text))
        ranges = re.findall(r"(\w+)\*?-(\w+)", text)
        assert not [pair for pair in ranges if names.issuperset(pair)], tool.name


def test_an_unknown_argument_is_an_error_with_a_hint_and_a_reader_is_not_destructive():
    for tool in EACH:
        answer = tool.call({"no_such_argument": 1})
        assert answer["success"] is False and answer["hint"], tool.name
        assert tool.write or not tool.destructive, tool.name


def test_read_only_mode_lists_no_writer(env):
    env(MCP_READ_ONLY=1)
    listed = registry.listed()
    assert listed
    assert not [tool.name for tool in listed.values() if tool.write]


def test_every_system_can_be_checked():
    assert {tool.toolset for tool in TOOLS_LISTED.values()} <= {
        *CHECKS,
        "server",
    }  # checkup looks at that itself


def test_a_stand_in_reads_in_place_of_a_writer():
    for name, tool in READ_ONLY_VARIANTS.items():
        assert not tool.write
        assert TOOLS[name].write
        assert TOOLS[name].toolset == tool.toolset
