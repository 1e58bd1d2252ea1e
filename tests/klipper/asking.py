"""search_docs as a client calls it."""

from tools.core import registry, settings


def answer(query, **arguments):
    tool = registry.find("search_docs", registry.listed(settings.current()).values())
    return tool.call({"query": query, **arguments})


def search(query, **arguments):
    found = answer(query, **arguments)
    assert "error" not in found, found
    return found["result"] if isinstance(found, dict) else found


def paths(query, **arguments):
    return [result["path"] for result in search(query, **arguments)]


def first(query):
    return next(iter(paths(query)), None)
