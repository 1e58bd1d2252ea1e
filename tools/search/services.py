"""The request to a search service, and the results in its answer."""

import html
import json
import re
import time
from datetime import date, timedelta
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tools.core import http
from tools.toolkit import JsonObject, ToolError, checkpoint, compact_json, cut, quoted

from .engines import ENGINES, Engine
from .settings import current

# Results of an engine, and characters of each text in them, unless more is asked for.
DEFAULT_LIMIT = 5
LONGEST_RESULT_TEXT = 600
AGES = "day week month year".split()
LONGEST_ANSWER_BYTES = 4 * 2**20
MOST_REDIRECTS = 5
LONGEST_MESSAGE = 200
# The members in which services put the text of an error.
MESSAGE_NAMES = "message error detail msg error_description".split()
N8N = (
    "n8n: the production URL of an active workflow that takes this method, "
    "its webhook responding when the last node finishes"
)
URL_HINT = f"Check SEARCH_API_URL. ({N8N}.)"
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


def require_configured() -> None:
    """Check that a service is set up. Raises ToolError SEARCH_NOT_CONFIGURED."""
    if not current().search_api_url:
        raise ToolError(
            "No search service is set up",
            "The person sets SEARCH_API_URL (and SEARCH_API_KEY if it wants one) in ~/.config/pi-mcp/env.",
            "SEARCH_NOT_CONFIGURED",
        )


def chosen_engine() -> Engine | None:
    """The engine that SEARCH_API_KIND or the address names; None for the person's own service."""
    kind = current().search_api_kind
    address = current().search_api_url.partition("://")[2]
    default = None
    for engine in ENGINES:
        if engine.address and address.startswith(engine.address) and kind in ("auto", engine.kind):
            return engine
        if engine.kind == kind:
            default = engine
    return default


def parameters(
    engine: Engine, query: str, limit: int, cursor: str, time_range: str | None = None
) -> JsonObject:
    """The parameters of a request to an engine. Raises ToolError INVALID_CURSOR, NO_TIME_RANGE."""
    if not re.fullmatch("[1-9][0-9]?", cursor):
        raise ToolError(
            "No such cursor", "Send nextCursor of the page before, or none.", "INVALID_CURSOR"
        )
    limit = min(limit, engine.most)
    values = {engine.query: query, **engine.fixed_params}
    if engine.limit:
        values[engine.limit] = limit
    if engine.page and cursor != "1":
        values[engine.page] = engine.number(int(cursor), limit)
    if time_range:
        parameter, *ages = engine.age.split()
        age = ages[AGES.index(time_range)]
        if age == "-":
            raise ToolError(
                f"{engine.kind} has no time range {time_range!r}",
                "Search without it or for another one, and look at the dates of the results.",
                "NO_TIME_RANGE",
            )
        if age.isdigit():
            age = str(date.today() - timedelta(int(age)))
        values[parameter] = age
    return values


def request_answer(values: JsonObject, post: bool, key: str = "Authorization: Bearer ") -> Any:
    """Send `values`, the query first, and return the service's JSON answer, in which the person's key is
    hidden and NaN and the infinities are null. `key`: the header with what precedes the key, or a parameter
    `?name`.

    Raises ToolError unless a whole JSON answer comes with status 2xx.
    """
    bounds = http.Bounds(
        time.monotonic() + current().search_api_timeout_s, LONGEST_ANSWER_BYTES, MOST_REDIRECTS
    )
    try:
        response = http.send(_request(values, post, key), bounds)
    except http.HttpError as error:
        code, hint = UNANSWERED.get(type(error)) or (INTERRUPTED if error.was_sent else UNREACHABLE)
        host = urlsplit(current().search_api_url).hostname
        message = _hidden(f"The search service at {host} gave no answer: {error}")
        raise ToolError(message, hint, f"SEARCH_{code}") from error
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
    """The request to the service, with its key."""
    url = current().search_api_url
    secret = current().search_api_key
    headers = {"Accept": "application/json"}
    header, _, scheme = key.partition(": ")
    if secret and header.startswith("?"):
        values = values | {header[1:]: secret}
    elif secret:
        # A key may begin with an authorization scheme of its own, as in `Basic dTpw`.
        has_scheme = header == "Authorization" and re.match(r"[A-Za-z][A-Za-z0-9-]* +\S", secret)
        headers[header] = secret if has_scheme else scheme + secret
    if "{query}" in url:  # the address says itself how it wants to be asked
        query = next(iter(values.values()))
        return http.Request(url.replace("{query}", quote(query, safe="")), headers=headers)
    if post:
        headers["Content-Type"] = "application/json"
        return http.Request(url, "POST", json.dumps(values).encode(), headers)
    separator = "&" if "?" in url else "?"
    return http.Request(url + separator + urlencode(values), headers=headers)


