"""What search services answer with, as one shape."""

import json
import math
from typing import Any
from urllib.parse import urlsplit

from tools.core.json_types import JsonObject
from tools.search import failures, secrecy

MOST_BYTES = 100_000
"""Of the results together, as JSON: what a model can read."""

SHORTEST_TEXT = 200
"""Texts are not cut shorter than this to make the results fit."""

LISTS = ("results", "items")
CURSORS = ("nextCursor", "next_cursor")


def read(body: bytes) -> JsonObject:
    """{"results", "nextCursor"} from an object with `results` or `items`, a bare list, or n8n's list of one object.

    Raises ToolError SEARCH_NOT_JSON, SEARCH_NO_RESULTS.
    """
    try:
        answer = _clean(json.loads(body))
    except (ValueError, RecursionError):
        raise failures.not_json(body) from None
    if isinstance(answer, list) and len(answer) == 1 and isinstance(answer[0], dict) and _list_name(answer[0]):
        [answer] = answer
    if isinstance(answer, list):
        return {"results": _results(answer), "nextCursor": None}
    if isinstance(answer, dict) and (name := _list_name(answer)) and isinstance(answer[name] or [], list):
        return {"results": _results(answer[name] or []), "nextCursor": _cursor(answer)}
    raise failures.no_results(answer)


def fitted(results: list[JsonObject], limit: int) -> list[JsonObject]:
    """At most `limit` results and MOST_BYTES: first long texts are cut, to `…`, then the last results are left out."""
    results = results[:limit]
    longest = MOST_BYTES
    while _size(results) > MOST_BYTES and longest > SHORTEST_TEXT:
        longest //= 2
        results = _cut(results, longest)
    while _size(results) > MOST_BYTES:
        results.pop()
    return results


def _size(results: list[JsonObject]) -> int:
    return len(json.dumps(results, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= longest else f"{value[: longest - 1]}…"
    if isinstance(value, list):
        return [_cut(member, longest) for member in value]
    if isinstance(value, dict):
        return {_cut(name, longest): _cut(member, longest) for name, member in value.items()}
    return value


def _clean(value: object) -> object:
    """`value` as it may be passed on: no key, no number that JSON has no form for."""
    if isinstance(value, str):
        return secrecy.hidden(value)
    if isinstance(value, list):
        return [_clean(member) for member in value]
    if isinstance(value, dict):
        return {secrecy.hidden(name): _clean(member) for name, member in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _list_name(answer: JsonObject) -> str | None:
    return next((name for name in LISTS if name in answer), None)


def _cursor(answer: JsonObject) -> str | None:
    cursor = next((answer[name] for name in CURSORS if answer.get(name) not in (None, "", False)), None)
    return None if cursor is None else _text(cursor)


def _results(members: list[object]) -> list[JsonObject]:
    """Every member as a result: a bare text or number is a snippet."""
    return [
        _result(member if isinstance(member, dict) else {"snippet": member}) for member in members if member is not None
    ]


def _result(member: JsonObject) -> JsonObject:
    return {name: KNOWN[name](value) if name in KNOWN else value for name, value in member.items()}


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _url(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        parts = urlsplit(value.strip())
        _ = parts.port
    except ValueError:
        return None
    fine = parts.scheme in ("http", "https") and parts.hostname and not any(char.isspace() for char in value.strip())
    return value.strip() if fine else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value.strip().replace(",", ".") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


KNOWN = {"title": _text, "url": _url, "snippet": _text, "content": _text, "score": _number}
"""How each known field is read; others are kept."""
