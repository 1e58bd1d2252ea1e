"""The request to a search service, and the results in its answer."""

import json
import re
import time
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tools.core import http
from tools.toolkit import JsonObject, ToolError, checkpoint, compact_json, cut, quoted

from .settings import current

LONGEST_ANSWER_BYTES = 4 * 2**20
MOST_REDIRECTS = 5
LONGEST_MESSAGE = 200
# A key that begins with an authorization scheme of its own, as in `Basic dTpw`.
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]* +\S")
# The members in which services put the text of an error.
MESSAGES = "message error detail msg error_description".split()
N8N = "n8n: the production URL of an active workflow that takes this method, its webhook responding when the last node finishes"
URL_HINT = f"Check SEARCH_API_URL. ({N8N}.)"
KEY_HINT = "Check SEARCH_API_KEY. A redirect to another host does not carry it: set SEARCH_API_URL to the last address."
# The code and hint of a request without an answer.
UNREACHABLE = "UNREACHABLE", "Check that it runs, that this machine is online, and SEARCH_API_URL."
INTERRUPTED = "CUT", "Try again, or look at the service's log and its proxy."
UNANSWERED = {
    http.Late: (
        "TIMEOUT",
        "Try again, with a smaller limit or a narrower query. SEARCH_API_TIMEOUT allows more.",
    ),
    http.TooLong: ("ANSWER_TOO_LONG", "Ask with a smaller limit, or for snippets of pages."),
    http.Misdirected: ("REDIRECT", URL_HINT),
    http.NotHttp: UNREACHABLE,
}
# Bytes of all results as JSON, cut to what a model can read; texts keep at least SHORTEST_TEXT characters.
MOST_RESULT_BYTES = 100_000
SHORTEST_TEXT = 200
FIELDS = "title url snippet content score".split()
# An address of the web; a score.
URL = re.compile(r"https?://[^\s/]\S*")
SCORE = re.compile(r"-?\d+(\.\d+)?(e-?\d\d?)?")


def require_configured() -> None:
    """Refuse a search as long as no service is set up. Raises ToolError SEARCH_NOT_CONFIGURED."""
    if not current().search_api_url:
        raise ToolError(
            "No search service is set up",
            "The person sets SEARCH_API_URL (and SEARCH_API_KEY if it wants one) in ~/.config/pi-mcp/env.",
            "SEARCH_NOT_CONFIGURED",
        )


def ask(values: JsonObject, post: bool, key: str = "Authorization: Bearer ") -> Any:
    """Send `values`, the query first, and read the service's JSON answer. `key` is the header with what
    precedes the key, or a parameter `?name`. A key that the service echoes is hidden in the answer; NaN and
    the infinities become null.

    Raises ToolError unless a whole JSON answer comes with status 2xx.
    """
    limits = http.Limits(
        time.monotonic() + current().search_api_timeout_s, LONGEST_ANSWER_BYTES, MOST_REDIRECTS
    )
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
        raise ToolError(
            f"The search service answered without JSON: {quoted(text)}", URL_HINT, "SEARCH_NOT_JSON"
        )
    return answer


def _request(values: JsonObject, post: bool, key: str) -> http.Request:
    url = current().search_api_url
    secret = current().search_api_key
    headers = {"Accept": "application/json"}
    name, _, scheme = key.partition(": ")
    if secret and name.startswith("?"):
        values = values | {name[1:]: secret}
    elif secret:
        headers[name] = (
            secret if name == "Authorization" and SCHEME.match(secret) else scheme + secret
        )
    if "{query}" in url:  # the address says itself how it wants to be asked
        query = next(iter(values.values()))
        return http.Request(url.replace("{query}", quote(query, safe="")), headers=headers)
    if post:
        headers["Content-Type"] = "application/json"
        return http.Request(url, "POST", json.dumps(values).encode(), headers)
    separator = "&" if "?" in url else "?"
    return http.Request(url + separator + urlencode(values), headers=headers)


def _unanswered(error: http.HttpError) -> ToolError:
    code, hint = UNANSWERED.get(type(error)) or (INTERRUPTED if error.sent else UNREACHABLE)
    message = f"The search service at {urlsplit(current().search_api_url).hostname} gave no answer: {error}"
    return ToolError(_hidden(message), hint, f"SEARCH_{code}")


