"""Whether notes changed as asked: AnkiConnect answers null even if it changed nothing."""

import re
import time
import unicodedata
from dataclasses import dataclass, field
from typing import NamedTuple

from tools.anki import client, decks, notes
from tools.anki.batches import fields
from tools.anki.batches.outcomes import Outcomes
from tools.anki.batches.steps import Change
from tools.anki.notes import Info
from tools.anki.replies import hangs
from tools.core.errors import ToolError

LOOK = "Look at the note with anki_note_info; another program may have changed it at the same time."

EDITOR_S = 1.5
"""After so long the editor of Anki's Browser, which was still loading a note, has saved what it had."""

DROPPED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
"""Control characters, which Anki does not keep in a field; line breaks and tabs it keeps."""


class Problem(NamedTuple):
    """What is wrong with a changed note, and what to do."""

    what: str
    advice: str


NOT_SAVED = Problem(
    "Anki said yes and changed nothing: the note is open in Anki's Browser",
    "Close the Browser, or select another note in it, then call again.",
)


@dataclass
class Expected:
    """What a note must be like after all its changes."""

    values: dict[str, str] = field(default_factory=dict)
    tags: dict[str, bool] = field(default_factory=dict)
    deck: str = ""


@dataclass
class Seen:
    """What the notes are like now, and which of them are selected in Anki's Browser."""

    notes: dict[int, Info]
    deck_by_card: dict[int, str]
    selected: set[int]


def check(
    before: dict[int, Info], changes: dict[int, Change], outcomes: Outcomes, after: ToolError | None = None
) -> dict[int, Info]:
    """Take back the `ok` of each change that the notes do not show; the notes as they are now. One request, or none
    `after` Anki hung.

    A note that is selected in Anki's Browser is looked at again: its editor may yet overwrite the change.
    """
    done = {index: change for index, change in changes.items() if outcomes.details[index]["status"] == "ok"}
    if not done:
        return {}
    try:
        if hangs(after) and after:
            raise after
        seen = _look(done)
        if any(change.note in seen.selected for change in done.values()):
            time.sleep(EDITOR_S)
            seen = _look(done)
    except ToolError as error:
        outcomes.warn(f"not read back: {error.message}")
        return {}
    expected = _expected(done)
    for index, change in done.items():
        if problem := _problem(change, expected[change.note], before[change.note], seen):
            outcomes.bad(index, "unchanged", problem.what, problem.advice)
    return seen.notes


def _look(changes: dict[int, Change]) -> Seen:
    cards = [card for change in changes.values() if change.deck for card in change.cards]
    infos, by_deck, selected = client.multi(
        ("notesInfo", {"notes": list(dict.fromkeys(change.note for change in changes.values()))}),
        ("getDecks", {"cards": list(dict.fromkeys(cards))}),
        ("guiSelectedNotes", {}),
    )
    for result in (infos, by_deck):
        if isinstance(result, ToolError):
            raise result
    chosen = set(selected) if isinstance(selected, list) else set()
    return Seen(notes.indexed(infos), notes.deck_by_card(by_deck), chosen)


def _expected(changes: dict[int, Change]) -> dict[int, Expected]:
    """By note, the last change of each thing counts."""
    expected: dict[int, Expected] = {}
    for change in changes.values():
        note = expected.setdefault(change.note, Expected())
        note.values.update(change.placed.values)
        note.tags.update(dict.fromkeys(fields.folded(change.add), True))
        for tag in change.remove:
            gone = {tag.casefold(), *fields.below(tag, set(note.tags))}
            note.tags.update(dict.fromkeys(gone, False))
        note.deck = change.deck or note.deck
    return expected


def _problem(change: Change, expected: Expected, before: Info, seen: Seen) -> Problem | None:
    after = seen.notes.get(change.note)
    if after is None:
        return Problem("the note is gone", "It was deleted at the same time; anki_find_notes shows what there is.")
    was, values = notes.values(before), notes.values(after)
    stale = [name for name in change.placed.values if not _same(values.get(name, ""), expected.values[name])]
    if stale:
        unchanged = all(_same(values.get(name, ""), was[name]) for name in stale)
        return NOT_SAVED if unchanged else Problem(f"{', '.join(stale)} now has another text than was sent", LOOK)
    tags = fields.folded(after.get("tags", []))
    if any((tag in tags) != expected.tags[tag] for tag in fields.folded([*change.add, *change.remove])):
        return Problem("Anki said yes and the tags are not as they should be", LOOK)
    cards = change.cards if change.deck else []
    if not all(decks.same(seen.deck_by_card.get(card, ""), expected.deck) for card in cards):
        return Problem(f"Anki said yes and not all cards are in {expected.deck!r}", LOOK)
    return None


def _same(text: str, other: str) -> bool:
    """Whether Anki keeps both as the same text: in Unicode's composed form, without control characters."""
    return _kept(text) == _kept(other)


def _kept(text: str) -> str:
    return unicodedata.normalize("NFC", DROPPED.sub("", text))
