"""The tool that puts back what was changed or deleted; deleted notes are added again, each once."""

import time

from tools.toolkit import JsonObject, Tool, ToolError, filled

from . import client, decks, journal, notes
from .batch import timed_parts
from .card_text import DAY_S
from .client import Action, Ids, IdsByName, action, card_search, note_search
from .images import pictures
from .journal import SET_FIELDS, SET_VALUE, Entry, Note, Step

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
        return {"entries": journal.newest()}
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


def _put_back(entry: Entry) -> JsonObject:
    """Put back what is there to be changed: {notes, cards, addedAgain, alreadyThere, cardsScheduled, media,
    failed, warnings}, empty members left out.

    The journal has what a call intended; so Anki is asked first what exists.
    """
    # Ask for the open profile, and for what there is of the notes and cards.
    ids: dict[str, set[int]] = {"notes": set(), "cards": set()}
    for step in entry.steps:
        ids[step.kind].update(step.ids)
    name, *answers = client.multi(
        client.PROFILE,
        note_search(client.ids_query("nid", ids["notes"])),
        card_search(client.ids_query("cid", ids["cards"])),
        note_search(client.ids_query("nid", [note.id for note in entry.lost])),
    )
    profile = client.profile(name)
    if entry.profile and profile and profile != entry.profile:
        raise ToolError(
            f"The entry belongs to Anki's profile {entry.profile!r}, but {profile!r} is open",
            "Switch the profile in Anki (File, Switch Profile).",
            "OTHER_PROFILE",
        )
    notes_there, cards_there, still_there = client.unrefused(answers)
    # Play the steps back on what is there.
    there = {"notes": set(notes_there), "cards": set(cards_there)}
    actions = []
    for step in entry.steps:
        actions += step._replace(ids=sorted(there[step.kind].intersection(step.ids))).actions()
    failed = _perform(actions)
    for note in sorted(ids["notes"] - there["notes"]):
        failed.append({"noteId": note, "error": "the note is gone"})
    answer: JsonObject = {of: len(left) for of, left in there.items()}
    answer.update(failed=failed, warnings=entry.warnings)
    if entry.lost:
        again = _add_again(entry, still_there)
        failed += again.pop("failed")
        answer |= again
    if entry.filename:
        answer["media"] = pictures.store(entry.filename, entry.content)
    return answer


def _perform(actions: list[Action]) -> list[JsonObject]:
    """Run the actions; return the cards that refused their values."""
    failed = []
    for part in timed_parts(actions, "putting back"):
        *results, _ = client.results(*part, client.REDRAW)
        for (name, params), result in zip(part, results, strict=True):
            if name == SET_VALUE and result != [True]:
                failed.append(
                    {"cardId": params["card"], "error": "Anki did not take what it was before"}
                )
    return failed


def _add_again(entry: Entry, kept: Ids) -> JsonObject:
    """Add the notes that Anki does not have and the cards that others lack, and give the cards the decks and
    the schedule they had: {alreadyThere, addedAgain, cardsScheduled, failed}. Warns of what is lost.

    Notes of the same id, `kept`, are there: the deletion was lost, the person took it back, or a card of them
    was in another deck. A call before may have added some and lost Anki's answer: a newer note with the same
    fields counts as the restored one.
    """
    # Notes that are there but lack cards: Anki makes these when a text of the note changes.
    deleted = {note.id: note for note in entry.lost}
    back: dict[int, Note] = {}
    present: set[int] = set()
    touched = []
    for note_id, info in notes.in_parts(kept):
        note = deleted.pop(note_id)
        if len(info["cards"]) < len(note.decks):
            back[note_id] = note
            present.update(info["cards"])
            name, text = next(iter(notes.values(info).items()))
            for changed in (f"{text} ", text):
                touched.append(action(SET_FIELDS, note={"id": note_id, "fields": {name: changed}}))
    _perform(touched)
    # Notes that a call before added again.
    missing = []
    same = _with_the_same_fields(max(deleted), entry.at) if deleted else {}
    for note in deleted.values():
        if ids := same.get((note.model, *note.fields.values())):
            back[ids.pop()] = note
        else:
            missing.append(note)
    # All others are added again, and the new cards get their decks and schedules.
    added, failed = _added(missing)
    back |= added
    if back:
        entry.warnings.append(
            "added again: the review log of deleted cards, and with FSRS Anki's memory of them, cannot come back"
        )
    scheduled, refused = _put_cards_back(back, present)
    return {
        "alreadyThere": len(entry.lost) - len(missing),
        "addedAgain": len(added),
        "cardsScheduled": scheduled,
        "failed": failed + refused,
    }


def _added(missing: list[Note]) -> tuple[dict[int, Note], list[JsonObject]]:
    """Add notes again, their decks first; those added by their new ids, and those that Anki refused."""
    names = {note.decks[0] for note in missing}
    client.results(*(action("createDeck", deck=name) for name in names))
    added: dict[int, Note] = {}
    failed = []
    for part in timed_parts(missing, "adding notes again", NEW_NOTE):
        for note, result in zip(part, client.multi(*map(_add_action, part)), strict=True):
            if isinstance(result, int):
                added[result] = note
            else:
                failed.append({"noteId": note.id, "error": str(result)})
    return added, failed


def _put_cards_back(back: dict[int, Note], present: set[int]) -> tuple[int, list[JsonObject]]:
    """Move the new cards of restored notes into their former decks, unless the person has put them elsewhere,
    and give them their former schedule: how many have one, and those that refused it. A card studied since
    keeps its own."""
    # The add-on of 2023 puts new cards into the default deck, whatever its name is.
    default = decks.default_name(decks.ids())
    home_of: dict[int, str] = {}
    for note_id, info in notes.in_parts(list(back)):
        home_of.update(zip(info["cards"], back[note_id].decks, strict=False))
    moves: IdsByName = {}
    schedules = []
    for info in journal.cards_in_own_deck(f"{client.ids_query('nid', back)} is:new"):
        card = info["cardId"]
        note = back[info["note"]]
        if card in home_of and card not in present:
            if info["deckName"] in (*note.decks, default):
                moves.setdefault(home_of[card], []).append(card)
            schedule = dict(note.schedules).get(info["ord"])
            if schedule:
                schedules += Step("cards", SET_VALUE, schedule, [card]).actions()
    for step in journal.moved_again(moves):
        client.results(*step.actions())
    return len(schedules), _perform(schedules)


def _with_the_same_fields(newest: int, since: int) -> dict[tuple[str, ...], Ids]:
    """The notes added since the deletion, by note type and texts; `newest` of the deleted ones: an older twin
    was there beside them. One request, and one for each 500 notes."""
    days = int((time.time() - since) / DAY_S) + 2
    ids = sorted(note for note in client.call("findNotes", query=f"added:{days}") if note > newest)
    by_texts: dict[tuple[str, ...], Ids] = {}
    for note, info in notes.in_parts(ids):
        texts = (info["modelName"], *notes.values(info).values())
        by_texts.setdefault(texts, []).append(note)
    return by_texts


def _add_action(note: Note) -> Action:
    """The action that adds a note again, as a duplicate too: it was one when it was deleted, or its first
    field is another note's by now.

    If it looks for duplicates in one deck only, AnkiConnect does not check whether a cloze is where Anki
    wants one: in this note it was.
    """
    new = {
        "deckName": note.decks[0],
        "modelName": note.model,
        "fields": note.fields,
        "tags": note.tags,
    }
    return action(
        "addNote", note={**new, "options": {"allowDuplicate": True, "duplicateScope": "deck"}}
    )
