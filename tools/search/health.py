"""How the search service is set up, for `server.py --check`."""

from urllib.parse import urlsplit

from tools.core.health import Health, check
from tools.search.settings import current


@check
def health() -> Health:
    """The service that is asked. It is not asked now: a search may cost."""
    if not current().search_api_url:
        return Health("unset", "no search service", "Set SEARCH_API_URL (and SEARCH_API_KEY) in ~/.config/pi-mcp/env")
    key = "with a key" if current().search_api_key else "without a key"
    return Health("ok", f"{current().search_api_method.upper()} to {urlsplit(current().search_api_url).netloc}, {key}")
