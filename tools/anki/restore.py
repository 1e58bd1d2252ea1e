"""The tool that puts back changes and deletions by the journal; it adds deleted notes again."""

import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain

from tools.toolkit import JsonObject, Tool, ToolError, filled

from . import client, decks, journal, notes
from .batch import timed_parts
from .card_text import DAY_S
from .client import Action, Ids, IdsByName, action, card_search, note_search
from .images import pictures
from .journal import SET_FIELDS, SET_VALUE, JournalEntry, Note, Step

# Weight of a note that is added again: with two sides it takes Anki five times as long as a plain one.
NEW_NOTE = 3


@Tool("anki.restore", write=True, destructive=True)
def restore(entry: int | None = None) -> JsonObject:
    """List what was changed or deleted: {entries: [[id, time, tool, summary]]}; with `entry` put it back.
    Deleted notes come back without their review log.

    Source: AnkiConnect updateNoteFields, addTags, removeTags, changeDeck, setSpecificValueOfCard, suspend,
    unsuspend, addNote, storeMediaFile.
    """
    if entry is None:
        return {"entries": journal.newest_entries()}
    recorded = journal.entry_of(entry)
    if recorded is None:
        raise ToolError(
            f"There is no entry {entry}",
            "Call anki_restore without `entry` to list them.",
            "NO_ENTRY",
        )
    try:
        return {"entry": entry, **filled(**_put_back(recorded))}
    except ToolError as error:
        error.hint += (
            " Call anki_restore again with the same entry: what is back already stays as it is."
        )
        raise


def _put_back(entry: JournalEntry) -> JsonObject:
    """Put back an entry: {notes, cards, addedAgain, alreadyThere, cardsScheduled, media, failed, warnings}.

    The journal has the intentions of a call, so Anki is asked first which notes and cards exist.
    """
    # Ask for the open profile, and for the notes and cards that exist.
    ids = defaultdict[str, set[int]](set)
    for step in entry.steps:
        ids[step.kind].update(step.ids)
    answers = client.with_profile(
        note_search(client.ids_query("nid", ids["notes"])),
        card_search(client.ids_query("cid", ids["cards"])),
        note_search(client.ids_query("nid", [note.id for note in entry.lost])),
    )
    profile, existing_notes, existing_cards, still_there = client.unrefused(answers)
    if entry.profile and profile and profile != entry.profile:
        raise ToolError(
            f"The entry belongs to Anki's profile {entry.profile!r}, but {profile!r} is open",
            "Switch the profile in Anki (File, Switch Profile).",
            "OTHER_PROFILE",
        )
    # Carry the steps out on those that exist.
    existing_ids = {"notes": set(existing_notes), "cards": set(existing_cards)}
    failed = _perform(
        [
            step._replace(ids=sorted(existing_ids[step.kind].intersection(step.ids)))
            for step in entry.steps
        ]
    )
    failed += [
        {"noteId": note, "error": "the note is gone"}
        for note in sorted(ids["notes"] - existing_ids["notes"])
    ]
    answer: JsonObject = {
        "notes": len(existing_notes),
        "cards": len(existing_cards),
        "failed": failed,
        "warnings": entry.warnings,
    }
    if entry.lost:
        answer |= _add_again(entry, still_there, failed)
    if entry.filename:
        answer["media"] = pictures.store(entry.filename, entry.content)
    return answer


def _perform(steps: list[Step]) -> list[JsonObject]:
    """Carry out the steps; list the cards whose values Anki did not take."""
    failed = []
    actions = list(chain.from_iterable(step.actions() for step in steps))
    for part in timed_parts(actions, "putting back"):
        *results, _ = client.results(*part, client.REDRAW)
        for request, result in zip(part, results):
            if request["action"] == SET_VALUE and result != [True]:
                card = request["params"]["card"]
                failed.append({"cardId": card, "error": "Anki did not take what it was before"})
    return failed


