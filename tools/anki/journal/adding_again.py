"""Deleted notes added once more, each once: also when the call is repeated after a lost answer."""

from collections import Counter

from tools.anki import client, decks, models, notes
from tools.anki.batches import present
from tools.anki.batches.added_keys import Sent
from tools.anki.batches.parts import Parts
from tools.anki.client import Action
from tools.anki.journal.entries import Note
from tools.anki.replies import Refused
from tools.core.json_types import JsonObject

Content = tuple[str, tuple[str, ...]]
"""A note type, and the text of each field."""


def add(lost: list[Note], failed: list[JsonObject]) -> tuple[int, int]:
    """Add the notes that Anki does not have; how many were added, and how many with the same fields were there.

    Raises Failure.
    """
    same = _with_the_same_fields(lost)
    left = Counter({content: len(ids) for content, ids in same.items()})
    missing = []
    for note in lost:
        if left[_content(note)]:
            left[_content(note)] -= 1
        else:
            missing.append(note)
    client.results(*(("createDeck", {"deck": deck}) for deck in dict.fromkeys(note.deck for note in missing)))
    new: dict[str, list[int]] = {}
    for note in lost:  # a lost answer may have left their cards in the default deck
        new.setdefault(note.deck, []).extend(same.get(_content(note), []))
    added = 0
    for indexes in Parts(range(len(missing))):
        part = [missing[index] for index in indexes]
        for note, result in zip(part, client.multi(*map(_adding, part)), strict=True):
            if isinstance(result, int):
                added += 1
                new[note.deck].append(result)
            else:
                failed.append({"noteId": note.id, "error": getattr(result, "text", "Anki gives no reason")})
    _gather(new)
    return added, len(lost) - len(missing)


def _content(note: Note) -> Content:
    return note.model, tuple(note.fields.values())


def _with_the_same_fields(lost: list[Note]) -> dict[Content, list[int]]:
    """The notes in Anki that have all fields of a deleted one. Three requests."""
    model_ids = models.ids(client.multi(("modelNamesAndIds", {}))[0])
    answers = client.multi(*(_question(note, model_ids) for note in lost))
    ids = {note for answer in answers if not isinstance(answer, Refused) for note in answer or []}
    by_content: dict[Content, list[int]] = {}
    for note, info in notes.by_id(sorted(ids)).items():
        content = (info.get("modelName") or "", tuple(notes.values(info).values()))
        by_content.setdefault(content, []).append(note)
    return {content: by_content[content] for content in map(_content, lost) if content in by_content}


def _question(note: Note, model_ids: dict[str, int]) -> Action:
    name, text = next(iter(note.fields.items()), ("", ""))
    return present.question(Sent(note.deck, note.model, text), model_ids.get(note.model), name)


def _adding(note: Note) -> Action:
    """As a duplicate too: it was one when it was deleted, or its first field is another note's by now."""
    new = {"deckName": note.deck, "modelName": note.model, "fields": note.fields, "tags": note.tags or []}
    return "addNote", {"note": {**new, "options": {"allowDuplicate": True}}}


def _gather(new: dict[str, list[int]]) -> None:
    """The add-on of 2023 puts new cards into the default deck: move them to their own."""
    homes = {deck: ids for deck, ids in new.items() if ids}
    searches = [f"nid:{','.join(map(str, ids))} did:{decks.DEFAULT_ID}" for ids in homes.values()]
    astray = client.results(*(("findCards", {"query": search}) for search in searches))
    moves = [(deck, cards) for deck, cards in zip(homes, astray, strict=True) if cards]
    client.results(*(("changeDeck", {"cards": cards, "deck": deck}) for deck, cards in moves))
