"""The settings of the search service."""

from dataclasses import dataclass

from tools.core import setting_types as types
from tools.core import settings
from tools.core.settings import Section, setting


@dataclass(frozen=True)
class SearchSettings(Section):
    """Which service is asked, and how."""

    search_api_url: str = setting(
        "SEARCH_API_URL", "", "the service that `search` asks, e.g. an n8n webhook; empty: no search", types.url
    )
    search_api_key: str = setting(
        "SEARCH_API_KEY", "", "its key, sent as `Authorization: Bearer …`, or as it is with a scheme of its own",
        types.header, secret=True,
    )  # fmt: skip
    search_api_method: str = setting(
        "SEARCH_API_METHOD", "post", "`get` sends query parameters instead of JSON", types.one_of("post", "get")
    )
    search_api_timeout_s: int = setting("SEARCH_API_TIMEOUT", 30, "seconds to wait for its answer", types.positive)


def current() -> SearchSettings:
    """The settings of this process."""
    return settings.current(SearchSettings)
