"""What every tool's schema promises: model APIs take it as it is. One that is refused refuses the whole
session."""

import json

from tests.golden import FILE

LISTED = json.loads(FILE.read_text(encoding="utf-8"))
UNKNOWN_TO_GEMINI = {
    "propertyNames",
    "uniqueItems",
    "const",
    "oneOf",
    "allOf",
    "not",
    "$ref",
    "exclusiveMinimum",
}


def schemas(schema, path):
    """(path, schema) of a schema and of all in it."""
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from schemas(inner, f"{path}.{name}")
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield from schemas(schema[name], f"{path}.{name}")
    for number, inner in enumerate(schema.get("anyOf", [])):
        yield from schemas(inner, f"{path}.anyOf.{number}")


def test_a_schema_says_nothing_that_a_model_s_api_refuses():
    for tool in LISTED:
        assert tool["inputSchema"]["type"] == "object" and "anyOf" not in tool["inputSchema"], tool[
            "name"
        ]
        for path, schema in schemas(tool["inputSchema"], tool["name"]):
            assert not UNKNOWN_TO_GEMINI & schema.keys(), path
            assert not isinstance(schema.get("type"), list), f"{path}: Gemini takes one type"
            assert schema.get("format", "date-time") == "date-time", (
                f"{path}: Gemini refuses other formats"
            )
            assert schema.get("type") != "array" or schema.get("items", {}).get("type"), (
                f"{path}: items have a type"
            )
            if "enum" in schema:
                assert schema.get("type") == "string", (
                    f"{path}: an enum has a type, and Gemini takes strings"
                )
                assert all(isinstance(value, str) for value in schema["enum"]), path


def test_a_name_fits_every_client():
    for name in (tool["name"] for tool in LISTED):
        assert (
            name.isascii()
            and name.replace("_", "a").isalnum()
            and len(f"mcp__pi-mcp__{name}") <= 64
        ), name
