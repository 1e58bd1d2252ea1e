"""The settings of the search service."""

from tools.core import settings
from tools.core.settings import Section, setting

from .engines import ENGINES

# In the order of their rows; an engine may have several.
ENGINE_KINDS = dict.fromkeys(engine.kind for engine in ENGINES)


def _header(value: str) -> str:
    if not value.isascii() or not value.isprintable():
        raise ValueError("expected plain ASCII characters")
    return value


class SearchSettings(Section):
    """Settings: the search service, and how it is asked."""

    search_api_url: str = setting(
        "",
        "the address that `search` calls: an engine's API, an n8n webhook, or one with `{query}` in it; "
        "empty: no search",
        settings.url,
    )
    search_api_kind: str = setting(
        "auto",
        f"`json`: your own service; `{'`, `'.join(ENGINE_KINDS)}`; auto: by the address",
        settings.one_of("auto", "json", *ENGINE_KINDS),
    )
    search_api_key: str = setting(
        "",
        "its key, sent as `Authorization: Bearer …`, or unchanged if it names a scheme",
        _header,
        secret=True,
    )
    search_api_method: str = setting(
        "post",
        "`get` sends query parameters instead of JSON",
        settings.one_of("post", "get"),
    )
    search_api_timeout_s: int = setting(30, "seconds to wait for its answer", settings.positive)


current = SearchSettings.current
