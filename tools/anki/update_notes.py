"""The tool that changes notes, and reads back what Anki made of each change."""

import time
from dataclasses import dataclass
from itertools import chain
from typing import Annotated

from tools.anki import client, confirm, decks, journal, note_input, notes, replacing
from tools.anki.batch import TOGETHER, Batch
from tools.anki.card_text import plain
from tools.anki.client import Action
from tools.anki.images.pictures import Pictures
from tools.anki.images.placing import Placed, place
from tools.anki.journal import SET_FIELDS, Entry, Step
from tools.anki.note_input import OBJECTS, ItemError, NoteUpdate
from tools.anki.notes import Info
from tools.anki.replies import Refused
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
    replacements = [replace or {}, *(note.replace or {} for note in notes or [])]
    pairs = chain.from_iterable(each.values() for each in replacements)
    problem = ""
    if bool(notes) == bool(query.strip()) or bool(query.strip()) != bool(replace):
        problem = "Give notes, or query with replace"
    elif any(len(pair) != 2 or not pair[0] for pair in pairs):
        problem = "replace takes [old, new] for a field, or for * as every field"
    if problem:
        hint = 'For example {"query": "deck:X", "replace": {"Back": ["teh", "the"]}, "dryRun": true}.'
        raise ToolError(f"{problem}. Nothing was changed", hint, code="INVALID_ARGUMENTS")
    batch = UpdateBatch(notes or [], query.strip(), replace or {})
    return batch.dry_run() if dryRun else batch.run(expected)


@dataclass
class Change:
    """An update that fits its note, with its pictures stored. `made`: what it changes, under the names of the
    details in the answer."""

    note: int
    cards: list[int]
    placed: Placed
    made: JsonObject


