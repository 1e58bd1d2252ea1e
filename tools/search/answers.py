"""What search services answer with, as one shape."""

import json
import math
from typing import Any
from urllib.parse import urlsplit

from tools.search import failures, secrecy

LISTS = ("results", "items")
CURSORS = ("nextCursor", "next_cursor")


def read(body: bytes) -> dict[str, Any]:
    """{"results", "nextCursor"} from an object with `results` or `items`, a bare list, or n8n's list of one object.

    Raises ToolError SEARCH_NOT_JSON, SEARCH_NO_RESULTS.
    """
    try:
        found = _clean(json.loads(body))
    except (ValueError, RecursionError):
        raise failures.no_json(body) from None
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict) and _list_name(found[0]):
        [found] = found
    if isinstance(found, list):
        return {"results": _results(found), "nextCursor": None}
    name = _list_name(found) if isinstance(found, dict) else None
    if name is None or not isinstance(found[name] or [], list):
        raise failures.no_results(found)
    return {"results": _results(found[name] or []), "nextCursor": _cursor(found)}


def _clean(value: Any) -> Any:
    """`value` as it may be passed on: no key, no number that JSON cannot tell."""
    if isinstance(value, str):
        return secrecy.hidden(value)
    if isinstance(value, list):
        return [_clean(one) for one in value]
    if isinstance(value, dict):
        return {secrecy.hidden(name): _clean(one) for name, one in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _list_name(found: dict[str, Any]) -> str | None:
    return next((name for name in LISTS if name in found), None)


def _cursor(found: dict[str, Any]) -> str | None:
    cursor = next((found[name] for name in CURSORS if found.get(name) not in (None, "", False)), None)
    return None if cursor is None else _text(cursor)


def _results(found: list[Any]) -> list[dict[str, Any]]:
    return [_result(one if isinstance(one, dict) else {"snippet": one}) for one in found if one is not None]


def _result(one: dict[str, Any]) -> dict[str, Any]:
    return {name: KNOWN[name](value) if name in KNOWN else value for name, value in one.items()}


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _url(value: Any) -> str | None:
    try:
        parts = urlsplit(value.strip())
        _ = parts.port
    except (ValueError, AttributeError):
        return None
    fine = parts.scheme in ("http", "https") and parts.hostname and not any(char.isspace() for char in value.strip())
    return value.strip() if fine else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value.strip().replace(",", ".") if isinstance(value, str) else value)
    except (ValueError, TypeError, OverflowError):
        return None
    return number if math.isfinite(number) else None


KNOWN = {"title": _text, "url": _url, "snippet": _text, "content": _text, "score": _number}
"""How each known field is read; others are kept."""
