"""What was begun in Anki and not seen to end, so that the same call made again finishes it.

One small file in the state directory; an entry goes in before the first change and out after the last.
"""

import json
from pathlib import Path

from tools.core.errors import ToolError
from tools.core.files import compact_json, replace_file
from tools.core.json_types import JsonObject
from tools.core.settings import state_path

MOST = 50
"""Entries kept. An entry that is never finished would otherwise stay for good."""


def find(call: JsonObject) -> JsonObject | None:
    """What `note` kept of this very call, if it is unfinished."""
    return next((entry["kept"] for entry in _read() if entry["call"] == call), None)


def note(call: JsonObject, kept: JsonObject) -> None:
    """Remember that `call` has begun, with what is needed to finish it."""
    _write([*(entry for entry in _read() if entry["call"] != call), {"call": call, "kept": kept}][-MOST:])


def forget(call: JsonObject) -> None:
    """The call has ended."""
    entries = _read()
    if left := [entry for entry in entries if entry["call"] != call]:
        _write(left)
    elif entries:
        _path().unlink(missing_ok=True)


def _path() -> Path:
    return state_path("anki-unfinished.json")


def _read() -> list[JsonObject]:
    try:
        return json.loads(_path().read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return []


def _write(entries: list[JsonObject]) -> None:
    try:
        replace_file(_path(), compact_json(entries))
    except OSError as error:
        raise ToolError(
            f"Cannot write {_path()}: {error.strerror}",
            "Make room or the folder writable, or point MCP_STATE_DIR at another.",
            code="STATE_NOT_WRITABLE",
        ) from error
