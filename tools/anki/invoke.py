"""The tool for any action of AnkiConnect."""

from typing import Annotated

from tools.anki import actions, client
from tools.anki.media_names import check_harmless
from tools.anki.settings import current
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool


@Tool("anki.invoke", write=True, destructive=True, raw=True)
def invoke(
    action: Annotated[str, "e.g. sync, multi", Limits(min_length=1, strip=True)],
    params: Annotated[JsonObject | None, "sent unchanged"] = None,
    version: Annotated[int | None, "6 by default"] = None,
) -> object:
    """Call any other AnkiConnect action; returns its raw result. Reading, guiBrowse, guiDeckReview are safe; sync may open
    a login window, other gui* a dialog that blocks Anki. What reaches files of its host is refused.

    Source: AnkiConnect, any action.
    """
    params = params or {}
    check_harmless(params)
    actions.check_safe(action, params)
    return client.raw(action, _keyed(action, params), client.VERSION if version is None else version)


def _keyed(action: str, params: JsonObject) -> JsonObject:
    """AnkiConnect asks each entry of a `multi` for the key; entries that bring none get ours."""
    key, entries = current().anki_connect_key, params.get("actions")
    if action != "multi" or not key or not isinstance(entries, list):
        return params
    return {**params, "actions": [{"key": key, **entry} if isinstance(entry, dict) else entry for entry in entries]}
