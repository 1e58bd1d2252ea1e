"""The tool that renames a deck.

AnkiConnect has no action for it: the new decks are made, the cards moved, and the old decks deleted once seen empty.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated

from tools.anki import client, decks, unfinished, window
from tools.core import calls
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Alias, Limits
from tools.core.tool import Tool


@Tool("anki.rename_deck", write=True, raw=True)
def rename_deck(
    oldName: Annotated[str, Limits(min_length=1), Alias("old_name")],
    newName: Annotated[str, Limits(min_length=1), Alias("new_name")],
) -> None:
    """Rename or move a deck with its subdecks (`::` puts it under another). Scheduling and presets stay; a deck's
    description and own daily limits are lost. Returns null.

    Source: AnkiConnect createDeck, setDeckConfigId, changeDeck, setSpecificValueOfCard, deleteDecks.
    """
    deck_ids = decks.ids()
    rename = Rename(_known(oldName, deck_ids), decks.spelled(decks.checked_name(newName), deck_ids))
    if rename.of_case_only and deck_ids.get(rename.old) != decks.DEFAULT_ID:
        return _change_case(rename, deck_ids)
    return _rename(rename, deck_ids)


def _rename(rename: "Rename", deck_ids: dict[str, int]) -> None:
    """Rename a deck to a name that Anki can tell from the old one; begun before, it is finished."""
    begun = unfinished.find(rename.call)
    if begun and rename.old not in deck_ids and rename.new in deck_ids:
        return unfinished.forget(rename.call)
    _check(rename, deck_ids)
    contents = _look(rename, deck_ids)
    if begun and begun["deck"] == deck_ids[rename.old]:
        _check_ours([rename.target(name) for name in contents], deck_ids, begun["made"])
    else:
        _check_free(rename.new, deck_ids)
        begun = {"deck": deck_ids[rename.old], "made": {}}
    calls.checkpoint()
    unfinished.note(rename.call, begun)
    _carry_out(rename, contents, begun)
    return unfinished.forget(rename.call)


def _change_case(rename: "Rename", deck_ids: dict[str, int]) -> None:
    """From `geo` to `Geo` by a name in between: a new deck `Geo` would be the old one to Anki."""
    between = f"{rename.new} (renaming)"
    begun = unfinished.find(rename.call) is not None
    if rename.old in deck_ids:
        unfinished.note(rename.call, {})
        _rename(Rename(rename.old, between), deck_ids)
        deck_ids = decks.ids()
    if begun and between not in deck_ids and rename.new in deck_ids:
        return unfinished.forget(rename.call)
    if rename.old not in deck_ids and between not in deck_ids:
        raise decks.not_found([rename.old], deck_ids)
    _rename(Rename(between, rename.new), deck_ids)
    return unfinished.forget(rename.call)


@dataclass(frozen=True)
class Rename:
    old: str
    new: str

    @property
    def of_case_only(self) -> bool:
        """Whether both are one name to Anki, in other letters."""
        return self.old != self.new and decks.same(self.old, self.new)

    @property
    def call(self) -> JsonObject:
        """How unfinished knows it."""
        return {"tool": "anki.rename_deck", "oldName": self.old, "newName": self.new}

    def target(self, deck: str) -> str:
        """What a deck at or under the old name will be called."""
        return self.new + deck.removeprefix(self.old)


@dataclass
class Contents:
    """What a deck holds: its cards, those that a filtered deck has borrowed, and the id of its preset."""

    cards: list[int]
    borrowed: list[int] = field(default_factory=list)
    preset: int | None = None


def _known(name: str, deck_ids: dict[str, int]) -> str:
    """The name itself; `Default` also means the deck with id 1, which Anki names in the language of the profile."""
    return decks.default_name(deck_ids) if name == "Default" and name not in deck_ids else name


def _check(rename: Rename, deck_ids: dict[str, int]) -> None:
    if rename.old not in deck_ids:
        raise decks.not_found([rename.old], deck_ids)
    if decks.within(decks.folded(rename.new), decks.folded(rename.old)):
        if rename.new == rename.old:
            raise ToolError(f"The deck is called {rename.old!r} already", "Give another newName.", code="DECK_EXISTS")
        what, hint = "lies in", "Rename it to a free name first, then to this one."
        if rename.of_case_only:
            what, hint = "is", "The letters of the default deck's name are changed in Anki itself."
        raise ToolError(f"To Anki {rename.new!r} {what} {rename.old!r}", hint, code="DECK_EXISTS")


def _check_free(new: str, deck_ids: dict[str, int]) -> None:
    if taken := next((name for name in deck_ids if decks.same(name, new)), None):
        raise ToolError(
            f"There is a deck {taken!r} already",
            "Choose another newName; to merge decks, move the notes with anki_update_notes (deckName).",
            code="DECK_EXISTS",
        )


def _check_ours(targets: list[str], deck_ids: dict[str, int], made: dict[str, int]) -> None:
    """In a second run the new decks are there: they must be those that the first run made, or have no cards."""
    taken = [name for name in targets if name in deck_ids and made.get(name) != deck_ids[name]]
    if any(client.results(*(("findCards", {"query": decks.search(name, subdecks=True)}) for name in taken))):
        _check_free(taken[0], deck_ids)


def _look(rename: Rename, deck_ids: dict[str, int]) -> dict[str, Contents]:
    """What each deck to move holds. One request."""
    names = [name for name in deck_ids if decks.within(name, rename.old)]
    searches = [decks.search(name, subdecks=False) for name in names]
    results = client.results(
        *(("getDeckConfig", {"deck": name}) for name in names),
        *(("findCards", {"query": search}) for search in searches),
        *(("findCards", {"query": f"{search} deck:filtered"}) for search in searches),
    )
    count = len(names)
    configs = dict(zip(names, results[:count], strict=True))
    if filtered := [name for name in names if decks.is_filtered(configs[name])]:
        raise ToolError(
            f"{filtered[0]!r} is a filtered deck, which AnkiConnect cannot rename",
            "Rename it in Anki, or delete it there first: its cards go home.",
            code="FILTERED_DECK",
        )
    contents = {}
    for name, cards, borrowed in zip(names, results[count : 2 * count], results[2 * count :], strict=True):
        own = [card for card in cards if card not in set(borrowed)]
        contents[name] = Contents(own, borrowed, configs[name]["id"] if configs[name] else None)
    return contents


def _carry_out(rename: Rename, contents: dict[str, Contents], begun: JsonObject) -> None:
    with _telling(f"No card was moved; an empty {rename.new!r} may be there"):
        made = _make(rename, contents, begun)
    with _telling(f"The cards are in {rename.old!r} or already in {rename.new!r}, none is lost"):
        _move(rename, contents, made)
    with _telling(f"All cards are in {rename.new!r}; the empty {rename.old!r} may still be there"):
        _delete(rename, begun["deck"] == decks.DEFAULT_ID, list(contents))


def _make(rename: Rename, contents: dict[str, Contents], begun: JsonObject) -> dict[str, int]:
    targets = [rename.target(name) for name in contents]
    ids = client.results(*(("createDeck", {"deck": name}) for name in targets))
    made = dict(zip(targets, ids, strict=True))
    unfinished.note(rename.call, {**begun, "made": made})
    presets = [(rename.target(name), held.preset) for name, held in contents.items() if held.preset is not None]
    deck_ids, *set_to = client.results(
        ("deckNamesAndIds", {}),
        *(("setDeckConfigId", {"decks": [name], "configId": preset}) for name, preset in presets),
    )
    if wrong := [name for name in targets if name not in deck_ids]:
        raise ToolError(f"Anki did not make {wrong[0]!r}", "Choose a plainer newName.", code="DECK_NOT_MADE")
    if not all(set_to):
        raise ToolError(
            f"Anki did not give {rename.new!r} the options of {rename.old!r}",
            "Rename it in Anki instead, and delete the new, empty deck.",
            code="OPTIONS_NOT_SET",
        )
    return made


def _move(rename: Rename, contents: dict[str, Contents], made: dict[str, int]) -> None:
    """Cards that a filtered deck has borrowed stay in it and get another home; the rest go to the new decks."""
    homes = [(card, made[rename.target(name)]) for name, held in contents.items() for card in held.borrowed]
    if homes:
        client.multi(*(("setSpecificValueOfCard", _home(card, deck)) for card, deck in homes))
        left = client.results(*(("findCards", {"query": decks.search(name, subdecks=False)}) for name in contents))
        contents = {name: Contents(cards) for name, cards in zip(contents, left, strict=True)}
    client.results(
        *(
            ("changeDeck", {"cards": held.cards, "deck": rename.target(name)})
            for name, held in contents.items()
            if held.cards
        )
    )


def _home(card: int, deck: int) -> JsonObject:
    return {"card": card, "keys": ["odid"], "newValues": [deck], "warning_check": True}


def _delete(rename: Rename, is_default: bool, names: list[str]) -> None:
    """Anki's default deck cannot be deleted; empty, it is hidden. Its subdecks go."""
    if left := client.call("findCards", query=decks.search(rename.old, subdecks=True)):
        raise ToolError(
            f"{len(left)} cards are still in {rename.old!r}",
            "They came in the meantime, or Anki did not move them. Call anki_rename_deck again.",
            code="DECK_NOT_EMPTY",
        )
    to_delete = [name for name in names if name != rename.old] if is_default else [rename.old]
    if not to_delete:
        return
    delete = ("deleteDecks", {"decks": to_delete, "cardsToo": True})
    _, deck_ids = window.results_redrawn(delete, ("deckNamesAndIds", {}))
    if kept := [name for name in to_delete if name in deck_ids]:
        raise ToolError(f"Anki kept the empty {kept[0]!r}", "Delete it in Anki.", code="DECK_NOT_DELETED")


@contextmanager
def _telling(where: str) -> Iterator[None]:
    """A failure inside says what is where, and that the call can be repeated."""
    try:
        yield
    except ToolError as error:
        error.message = f"{error.message}. {where}"
        error.hint = f"{error.hint} Then call anki_rename_deck again with the same names: it finishes the work."
        raise
