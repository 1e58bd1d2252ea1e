"""Putting back what an entry of the journal keeps."""

from tools.anki import client, decks, notes, window
from tools.anki.client import Action
from tools.anki.images import upload
from tools.anki.journal.entries import Before, Note
from tools.anki.notes import Info
from tools.anki.replies import Refused
from tools.core.json_types import JsonObject

PART = 100
"""Actions in one request."""
NOT_SCHEDULED = "added again as new cards: the scheduling of a deleted note is lost"


def put_back(before: Before) -> JsonObject:
    """Notes, decks and the file as they were: {notes, addedAgain, cards, media, failed, warnings}.

    Raises Failure; the call can be made again.
    """
    told: JsonObject = {"notes": 0, "addedAgain": 0, "cards": 0, "failed": []}
    there = notes.by_id([note.id for note in before.notes])
    changed = [note for note in before.notes if note.id in there]
    lost = [note for note in before.notes if note.id not in there]
    told["notes"] = _revert_all(changed, there, told["failed"])
    told["cards"] = _move_home(before)
    if lost:
        told["addedAgain"] = _add_again(lost, told["failed"])
        told["warnings"] = [NOT_SCHEDULED]
    if before.filename:
        told["media"] = upload.store(before.filename, before.content) if before.content else None
    return {name: value for name, value in told.items() if value not in ([], 0)}


def _revert_all(changed: list[Note], there: dict[int, Info], failed: list[JsonObject]) -> int:
    """Put back fields and tags; how many notes went well. The others are told in `failed`."""
    done = 0
    for start in range(0, len(changed), PART):
        part = [(note, _revert(note, there[note.id])) for note in changed[start : start + PART]]
        results = iter(client.multi(*(action for _, actions in part for action in actions), window.REDRAW))
        for note, actions in part:
            refused = [result for result in [next(results) for _ in actions] if isinstance(result, Refused)]
            done += not refused
            if refused:
                failed.append({"noteId": note.id, "error": refused[0].text})
    return done


def _revert(note: Note, info: Info) -> list[Action]:
    """The fields and tags that a note had, where it has others now."""
    values, tags = notes.values(info), info.get("tags", [])
    fields = {name: text for name, text in note.fields.items() if name in values and values[name] != text}
    actions: list[Action] = [("updateNoteFields", {"note": {"id": note.id, "fields": fields}})] if fields else []
    if note.tags is None:
        return actions
    more, fewer = [tag for tag in tags if tag not in note.tags], [tag for tag in note.tags if tag not in tags]
    if more:
        actions.append(("removeTags", {"notes": [note.id], "tags": " ".join(more)}))
    if more or fewer:  # removing a tag takes those below it too
        actions.append(("addTags", {"notes": [note.id], "tags": " ".join(note.tags)}))
    return [action for action in actions if action[0] != "addTags" or note.tags]


def _add_again(lost: list[Note], failed: list[JsonObject]) -> int:
    """Add deleted notes once more; how many went well."""
    added: dict[str, list[int]] = {}
    client.results(*(("createDeck", {"deck": deck}) for deck in dict.fromkeys(note.deck for note in lost)))
    for start in range(0, len(lost), PART):
        part = lost[start : start + PART]
        for note, result in zip(part, client.multi(*map(_again, part)), strict=True):
            if isinstance(result, int):
                added.setdefault(note.deck, []).append(result)
            else:
                failed.append({"noteId": note.id, "error": getattr(result, "text", "Anki gives no reason")})
    _gather(added)
    return sum(map(len, added.values()))


def _again(note: Note) -> Action:
    new = {"deckName": note.deck, "modelName": note.model, "fields": note.fields, "tags": note.tags or []}
    return "addNote", {"note": new}


def _gather(added: dict[str, list[int]]) -> None:
    """The add-on of 2023 puts new cards into the default deck: move them to their own."""
    searches = [f"nid:{','.join(map(str, ids))} did:{decks.DEFAULT_ID}" for ids in added.values()]
    found = client.results(*(("findCards", {"query": search}) for search in searches))
    homes = dict(zip(added, found, strict=True))
    client.results(*(("changeDeck", {"cards": cards, "deck": deck}) for deck, cards in homes.items() if cards))


def _move_home(before: Before) -> int:
    """The cards that are still there, back to their decks; how many."""
    wanted = [card for cards in before.cards_by_deck.values() for card in cards]
    if not wanted:
        return 0
    alive = set(client.call("findCards", query=f"cid:{','.join(map(str, wanted))}"))
    homes = {deck: [card for card in cards if card in alive] for deck, cards in before.cards_by_deck.items()}
    client.results(*(("changeDeck", {"cards": cards, "deck": deck}) for deck, cards in homes.items() if cards))
    return sum(map(len, homes.values()))
