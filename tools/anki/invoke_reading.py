"""The tool for any reading action of AnkiConnect, which read-only mode lists in place of anki.invoke."""

from typing import Annotated

from tools.anki import actions
from tools.anki.invoke import invoke
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool


@Tool("anki.invoke", raw=True, read_only_variant=True)
def invoke_reading(
    action: Annotated[str, "e.g. findCards, cardsInfo, getDeckStats, multi", Limits(min_length=1, strip=True)],
    params: Annotated[JsonObject | None, "as AnkiConnect documents them; sent unchanged"] = None,
    version: Annotated[int | None, "of the API; 6 by default"] = None,
) -> object:
    """Call any AnkiConnect action that only reads, for what no other anki tool does. Returns its raw result.

    Source: AnkiConnect, any action; MCP_READ_ONLY.
    """
    actions.check_reading(action, params)
    return invoke(action, params, version)