class UpdateBatch(Batch[NoteUpdate, Change]):
    """Changes of notes. With a `query` it replaces texts in what that finds."""

    done = "updated"

    def __init__(self, updates: list[NoteUpdate], query: str, replace: dict[str, list[str]]):
        super().__init__(brief=bool(query))
        self.updates = updates
        self.query = query
        self.replace = replace
        self.pictures = Pictures()
        self.changing: set[int] = set()

    def run(self, expected: int | None) -> JsonObject:
        with confirm.agreed(self._look, set, self._words, expected, demanded=bool(self.query)):
            self.prepare_all(self.updates)
            self._record()
            one_by_one = any(change.placed.values for change in self.ready.values())
            return self.send_all(1 if one_by_one else TOGETHER, AGAIN)

    def dry_run(self) -> JsonObject:
        """Count the notes there are, and show texts, tags and decks of the first before and after."""
        self._look()
        places: list[list[int | str]] = []
        examples = []
        for update in self.updates:
            if info := self.before.get(update.noteId):
                places += replacing.places(update, notes.values(info))
                examples.append(self._example(update, info))
        answer = {
            "dryRun": True,
            "count": len(self.before),
            "missing": len(self.updates) - len(examples),
            # Of a query all is shown by the places.
            "examples": [] if self.query else examples[: notes.EXAMPLES],
            "warnings": ["it empties Anki's undo list (Ctrl+Z); anki_restore puts back", *self.warnings],
        }
        answer.update(filled(places=places[:MOST_PLACES], placesInAll=len(places), makes=self._makes()))
        return answer

    def _look(self) -> dict[int, Info]:
        """The notes as they are, by id. One request, with new decks two; with a query more."""
        if self.query:
            self.updates = replacing.updates(self.query, self.replace)
        self.before, self.profile = notes.by_id_in_profile([update.noteId for update in self.updates])
        self.homes: dict[int, str] = {}
        moving = [self.before.get(update.noteId) for update in self.updates if update.deckName]
        if moving:
            cards = chain.from_iterable(info["cards"] for info in moving if info)
            by_deck, self.deck_ids = client.results(
                ("getDecks", {"cards": list(cards)}), ("deckNamesAndIds", {})
            )
            self.homes = notes.deck_by_card(by_deck)
        return self.before

    def _words(self, found: dict[int, Info]) -> str:
        """The question for the person: the things that the updates change, and some notes."""
        if not found:
            return ""
        changed = ({**(update.fields or {}), **(update.replace or {})} for update in self.updates)
        fields = dict.fromkeys(chain.from_iterable(changed))
        decks = dict.fromkeys(update.deckName for update in self.updates if update.deckName)
        subjects = {
            f"fields {quoted(', '.join(fields))}": fields,
            "tags": any(update.addTags or update.removeTags for update in self.updates),
            f"deck to {', '.join(map(quoted, decks))}": decks,
            "pictures": any(update.images for update in self.updates),
        }
        words = ", ".join(subject for subject, concerns in subjects.items() if concerns)
        texts = map(notes.first_text, found.values())
        count = notes.counted(len(found), "note")
        return f"change {words or 'nothing'} of {count}{confirm.examples(texts)}"

    def _makes(self) -> JsonObject:
        """The decks and tags that Anki does not have yet."""
        tags = set(chain.from_iterable(update.addTags for update in self.updates))
        existing = set(map(str.casefold, client.call("getTags"))) if tags else set()
        names = {update.deckName for update in self.updates if update.deckName}
        return filled(
            decks=sorted(name for name in names if decks.spelled_by_anki(name, self.deck_ids) is None),
            tags=sorted(tag for tag in tags if tag.casefold() not in existing),
        )

    def _example(self, update: NoteUpdate, info: Info) -> JsonObject:
        """What the dry run shows of an update."""
        old = notes.values(info)
        try:
            new = self._new_values(update, old)
        except ItemError as error:
            return {"noteId": update.noteId, "error": error.message, "hint": error.hint}
        return filled(
            noteId=update.noteId,
            text=notes.first_text(info),
            fields={name: replacing.difference(old[name], text) for name, text in new.items()},
            addTags=update.addTags,
            removeTags=update.removeTags,
            deckName=update.deckName and [self.homes.get(info["cards"][0], ""), update.deckName],
        )

    def _new_values(self, update: NoteUpdate, old: dict[str, str]) -> dict[str, str]:
        """The fields that an update changes; warns if the first one is going to be empty."""
        new = replacing.new_values(update, old)
        first = next(iter(old))
        if first in new and not plain(new[first]):
            self.warnings.append(f"note {update.noteId} has nothing in its first field, {first}, after this")
        return new

    def prepare(self, index: int, update: NoteUpdate) -> Change:
        note = update.noteId
        if note not in self.before:
            hint = "anki_find_notes shows which notes exist."
            raise ItemError(f"note {note} was not found", hint, code="MISSING")
        if note in self.changing:
            hint = "Put its changes into one update, or send them in another call."
            raise ItemError(f"note {note} is in this call twice", hint, code="TWICE")
        if update == NoteUpdate(note, all=update.all):
            hint = "Give fields, replace, addTags, removeTags, deckName or images."
            raise ItemError("nothing to change", hint, code="NOTHING")
        info = self.before[note]
        old = notes.values(info)
        new = self._new_values(update, old)
        images, unknown = note_input.aim_images(update.images, list(old))
        if unknown:
            problem = f"{note_input.UNKNOWN_TARGET}: {', '.join(unknown)[:80]}"
            hint = f"target_field must be one of {', '.join(old)}."
            raise ItemError(problem, hint, code="UNKNOWN_TARGET_FIELD")
        deck = (update.deckName or "").strip()
        if deck:
            deck = decks.spelled_by_anki(deck, self.deck_ids) or decks.checked_name(deck)
        moves = any(self.homes.get(card) != deck for card in info["cards"])
        added = note_input.checked_tags(update.addTags)
        tags = [tag.casefold() for tag in (*info["tags"], *added)]
        # Anki removes with a tag what lies below it.
        removed = []
        for tag in note_input.checked_tags(update.removeTags):
            if any(decks.within(each, tag.casefold()) for each in tags):
                removed.append(tag)
        placed = place(self.pictures, new, old, images)
        self.changing.add(note)
        made = filled(
            updatedFields=list(placed.values),
            addedTags=added,
            removedTags=removed,
            deckChangedTo=deck if moves else "",
        )
        return Change(note, info["cards"], placed, made)

    def _record(self) -> None:
        """Put on record what will be overwritten."""
        steps: list[Step] = []
        homes: dict[str, list[int]] = {}
        for change in self.ready.values():
            info = self.before[change.note]
            if change.placed.values:
                old = notes.values(info)
                fields = {name: old[name] for name in change.placed.values}
                steps.append(Step("notes", SET_FIELDS, {"fields": fields}, [change.note]))
            if "addedTags" in change.made or "removedTags" in change.made:
                added = change.made.get("addedTags", [])
                steps += journal.tagged_again({change.note: info["tags"]}, added)
            if "deckChangedTo" in change.made:
                for card in change.cards:
                    homes.setdefault(self.homes[card], []).append(card)
        for deck, cards in homes.items():
            steps.append(Step("cards", "changeDeck", {"deck": deck}, cards))
        if steps:
            count = notes.counted(len(self.ready), "note")
            number = journal.write("update_notes", f"{count} changed", Entry(steps, profile=self.profile))
            journal.announce(number, f"the {count}")

    def send(self, part: list[int]) -> None:
        # Equal tags and decks are one action: each takes some milliseconds, 290 with the Browser open, however many
        # notes.
        groups: dict[tuple[str, str], list[int]] = {}
        for index in part:
            for name, value in self.ready[index].made.items():
                key = str(index if name == "updatedFields" else value)
                groups.setdefault((name, key), []).append(index)
        actions = [self._action(name, indexes) for (name, _), indexes in groups.items()]
        refusals: dict[int, Refused] = {}
        for (name, key), answer in zip(groups, client.multi(*actions), strict=True):
            if isinstance(answer, Refused):
                for index in groups[name, key]:
                    del self.ready[index].made[name]
                    refusals[index] = answer
        for index in part:
            change = self.ready[index]
            detail = {**change.made, **change.placed.detail()}
            if index in refusals:
                self.failed(index, refusals[index], **detail)
            else:
                self.set(index, "ok", **detail)

    def _action(self, name: str, indexes: list[int]) -> Action:
        """The action for updates with the same tags or the same deck, or for the fields of one update."""
        changes = [self.ready[index] for index in indexes]
        first = changes[0]
        if name == "updatedFields":
            return SET_FIELDS, {"note": {"id": first.note, "fields": first.placed.values}}
        if name == "deckChangedTo":
            cards = chain.from_iterable(change.cards for change in changes)
            return "changeDeck", {"cards": list(cards), "deck": first.made[name]}
        action = "addTags" if name == "addedTags" else "removeTags"
        return action, {"notes": [change.note for change in changes], "tags": " ".join(first.made[name])}

    def end(self) -> None:
        """Take back the `ok` of each update whose texts the notes do not have. One request.

        AnkiConnect answers null to updateNoteFields also if it changed nothing: with the note open in Anki's
        Browser it does not. A note that is selected there is looked at again, as its editor may yet overwrite
        the change.
        """
        done = {self.ready[index].note: index for index in self.indexes("ok")}
        if not done:
            return
        look: list[Action] = [("notesInfo", {"notes": list(done)}), ("guiSelectedNotes", {})]
        try:
            infos, selected = client.multi(*look)
            if isinstance(selected, list) and not done.keys().isdisjoint(selected):
                time.sleep(EDITOR_S)
                infos, _ = client.multi(*look)
            now = notes.indexed(client.whole([infos])[0])
        except ToolError as error:
            self.warnings.append(f"not read back: {error.message}")
            return
        for note, index in done.items():
            self._compare(index, now.get(note))

    def _compare(self, index: int, info: Info | None) -> None:
        """The update failed if the note does not have the texts that were sent."""
        change = self.ready[index]
        sent = change.placed.values
        texts = notes.values(info) if info else {}
        stale = [name for name in sent if replacing.kept(texts.get(name, "")) != replacing.kept(sent[name])]
        old = notes.values(self.before[change.note])
        problem = f"{', '.join(stale)} now differs from what was sent"
        hint = "anki_note_info shows it; somebody changed or deleted it at the same time."
        if info is None:
            problem = "the note is gone"
        elif not stale:
            return
        elif all(texts[name] == old[name] for name in stale):
            problem = "Anki said yes and changed nothing: the note is open in Anki's Browser"
            hint = "Close the Browser, or select another note in it, then call again."
        self.details[index].pop("updatedFields", None)
        self.failed(index, ItemError(problem, hint, code="UNCHANGED"))
