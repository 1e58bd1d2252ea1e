"""The tool that searches the web."""

from typing import Annotated, Any

from tools.registry import Tool
from tools.schema import Limits
from tools.search import answers, endpoint


@Tool("search", open_world=True, requires=endpoint.require_configured, bare=True)
def search(
    query: Annotated[str, Limits(min_length=1, strip=True)],
    limit: Annotated[int | None, "most results a page", Limits(ge=1)] = None,
    cursor: Annotated[str | None, "nextCursor of the page before"] = None,
) -> dict[str, Any]:
    """Search the web: {results: [{title, url, snippet, content, score}], nextCursor}; results may have more fields, or
    fewer. nextCursor null: no further page.

    Source: anki_tools.ru.md, search.
    """
    sent = {"query": query, "limit": limit, "cursor": cursor}
    body = endpoint.ask({name: value for name, value in sent.items() if value is not None})
    found = answers.read(body)
    return found | {"results": found["results"][:limit]}
