"""The page of anki.stats: how studying goes, to look at."""

from pathlib import Path

from tools.core.documents import document
from tools.core.pages import MIME_TYPE, Page
from tools.core.resources import Resource

STATS = Page("ui://anki/stats")


@Resource(STATS.uri, "Study statistics", mime_type=MIME_TYPE, listed=False)
def stats_page() -> str:
    """The page of anki.stats.

    Source: docs/pages.md
    """
    return document(Path(__file__).with_name("page.html"))
