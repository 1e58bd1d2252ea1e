"""The tool that renames a deck.

AnkiConnect has no action for it: the new decks are made, the cards moved, and the old decks deleted once seen empty.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from tools import calls
from tools.anki import client, decks, unfinished
from tools.errors import ToolError
from tools.registry import Tool
from tools.schema import Alias, Limits


@Tool("anki.rename_deck", write=True, bare=True)
def rename_deck(
    oldName: Annotated[str, Limits(min_length=1), Alias("old_name")],
    newName: Annotated[str, Limits(min_length=1), Alias("new_name")],
) -> None:
    """Rename or move a deck with its subdecks; `::` in newName puts it under another deck. Cards keep their ids and
    scheduling, decks their option presets. Returns null.

    Source: AnkiConnect createDeck, setDeckConfigId, changeDeck, deleteDecks.
    """
    there = decks.ids()
    rename = Rename(oldName, decks.spelled(decks.checked_name(newName), there))
    kept = unfinished.find(rename.call)
    if kept and oldName not in there and rename.new in there:
        return unfinished.forget(rename.call)
    _check(rename, there)
    presets, cards = _look(rename, there)
    if kept and kept["deck"] == there[oldName]:
        _check_ours([rename.target(name) for name in cards], there, kept["made"])
    else:
        _check_free(rename.new, there)
        kept = {"deck": there[oldName], "made": {}}
    calls.checkpoint()
    unfinished.note(rename.call, kept)
    _carry_out(rename, presets, cards, kept)
    return unfinished.forget(rename.call)


@dataclass(frozen=True)
class Rename:
    old: str
    new: str

    @property
    def call(self) -> dict[str, Any]:
        """How unfinished knows it."""
        return {"tool": "anki.rename_deck", "oldName": self.old, "newName": self.new}

    def target(self, deck: str) -> str:
        """What a deck at or under the old name will be called."""
        return self.new + deck.removeprefix(self.old)


def _check(rename: Rename, there: dict[str, int]) -> None:
    if rename.old not in there:
        raise decks.not_found([rename.old], there)
    if there[rename.old] == decks.DEFAULT_ID:
        raise ToolError(
            f"{rename.old!r} is Anki's default deck and stays",
            "Rename it in Anki, or make another deck and move notes there with anki.update_notes (deckName).",
            code="DEFAULT_DECK",
        )
    if decks.within(decks.folded(rename.new), decks.folded(rename.old)):
        if rename.new == rename.old:
            raise ToolError(f"The deck is called {rename.old!r} already", "Give another newName.", code="DECK_EXISTS")
        raise ToolError(
            f"{rename.new!r} is {rename.old!r} itself or lies in it, as Anki sees it",
            "Rename it to a free name first, then to this one.",
            code="DECK_EXISTS",
        )


def _check_free(new: str, there: dict[str, int]) -> None:
    if taken := next((name for name in there if decks.same(name, new)), None):
        raise ToolError(
            f"There is a deck {taken!r} already",
            "Choose another newName; to merge decks, move the notes with anki.update_notes (deckName).",
            code="DECK_EXISTS",
        )


def _check_ours(targets: list[str], there: dict[str, int], made: dict[str, int]) -> None:
    """In a second run the new decks are there: they must be those that the first run made, or have no cards."""
    taken = [name for name in targets if name in there and made.get(name) != there[name]]
    if any(client.results(*(("findCards", {"query": decks.search(name, subdecks=True)}) for name in taken))):
        _check_free(taken[0], there)


def _look(rename: Rename, there: dict[str, int]) -> tuple[dict[str, int], dict[str, list[int]]]:
    """The preset id and the cards of each deck to move."""
    names = [name for name in there if decks.within(name, rename.old)]
    found = client.results(
        *(("getDeckConfig", {"deck": name}) for name in names),
        *(("findCards", {"query": decks.search(name, subdecks=False)}) for name in names),
    )
    configs = dict(zip(names, found, strict=False))
    if filtered := [name for name in names if decks.is_filtered(configs[name])]:
        raise ToolError(
            f"{filtered[0]!r} is a filtered deck, which AnkiConnect cannot rename",
            "Rename it in Anki, or delete it there first: its cards go home.",
            code="FILTERED_DECK",
        )
    presets = {name: config["id"] for name, config in configs.items() if config}
    return presets, dict(zip(names, found[len(names) :], strict=True))


def _carry_out(rename: Rename, presets: dict[str, int], cards: dict[str, list[int]], kept: dict[str, Any]) -> None:
    with _telling(f"No card was moved; an empty {rename.new!r} may be there"):
        _make(rename, presets, list(cards), kept)
    with _telling(f"The cards are in {rename.old!r} or already in {rename.new!r}, none is lost"):
        _move(rename, cards)
    with _telling(f"All cards are in {rename.new!r}; the empty {rename.old!r} may still be there"):
        _delete(rename)


def _make(rename: Rename, presets: dict[str, int], names: list[str], kept: dict[str, Any]) -> None:
    targets = [rename.target(name) for name in names]
    made = client.results(*(("createDeck", {"deck": name}) for name in targets))
    unfinished.note(rename.call, {**kept, "made": dict(zip(targets, made, strict=True))})
    set_to = client.results(
        ("deckNamesAndIds", {}),
        *(("setDeckConfigId", {"decks": [rename.target(name)], "configId": one}) for name, one in presets.items()),
    )
    if wrong := [name for name in targets if name not in set_to[0]]:
        raise ToolError(f"Anki did not make {wrong[0]!r}", "Choose a plainer newName.", code="DECK_NOT_MADE")
    if not all(set_to[1:]):
        raise ToolError(
            f"Anki did not give {rename.new!r} the options of {rename.old!r}",
            "Rename it in Anki instead, and delete the new, empty deck.",
            code="OPTIONS_NOT_SET",
        )


def _move(rename: Rename, cards: dict[str, list[int]]) -> None:
    client.results(
        *(("changeDeck", {"cards": found, "deck": rename.target(name)}) for name, found in cards.items() if found)
    )


def _delete(rename: Rename) -> None:
    if left := client.call("findCards", query=decks.search(rename.old, subdecks=True)):
        raise ToolError(
            f"{len(left)} cards are still in {rename.old!r}",
            "They came in the meantime, or Anki did not move them. Call anki.rename_deck again.",
            code="DECK_NOT_EMPTY",
        )
    _, there = client.results(("deleteDecks", {"decks": [rename.old], "cardsToo": True}), ("deckNamesAndIds", {}))
    if rename.old in there:
        raise ToolError(f"Anki kept the empty {rename.old!r}", "Delete it in Anki.", code="DECK_NOT_DELETED")


@contextmanager
def _telling(where: str):
    """A failure inside says what is where, and that the call can be repeated."""
    try:
        yield
    except ToolError as error:
        error.message = f"{error.message}. {where}"
        error.hint = f"{error.hint} Then call anki.rename_deck again with the same names: it finishes the work."
        raise
