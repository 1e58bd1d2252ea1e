"""What can go wrong with the search service, each with its hint."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tools.errors import ToolError
from tools.search import secrecy

URL_HINT = "Check SEARCH_API_URL. (n8n: the production URL of an active workflow, which takes this method.)"
LONGEST_SAID = 200
SAID = ("message", "error", "detail", "error_description")


def not_configured() -> ToolError:
    """No service is set up."""
    return ToolError(
        "No search service is set up",
        "The person sets SEARCH_API_URL (and SEARCH_API_KEY where it wants one) in ~/.config/pi-mcp/env.",
        code="SEARCH_NOT_CONFIGURED",
    )


def unreachable(error: Exception, url: str) -> ToolError:
    """No connection, or one that broke."""
    from socket import gaierror

    said = str(getattr(error, "reason", None) or getattr(error, "strerror", None) or error or type(error).__name__)
    if isinstance(error, gaierror):
        said = "no such host"
    return ToolError(
        secrecy.hidden(f"The search service at {urlsplit(url).hostname} cannot be reached: {said[:LONGEST_SAID]}"),
        "Check that it runs, that this machine is online, and SEARCH_API_URL.",
        code="SEARCH_UNREACHABLE",
    )


def slow(timeout_s: int) -> ToolError:
    """No whole answer in time."""
    return ToolError(
        f"The search service did not answer within {timeout_s} s",
        "Try again, with a smaller limit or a narrower query. SEARCH_API_TIMEOUT allows more.",
        code="SEARCH_TIMEOUT",
    )


def misdirected(where: str) -> ToolError:
    """Redirects that lead nowhere."""
    return ToolError(
        secrecy.hidden(f"The search service redirects badly: {where[:100]}"), URL_HINT, code="SEARCH_REDIRECT"
    )


def refused(status: int, headers: Mapping[str, str], body: bytes, *, keyless: bool) -> ToolError:
    """A status that is not 2xx."""
    text = f"The search service answered {status}{_said(body)}"
    if status in (401, 403):
        hint = (
            "It wants a key: set SEARCH_API_KEY. (A redirect to another host does not carry it: set SEARCH_API_URL to \
the last address.)"
        )
        return ToolError(text, hint if keyless else "Check SEARCH_API_KEY.", code="SEARCH_UNAUTHORIZED")
    if status in (429, 503) and (seconds := _retry_after(headers.get("Retry-After", ""))) is not None:
        return ToolError(text, f"Try again in {seconds} s.", code=_busy(status), retry_after=seconds)
    if status == 429:
        return ToolError(text, "It takes no more requests for now; try again in a minute.", code=_busy(status))
    if status >= 500:
        return ToolError(text, "The fault is on its side: try again later, or look at its log.", code=_busy(status))
    return ToolError(text, URL_HINT, code="SEARCH_REFUSED")


def _busy(status: int) -> str:
    return "RATE_LIMITED" if status == 429 else "SEARCH_FAILED"


def _retry_after(value: str) -> int | None:
    """Seconds from a Retry-After header, which gives them or a date."""
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    if value.strip().isascii() and value.strip().isdigit():
        return int(value.strip()[:9])
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    left = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)
    return max(0, round(left.total_seconds()))


def _said(body: bytes) -> str:
    """What a JSON body says of the error, in short."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    return _message(found)


def _message(found: Any) -> str:
    said = next((found[name] for name in SAID if found.get(name)), "") if isinstance(found, dict) else ""
    if isinstance(said, dict):
        said = said.get("message", "")
    return f": {secrecy.hidden(said)[:LONGEST_SAID]}" if isinstance(said, str) and said else ""


def no_json(body: bytes) -> ToolError:
    """An answer that is no JSON."""
    start = body[:200].lstrip().lower()
    what = "nothing" if not start else "an HTML page" if start.startswith(b"<") else "something that is no JSON"
    return ToolError(f"The search service answered with {what}", URL_HINT, code="SEARCH_NOT_JSON")


def no_results(found: Any) -> ToolError:
    """JSON without results."""
    names = ", ".join(map(str, list(found)[:10])) if isinstance(found, dict) else type(found).__name__
    return ToolError(
        secrecy.hidden(f"The search service's answer has no results, only: {names[:LONGEST_SAID] or 'nothing'}")
        + _message(found),
        "It must answer {results: […]}, {items: […]} or a list. (n8n: let the webhook respond when the last node "
        "finishes.)",
        code="SEARCH_NO_RESULTS",
    )
