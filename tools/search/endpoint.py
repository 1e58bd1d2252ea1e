"""One request to the search service, over http or https."""

import json
import re
import time
from urllib.parse import parse_qsl, urlencode, urlsplit

from tools.core import http
from tools.core.http import Limits, Request
from tools.core.json_types import JsonObject
from tools.search import failures
from tools.search.settings import current

LONGEST_BYTES = 4 * 2**20
MOST_REDIRECTS = 5
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9-]* +\S")
"""A key that begins with an authorization scheme of its own, as in `Basic dTpw`."""


def require_configured() -> None:
    """Raises ToolError SEARCH_NOT_CONFIGURED."""
    if not current().search_api_url:
        raise failures.not_configured()


def ask(values: JsonObject) -> bytes:
    """The service's answer to a search.

    Raises ToolError for everything but a whole answer with status 2xx.
    """
    timeout_s = current().search_api_timeout_s
    try:
        response = http.send(_request(values), Limits(time.monotonic() + timeout_s, LONGEST_BYTES, MOST_REDIRECTS))
    except http.HttpError as error:
        raise failures.unanswered(error, timeout_s) from error
    if not 200 <= response.status < 300:
        keyless = "Authorization" not in response.request.headers
        raise failures.refused(response.status, response.headers, response.body, keyless=keyless)
    return response.body


def _request(values: JsonObject) -> Request:
    url, method = current().search_api_url, current().search_api_method.upper()
    headers = {"Accept": "application/json"}
    if key := current().search_api_key:
        headers["Authorization"] = key if SCHEME.match(key) else f"Bearer {key}"
    if method == "POST":
        return Request(url, method, json.dumps(values).encode(), {**headers, "Content-Type": "application/json"})
    parts = urlsplit(url)
    query = urlencode([*parse_qsl(parts.query, keep_blank_values=True), *values.items()])
    return Request(parts._replace(query=query).geturl(), method, None, headers)
