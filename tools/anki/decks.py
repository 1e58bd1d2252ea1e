"""Decks: matching their names, and the tools that list and rename them.

AnkiConnect cannot rename: new decks are made, the cards moved, and the old decks deleted once seen empty.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator

from tools.toolkit import JsonObject, Tool, ToolError, checkpoint, did_you_mean

from . import client
from .client import Action, IdByName, Ids, IdsByName, action, card_search
from .note_input import CONTROL, ItemError, Names, find_name, folded

# The deck that Anki never deletes, under any name.
DEFAULT_ID = 1
SEPARATOR = "::"

# Line breaks, tabs, no-break spaces.
BLANK = r"[^\S ]"


@Tool("anki.list_decks")
def list_decks() -> list[JsonObject]:
    """List the decks: [{id, name}].

    Source: AnkiConnect deckNamesAndIds.
    """
    return [{"id": deck_id, "name": name} for name, deck_id in ids().items()]


def ids() -> IdByName:
    """Ids of all decks by name."""
    return client.call("deckNamesAndIds")


def default_name(decks: IdByName) -> str:
    """Name of the deck with id 1: `Default`, unless somebody renamed it."""
    return next((name for name, deck_id in decks.items() if deck_id == DEFAULT_ID), "Default")


def existing_name(name: str, deck_ids: IdByName) -> str | None:
    """Spell a deck's name as Anki does; None if no deck has it.

    `Default` is also the deck with id 1, which Anki names in the language of the profile.
    """
    spelling = find_name(name, deck_ids)
    if spelling is None and folded(name) == "default":
        return default_name(deck_ids)
    return spelling


def within(name: str, *decks: str) -> bool:
    """True if a deck is one of `decks` or lies in one."""
    return (name + SEPARATOR).startswith(tuple(deck + SEPARATOR for deck in decks))


def below(decks: Iterable[str], names: Iterable[str]) -> Names:
    """Those of `names` that are among the decks or lie in one."""
    return [name for name in names if within(name, *decks)]


def checked_name(name: str) -> str:
    """Spell the name of a new deck as Anki will keep it. Raises ItemError for a name that Anki would
    change."""
    parts = list(map(str.strip, unicodedata.normalize("NFC", name).split(SEPARATOR)))
    if not all(parts) or CONTROL.search(name):
        raise ItemError(
            f"ValueError: {name[:80]!r} is not a deck name",
            "A name and each part of it between `::` must have text, and no line breaks.",
            "INVALID_DECK_NAME",
        )
    return SEPARATOR.join(parts)


def not_found(names: Names, decks: Collection[str]) -> ToolError:
    """Error for decks that do not exist, with the nearest names."""
    nearest = " ".join(did_you_mean(name, decks) for name in names).strip()
    return ToolError(
        f"Deck not found: {', '.join(map(repr, names))}",
        nearest or "anki_list_decks shows the decks; anki_invoke with createDeck makes one.",
        "DECK_NOT_FOUND",
    )


def contents(names: Names, deck_ids: IdByName) -> tuple[IdByName, Names, IdsByName]:
    """Read the preset of each deck; the filtered decks, which have none; the cards of each deck without its
    subdecks. One request.

    Cards are searched for by the deck's id: `deck:` does not find a name with a no-break space in it, and a
    deck deleted as empty takes its cards along. The id also finds cards that a filtered deck has borrowed.
    """
    config_reads = [action("getDeckConfig", deck=name) for name in names]
    searches = [card_search(client.ids_query("did", [deck_ids[name]])) for name in names]
    answers = client.results(*config_reads, *searches)
    presets = {}
    filtered = []
    for name, config in zip(names, answers):
        if config and config.get("dyn"):
            filtered.append(name)
        elif config:
            presets[name] = config["id"]
    return presets, filtered, dict(zip(names, answers[len(names) :]))


def cards_within(names: Names) -> Ids:
    """Find the cards that decks and their subdecks have now. Two requests."""
    deck_ids = ids()
    inner_ids = [deck_ids[name] for name in below(names, deck_ids)]
    return client.call("findCards", query=client.ids_query("did", inner_ids))


def escaped(text: str) -> str:
    """Escape a text for the quotes of an Anki query."""
    escaped = re.sub(r'[\\"*_]', r"\\\g<0>", text)
    # Anki finds only the common blank; `_` stands for any character.
    return re.sub(BLANK, "_", escaped)


def delete(names: Names) -> None:
    """Delete decks with all that is in them, and redraw Anki's window. One request.

    Raises ToolError DECK_NOT_DELETED: AnkiConnect answers null even if nothing was deleted.
    """
    deletion = action("deleteDecks", decks=names, cardsToo=True)
    *_, deck_ids = client.results(deletion, client.REDRAW, action("deckNamesAndIds"))
    if kept := [name for name in names if name in deck_ids]:
        raise ToolError(
            f"Anki kept {', '.join(map(repr, kept))}",
            "Delete it in Anki's own window.",
            "DECK_NOT_DELETED",
        )


# One request makes the new decks and moves all cards, so after a lost answer the old decks are as they were,
# or empty beside the new ones: then the same call made again has only to delete them.
@Tool("anki.rename_deck", write=True)
def rename_deck(oldName: str, newName: str) -> None:
    """Rename or move a deck with its subdecks (`::` puts it under another). Scheduling and presets stay, a
    deck's description and own limits do not; filtered decks give its cards back.

    Source: AnkiConnect createDeck, setDeckConfigId, changeDeck, deleteDecks.
    """
    deck_ids = ids()
    # `Default` also means the deck with id 1, which Anki names in the language of the profile.
    old = default_name(deck_ids) if oldName == "Default" and oldName not in deck_ids else oldName
    # Anki writes the parents as it has them.
    new = checked_name(newName)
    if folded(old) == folded(new) and old != new and deck_ids.get(old) != DEFAULT_ID:
        # By a name in between: Anki would take a new deck `Geo` for the existing `geo`.
        temporary = f"{old} (renaming)"
        if old in deck_ids or temporary not in deck_ids:
            rename_deck(old, temporary)
        return rename_deck(temporary, new)
    actions = list(_renaming_actions(old, new, deck_ids))
    # New decks with the cards of the old ones, which go once they are seen empty.
    checkpoint()
    try:
        client.results(*actions)
        if cards_left := cards_within([old]):
            raise ToolError(
                f"{len(cards_left)} cards are still in {old!r}",
                "They were added meanwhile, or Anki did not move them: move them with anki_change_cards "
                "(deck).",
                "DECK_NOT_EMPTY",
            )
        # The default deck cannot be deleted; empty, it is hidden.
        delete([name for name in below([old], deck_ids) if deck_ids[name] != DEFAULT_ID])
    except ToolError as error:
        error.message += f". No card is lost: each is in {old!r} or in {new!r}"
        error.hint += " Then call anki_rename_deck again with the same names: it finishes the work."
        raise


def _renaming_actions(old: str, new: str, deck_ids: IdByName) -> Iterator[Action]:
    """Build the actions that make the new decks with the presets of the old ones, and move the cards; none if
    an earlier call made the decks. Everything is checked before the first action. One request.

    Raises ToolError DECK_NOT_FOUND, DECK_EXISTS or FILTERED_DECK.
    """
    # The old deck exists, and the new one does not lie in it.
    if old not in deck_ids:
        raise not_found([old], deck_ids)
    if within(folded(new), folded(old)):
        raise ToolError(
            f"Anki sees {new!r} as {old!r} itself or one of its subdecks",
            "Rename it to a free name first, then to this one.",
            "DECK_EXISTS",
        )
    # All decks below can be renamed, and the new name is free or made by an earlier call.
    names = below([old], deck_ids)
    presets, filtered, cards = contents(names, deck_ids)
    if filtered:
        raise ToolError(
            f"{filtered[0]!r} is a filtered deck, which AnkiConnect cannot rename",
            "Rename it in Anki, or delete it there first: its cards return to their decks.",
            "FILTERED_DECK",
        )
    if existing := find_name(new, deck_ids):
        if any(cards.values()):
            raise ToolError(
                f"The deck {existing!r} already exists",
                "Choose another newName; to merge decks, move the cards with anki_change_cards (deck).",
                "DECK_EXISTS",
            )
        return
    # Each deck is made, with its preset, and gets its cards.
    for name in names:
        target = new + name.removeprefix(old)
        yield action("createDeck", deck=target)
        if name in presets:
            yield action("setDeckConfigId", decks=[target], configId=presets[name])
        if cards[name]:
            yield action("changeDeck", cards=cards[name], deck=target)
