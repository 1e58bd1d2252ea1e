"""Reads tools/list from stdin and prints a line for each tool that a converter for a model's API cannot take.

Run by the Python of a folder that has openai-agents, pydantic-ai-slim, google-genai and google-adk.
"""

import copy
import json
import sys

from agents.exceptions import UserError
from agents.strict_schema import ensure_strict_json_schema
from google.adk.tools._gemini_schema_util import _to_gemini_schema
from google.genai import types
from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer


def genai(schema):
    types.FunctionDeclaration(name="tool", description="d", parameters=schema)


def adk(schema):
    untyped = [
        path for path, node in nodes(_to_gemini_schema(schema).model_dump(exclude_none=True)) if "type" not in node
    ]
    if untyped:
        raise ValueError(f"without a type: {untyped}")


def nodes(schema, path=""):
    """(path, schema) of a converted schema and of all in it."""
    yield path, schema
    for name, inner in (schema.get("properties") or {}).items():
        yield from nodes(inner, f"{path}/{name}")
    for name in ("items", "additional_properties"):
        if isinstance(schema.get(name), dict):
            yield from nodes(schema[name], f"{path}/{name}")


def openai_agents(schema):
    try:
        ensure_strict_json_schema(schema)
    except UserError as error:  # a map, {"additionalProperties": …}: the client then sends the tool without `strict`
        if "additionalProperties" not in str(error):
            raise


def pydantic_ai_openai(schema):
    OpenAIJsonSchemaTransformer(schema, strict=True).walk()


def pydantic_ai_google(schema):
    GoogleJsonSchemaTransformer(schema).walk()


for tool in json.load(sys.stdin):
    for convert in (genai, adk, openai_agents, pydantic_ai_openai, pydantic_ai_google):
        try:
            convert(copy.deepcopy(tool["inputSchema"]))
        except Exception as error:
            print(f"{tool['name']}: {convert.__name__}: {type(error).__name__}: {str(error)[:300]}")
