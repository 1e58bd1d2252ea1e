"""The tools as a client calls them."""

from tools.core import registry
from tools.core.json_types import compact_json


def call(name, /, **arguments):
    return registry.tool_named(name, registry.listed_tools().values()).call(arguments)


def tokens(answer):
    """About what an answer costs a model."""
    return len(compact_json(answer)) / 4


def answer(query, **arguments):
    return call("search_docs", query=query, **arguments)


def search(query, **arguments):
    response = answer(query, **arguments)
    assert "error" not in response, response
    return response["result"] if isinstance(response, dict) else response


def paths(query, **arguments):
    return [result["path"] for result in search(query, **arguments)]
