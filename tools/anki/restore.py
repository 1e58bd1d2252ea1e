"""The tool that puts back what was changed or deleted; deleted notes are added again, each once."""

import time

from tools.anki import card_states, client, decks, journal, notes
from tools.anki.batch import Parts
from tools.anki.card_text import DAY
from tools.anki.client import Action
from tools.anki.images import pictures
from tools.anki.journal import Before, Note
from tools.anki.notes import Info
from tools.core import calls
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.tool import Tool

SHOWN = 20
"""Entries that are listed."""
LOG_LOST = (
    "added again: the review log of deleted cards, and with FSRS Anki's memory of them, cannot come back"
)
FORGOTTEN = (
    "the schedule is back; with FSRS, Anki works out the memory of forgotten cards again at their next answer"
)
Content = tuple[str, tuple[str, ...]]
"""A note type, and the text of each field."""


@Tool("anki.restore", write=True, destructive=True)
def restore(entry: int | None = None) -> JsonObject:
    """List what was changed or deleted: {entries: [[id, time, tool, summary]]}; with `entry` put it back.
    Deleted notes come back without their review log.

    Source: AnkiConnect updateNoteFields, addTags, removeTags, changeDeck, setSpecificValueOfCard, suspend,
    unsuspend, addNote, storeMediaFile.
    """
    if entry is None:
        return {"entries": journal.newest(SHOWN)}
    before = journal.read(entry)
    if before is None:
        hint = "Call anki_restore without `entry` to list them."
        raise ToolError(f"There is no entry {entry}", hint, code="NO_ENTRY")
    try:
        return {"entry": entry, **_put_back(before)}
    except ToolError as error:
        error.hint += " Call anki_restore again with the same entry: what is back already stays as it is."
        raise


def _put_back(before: Before) -> JsonObject:
    """Notes, decks, cards and the file as they were: {notes, addedAgain, alreadyThere, cardsScheduled, cards,
    media, failed, warnings}."""
    answer: JsonObject = {
        "notes": 0,
        "addedAgain": 0,
        "alreadyThere": 0,
        "cards": 0,
        "failed": [],
        "warnings": [],
    }
    infos, profile = notes.by_id_in_profile(notes.existing([note.id for note in before.notes]))
    if before.profile and profile and profile != before.profile:
        problem = f"The entry is of Anki's profile {before.profile!r}, and {profile!r} is open"
        raise ToolError(problem, "Switch the profile in Anki (File, Switch Profile).", code="OTHER_PROFILE")
    changed = [note for note in before.notes if note.id in infos]
    gone = [note for note in before.notes if note.id not in infos]
    _revert(changed, infos)
    answer["notes"] = len(changed)
    for note in gone:
        if not note.deleted:
            answer["failed"].append({"noteId": note.id, "error": "the note is gone"})
    moved = _move_home(before.cards_by_deck)
    answer["cards"] = card_states.put_back(before.cards, answer["failed"]) or moved
    if lost := [note for note in gone if note.deleted]:
        _add_again(lost, before.at, answer)
    if before.cards.schedules:
        answer["warnings"].append(FORGOTTEN)
    if before.filename:
        answer["media"] = pictures.store(before.filename, before.content) if before.content else None
    return {name: value for name, value in answer.items() if value not in ([], 0)}


def _move_home(cards_by_deck: dict[str, list[int]]) -> int:
    """Move the cards that are still there to the decks they were in; how many there are. Two requests."""
    alive = set(card_states.existing([card for cards in cards_by_deck.values() for card in cards]))
    moves: list[Action] = []
    for deck, cards in cards_by_deck.items():
        if here := [card for card in cards if card in alive]:
            moves.append(("changeDeck", {"cards": here, "deck": deck}))
    client.results(*moves)
    return len(alive)


def _revert(changed: list[Note], infos: dict[int, Info]) -> None:
    """Put back fields and tags."""
    parts = Parts(changed)
    for part in parts:
        calls.checkpoint()
        actions: list[Action] = []
        for note in part:
            actions += _reverting(note, infos[note.id])
        client.results(*actions, client.REDRAW)
        calls.report(len(changed) - len(parts.left), len(changed), "putting notes back")


def _reverting(note: Note, info: Info) -> list[Action]:
    """The actions that give a note the fields and tags it had, as far as they differ."""
    values = notes.values(info)
    tags = info.get("tags", [])
    fields = {name: text for name, text in note.fields.items() if name in values and values[name] != text}
    actions: list[Action] = (
        [("updateNoteFields", {"note": {"id": note.id, "fields": fields}})] if fields else []
    )
    if note.tags is None or set(tags) == set(note.tags):
        return actions
    if surplus := [tag for tag in tags if tag not in note.tags]:
        actions.append(("removeTags", {"notes": [note.id], "tags": " ".join(surplus)}))
    if note.tags:  # all of them: removing a tag takes those below it too
        actions.append(("addTags", {"notes": [note.id], "tags": " ".join(note.tags)}))
    return actions


def _add_again(lost: list[Note], since: int, answer: JsonObject) -> None:
    """Add the notes that Anki does not have, and give their cards the schedule they had.

    A call before may have added some and lost Anki's answer: a newer note with all fields of a deleted one
    counts as it.
    """
    same = _with_the_same_fields(lost, since)
    back: dict[int, Note] = {}
    missing = []
    for note in lost:
        if ids := same.get((note.model, tuple(note.fields.values()))):
            back[ids.pop()] = note
        else:
            missing.append(note)
    answer["alreadyThere"] = len(back)
    needed = dict.fromkeys(note.deck for note in missing)
    client.results(*(("createDeck", {"deck": deck}) for deck in needed))
    for part in Parts(missing):
        calls.checkpoint()
        for note, result in zip(part, client.multi(*map(_adding, part)), strict=True):
            if isinstance(result, int):
                back[result] = note
            else:
                answer["failed"].append(
                    {"noteId": note.id, "error": getattr(result, "text", "Anki gives no reason")}
                )
        calls.report(len(back) - answer["alreadyThere"], len(missing), "adding notes again")
    answer["addedAgain"] = len(back) - answer["alreadyThere"]
    for deck in {note.deck for note in back.values()}:  # the add-on of 2023 puts cards into the default one
        its = ",".join(str(note_id) for note_id, note in back.items() if note.deck == deck)
        if astray := client.call("findCards", query=f"nid:{its} did:{decks.DEFAULT_ID}"):
            client.call("changeDeck", cards=astray, deck=deck)
    cards = {note_id: note.cards for note_id, note in back.items()}
    answer["cardsScheduled"] = card_states.schedule_again(cards, answer["failed"])
    answer["warnings"].append(LOG_LOST)


def _with_the_same_fields(lost: list[Note], since: int) -> dict[Content, list[int]]:
    """The notes that were added since the deletion, by content. A request for each 500, and one."""
    days = int((time.time() - since) / DAY) + 2
    newest = max(note.id for note in lost)  # an older twin was there beside them
    ids = [note for note in client.call("findNotes", query=f"added:{days}") if note > newest]
    by_content: dict[Content, list[int]] = {}
    for note, info in notes.in_parts(ids):
        content = (info.get("modelName") or "", tuple(notes.values(info).values()))
        by_content.setdefault(content, []).append(note)
    return by_content


def _adding(note: Note) -> Action:
    """As a duplicate too: it was one when it was deleted, or its first field is another note's by now."""
    new = {"deckName": note.deck, "modelName": note.model, "fields": note.fields, "tags": note.tags or []}
    return "addNote", {"note": {**new, "options": {"allowDuplicate": True}}}