def _add_again(entry: JournalEntry, still_there: Ids, failed: list[JsonObject]) -> JsonObject:
    """Add the notes and cards that are missing, with the decks and schedules they had: {alreadyThere,
    addedAgain, cardsScheduled}. Adds to `failed` the notes that Anki refused, and warns of losses.

    Notes may be there with their old ids, `still_there`: the deletion was lost, the person took it back, or
    a card was in another deck. An earlier call may have added some and lost Anki's answer.
    """
    # Notes that are there but lack cards: Anki makes these when a text of the note changes.
    deleted = {note.id: note for note in entry.lost}
    restored: dict[int, Note] = {}
    present_cards: Ids = []
    edits = []
    for note_id, info in notes.in_parts(still_there):
        note = deleted.pop(note_id)
        if len(info["cards"]) < len(note.decks):
            restored[note_id] = note
            present_cards += info["cards"]
            name, text = next(iter(notes.values(info).items()))
            for changed in (f"{text} ", text):
                edits.append(Step("notes", SET_FIELDS, {"fields": {name: changed}}, [note_id]))
    _perform(edits)
    # Notes that an earlier call added again.
    if deleted:
        for note_id, note in _added_before(deleted, entry.at):
            restored[note_id] = deleted.pop(note.id)
    # All others are added again, their decks first.
    decks_of = {note.decks[0] for note in deleted.values()}
    client.results(*(action("createDeck", deck=name) for name in decks_of))
    added = 0
    for part in timed_parts(deleted.values(), "adding notes again", NEW_NOTE):
        for note, result in zip(part, client.multi(*map(_add_action, part))):
            if isinstance(result, int):
                restored[result] = note
                added += 1
            else:
                failed.append({"noteId": note.id, "error": str(result)})
    # The new cards get their decks and schedules.
    if restored:
        entry.warnings.append(
            "added again: the review log of deleted cards, and with FSRS Anki's memory of them, cannot come back"
        )
    steps = _steps_for_new_cards(restored, present_cards)
    failed += _perform(steps)
    return {
        "alreadyThere": len(entry.lost) - len(deleted),
        "addedAgain": added,
        "cardsScheduled": sum(step.action == SET_VALUE for step in steps),
    }


def _added_before(deleted: dict[int, Note], since: int) -> Iterator[tuple[int, Note]]:
    """Find the deleted notes that an earlier call added again, by their new ids: newer notes of the same type
    and texts. An older twin was there beside them. One request, and one for each 500 notes."""
    by_texts: dict[tuple[str, ...], list[Note]] = {}
    for note in deleted.values():
        by_texts.setdefault((note.model, *note.fields.values()), []).append(note)
    days = int((time.time() - since) / DAY_S) + 2
    newest_deleted = max(deleted)
    ids = sorted(
        note for note in client.call("findNotes", query=f"added:{days}") if note > newest_deleted
    )
    for note_id, info in notes.in_parts(ids):
        if twins := by_texts.get((info["modelName"], *notes.values(info).values())):
            yield note_id, twins.pop()


def _steps_for_new_cards(restored: dict[int, Note], present_cards: Ids) -> list[Step]:
    """Build the steps that give the new cards of restored notes their former decks and schedules.

    A card that the person has put elsewhere stays there. A card studied since keeps its own schedule, and so
    do the `present_cards`.
    """
    # The add-on of 2023 puts new cards into the default deck, under any name.
    default = decks.default_name(decks.ids())
    former_deck_of: dict[int, str] = {}
    for note_id, info in notes.in_parts(list(restored)):
        former_deck_of.update(zip(info["cards"], restored[note_id].decks))
    moves: IdsByName = {}
    schedules = []
    new_cards = (
        f"{client.ids_query('nid', restored)} -{client.ids_query('cid', present_cards)} is:new"
    )
    for info in journal.cards_in_own_deck(new_cards):
        card = info["cardId"]
        note = restored[info["note"]]
        if card in former_deck_of:
            if info["deckName"] in (*note.decks, default):
                moves.setdefault(former_deck_of[card], []).append(card)
            if schedule := dict(note.schedules).get(info["ord"]):
                schedules.append(Step("cards", SET_VALUE, schedule, [card]))
    return journal.steps_to_decks(moves) + schedules


def _add_action(note: Note) -> Action:
    """Build the action that adds a note again, even as a duplicate: it was one when it was deleted, or
    another note has its first field by now.

    If it looks for duplicates in one deck only, AnkiConnect does not check whether a cloze is where Anki
    wants one: in this note it was.
    """
    new_note = {
        "deckName": note.decks[0],
        "modelName": note.model,
        "fields": note.fields,
        "tags": note.tags,
        "options": {"allowDuplicate": True, "duplicateScope": "deck"},
    }
    return action("addNote", note=new_note)
