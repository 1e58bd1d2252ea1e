"""The tool for any action of AnkiConnect."""

from typing import Annotated, Any

from tools.anki import client
from tools.anki.media_names import check_harmless
from tools.registry import Tool
from tools.schema import Limits
from tools.settings import current


@Tool("anki.invoke", write=True, destructive=True, bare=True)
def invoke(
    action: Annotated[str, "e.g. findCards, updateNoteFields, sync, multi", Limits(min_length=1, strip=True)],
    params: Annotated[dict[str, Any] | None, "as AnkiConnect documents them; sent unchanged"] = None,
    version: Annotated[int | None, "of the API; 6 by default"] = None,
) -> Any:
    """Call any AnkiConnect action, for what no other anki tool does. Returns its raw result.

    Source: AnkiConnect, any action.
    """
    params = params or {}
    check_harmless(params)
    return client.raw(action, _keyed(action, params), client.VERSION if version is None else version)


def _keyed(action: str, params: dict[str, Any]) -> dict[str, Any]:
    """AnkiConnect asks each entry of a `multi` for the key; entries that bring none get ours."""
    key, entries = current().anki_connect_key, params.get("actions")
    if action != "multi" or not key or not isinstance(entries, list):
        return params
    return {**params, "actions": [{"key": key, **one} if isinstance(one, dict) else one for one in entries]}
