"""Search services: a row of data for each public engine, a request to the service of the moment, the results
it finds."""

import html
import json
import re
import time
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from tools.core import http
from tools.core.errors import ToolError, cut, quoted
from tools.core.json_types import JsonObject, compact_json
from tools.search.settings import current

LONGEST_BYTES = 4 * 2**20
MOST_REDIRECTS = 5
LONGEST_MESSAGE = 200
# A key that begins with an authorization scheme of its own, as in `Basic dTpw`.
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]* +\S")
# Where services put the text of an error, and objects or lists that have it.
MESSAGES = ("message", "error", "detail", "msg", "error_description")
N8N = "n8n: the production URL of an active workflow that takes this method, its webhook responding when the last node finishes"
URL_HINT = f"Check SEARCH_API_URL. ({N8N}.)"
KEY_HINT = "Check SEARCH_API_KEY. A redirect to another host does not carry it: set SEARCH_API_URL to the last address."
# What a failed request is called, and its hint.
UNANSWERED: dict[type[http.HttpError], str] = {
    http.Late: "TIMEOUT",
    http.TooLong: "ANSWER_TOO_LONG",
    http.Misdirected: "REDIRECT",
    http.NotHttp: "UNREACHABLE",
}
HINTS = {
    "TIMEOUT": "Try again, with a smaller limit or a narrower query. SEARCH_API_TIMEOUT allows more.",
    "ANSWER_TOO_LONG": "Ask with a smaller limit, or for snippets of pages.",
    "REDIRECT": URL_HINT,
    "UNREACHABLE": "Check that it runs, that this machine is online, and SEARCH_API_URL.",
    "CUT": "Try again, or look at the service's log and its proxy.",
}
# Results of an engine, and characters of each text in them, unless more is asked for.
LIMIT = 5
LONGEST_TEXT = 600
# Results together, as JSON, are cut to what a model can read; their texts not below SHORTEST_TEXT characters.
MOST_BYTES = 100_000
SHORTEST_TEXT = 200
TAG = re.compile(r"</?\w[^<>]*>")
# An address of the web; a score.
URL = re.compile(r"https?://[^\s/]\S*")
NUMBER = re.compile(r"-?\d+([.,]\d+)?(e-?\d\d?)?")
PLAIN = {"title": "title", "url": "url", "snippet": "snippet"}
WHOLE = {"title": "title", "url": "url", "content": "content", "score": "score"}


class Engine(NamedTuple):
    """`address` begins its URL. `limit` and `page` are parameters, "" if it has none; `number` makes the
    value of `page` from the page and the limit. `key` is a header with what precedes the key, or a parameter
    `?name`. `results` is the path to the list, `fields` the names there of ours. `range` is the parameter of
    how old a result may be, `ranges` its values; a number stands for the date so many days ago.
    tests/search/test_engines.py names each documentation."""

    kind: str
    address: str
    post: bool = False
    query: str = "q"
    limit: str = ""
    most: int = 20
    page: str = ""
    number: Callable[[int, int], int] = lambda page, limit: page
    key: str = "Authorization: Bearer "
    results: str = "results"
    fields: Mapping[str, str] = PLAIN
    more: Mapping[str, Any] = {}
    range: str = ""
    ranges: Mapping[str, str | int] = {}


RANGES = {"day": 1, "week": 7, "month": 31, "year": 366}
WORDS = {name: name for name in RANGES}
ENGINES = (
    Engine("searxng", "", page="pageno", fields={**PLAIN, "snippet": "content", "score": "score"}, more={"format": "json"}, range="time_range", ranges={name: name for name in ("day", "month", "year")}),
    Engine("brave", "api.search.brave.com", limit="count", page="offset", number=lambda page, limit: page - 1,
           key="X-Subscription-Token: ", results="web.results", fields={**PLAIN, "snippet": "description"},
           range="freshness", ranges={"day": "pd", "week": "pw", "month": "pm", "year": "py"}),
    Engine("kagi", "kagi.com/api/v0", limit="limit", key="Authorization: Bot ", results="data"),
    Engine("kagi", "kagi.com", True, "query", limit="limit", most=40, page="page", results="data.search"),
    Engine("serper", "google.serper.dev", True, limit="num", most=100, page="page", key="X-API-KEY: ", results="organic",
           fields={**PLAIN, "url": "link"}, range="tbs",
           ranges={"day": "qdr:d", "week": "qdr:w", "month": "qdr:m", "year": "qdr:y"}),
    Engine("tavily", "api.tavily.com", True, "query", limit="max_results", fields=WHOLE, range="time_range", ranges=WORDS),
    Engine("exa", "api.exa.ai", True, "query", limit="numResults", most=100, key="x-api-key: ",
           fields={**WHOLE, "content": "text"}, more={"contents": {"text": {"maxCharacters": 3000}}},
           range="startPublishedDate", ranges=RANGES),
    Engine("google", "www.googleapis.com/customsearch", limit="num", most=10, page="start", results="items",
           number=lambda page, limit: (page - 1) * limit + 1, key="?key", fields={**PLAIN, "url": "link"},
           range="dateRestrict", ranges={"day": "d1", "week": "w1", "month": "m1", "year": "y1"}),
)  # fmt: skip


