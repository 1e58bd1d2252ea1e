"""What can go wrong with the search service, each with its hint."""

import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tools.core.errors import ToolError
from tools.core.http import HttpError, Late, Misdirected, NotHttp, TooLong
from tools.search import secrecy
from tools.search.settings import current

if TYPE_CHECKING:
    from email.message import Message

URL_HINT = "Check SEARCH_API_URL. (n8n: the production URL of an active workflow, which takes this method.)"
LONGEST_MESSAGE = 200
MESSAGES = ("message", "error", "detail", "error_description")


def not_configured() -> ToolError:
    """No service is set up."""
    return ToolError(
        "No search service is set up",
        "The person sets SEARCH_API_URL (and SEARCH_API_KEY if it wants one) in ~/.config/pi-mcp/env.",
        code="SEARCH_NOT_CONFIGURED",
    )


def unanswered(error: HttpError, timeout_s: int) -> ToolError:
    """No whole answer: nothing listens, too slow, cut, too long, or not HTTP."""
    host = urlsplit(current().search_api_url).hostname
    if isinstance(error, Late):
        return ToolError(
            f"The search service did not answer within {timeout_s} s",
            "Try again, with a smaller limit or a narrower query. SEARCH_API_TIMEOUT allows more.",
            code="SEARCH_TIMEOUT",
        )
    if isinstance(error, TooLong):
        return ToolError(
            f"The search service sends {error.size_bytes >> 20} MiB or more",
            "Ask with a smaller limit; the service may also send whole pages where snippets would do.",
            code="SEARCH_ANSWER_TOO_LONG",
        )
    if isinstance(error, Misdirected):
        return ToolError(f"The search service redirects badly: {error.reason}", URL_HINT, code="SEARCH_REDIRECT")
    if isinstance(error, NotHttp) or not error.sent:
        return ToolError(
            secrecy.hidden(f"The search service at {host} cannot be reached: {error.reason}"),
            "Check that it runs, that this machine is online, and SEARCH_API_URL.",
            code="SEARCH_UNREACHABLE",
        )
    return ToolError(
        f"The search service gave no whole answer: {error.reason}",
        "Try again. If it goes on, look at the service's log, or at the proxy before it.",
        code="SEARCH_CUT",
    )


def refused(status: int, headers: "Message", body: bytes, *, keyless: bool) -> ToolError:
    """A status that is not 2xx."""
    text = f"The search service answered {status}{_message_in(body)}"
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
    from datetime import datetime, timezone
    from email.utils import parsedate_to_datetime

    if value.strip().isascii() and value.strip().isdigit():
        return int(value.strip()[:9])
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    left = moment.replace(tzinfo=moment.tzinfo or timezone.utc) - datetime.now(timezone.utc)
    return max(0, round(left.total_seconds()))


def _message_in(body: bytes) -> str:
    """What a JSON body says of the error, in short."""
    try:
        return _message(json.loads(body))
    except (ValueError, RecursionError):
        return ""


def _message(answer: object) -> str:
    text = next((answer[name] for name in MESSAGES if answer.get(name)), "") if isinstance(answer, dict) else ""
    if isinstance(text, dict):
        text = text.get("message", "")
    return f": {secrecy.hidden(text)[:LONGEST_MESSAGE]}" if isinstance(text, str) and text else ""


def not_json(body: bytes) -> ToolError:
    """An answer that is not JSON."""
    start = body[:200].lstrip().lower()
    what = "nothing" if not start else "an HTML page" if start.startswith(b"<") else "something that is not JSON"
    return ToolError(f"The search service answered with {what}", URL_HINT, code="SEARCH_NOT_JSON")


def no_results(answer: object) -> ToolError:
    """JSON without results."""
    names = ", ".join(map(str, list(answer)[:10])) if isinstance(answer, dict) else type(answer).__name__
    return ToolError(
        secrecy.hidden(f"The search service's answer has no results, only: {names[:LONGEST_MESSAGE] or 'nothing'}")
        + _message(answer),
        "It must answer {results: […]}, {items: […]} or a list. (n8n: let the webhook respond when the last node "
        "finishes.)",
        code="SEARCH_NO_RESULTS",
    )
