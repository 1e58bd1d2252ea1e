"""AnkiConnect's actions: which of them only read, and which reach files of the machine that Anki runs on."""

import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from tools.anki import decks, media_names
from tools.anki.action_names import READING
from tools.anki.images import addresses
from tools.anki.settings import current
from tools.core.errors import ToolError

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

Entry = tuple[Any, Any]
"""An action's name and its parameters, as a client sent them."""


def check_reading(action: Any, params: Any) -> None:
    """Refuse what does not only read: a `multi` reads if every entry does. At most one request, for the deck names.

    Raises ToolError READ_ONLY or DECK_NOT_FOUND.
    """
    entries = list(_entries(action, params))
    for name, given in entries:
        if not isinstance(name, str) or name not in READING:
            raise _not_reading(f"Not a reading action: {str(name)[:80]}")
        for key, value in _members(given):
            if key in BRINGING_MEDIA:
                raise _not_reading(f"{name} with {key!r} stores a file in Anki's media folder")
            if key == "filename" and isinstance(value, str):
                media_names.checked(value)
        _check_pattern(name, given)
    _check_decks([deck for name, given in entries for deck in _decks(name, given)])


def check_safe(action: Any, params: Any) -> None:
    """Refuse what reads or overwrites files of Anki's host, or deletes note types in bulk, unless ANKI_INVOKE is `all`.

    Raises ToolError ANKI_INVOKE.
    """
    if current().anki_invoke == "all":
        return
    for name, given in _entries(action, params):
        if isinstance(name, str) and name in REACHING:
            raise _not_safe(f"{name} {REACHING[name]}")
        for key, value in _members(given):
            if key == "path" and value:
                raise _not_safe(f"{str(name)[:80]} with `path` reads any file of the machine that Anki runs on")
            if key == "url" and value and not _is_public(value):
                raise _not_safe(f"{str(name)[:80]} with the `url` {str(value)[:80]!r} reaches Anki's own network")
        _check_pattern(name, given)


def _entries(action: Any, params: Any) -> Iterator[Entry]:
    """The action itself, or what a `multi` holds at any depth."""
    waiting = [(action, params)]
    while waiting:
        name, given = waiting.pop()
        inner = given.get("actions") if isinstance(given, dict) else None
        if name != "multi" or not isinstance(inner, list):
            yield name, given
            continue
        waiting += [(one.get("action"), one.get("params")) if isinstance(one, dict) else (None, None) for one in inner]


def _members(params: Any) -> Iterator[tuple[str, Any]]:
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


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _check_pattern(action: Any, params: Any) -> None:
    """AnkiConnect joins the pattern to the media folder's path, which `/` and `..` lead out of."""
    pattern = params.get("pattern") if isinstance(params, dict) else None
    if action == "getMediaFilesNames" and any(part in str(pattern) for part in ("/", "\\", "..")):
        raise ToolError(
            f"The pattern {str(pattern)[:80]!r} leads out of Anki's media folder",
            "Give a pattern without `/` and `..`, such as *.mp3.",
            code="INVALID_PATTERN",
        )


def _decks(action: str, params: Any) -> list[str]:
    name = NAMING_DECKS.get(action)
    value = params.get(name) if name and isinstance(params, dict) else None
    names = [value] if isinstance(value, str) and name == "deck" else value
    if names is None:
        return []
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise _not_reading(f"{action} takes {name} as names, not as {str(value)[:80]!r}")
    return names


def _check_decks(names: list[str]) -> None:
    if not names:
        return
    there = decks.ids()
    if unknown := [name for name in names if name not in there]:
        raise decks.not_found(unknown, there)


def _is_public(url: Any) -> bool:
    """Whether Anki's host may fetch it: http(s), and every address that its host has is one of the public internet."""
    if current().image_allow_private:
        return True
    try:
        parts = urlsplit(str(url).strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return False
        found = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    except (OSError, ValueError):  # a name that only Anki's host knows is one of its own network
        return False
    return all(addresses.public(str(sockaddr[0])) for *_, sockaddr in found)


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
