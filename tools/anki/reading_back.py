"""Whether notes are as they were to become: AnkiConnect answers null also where it changed nothing."""

import unicodedata
from typing import TYPE_CHECKING, Any

from tools.anki import client, decks, notes
from tools.anki.notes import Info
from tools.anki.outcomes import Outcomes
from tools.anki.replies import hangs
from tools.errors import ToolError

if TYPE_CHECKING:
    from tools.anki.updating import Change

OPEN = "Anki said yes and changed nothing: the note is open in Anki's Browser"
CLOSE = "Close the Browser, or select another note in it, then call again."
LOOK = "Look at the note with anki.note_info; another program may have changed it at the same time."


def check(
    before: dict[int, Info], changes: dict[int, "Change"], outcomes: Outcomes, after: ToolError | None = None
) -> None:
    """Take back the `ok` of each change that the notes do not show. One request, or none `after` Anki hung."""
    done = {index: change for index, change in changes.items() if outcomes.details[index]["status"] == "ok"}
    if not done:
        return
    cards = [card for change in done.values() for card in change.cards]
    try:
        if hangs(after):
            raise after
        answer, by_deck = client.results(
            ("notesInfo", {"notes": list(dict.fromkeys(change.note for change in done.values()))}),
            ("getDecks", {"cards": list(dict.fromkeys(cards))}),
        )
    except ToolError as error:
        for index in done:
            outcomes.warn(index, f"not read back: {error.message}")
        return
    now, deck_by_card = notes.indexed(answer), notes.deck_by_card(by_deck)
    final = _final(done)
    for index, change in done.items():
        problem = _problem(change, final[change.note], before[change.note], now.get(change.note), deck_by_card)
        if problem:
            outcomes.bad(index, "unchanged", *problem)


def _final(done: dict[int, "Change"]) -> dict[int, dict[str, Any]]:
    """What each note must be like after all its changes, of which the last counts."""
    final: dict[int, dict[str, Any]] = {}
    for change in done.values():
        one = final.setdefault(change.note, {"values": {}, "tags": {}, "deck": ""})
        one["values"].update(change.placed.values)
        one["tags"].update({tag.casefold(): True for tag in change.add})
        one["tags"].update({tag.casefold(): False for tag in change.remove})
        one["deck"] = change.deck or one["deck"]
    return final


def _problem(
    change: "Change", final: dict[str, Any], before: Info, after: Info | None, deck_by_card: dict[int, str]
) -> tuple[str, str] | None:
    if after is None:
        return "the note is gone", "It was deleted at the same time; anki.find_notes shows what there is."
    was, now = notes.values(before), notes.values(after)
    stale = [name for name in change.placed.values if not _same(now.get(name, ""), final["values"][name])]
    if stale:
        kept = all(_same(now.get(name, ""), was[name]) for name in stale)
        return (OPEN, CLOSE) if kept else (f"{', '.join(stale)} now has another text than was sent", LOOK)
    tags = {tag.casefold() for tag in after.get("tags", [])}
    if any((tag.casefold() in tags) != final["tags"][tag.casefold()] for tag in (*change.add, *change.remove)):
        return "Anki said yes and the tags are not as they should be", LOOK
    if change.deck and not all(decks.same(deck_by_card.get(card, ""), final["deck"]) for card in change.cards):
        return f"Anki said yes and not all cards are in {final['deck']!r}", LOOK
    return None


def _same(one: str, other: str) -> bool:
    """Anki keeps text in Unicode's composed form."""
    return unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
