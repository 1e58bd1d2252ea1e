"""Putting back what an entry of the journal keeps."""

from tools.anki import client, notes, window
from tools.anki.batches.parts import Parts
from tools.anki.client import Action
from tools.anki.images import upload
from tools.anki.journal import adding_again, card_states, entries
from tools.anki.journal.entries import Before, CardStates, Note
from tools.anki.notes import Info
from tools.anki.replies import Refused
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject

NOT_SCHEDULED = "added again as new cards: the scheduling of a deleted note is lost"
AGAIN = "Call anki_restore again with the same entry: what is back already stays as it is."


def put_back(before: Before, summary: str) -> JsonObject:
    """Notes, decks, cards and the file as they were: {notes, addedAgain, alreadyThere, cards, media, failed, warnings}.

    What this overwrites goes on record too, under `summary`. Raises Failure; the call can be made again.
    """
    try:
        return _put_back(before, summary)
    except ToolError as error:
        error.hint += f" {AGAIN}"
        raise


def _put_back(before: Before, summary: str) -> JsonObject:
    answer: JsonObject = {"notes": 0, "addedAgain": 0, "alreadyThere": 0, "cards": 0, "failed": [], "warnings": []}
    infos = notes.by_id([note.id for note in before.notes])
    changed = [note for note in before.notes if note.id in infos]
    lost = [note for note in before.notes if note.id not in infos]
    _record(before, [_present(note, infos[note.id]) for note in changed], summary)
    answer["notes"] = _revert_all(changed, infos, answer["failed"])
    answer["failed"] += [{"noteId": note.id, "error": "the note is gone"} for note in lost if not note.deleted]
    lost = [note for note in lost if note.deleted]
    moved = _move_home(before, answer["failed"])
    answer["cards"] = card_states.put_back(before.cards, answer["failed"]) or moved
    if lost:
        answer["addedAgain"], answer["alreadyThere"] = adding_again.add(lost, answer["failed"])
        answer["warnings"].append(NOT_SCHEDULED)
    if before.cards.schedules:
        answer["warnings"].append(card_states.FORGOTTEN)
    if before.filename:
        answer["media"] = upload.store(before.filename, before.content) if before.content else None
    return {name: value for name, value in answer.items() if value not in ([], 0)}


def _record(before: Before, notes: list[Note], summary: str) -> None:
    """Put on record how things are that will be as before."""
    cards = [card for cards in before.cards_by_deck.values() for card in cards]
    alive = client.call("findCards", query=card_states.search(cards)) if cards else []
    by_deck = client.call("getDecks", cards=alive) if alive else {}
    states = card_states.present(before.cards)
    if notes or by_deck or states != CardStates():
        entries.write("restore", summary, Before(notes, by_deck or {}, states))


def _present(note: Note, info: Info) -> Note:
    """The fields and tags of a note that will be overwritten, as they are."""
    values = notes.values(info)
    tags = None if note.tags is None else list(info.get("tags", []))
    return Note(note.id, note.model, note.deck, {name: values[name] for name in note.fields if name in values}, tags)


def _revert_all(changed: list[Note], infos: dict[int, Info], failed: list[JsonObject]) -> int:
    """Put back fields and tags; how many notes went well. The others are told in `failed`."""
    done = 0
    for indexes in Parts(range(len(changed))):
        part = [(changed[index], _revert(changed[index], infos[changed[index].id])) for index in indexes]
        results = iter(client.multi(*(action for _, actions in part for action in actions), window.REDRAW))
        for note, actions in part:
            refused = [result for result in [next(results) for _ in actions] if isinstance(result, Refused)]
            done += not refused
            if refused:
                failed.append({"noteId": note.id, "error": refused[0].text})
    return done


def _revert(note: Note, info: Info) -> list[Action]:
    """The actions that give a note the fields and tags it had, as far as they differ."""
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


def _move_home(before: Before, failed: list[JsonObject]) -> int:
    """The cards that are still there, back to their decks; how many. What Anki refuses is told in `failed`."""
    wanted = [card for cards in before.cards_by_deck.values() for card in cards]
    if not wanted:
        return 0
    alive = set(client.call("findCards", query=card_states.search(wanted)))
    homes = {deck: [card for card in cards if card in alive] for deck, cards in before.cards_by_deck.items()}
    homes = {deck: cards for deck, cards in homes.items() if cards}
    results = client.multi(*(("changeDeck", {"cards": cards, "deck": deck}) for deck, cards in homes.items()))
    refused = {deck: result for deck, result in zip(homes, results, strict=True) if isinstance(result, Refused)}
    failed += [{"deck": deck, "error": error.text} for deck, error in refused.items()]
    return sum(len(cards) for deck, cards in homes.items() if deck not in refused)
