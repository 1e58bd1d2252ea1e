"""The two pages, and the private data that each gets beside an answer."""

import logging
from collections.abc import Callable
from pathlib import Path

from tools.core import registry
from tools.core import settings as core_settings
from tools.core.documents import document
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.pages import MIME_TYPE, Page
from tools.core.resources import Resource
from tools.onepercent import days, settings
from tools.onepercent.database import store
from tools.onepercent.page import keys
from tools.onepercent.page.weeks import weeks

logger = logging.getLogger(__name__)

HERE = Path(__file__).parent

PRESS = "pi-mcp/press"
"""The entry of a result's `_meta` that holds the key."""
WEEKS = "pi-mcp/weeks"
"""The entry that holds the last weeks: the page draws them, the model need not pay for them."""


def _of_preview(answer: JsonObject) -> JsonObject:
    return _handed(lambda: keys.of_preview(answer["preview_id"])) if "preview_id" in answer else {}


def _of_days(answer: JsonObject) -> JsonObject:
    if not answer["success"]:
        return {}
    return last_weeks() | (
        _handed(keys.of_day) if not registry.only_reads(core_settings.current(), "onepercent") else {}
    )


def last_weeks() -> JsonObject:
    """What the days' page shows besides the answer; empty if the database cannot be read."""
    try:
        with store.reading() as db:
            return {WEEKS: weeks(db, settings.current().onepercent_user, days.today(days.now()))}
    except ToolError as error:
        logger.warning("no weeks for a page: %s", error.message)
        return {}


def _handed(key: Callable[[], str]) -> JsonObject:
    """The key for presses; without one, a press counts as the model's word."""
    try:
        return {PRESS: key()}
    except OSError as error:
        logger.warning("no key for a page: %s", error)
        return {}


PREVIEW = Page("ui://onepercent/preview", _of_preview)
DAYS = Page("ui://onepercent/days", _of_days)


@Resource(PREVIEW.uri, "Preview of changes", mime_type=MIME_TYPE, listed=False)
def preview_page() -> str:
    """The page of preview_actions and undo_last.

    Source: docs/pages.md
    """
    return document(HERE / "preview.html")


@Resource(DAYS.uri, "Days", mime_type=MIME_TYPE, listed=False)
def days_page() -> str:
    """The page of get_user_snapshot.

    Source: docs/pages.md
    """
    return document(HERE / "days.html")
