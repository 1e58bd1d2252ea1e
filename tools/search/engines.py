"""Public search engines: a row of data for each."""

import html
import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any, NamedTuple

from tools.toolkit import JsonObject, ToolError, cut

from . import services
from .settings import current

# Results of an engine, and characters of each text in them, unless more is asked for.
DEFAULT_LIMIT = 5
LONGEST_RESULT_TEXT = 600
TAG = re.compile(r"</?\w[^<>]*>")
TEXT_FIELDS = {"title", "snippet", "content"}
AGES = "day week month year".split()


class Engine(NamedTuple):
    """A public search engine. tests/search/test_engines.py names the documentation of each.

    - `address`: the beginning of its URL; `post`: it is asked by POST; `query`: the parameter of the query;
    - `limit`, `page`: its parameters, "" if it has none; `most`: the highest limit; `number` makes the value
      of `page` from the page and the limit;
    - `key`: a header with what precedes the key, or a parameter `?name`;
    - `results`: the path to the list; `fields`: what it calls services.FIELDS there, `-` what it lacks;
    - `age`: the parameter of how old a result may be, and its values for AGES, a number for the date so many
      days ago.
    """

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
    fields: str = "title url snippet"
    fixed_params: Mapping[str, Any] = {}
    age: str = ""


ENGINES = (
    Engine(
        "searxng",
        "",
        page="pageno",
        fields="title url content - score",
        fixed_params={"format": "json"},
        age="time_range day - month year",
    ),
    Engine(
        "brave",
        "api.search.brave.com",
        limit="count",
        page="offset",
        number=lambda page, limit: page - 1,
        key="X-Subscription-Token: ",
        results="web.results",
        fields="title url description",
        age="freshness pd pw pm py",
    ),
    Engine("kagi", "kagi.com/api/v0", limit="limit", key="Authorization: Bot ", results="data"),
    Engine(
        "kagi",
        "kagi.com",
        True,
        "query",
        limit="limit",
        most=40,
        page="page",
        results="data.search",
    ),
    Engine(
        "serper",
        "google.serper.dev",
        True,
        limit="num",
        most=100,
        page="page",
        key="X-API-KEY: ",
        results="organic",
        fields="title link snippet",
        age="tbs qdr:d qdr:w qdr:m qdr:y",
    ),
    Engine(
        "tavily",
        "api.tavily.com",
        True,
        "query",
        limit="max_results",
        fields="title url - content score",
        age="time_range day week month year",
    ),
    Engine(
        "exa",
        "api.exa.ai",
        True,
        "query",
        limit="numResults",
        most=100,
        key="x-api-key: ",
        fields="title url - text score",
        fixed_params={"contents": {"text": {"maxCharacters": 3000}}},
        age="startPublishedDate 1 7 31 366",
    ),
    Engine(
        "google",
        "www.googleapis.com/customsearch",
        limit="num",
        most=10,
        page="start",
        results="items",
        number=lambda page, limit: (page - 1) * limit + 1,
        key="?key",
        fields="title link snippet",
        age="dateRestrict d1 w1 m1 y1",
    ),
)


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


def parameters(
    engine: Engine, query: str, limit: int, cursor: str, time_range: str = ""
) -> JsonObject:
    """The parameters of a request. Raises ToolError INVALID_CURSOR, NO_TIME_RANGE."""
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
        parameter, _, ages = engine.age.partition(" ")
        age = dict(zip(AGES, ages.split(), strict=False)).get(time_range, "-")
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


def results_of(engine: Engine, answer: Any, limit: int, cursor: str, full: bool) -> JsonObject:
    """{"results", "nextCursor"}: the known fields of each result, or all of them with `full`."""
    members = answer
    for name in engine.results.split("."):
        members = members.get(name) if isinstance(members, dict) else None
    if not isinstance(members, list):
        if services.message_in(answer):
            raise services.no_results(answer)
        members = []  # several engines leave out what is empty
    results = [_known(engine, member, full) for member in members if isinstance(member, dict)]
    # Without the related searches among Kagi's.
    results = [result for result in results if result.get("url")]
    page_size = min(limit, engine.most) if engine.limit else 1
    has_more = engine.page and len(results) >= page_size
    return {"results": results, "nextCursor": str(int(cursor) + 1) if has_more else None}


def _known(engine: Engine, member: JsonObject, full: bool) -> JsonObject:
    names = zip(services.FIELDS, engine.fields.split(), strict=False)
    values = services.result_of({name: member.get(field) for name, field in names})
    fields = {name: value for name, value in values.items() if value not in (None, "")}
    for name in TEXT_FIELDS & fields.keys():
        text = html.unescape(TAG.sub("", fields[name]))
        fields[name] = text if full else cut(text, LONGEST_RESULT_TEXT)
    return member | fields if full else fields
