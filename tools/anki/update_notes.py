"""The tool that changes notes, and reads back what Anki made of each change."""

import time
from dataclasses import dataclass
from itertools import chain
from typing import Annotated

from tools.anki import client, confirm, decks, journal, note_input, notes, replacing
from tools.anki.batch import TOGETHER, Batch, ItemError, Parts
from tools.anki.card_text import plain
from tools.anki.client import Action
from tools.anki.images.pictures import Pictures
from tools.anki.images.placing import Placed, place
from tools.anki.journal import SET_FIELDS, Entry, Step
from tools.anki.note_input import OBJECTS, NoteUpdate
from tools.anki.notes import Info
from tools.anki.replies import Refused
from tools.core import calls
from tools.core.errors import ToolError, quoted
from tools.core.json_types import JsonObject, filled
from tools.core.schema import Published
from tools.core.tool import Tool

NOTE = (
    "{noteId, fields: only those to change, replace: {field or *: [old, new]}, all: true if old is there more than "
    "once, addTags: […], removeTags: […], deckName, images as in anki_add_from_model}"
)
AGAIN = "The same call can be made again: what is changed already stays as it is."
EDITOR_S = 1.5
"""After so long the editor of Anki's Browser, which was still loading a note, has saved what it had."""
MOST_PLACES = 10


@Tool("anki.update_notes", write=True, destructive=True, idempotent=True, open_world=True, lock=False)
def update_notes(
    notes: Annotated[list[NoteUpdate] | None, Published(OBJECTS), NOTE] = None,
    query: Annotated[str, "with replace, instead of notes"] = "",
    replace: Annotated[dict[str, list[str]] | None, Published({"type": "object"}), "as in notes"] = None,
    dryRun: bool | None = None,
    expected: Annotated[int | None, "the dry run's count; query needs it"] = None,
) -> JsonObject:
    """Change fields, tags, deck or images of notes: {updated, skipped, details: [{index, noteId, status,
    error, …}]}. For a typo send replace, not the field. Above 20 notes try dryRun and ask first; tags:
    anki_change_cards.

    Source: AnkiConnect updateNoteFields, addTags, removeTags, changeDeck in multi, read back with notesInfo.
    """
    if bool(notes) == bool(query.strip()) or bool(query.strip()) != bool(replace):
        hint = 'For example {"query": "deck:X", "replace": {"Back": ["teh", "the"]}, "dryRun": true}.'
        raise ToolError(
            "Give notes, or query with replace. Nothing was changed", hint, code="INVALID_ARGUMENTS"
        )
    batch = UpdateBatch(notes or [], query.strip(), replace or {})
    return batch.dry_run() if dryRun else batch.run(expected)


@dataclass
class Change:
    """One update, ready to be sent. `made`: what it changes, under the names of the details in the answer."""

    note: int
    cards: list[int]
    placed: Placed
    made: JsonObject


