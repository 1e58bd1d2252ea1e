"""One request to the search service, over http or https, and the ways it can fail."""

import json
import re
import time
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from tools.core import http
from tools.core.errors import ToolError, quoted
from tools.core.json_types import JsonObject
from tools.search.settings import current

LONGEST_BYTES, MOST_REDIRECTS, LONGEST_MESSAGE = 4 * 2**20, 5, 200
# A key that begins with an authorization scheme of its own, as in `Basic dTpw`.
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]* +\S")
QUERY_PLACE = "{query}"
# Where services put the text of an error, and objects or lists that have it.
MESSAGES = ("message", "error", "detail", "msg", "error_description")
N8N = "n8n: the production URL of an active workflow that takes this method, its webhook responding when the last node finishes"
URL_HINT = f"Check SEARCH_API_URL. ({N8N}.)"
KEY_HINT = "Check SEARCH_API_KEY. A redirect to another host does not carry it: set SEARCH_API_URL to the last address."


def require_configured() -> None:
    """Raises ToolError SEARCH_NOT_CONFIGURED."""
    if not current().search_api_url:
        hint = "The person sets SEARCH_API_URL (and SEARCH_API_KEY if it wants one) in ~/.config/pi-mcp/env."
        raise ToolError("No search service is set up", hint, code="SEARCH_NOT_CONFIGURED")


def ask(values: JsonObject, post: bool, key: str = "Authorization: Bearer ") -> Any:
    """The service's JSON answer to a search, the first of `values`. `key` is the header with what precedes the key, or a
    parameter `?name`. The answer has neither the key, which a service may echo, nor numbers that JSON has no form for.

    Raises ToolError for everything but a whole JSON answer with status 2xx.
    """
    limits = http.Limits(time.monotonic() + current().search_api_timeout_s, LONGEST_BYTES, MOST_REDIRECTS)
    try:
        response = http.send(_request(values, post, key), limits)
    except http.HttpError as error:
        raise _unanswered(error) from error
    text = _hidden(response.body.decode("utf-8-sig", "replace"))
    try:
        answer = json.loads(text, parse_constant=lambda name: None)
    except (ValueError, RecursionError):
        answer = None
    if not 200 <= response.status < 300:
        raise _refused(response, message_in(answer))
    if answer is None and text.strip() != "null":
        form = "nothing" if not text.strip() else "an HTML page" if text.lstrip()[0] == "<" else "no JSON"
        raise ToolError(f"The search service answered with {form}", URL_HINT, code="SEARCH_NOT_JSON")
    return answer


def _request(values: JsonObject, post: bool, key: str) -> http.Request:
    url, secret = current().search_api_url, current().search_api_key
    headers = {"Accept": "application/json"}
    name, _, scheme = key.partition(": ")
    if secret and name.startswith("?"):
        values = {**values, name[1:]: secret}
    elif secret:
        headers[name] = secret if name == "Authorization" and SCHEME.match(secret) else scheme + secret
    if QUERY_PLACE in url:  # the address says itself how it wants to be asked
        return http.Request(url.replace(QUERY_PLACE, quote(next(iter(values.values())), safe="")), headers=headers)
    if post:
        return http.Request(url, "POST", json.dumps(values).encode(), {**headers, "Content-Type": "application/json"})
    parts = urlsplit(url)
    query = urlencode([*parse_qsl(parts.query, keep_blank_values=True), *values.items()])
    return http.Request(parts._replace(query=query).geturl(), headers=headers)


def _unanswered(error: http.HttpError) -> ToolError:
    code, hint = "CUT", "Try again, or look at the service's log and its proxy."
    if isinstance(error, http.Late):
        code, hint = "TIMEOUT", "Try again, with a smaller limit or a narrower query. SEARCH_API_TIMEOUT allows more."
    elif isinstance(error, http.TooLong):
        code, hint = "ANSWER_TOO_LONG", "Ask with a smaller limit, or for snippets of pages."
    elif isinstance(error, http.Misdirected):
        code, hint = "REDIRECT", URL_HINT
    elif isinstance(error, http.NotHttp) or not error.sent:
        code, hint = "UNREACHABLE", "Check that it runs, that this machine is online, and SEARCH_API_URL."
    message = f"The search service at {urlsplit(current().search_api_url).hostname} gave no answer: {error}"
    return ToolError(_hidden(message), hint, code=f"SEARCH_{code}")


def _refused(response: http.Response, told: str) -> ToolError:
    status, wait = response.status, response.headers.get("Retry-After", "").strip()
    text, more = f"The search service answered {status}{told}", {}
    if status in (401, 403):
        hint, code = (KEY_HINT if current().search_api_key else "It wants a key: set SEARCH_API_KEY."), "UNAUTHORIZED"
    elif status != 429 and status < 500:
        hint, code = URL_HINT, "REFUSED"
    elif wait.isascii() and wait.isdigit():
        hint, code, more = f"Try again in {wait[:9]} s.", "FAILED", {"retry_after": int(wait[:9])}
    else:
        hint, code = "Try again later, or look at its log and its plan's limits.", "FAILED"
    return ToolError(text, hint, code="RATE_LIMITED" if status == 429 else f"SEARCH_{code}", **more)


def message_in(answer: Any) -> str:
    """`: ` and the error that a JSON object tells of, in quotation marks."""
    found: Any = answer if isinstance(answer, dict) else None
    while found and isinstance(found, dict | list):
        found = next((found[name] for name in MESSAGES if found.get(name)), "") if isinstance(found, dict) else found[0]
    return f": {quoted(str(found), LONGEST_MESSAGE)}" if found else ""


def _hidden(text: str) -> str:
    """`text` without the key (the part after its scheme), as it is, %-encoded or as JSON escapes it."""
    secret = current().search_api_key.rpartition(" ")[2]
    forms = {secret, quote(secret), quote(secret, safe=""), secret.replace("/", "\\/"), json.dumps(secret)[1:-1]}
    for form in sorted(forms) if len(secret) > 3 else ():  # a shorter one would be found in every word
        text = text.replace(form, "***")
    return text
