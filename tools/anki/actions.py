"""AnkiConnect's actions: which of them only read, and which reach files of the machine that Anki runs on."""

import socket
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from tools.anki import decks, media_names
from tools.anki.action_names import READING
from tools.anki.images import addresses
from tools.anki.settings import current
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject

NAMING_DECKS = {"getDeckStats": "decks", "cardReviews": "deck", "getLatestReviewID": "deck"}
"""Reading actions that make a deck of a name they do not know, and the parameter with the name."""

BRINGING_MEDIA = frozenset(("path", "url", "data", "picture", "audio", "video"))
"""With one of these in its parameters even canAddNotes stores a file in the media folder."""

REACHING = {
    "exportPackage": "overwrites any file of the machine that Anki runs on",
    "importPackage": "reads any file of the machine that Anki runs on",
    "guiImportFile": "reads any file of the machine that Anki runs on, or opens a dialog that blocks Anki",
    "removeEmptyNotes": "deletes every note type that has no notes",
}
"""Actions that the setting ANKI_INVOKE has to allow, and what they do."""


class Entry(NamedTuple):
    """An action's name and its parameters, as a client sent them."""

    action: object
    params: object


def check_reading(action: str, params: JsonObject | None) -> None:
    """Refuse what does not only read: a `multi` reads if every entry does. At most one request, for the deck names.

    Raises ToolError READ_ONLY or DECK_NOT_FOUND.
    """
    entries = list(_entries(action, params))
    for entry in entries:
        if not isinstance(entry.action, str) or entry.action not in READING:
            raise _not_reading(f"Not a reading action: {str(entry.action)[:80]}")
        for key, value in _members(entry.params):
            if key in BRINGING_MEDIA:
                raise _not_reading(f"{entry.action} with {key!r} stores a file in Anki's media folder")
            if key == "filename" and isinstance(value, str):
                media_names.checked(value)
        _check_pattern(entry)
    _check_decks([deck for entry in entries for deck in _decks(entry)])


def check_safe(action: str, params: JsonObject | None) -> None:
    """Refuse what reads or overwrites files of Anki's host, or deletes note types in bulk, unless ANKI_INVOKE is `all`.

    Raises ToolError ANKI_INVOKE.
    """
    if current().anki_invoke == "all":
        return
    for entry in _entries(action, params):
        name = str(entry.action)[:80]
        if name in REACHING:
            raise _not_safe(f"{name} {REACHING[name]}")
        for key, value in _members(entry.params):
            if key == "path" and value:
                raise _not_safe(f"{name} with `path` reads any file of the machine that Anki runs on")
            if key == "url" and value and not _is_public(value):
                raise _not_safe(f"{name} with the `url` {str(value)[:80]!r} reaches Anki's own network")
        _check_pattern(entry)


def _entries(action: str, params: JsonObject | None) -> Iterator[Entry]:
    """The action itself, or what a `multi` holds at any depth."""
    waiting = [Entry(action, params)]
    while waiting:
        entry = waiting.pop()
        inner = entry.params.get("actions") if isinstance(entry.params, dict) else None
        if entry.action != "multi" or not isinstance(inner, list):
            yield entry
            continue
        members = (member if isinstance(member, dict) else {} for member in inner)
        waiting += [Entry(member.get("action"), member.get("params")) for member in members]


def _members(params: object) -> Iterator[tuple[str, object]]:
    """Each key with its value, at any depth; what `fields` of a note holds is text, whatever a field is called."""
    waiting = [params]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            for key, member in value.items():
                yield key, member
                if not (key == "fields" and _is_texts(member)):
                    waiting.append(member)


def _is_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _check_pattern(entry: Entry) -> None:
    """AnkiConnect joins the pattern to the media folder's path, which `/` and `..` lead out of."""
    pattern = entry.params.get("pattern") if isinstance(entry.params, dict) else None
    if entry.action == "getMediaFilesNames" and any(part in str(pattern) for part in ("/", "\\", "..")):
        raise ToolError(
            f"The pattern {str(pattern)[:80]!r} leads out of Anki's media folder",
            "Give a pattern without `/` and `..`, such as *.mp3.",
            code="INVALID_PATTERN",
        )


def _decks(entry: Entry) -> list[str]:
    name = NAMING_DECKS.get(str(entry.action))
    value = entry.params.get(name) if name and isinstance(entry.params, dict) else None
    names = [value] if isinstance(value, str) and name == "deck" else value
    if names is None:
        return []
    if not isinstance(names, list) or not all(isinstance(deck, str) for deck in names):
        raise _not_reading(f"{entry.action} takes {name} as names, not as {str(value)[:80]!r}")
    return names


def _check_decks(names: list[str]) -> None:
    if not names:
        return
    deck_ids = decks.ids()
    if unknown := [name for name in names if name not in deck_ids]:
        raise decks.not_found(unknown, deck_ids)


def _is_public(url: object) -> bool:
    """Whether Anki's host may fetch it: http(s), and every address that its host has is one of the public internet."""
    if current().image_allow_private:
        return True
    try:
        parts = urlsplit(str(url).strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return False
        answers = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    except (OSError, ValueError):  # a name that only Anki's host knows is one of its own network
        return False
    return all(addresses.public(str(sockaddr[0])) for *_, sockaddr in answers)


def _not_reading(what: str) -> ToolError:
    return ToolError(
        what,
        "The server is in read-only mode (MCP_READ_ONLY): only actions that change nothing are let through.",
        code="READ_ONLY",
    )


def _not_safe(what: str) -> ToolError:
    return ToolError(
        f"{what}. Nothing was sent",
        "Use anki_store_media for files. The person can set ANKI_INVOKE=all to let everything through.",
        code="ANKI_INVOKE",
    )