def chosen() -> Engine | None:
    """The engine that SEARCH_API_KIND or the address names; None for a service of the person's own."""
    kind = current().search_api_kind
    address = current().search_api_url.partition("://")[2]
    default = None
    for engine in ENGINES:
        if engine.address and address.startswith(engine.address) and kind in ("auto", engine.kind):
            return engine
        if engine.kind == kind:
            default = engine
    return default


def require_configured() -> None:
    """Raises ToolError SEARCH_NOT_CONFIGURED."""
    if not current().search_api_url:
        hint = "The person sets SEARCH_API_URL (and SEARCH_API_KEY if it wants one) in ~/.config/pi-mcp/env."
        raise ToolError("No search service is set up", hint, code="SEARCH_NOT_CONFIGURED")


def ask(values: JsonObject, post: bool, key: str = "Authorization: Bearer ") -> Any:
    """The service's JSON answer to a search, the first of `values`. `key` is the header with what precedes
    the key, or a parameter `?name`. The answer has neither the key, which a service may echo, nor numbers
    that JSON has no form for.

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
        form = "an HTML page" if text.lstrip().startswith("<") else "no JSON"
        if not text.strip():
            form = "nothing"
        raise ToolError(f"The search service answered with {form}", URL_HINT, code="SEARCH_NOT_JSON")
    return answer


def _request(values: JsonObject, post: bool, key: str) -> http.Request:
    url = current().search_api_url
    secret = current().search_api_key
    headers = {"Accept": "application/json"}
    name, _, scheme = key.partition(": ")
    if secret and name.startswith("?"):
        values = {**values, name[1:]: secret}
    elif secret:
        headers[name] = secret if name == "Authorization" and SCHEME.match(secret) else scheme + secret
    if "{query}" in url:  # the address says itself how it wants to be asked
        query = next(iter(values.values()))
        return http.Request(url.replace("{query}", quote(query, safe="")), headers=headers)
    if post:
        headers["Content-Type"] = "application/json"
        return http.Request(url, "POST", json.dumps(values).encode(), headers)
    parts = urlsplit(url)
    query = urlencode([*parse_qsl(parts.query, keep_blank_values=True), *values.items()])
    return http.Request(parts._replace(query=query).geturl(), headers=headers)


def _unanswered(error: http.HttpError) -> ToolError:
    code = "CUT" if error.sent else "UNREACHABLE"
    code = UNANSWERED.get(type(error), code)
    message = f"The search service at {urlsplit(current().search_api_url).hostname} gave no answer: {error}"
    return ToolError(_hidden(message), HINTS[code], code=f"SEARCH_{code}")


def _refused(response: http.Response, reason: str) -> ToolError:
    status = response.status
    text = f"The search service answered {status}{reason}"
    if status in (401, 403):
        hint = KEY_HINT if current().search_api_key else "It wants a key: set SEARCH_API_KEY."
        return ToolError(text, hint, code="SEARCH_UNAUTHORIZED")
    if status != 429 and status < 500:
        return ToolError(text, URL_HINT, code="SEARCH_REFUSED")
    code = "RATE_LIMITED" if status == 429 else "SEARCH_FAILED"
    wait = response.headers.get("Retry-After", "").strip()[:9]
    if wait.isascii() and wait.isdigit():
        return ToolError(text, f"Try again in {wait} s.", code=code, retry_after=int(wait))
    return ToolError(text, "Try again later, or look at its log and its plan's limits.", code=code)


def message_in(answer: Any) -> str:
    """`: ` and the error that a JSON object holds, in quotation marks."""
    message: Any = answer if isinstance(answer, dict) else None
    while message and isinstance(message, dict | list):
        if isinstance(message, list):
            message = message[0]
        else:
            message = next(filter(None, map(message.get, MESSAGES)), "")
    return f": {quoted(message, LONGEST_MESSAGE)}" if message else ""


def _hidden(text: str) -> str:
    """`text` without the key (the part after its scheme), as it is, %-encoded or as JSON escapes it."""
    secret = current().search_api_key.rpartition(" ")[2]
    forms = {
        secret,
        quote(secret),
        quote(secret, safe=""),
        secret.replace("/", "\\/"),
        json.dumps(secret)[1:-1],
    }
    for form in sorted(forms) if len(secret) > 3 else ():  # a shorter one would be found in every word
        text = text.replace(form, "***")
    return text


def parameters(engine: Engine, query: str, limit: int, cursor: str, time_range: str = "") -> JsonObject:
    """The parameters of a request. Raises ToolError INVALID_CURSOR, NO_TIME_RANGE."""
    if not re.fullmatch("[1-9][0-9]?", cursor):
        raise ToolError(
            "No such cursor", "Send nextCursor of the page before, or none.", code="INVALID_CURSOR"
        )
    limit = min(limit, engine.most)
    values = {engine.query: query, **engine.more}
    if engine.limit:
        values[engine.limit] = limit
    if engine.page and cursor != "1":
        values[engine.page] = engine.number(int(cursor), limit)
    if time_range:
        values[engine.range] = _range(engine, time_range)
    return values


def _range(engine: Engine, name: str) -> str:
    """The engine's value for results of the last day, week, month or year. Raises ToolError NO_TIME_RANGE."""
    value = engine.ranges.get(name)
    if value is None:
        others = ", ".join(engine.ranges)
        hint = f"It takes {others}." if others else "Search without it, and look at the dates of the results."
        raise ToolError(f"{engine.kind} has no time range {name!r}", hint, code="NO_TIME_RANGE")
    return (date.today() - timedelta(days=value)).isoformat() if isinstance(value, int) else value