class UpdateBatch(Batch):
    """Changes of notes. With a `query` it replaces texts in what that finds."""

    done = "updated"

    def __init__(self, updates: list[NoteUpdate], query: str, replace: dict[str, list[str]]):
        self.updates = updates
        self.query = query
        self.replace = replace
        self.brief = bool(query)
        self.warnings = []
        for pairs in (replace, *(update.replace or {} for update in updates)):
            for pair in pairs.values():
                if len(pair) != 2 or not pair[0]:
                    hint = 'Give {"Back": ["teh", "the"]}; * stands for every field.'
                    raise ToolError(
                        "replace takes [old, new]. Nothing was changed", hint, code="INVALID_ARGUMENTS"
                    )

    def run(self, expected: int | None) -> JsonObject:
        with confirm.agreed(self.look, set, self.words, expected, demanded=bool(self.query)):
            images = sum(bool(update.images) for update in self.updates)
            self.begin([{"noteId": update.noteId} for update in self.updates], images)
            self.changes: dict[int, Change] = {}
            return self.run_parts(self._prepare, AGAIN, "changing notes")

    def look(self) -> dict[int, Info]:
        """The notes as they are, by id. One request, with new decks two; with a query more."""
        if self.query:
            self.updates = replacing.updates(self.query, self.replace)
        self.before, self.profile = notes.by_id_in_profile([update.noteId for update in self.updates])
        self.homes: dict[int, str] = {}
        moving = [
            update.noteId for update in self.updates if update.deckName and update.noteId in self.before
        ]
        if moving:
            cards = [card for note in moving for card in self.before[note]["cards"]]
            by_deck, self.decks = client.results(("getDecks", {"cards": cards}), ("deckNamesAndIds", {}))
            self.homes = notes.deck_by_card(by_deck)
        return self.before

    def words(self, found: dict[int, Info]) -> str:
        """The question for the person: the things that the updates change, and some notes."""
        if not found:
            return ""
        fields = dict.fromkeys(chain(*(update.fields or update.replace or {} for update in self.updates)))
        decks = dict.fromkeys(update.deckName for update in self.updates if update.deckName)
        subjects = []
        if fields:
            subjects.append(f"fields {quoted(', '.join(fields))}")
        if any(update.addTags or update.removeTags for update in self.updates):
            subjects.append("tags")
        if decks:
            subjects.append(f"deck to {', '.join(map(quoted, decks))}")
        if any(update.images for update in self.updates):
            subjects.append("pictures")
        texts = map(notes.first_text, found.values())
        count = notes.counted(len(found), "note")
        return f"change {', '.join(subjects) or 'nothing'} of {count}{confirm.examples(texts)}"

    def dry_run(self) -> JsonObject:
        """Count the notes there are, and show texts, tags and decks of the first before and after."""
        self.look()
        updates = [update for update in self.updates if update.noteId in self.before]
        places: list[list[int | str]] = []
        examples = []
        for update in updates:
            places += replacing.places(update, notes.values(self.before[update.noteId]))
            example = self._example(update)
            if not update.replace:
                examples.append(example)
        answer = {
            "dryRun": True,
            "count": len({update.noteId for update in updates}),
            "missing": len(self.updates) - len(updates),
            "examples": examples[: notes.EXAMPLES],
            "warnings": ["it empties Anki's undo list (Ctrl+Z); anki_restore puts back", *self.warnings],
        }
        more = filled(places=places[:MOST_PLACES], placesInAll=len(places), makes=self._makes(updates))
        return {**answer, **more}

    def _makes(self, updates: list[NoteUpdate]) -> JsonObject:
        """The decks and tags that Anki does not have yet."""
        tags = set(chain.from_iterable(update.addTags for update in updates))
        existing = set(map(str.casefold, client.call("getTags"))) if tags else set()
        names = {update.deckName for update in updates if update.deckName}
        return filled(
            decks=sorted(name for name in names if decks.spelled_by_anki(name, self.decks) is None),
            tags=sorted(tag for tag in tags if tag.casefold() not in existing),
        )

    def _example(self, update: NoteUpdate) -> JsonObject:
        info = self.before[update.noteId]
        old = notes.values(info)
        try:
            changed = replacing.new_values(update, old)
        except ItemError as error:
            return {"noteId": update.noteId, "error": error.message, "hint": error.hint}
        self._warn(update.noteId, changed)
        return filled(
            noteId=update.noteId,
            text=notes.first_text(info),
            fields={name: replacing.difference(old[name], text) for name, text in changed.items()},
            addTags=update.addTags,
            removeTags=update.removeTags,
            deckName=update.deckName and [self.homes.get(info["cards"][0], ""), update.deckName],
        )

    def _prepare(self) -> Parts[int]:
        """The changes with their pictures stored, and what they overwrite on record."""
        pictures = Pictures()
        changed: set[int] = set()
        for index, update in enumerate(self.updates):
            try:
                if update.noteId in changed:
                    hint = "Put its changes into one update, or send them in another call."
                    raise ItemError(f"note {update.noteId} is in this call twice", hint, code="TWICE")
                self.changes[index] = self._change(update, pictures)
                changed.add(update.noteId)
            except ItemError as error:
                self.failed(index, error)
            if update.images:
                calls.checkpoint()
                self.report(1, "placing images")
        self._record()
        one_by_one = any(change.placed.values for change in self.changes.values())
        return Parts(self.changes, 1 if one_by_one else TOGETHER)

    def _change(self, update: NoteUpdate, pictures: Pictures) -> Change:
        if update.noteId not in self.before:
            hint = "anki_find_notes shows which notes exist."
            raise ItemError(f"note {update.noteId} was not found", hint, code="MISSING")
        if not any(value for name, value in vars(update).items() if name not in ("noteId", "all")):
            hint = "Give fields, replace, addTags, removeTags, deckName or images."
            raise ItemError("nothing to change", hint, code="NOTHING")
        info = self.before[update.noteId]
        values = notes.values(info)
        cards = info["cards"]
        new_values = replacing.new_values(update, values)
        self._warn(update.noteId, new_values)
        images, unknown = note_input.aim_images(update.images, list(values))
        if unknown:
            problem = f"{note_input.UNKNOWN_TARGET}: {', '.join(unknown)[:80]}"
            hint = f"target_field must be one of {', '.join(values)}."
            raise ItemError(problem, hint, code="UNKNOWN_TARGET_FIELD")
        deck = ""
        if update.deckName and update.deckName.strip():
            deck = decks.spelled_by_anki(update.deckName, self.decks) or decks.checked_name(update.deckName)
            deck = "" if all(self.homes.get(card) == deck for card in cards) else deck
        added = note_input.checked_tags(update.addTags)
        tags = [tag.casefold() for tag in (*info["tags"], *added)]
        # Anki removes with a tag what lies below it.
        removed = []
        for tag in note_input.checked_tags(update.removeTags):
            if any(decks.within(each, tag.casefold()) for each in tags):
                removed.append(tag)
        placed = place(pictures, new_values, values, images)
        made = filled(
            updatedFields=list(placed.values), addedTags=added, removedTags=removed, deckChangedTo=deck
        )
        return Change(update.noteId, cards, placed, made)

    def _warn(self, note: int, new_values: dict[str, str]) -> None:
        """Say that the first field of a note is going to be empty."""
        first = next(iter(notes.values(self.before[note])), "")
        if first in new_values and not plain(new_values[first]):
            self.warnings.append(f"note {note} has nothing in its first field, {first}, after this")

    def _record(self) -> None:
        """Put on record what will be overwritten."""
        steps: list[Step] = []
        homes: dict[str, list[int]] = {}
        for change in self.changes.values():
            info = self.before[change.note]
            if change.placed.values:
                old = notes.values(info)
                fields = {name: old[name] for name in change.placed.values}
                steps.append(Step("notes", SET_FIELDS, {"fields": fields}, [change.note]))
            if "addedTags" in change.made or "removedTags" in change.made:
                added = change.made.get("addedTags", [])
                steps += journal.tagged_again({change.note: info["tags"]}, added)
            for card in change.cards if "deckChangedTo" in change.made else []:
                homes.setdefault(self.homes[card], []).append(card)
        for deck, cards in homes.items():
            steps.append(Step("cards", "changeDeck", {"deck": deck}, cards))
        if steps:
            count = notes.counted(len(self.changes), "note")
            number = journal.write("update_notes", f"{count} changed", Entry(steps, profile=self.profile))
            journal.announce(number, f"the {count}")

    def send(self, part: list[int]) -> None:
        # Equal tags and decks are one action: each takes some milliseconds, 290 with the Browser open, however many
        # notes.
        groups: dict[tuple[str, str], list[int]] = {}
        for index in part:
            for name, value in self.changes[index].made.items():
                key = str(index if name == "updatedFields" else value)
                groups.setdefault((name, key), []).append(index)
        actions = [self._action(name, indexes) for (name, _), indexes in groups.items()]
        refused: dict[int, Refused] = {}
        for (name, key), answer in zip(groups, client.multi(*actions), strict=True):
            if isinstance(answer, Refused):
                for index in groups[name, key]:
                    del self.changes[index].made[name]
                    refused.setdefault(index, answer)
        for index in part:
            change = self.changes[index]
            detail = {**change.made, **change.placed.detail()}
            if index in refused:
                self.failed(index, refused[index], **detail)
            else:
                self.set(index, "ok", **detail)

    def _action(self, name: str, indexes: list[int]) -> Action:
        """The action for updates with the same tags or the same deck, or for the fields of one update."""
        changes = [self.changes[index] for index in indexes]
        value = changes[0].made[name]
        if name == "updatedFields":
            return SET_FIELDS, {"note": {"id": changes[0].note, "fields": changes[0].placed.values}}
        if name == "deckChangedTo":
            cards = list(chain.from_iterable(change.cards for change in changes))
            return "changeDeck", {"cards": cards, "deck": value}
        ids = [change.note for change in changes]
        return "addTags" if name == "addedTags" else "removeTags", {"notes": ids, "tags": " ".join(value)}

    def end(self) -> None:
        """Take back the `ok` of each update whose texts the notes do not have. One request.

        AnkiConnect answers null to updateNoteFields also if it changed nothing: with the note open in Anki's
        Browser it does not. A note that is selected there is looked at again, as its editor may yet overwrite
        the change.
        """
        done = {index: self.changes[index] for index in self.indexes("ok")}
        if not done:
            return
        ids = [change.note for change in done.values()]
        look: list[Action] = [("notesInfo", {"notes": ids}), ("guiSelectedNotes", {})]
        try:
            infos, selected = client.multi(*look)
            if isinstance(selected, list) and set(ids) & set(selected):
                time.sleep(EDITOR_S)
                infos, _ = client.multi(*look)
            now = notes.indexed(client.whole([infos])[0])
        except ToolError as error:
            self.warnings.append(f"not read back: {error.message}")
            return
        for index, change in done.items():
            if difference := self._difference(change, now.get(change.note)):
                self.failed(index, difference)

    def _difference(self, change: Change, info: Info | None) -> ItemError | None:
        """The error if the note does not have the texts that were sent; None if it has them."""
        hint = "anki_note_info shows it; somebody changed or deleted it at the same time."
        if info is None:
            return ItemError("the note is gone", hint, code="UNCHANGED")
        sent = replacing.kept(change.placed.values)
        texts = replacing.kept(notes.values(info))
        stale = [name for name in sent if texts.get(name) != sent[name]]
        if not stale:
            return None
        old = replacing.kept(notes.values(self.before[change.note]))
        problem = f"{', '.join(stale)} now differs from what was sent"
        if all(texts.get(name) == old[name] for name in stale):
            problem = "Anki said yes and changed nothing: the note is open in Anki's Browser"
            hint = "Close the Browser, or select another note in it, then call again."
        return ItemError(problem, hint, code="UNCHANGED")
