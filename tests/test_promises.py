"""What holds for every tool and every source file, so that a new one gets it for free."""

import ast
import inspect
import json
import re
import sys

import pytest

from tests.support.air import check_cap
from tests.support.client import PROJECT, finished
from tests.test_house import SOURCES, TREES
from tools.core import prompts, registry, resources
from tools.core.health import CHECKS
from tools.core.json_types import compact_json
from tools.core.tool import TOOLS, description

TOOLS_LISTED = registry.listed_tools()
EACH = [*TOOLS.values()]


@pytest.mark.slow
def test_the_standard_library_is_enough_for_every_module():
    paths = [path.relative_to(PROJECT).with_suffix("") for path in SOURCES]
    names = [".".join(path.parts) for path in paths if path.name != "__main__"]
    code = f"import sys; sys.path.insert(0, {str(PROJECT)!r}); import {', '.join(names)}"
    done = finished([sys.executable, "-I", "-S", "-c", code])
    assert done.returncode == 0, done.stderr


def test_every_module_says_its_subject():
    assert not [path for path, tree in TREES.items() if not ast.get_docstring(tree)]


def test_every_tool_has_a_name_that_clients_take():
    """Lower case, single underscores, at most one dot, as several clients ask, and short: a client may put
    `mcp__pi-mcp__` before it, and take 64 characters."""
    valid = re.compile(r"(?!.*__|.*\._)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?")
    title = re.compile(r"[A-Z][^\W_]([^\W_]|[' :,().])+")
    for tool in EACH:
        assert valid.fullmatch(tool.name) and len(tool.name) <= 40, tool.name
        assert title.fullmatch(tool.title) and len(tool.title) <= 40, tool.title


def test_the_docstring_of_a_tool_a_prompt_or_a_resource_describes_and_names_its_source():
    for declared in (*EACH, *prompts.PROMPTS.values(), *resources.RESOURCES.values()):
        doc = inspect.getdoc(declared.function)
        assert re.search(r"^Source: ", doc, re.MULTILINE), declared
        assert doc.split("\n\n")[0].rstrip().endswith((".", "!", "?")), declared
        assert "Source:" not in description(declared.function), declared


def test_the_sources_cite_only_documents_that_a_clone_has():
    own = re.compile(r"\bdocs/[a-z]\w*\.md|\b\w+\.ru\.md|\bREADME\.md")  # not Klipper's pages
    cited = {name for path in SOURCES for name in own.findall(path.read_text("utf-8"))}
    assert cited
    assert not [name for name in cited if not (PROJECT / name).exists()]


def test_a_client_pays_little_for_a_tool():
    for tool in EACH:
        size_bytes = len((tool.description + compact_json(tool.schema)).encode())
        check_cap(tool.name, size_bytes, 5600)
        is_closed = tool.toolset == "onepercent" or not tool.parameters.members
        assert ("additionalProperties" in tool.schema) == is_closed, tool.name


# What the server checks by itself, and some model APIs refuse; and what Gemini does not know.
LIMITS = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"}
UNKNOWN = {*"propertyNames uniqueItems const oneOf allOf not $ref exclusiveMinimum".split()}


def schemas(schema):
    """A schema, and all in it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    inner += [schema.get("items"), schema.get("additionalProperties")]
    for part in inner:
        yield from schemas(part) if isinstance(part, dict) else ()


@pytest.mark.parametrize("tool", EACH, ids=lambda tool: tool.name)
def test_a_schema_says_nothing_that_a_model_s_api_refuses(tool):
    """One that is refused refuses the whole session."""
    assert tool.schema["type"] == "object" and "anyOf" not in tool.schema
    for schema in schemas(tool.schema):
        assert not (LIMITS | UNKNOWN) & schema.keys(), schema
        kind = schema.get("type")
        assert not isinstance(kind, list), f"{schema}: Gemini takes one type"
        assert schema.get("format", "date-time") == "date-time", "Gemini refuses other formats"
        assert kind != "array" or schema["items"]["type"], f"{schema}: items have a type"
        if "enum" in schema:
            assert kind == "string", f"{schema}: Gemini takes texts alone"
            assert all(isinstance(value, str) for value in schema["enum"]), schema


def test_no_description_leans_on_the_order_of_fields():
    for tool in EACH:
        text = json.dumps(tool.schema)
        names = set(re.findall(r'"(\w+)": \{', text))
        ranges = re.findall(r"(\w+)\*?-(\w+)", text)
        assert not [pair for pair in ranges if names.issuperset(pair)], tool.name


def test_an_unknown_argument_is_an_error_with_a_hint_and_a_reader_is_not_destructive():
    for tool in EACH:
        answer = tool.call({"no_such_argument": 1})
        assert answer["success"] is False and answer["hint"], tool.name
        assert tool.write or not tool.destructive, tool.name


def test_read_only_mode_lists_no_writer_and_what_reads_in_the_place_of_some(env):
    env(MCP_READ_ONLY=1)
    listed = {tool.name: tool for tool in registry.listed_tools().values()}
    assert not [name for name, tool in listed.items() if tool.write]
    for tool in EACH:
        writer = TOOLS[tool.name]
        if tool is not writer:
            assert listed[tool.name] is tool
            assert writer.write and writer.toolset == tool.toolset


def test_every_system_can_be_checked():
    # The check looks at the server by itself.
    assert {tool.toolset for tool in TOOLS_LISTED.values()} <= {*CHECKS, "server"}
