"""What changes of notes come to for AnkiConnect: as few actions as possible.

It takes some milliseconds, or 290 with the Browser open, for each action, whatever the number of notes in it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from tools.anki.client import Action
from tools.anki.images.placing import Placed


@dataclass
class Change:
    """One update, ready to be sent. `deck` is empty if no card has to move; `remove` holds tags that the note has."""

    note: int
    cards: list[int]
    placed: Placed
    add: list[str]
    remove: list[str]
    deck: str


Key = TypeVar("Key", str, tuple[str, ...])


class Step(NamedTuple):
    """One action; `changes` is, by index of the update, what its detail says was changed, under `name`."""

    name: str
    action: Action
    changes: dict[int, list[str] | str]


def steps(changes: dict[int, Change]) -> list[Step]:
    """The actions for these updates, by index. Updates of one note keep their order."""
    return [step for wave in _waves(changes) for step in _of_wave(wave)]


def _waves(changes: dict[int, Change]) -> Iterator[dict[int, Change]]:
    """The updates in groups that have no note twice."""
    waves: list[dict[int, Change]] = []
    seen: dict[int, int] = {}
    for index, change in changes.items():
        number = seen[change.note] = seen.get(change.note, -1) + 1
        if number == len(waves):
            waves.append({})
        waves[number][index] = change
    yield from waves


def _of_wave(wave: dict[int, Change]) -> Iterator[Step]:
    for index, change in wave.items():
        if values := change.placed.values:
            note = {"id": change.note, "fields": values}
            yield Step("updatedFields", ("updateNoteFields", {"note": note}), {index: list(values)})
    for name, action, tags_of in (
        ("addedTags", "addTags", lambda change: tuple(change.add)),
        ("removedTags", "removeTags", lambda change: tuple(change.remove)),
    ):
        for tags, indexes in _grouped(wave, tags_of).items():
            notes = [wave[index].note for index in indexes]
            yield Step(
                name, (action, {"notes": notes, "tags": " ".join(tags)}), {index: list(tags) for index in indexes}
            )
    for deck, indexes in _grouped(wave, lambda change: change.deck).items():
        cards = [card for index in indexes for card in wave[index].cards]
        yield Step("deckChangedTo", ("changeDeck", {"cards": cards, "deck": deck}), dict.fromkeys(indexes, deck))


def _grouped(wave: dict[int, Change], key: Callable[[Change], Key]) -> dict[Key, list[int]]:
    """The indexes of the updates that have the same, without those that have nothing."""
    groups: dict[Key, list[int]] = {}
    for index, change in wave.items():
        if value := key(change):
            groups.setdefault(value, []).append(index)
    return groups