def read(engine: Engine, answer: Any, limit: int, cursor: str, full: bool) -> JsonObject:
    """{"results", "nextCursor"}: the known fields of each result, or all of them with `full`."""
    members = answer
    for name in engine.results.split("."):
        members = members.get(name) if isinstance(members, dict) else None
    if not isinstance(members, list):
        if message_in(answer):
            raise _no_results(answer)
        members = []  # several engines leave out what is empty
    results = [_known(engine, member, full) for member in members if isinstance(member, dict)]
    results = [result for result in results if result.get("url")]  # not the related searches among Kagi's
    wanted = min(limit, engine.most) if engine.limit else 1
    has_more = engine.page and len(results) >= wanted
    return {"results": results, "nextCursor": str(int(cursor) + 1) if has_more else None}


def _known(engine: Engine, member: JsonObject, full: bool) -> JsonObject:
    values = {name: FIELDS[name](member.get(theirs)) for name, theirs in engine.fields.items()}
    for name in values.keys() & {"title", "snippet", "content"}:
        text = html.unescape(TAG.sub("", str(values[name] or "")))
        values[name] = text if full else _cut(text, LONGEST_TEXT)
    fields = {name: value for name, value in values.items() if value not in (None, "")}
    return {**member, **fields} if full else fields


def read_own(answer: Any) -> JsonObject:
    """{"results", "nextCursor"} from an object with `results` or `items`, a bare list, or n8n's list of one
    object.

    Raises ToolError SEARCH_NO_RESULTS.
    """
    if isinstance(answer, list):
        of_n8n = len(answer) == 1 and isinstance(answer[0], dict) and answer[0].keys() & {"results", "items"}
        answer = answer[0] if of_n8n else {"results": answer}
    if not isinstance(answer, dict) or not answer.keys() & {"results", "items"}:
        raise _no_results(answer)
    members = answer.get("results", answer.get("items")) or []
    if not isinstance(members, list):
        raise _no_results(answer)
    cursors = [answer.get(name) for name in ("nextCursor", "next_cursor")]
    cursor = next((cursor for cursor in cursors if cursor not in (None, "", False)), None)
    results = [_result(member) for member in members if member is not None]
    return {"results": results, "nextCursor": _text(cursor)}


def _no_results(answer: object) -> ToolError:
    names = type(answer).__name__
    if isinstance(answer, dict):
        names = ", ".join(map(quoted, list(answer)[:10]))[:200] or "nothing"
    message = f"The search service's answer has no results, only: {names}{message_in(answer)}"
    hint = "It must answer {results: […]}, {items: […]} or a list; SEARCH_API_KIND names a public engine."
    return ToolError(message, f"{hint} ({N8N})", code="SEARCH_NO_RESULTS")


def fitted(results: list[JsonObject]) -> list[JsonObject]:
    """At most MOST_BYTES of results: first long texts are cut, to `…`, then the last results are left out."""
    longest = MOST_BYTES
    while len(compact_json(results).encode("utf-8", "surrogatepass")) > MOST_BYTES:
        longest //= 2
        results = _cut(results, longest) if longest > SHORTEST_TEXT else results[:-1]
    return results


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return cut(value, longest)
    if isinstance(value, list):
        return [_cut(member, longest) for member in value]
    if isinstance(value, dict):
        return {name: _cut(member, longest) for name, member in value.items()}
    return value


def _result(member: Any) -> JsonObject:
    """Known fields as documented, others as they are; a bare text is a snippet, and n8n wraps an item as
    `json`."""
    if not isinstance(member, dict):
        member = {"snippet": member}
    elif isinstance(member.get("json"), dict) and member.keys() <= {"json", "pairedItem", "binary"}:
        member = member["json"]
    return {name: FIELDS.get(name, _same)(value) for name, value in member.items()}


def _same(value: object) -> object:
    return value


def _text(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


FIELDS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("title", "snippet", "content"), _text),
    "url": lambda value: value.strip() if isinstance(value, str) and URL.fullmatch(value.strip()) else None,
    "score": lambda value: float(str(value).replace(",", ".")) if NUMBER.fullmatch(str(value)) else None,
}
