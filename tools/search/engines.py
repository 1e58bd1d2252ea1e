"""Public search engines, a row of data for each."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Engine(NamedTuple):
    """A public search engine. tests/search/test_engines.py names the documentation of each.

    - `address`: the beginning of its URL; `post`: it is asked by POST; `query`: the parameter of the query;
    - `limit`, `page`: parameters, "" if it has none; `most`: the highest limit; `number` makes the value of
      `page` from the number of a page and the limit;
    - `key`: the header of the key and what precedes the key in it, or `?` and the name of a parameter;
    - `results`: the path to the list of results; `fields`: the engine's names for `services.FIELDS`, `-` for
      a field that it lacks;
    - `age`: the parameter that limits the age of results, then its values for `services.AGES`: `-` if there
      is none, a number for the date that many days ago.
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
    age: str = "- - - - -"


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
