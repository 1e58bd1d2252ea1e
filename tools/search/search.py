"""The tool that searches the web."""

from typing import Annotated

from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool
from tools.search import answers, endpoint

DEFAULT_LIMIT = 10


@Tool("search", open_world=True, requires=endpoint.require_configured, raw=True)
def search(
    query: Annotated[str, Limits(min_length=1, strip=True)],
    limit: Annotated[int | None, "most results a page; 10 by default", Limits(ge=1)] = None,
    cursor: Annotated[str | None, "nextCursor of the page before"] = None,
) -> JsonObject:
    """Search the web: {results: [{title, url, snippet, content, score}], nextCursor}; results may have more fields, or
    fewer. nextCursor null: no further page. Results over the limit or 100 kB are left out and counted in `omitted`.

    Source: the service at SEARCH_API_URL.
    """
    limit = limit or DEFAULT_LIMIT
    sent = {"query": query, "limit": limit, "cursor": cursor}
    answer = answers.read(endpoint.ask({name: value for name, value in sent.items() if value is not None}))
    results = answers.fitted(answer["results"], limit)
    omitted = len(answer["results"]) - len(results)
    return answer | {"results": results} | ({"omitted": omitted} if omitted else {})