def _refused(response: http.Response, reason: str) -> ToolError:
    """The error of an answer that is not of status 2xx."""
    status = response.status
    message = f"The search service answered {status}{reason}"
    if status in (401, 403):
        hint = "It wants a key: set SEARCH_API_KEY."
        if current().search_api_key:
            hint = (
                "Check SEARCH_API_KEY. A redirect to another host does not carry it: "
                "set SEARCH_API_URL to the last address."
            )
        return ToolError(message, hint, "SEARCH_UNAUTHORIZED")
    if status != 429 and status < 500:
        return ToolError(message, URL_HINT, "SEARCH_REFUSED")
    code = "RATE_LIMITED" if status == 429 else "SEARCH_FAILED"
    delay_s = response.headers.get("Retry-After", "").strip()
    if re.fullmatch("[0-9]{1,9}", delay_s):
        return ToolError(message, f"Try again in {delay_s} s.", code, retry_after=int(delay_s))
    return ToolError(message, "Try again later, or look at its log and its plan's limits.", code)


def message_in(answer: Any) -> str:
    """The error in a JSON object, quoted after `: `; "" if there is none."""
    message = answer if isinstance(answer, dict) else ""
    while isinstance(message, dict | list):
        candidates = message[:1] if isinstance(message, list) else map(message.get, MESSAGE_NAMES)
        message = next(filter(None, candidates), "")
    return f": {quoted(message, LONGEST_MESSAGE)}" if message else ""


def _hidden(text: str) -> str:
    """A text in which the key, without its scheme, is hidden: plain, %-encoded, or as JSON escapes it."""
    secret = current().search_api_key.rpartition(" ")[2]
    if len(secret) < 4:  # it would be found in every word
        return text
    in_json = json.dumps(secret)[1:-1]
    for spelling in (
        secret,
        quote(secret),
        quote(secret, safe=""),
        in_json,
        in_json.replace("/", "\\/"),
    ):
        text = text.replace(spelling, "***")
    return text


def read_own(answer: Any) -> JsonObject:
    """{"results", "nextCursor"} from the answer of the person's own service: an object with `results` or
    `items`, a bare list, or n8n's list of one object. Raises ToolError SEARCH_NO_RESULTS."""
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
    """The error SEARCH_NO_RESULTS, which quotes the answer."""
    content = quoted(compact_json(answer), LONGEST_MESSAGE)
    message = f"The search service's answer has no results, only {content}"
    hint = "It must answer {results: […]}, {items: […]} or a list; SEARCH_API_KIND names a public engine."
    return ToolError(message, f"{hint} ({N8N})", "SEARCH_NO_RESULTS")


def results_of(
    engine: Engine, answer: Any, limit: int, cursor: str, full: bool | None
) -> JsonObject:
    """{"results", "nextCursor"} from an engine's answer: the known fields of each result, or with `full` all
    of them. Raises ToolError SEARCH_NO_RESULTS."""
    members = answer
    for name in engine.results.split("."):
        members = members.get(name) if isinstance(members, dict) else None
    if not isinstance(members, list):
        if message_in(answer):
            raise no_results(answer)
        members = []  # several engines leave out what is empty
    results = [
        _engine_result(engine, member, full) for member in members if isinstance(member, dict)
    ]
    # Without the related searches among Kagi's.
    results = [result for result in results if result.get("url")]
    page_size = min(limit, engine.most) if engine.limit else 1
    has_more = engine.page and len(results) >= page_size
    return {"results": results, "nextCursor": str(int(cursor) + 1) if has_more else None}


def _engine_result(engine: Engine, member: JsonObject, full: bool | None) -> JsonObject:
    fields = {}
    for name, field in zip(FIELDS, engine.fields.split()):
        value = _value(name, member.get(field))
        if isinstance(value, str) and name != "url":
            text = html.unescape(re.sub(r"</?\w[^<>]*>", "", value))  # without tags of HTML
            value = text if full else cut(text, LONGEST_RESULT_TEXT)
        if value not in (None, ""):
            fields[name] = value
    return member | fields if full else fields


def fitted(results: list[JsonObject]) -> list[JsonObject]:
    """Results of at most MOST_RESULT_BYTES: first long texts are cut, ending in `…`, then the last results
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
    """One result of the person's own service: known fields as documented, others unchanged. A bare text is a
    snippet, and n8n wraps an item as `json`."""
    if not isinstance(member, dict):
        member = {"snippet": member}
    elif isinstance(member.get("json"), dict) and member.keys() <= {"json", "pairedItem", "binary"}:
        member = member["json"]
    return member | {name: _value(name, member[name]) for name in FIELDS if name in member}


def _value(name: str, value: object) -> str | float | None:
    """A field as documented: a text, for `url` a web address, for `score` a number; None if it is not one."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if name == "score":
        number = text.replace(",", ".")
        is_number = re.fullmatch(r"-?\d+(\.\d+)?(e-?\d\d?)?", number)  # without NaN and infinities
        return float(number) if is_number else None
    if name == "url":
        address = text.strip()
        return address if re.fullmatch(r"https?://[^\s/]\S*", address) else None
    return None if value is None else text
