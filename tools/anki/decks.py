"""Decks: their names, and which a name means."""

import unicodedata

from tools.anki import client
from tools.anki.batches.outcomes import ItemError
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.suggest import several
from tools.core.tool import Tool

DEFAULT_ID = 1
"""The deck that Anki never deletes, whatever it is called."""

SEPARATOR = "::"


@Tool("anki.list_decks", raw=True)
def list_decks() -> list[JsonObject]:
    """List the decks: [{id, name}].

    Source: AnkiConnect deckNamesAndIds.
    """
    return [{"id": deck_id, "name": name} for name, deck_id in ids().items()]


def ids() -> dict[str, int]:
    """Each deck's id by its name."""
    return client.call("deckNamesAndIds") or {}


def default_name(decks: dict[str, int]) -> str:
    """What the deck with id 1 is called: `Default`, unless somebody renamed it."""
    return next((name for name, deck_id in decks.items() if deck_id == DEFAULT_ID), "Default")


def known(name: str, deck_ids: dict[str, int]) -> str | None:
    """The name as Anki spells it; None if no deck has it.

    `Default` is also the deck with id 1, which Anki names in the language of the profile.
    """
    if deck := next((deck for deck in deck_ids if same(deck, name)), None):
        return deck
    return default_name(deck_ids) if same(name, "Default") and DEFAULT_ID in deck_ids.values() else None


def spelled(name: str, deck_ids: dict[str, int]) -> str:
    """The name with its parents written as Anki has them: it would put `geo::X` into a `Geo` that is there."""
    parent, separator, last = name.rpartition(SEPARATOR)
    if not separator:
        return name
    above = next((deck for deck in deck_ids if same(deck, parent)), None)
    return (above or spelled(parent, deck_ids)) + SEPARATOR + last


def same(name: str, other: str) -> bool:
    """Whether Anki takes both for one name: it does not tell upper from lower case."""
    return folded(name) == folded(other)


def folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def within(name: str, deck: str) -> bool:
    """Whether a deck is `deck` or lies in it."""
    return name == deck or name.startswith(deck + SEPARATOR)


def is_filtered(config: object) -> bool:
    """Whether the answer of getDeckConfig is that of a filtered deck, which borrows its cards from their home decks."""
    return isinstance(config, dict) and bool(config.get("dyn"))


def checked_name(name: str) -> str:
    """A name as Anki will keep it, for a deck to be made.

    Raises ToolError for one that Anki would change into another.
    """
    parts = [part.strip() for part in unicodedata.normalize("NFC", name).split(SEPARATOR)]
    if not all(parts) or any(unicodedata.category(char) in ("Cc", "Cs") for char in name):
        raise ItemError(
            f"ValueError: {name[:80]!r} is not a deck name",
            "A name and each part of it between `::` must have text, and no line breaks.",
            code="INVALID_DECK_NAME",
        )
    return SEPARATOR.join(parts)


def not_found(names: list[str], decks: dict[str, int]) -> ToolError:
    """The error for decks that are not there, with the nearest that are."""
    by_folded = {folded(name): name for name in decks}
    near = [by_folded[close] for name in names for close in several(folded(name), by_folded, most=1)]
    hint = f"Did you mean {' and '.join(map(repr, near))}?" if near else "anki_list_decks shows the decks."
    return ToolError(f"Deck not found: {', '.join(map(repr, names))}", hint, code="DECK_NOT_FOUND")


def search(deck: str, *, subdecks: bool) -> str:
    """The query for the cards of a deck, also those that a filtered deck has at the moment."""
    name = quoted(deck)
    return f'deck:"{name}"' if subdecks else f'deck:"{name}" -deck:"{name}{SEPARATOR}*"'


def quoted(text: str) -> str:
    """`text` as it stands, inside the quotes of an Anki query."""
    return "".join("\\" + char if char in '\\"*_' else char for char in text)
