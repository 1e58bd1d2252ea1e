"""Anki's health check, part of `server.py --check`."""

import json
import shlex

from tools.core.health import Health, health_check
from tools.toolkit import ToolError

from . import client, models
from .client import UNREACHABLE, action, note_search
from .settings import current


@health_check
def health() -> Health:
    """Ask AnkiConnect for an open profile, its contents, and the default note type."""
    try:
        version, decks, notes, names = client.results(
            action("version"), action("deckNames"), note_search("deck:*"), action("modelNames")
        )
    except ToolError as error:
        return Health("unset" if error.code == UNREACHABLE else "broken", error.message, error.hint)
    contents = f"AnkiConnect {version} at {current().anki_connect_url}: {len(decks)} decks, {len(notes)} notes"
    model = current().anki_default_model
    if model in names:
        return Health("ok", f"{contents}, default note type {model!r}")
    arguments = shlex.quote(json.dumps(models.default_model(model), ensure_ascii=False))
    return Health(
        "unset",
        f"{contents}; the default note type {model!r} is missing",
        f"Set ANKI_DEFAULT_MODEL to one of {', '.join(names)}; or create it: "
        f"python3 -m tools call anki.create_model {arguments}",
    )