def _refused(response: http.Response, reason: str) -> ToolError:
    status = response.status
    text = f"The search service answered {status}{reason}"
    if status in (401, 403):
        hint = KEY_HINT if current().search_api_key else "It wants a key: set SEARCH_API_KEY."
        return ToolError(text, hint, "SEARCH_UNAUTHORIZED")
    if status != 429 and status < 500:
        return ToolError(text, URL_HINT, "SEARCH_REFUSED")
    code = "RATE_LIMITED" if status == 429 else "SEARCH_FAILED"
    delay_s = response.headers.get("Retry-After", "").strip()
    if re.fullmatch("[0-9]{1,9}", delay_s):
        return ToolError(text, f"Try again in {delay_s} s.", code, retry_after=int(delay_s))
    return ToolError(text, "Try again later, or look at its log and its plan's limits.", code)


def message_in(answer: Any) -> str:
    """`: ` and the error that a JSON object holds, in quotation marks."""
    message: Any = answer if isinstance(answer, dict) else ""
    while isinstance(message, dict | list):
        candidates = message[:1] if isinstance(message, list) else map(message.get, MESSAGES)
        message = next(filter(None, candidates), "")
    return f": {quoted(message, LONGEST_MESSAGE)}" if message else ""


def _hidden(text: str) -> str:
    """`text` without the key (the part after its scheme), as it is, %-encoded or as JSON escapes it."""
    secret = current().search_api_key.rpartition(" ")[2]
    if len(secret) < 4:  # it would be found in every word
        return text
    in_json = json.dumps(secret)[1:-1]
    for form in (
        secret,
        quote(secret),
        quote(secret, safe=""),
        in_json,
        in_json.replace("/", "\\/"),
    ):
        text = text.replace(form, "***")
    return text


def read_own(answer: Any) -> JsonObject:
    """{"results", "nextCursor"} from an object with `results` or `items`, a bare list, or n8n's list of one
    object.

    Raises ToolError SEARCH_NO_RESULTS.
    """
    match answer:
        case [({"results": _} | {"items": _}) as only]:
            answer = only
        case list():
            answer = {"results": answer}
    match answer:
        case {"results": list() | None as members} | {"items": list() | None as members}:
            cursor = answer.get("nextCursor") or answer.get("next_cursor") or None
        case _:
            raise no_results(answer)
    results = [result_of(member) for member in members or () if member is not None]
    return {"results": results, "nextCursor": _value("nextCursor", cursor)}


def no_results(answer: object) -> ToolError:
    content = quoted(compact_json(answer), LONGEST_MESSAGE)
    message = f"The search service's answer has no results, only {content}"
    hint = "It must answer {results: […]}, {items: […]} or a list; SEARCH_API_KIND names a public engine."
    return ToolError(message, f"{hint} ({N8N})", "SEARCH_NO_RESULTS")


def fitted(results: list[JsonObject]) -> list[JsonObject]:
    """At most MOST_RESULT_BYTES of results: long texts are cut first, ending in `…`, then the last results
    are left out."""
    longest = MOST_RESULT_BYTES
    while len(compact_json(results).encode()) > MOST_RESULT_BYTES:
        checkpoint()
        if longest // 2 > SHORTEST_TEXT:
            longest //= 2
            results = _cut(results, longest)
        else:
            results = results[: len(results) // 2]
    return results


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return cut(value, longest)
    if isinstance(value, list):
        return [_cut(member, longest) for member in value]
    if isinstance(value, dict):
        return {name: _cut(member, longest) for name, member in value.items()}
    return value


def result_of(member: Any) -> JsonObject:
    """Known fields as documented, others as they are; a bare text is a snippet, and n8n wraps an item as
    `json`."""
    if not isinstance(member, dict):
        member = {"snippet": member}
    elif isinstance(member.get("json"), dict) and member.keys() <= {"json", "pairedItem", "binary"}:
        member = member["json"]
    return member | {name: _value(name, member[name]) for name in FIELDS if name in member}


def _value(name: str, value: object) -> str | float | None:
    """A field as it is documented: a text; an address of the web; a number; null for what is none."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if name == "score":
        number = text.replace(",", ".")
        return float(number) if SCORE.fullmatch(number) else None
    if name == "url":
        address = text.strip()
        return address if URL.fullmatch(address) else None
    return None if value is None else text
