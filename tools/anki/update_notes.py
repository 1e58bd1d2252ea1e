"""The tool that changes notes, and reads back what Anki made of each change."""

import time
from collections.abc import Collection
from itertools import chain
from typing import Annotated, NamedTuple

from tools.toolkit import JsonObject, Tool, ToolError, filled, quoted

from . import client, confirm, decks, journal, note_input, notes, replacing
from .batch import TOGETHER, Batch
from .card_text import plain
from .client import IdByName, IdsByName, Refused, action
from .images.pictures import NewTexts, with_pictures
from .journal import SET_FIELDS, JournalEntry, Step
from .note_input import OBJECTS, ItemError, Names, NoteUpdate, Pairs
from .replacing import Occurrence, as_anki_keeps

NOTE_DESCRIPTION = (
    "{noteId, fields: only those to change, replace: {field or *: [old, new]}, all: true if old is there "
    "more than once, addTags: […], removeTags: […], deckName, images as in anki_add_from_model}"
)
# After so long the editor of Anki's Browser, which was still loading a note, has saved what it had.
EDITOR_S = 1.5
MOST_OCCURRENCES = 10
# Notes of a query that a call changes: a minute of Anki's and some 20 MiB here.
AT_ONCE = 5000


@Tool(
    "anki.update_notes", write=True, destructive=True, idempotent=True, open_world=True, lock=False
)
def update_notes(
    notes: Annotated[list[NoteUpdate] | None, OBJECTS, NOTE_DESCRIPTION] = None,
    query: Annotated[str, "with replace, instead of notes"] = "",
    replace: Annotated[Pairs | None, {"type": "object"}, "as in notes"] = None,
    dryRun: bool = False,
    expected: Annotated[int | None, "the dry run's count; query needs it; then `left`"] = None,
) -> JsonObject:
    """Change fields, tags, deck or images of notes. For a typo send replace, not the field. Above 20 notes
    try dryRun and ask first; tags: anki_change_cards.

    Source: AnkiConnect updateNoteFields, addTags, removeTags, changeDeck in multi, read back with notesInfo.
    {updated, skipped, details: [{index, noteId, status, error, …}]}.
    """
    query = query.strip()
    pairs = replacing.pairs_with_breaks(replace or {})
    is_empty = any(not old for old, _ in pairs.values())
    if bool(notes) == bool(query) or bool(query) != bool(pairs) or is_empty:
        raise ToolError(
            "Give notes, or query with replace: {field or *: [old, new]}. Nothing was changed",
            'For example {"query": "deck:X", "replace": {"Back": ["teh", "the"]}, "dryRun": true}.',
            "INVALID_ARGUMENTS",
        )
    batch = UpdateBatch(notes or [], query, pairs)
    return batch.dry_run() if dryRun else batch.run(expected)


class NoteChange(NamedTuple):
    """An update that fits its note, with its pictures stored.

    It has an action for each thing that it changes: some may be refused and others not.
    """

    texts: NewTexts
    # By the names of the details in the answer: what is changed, and the step that changes it.
    changes: dict[str, tuple[object, Step]]


# The same call made again changes nothing twice: a field gets the text that it has, a tag or a deck is
# there already, and a replacement knows its own result. What is overwritten goes to the journal before
# the first request that changes anything; what Anki says it did is read back.
class UpdateBatch(Batch[NoteUpdate, NoteChange]):
    """Changes of notes: {updated, skipped, details, left}.

    With a query, texts are replaced in whatever it finds: counted first, then in the first AT_ONCE of these
    notes; `left` are for the same call made again. Of a large collection no more than these are in memory.

    `before`: the notes as they are, by id. `destinations`: the decks that updates name. `homes`: if there are
    any, the deck of each card.
    """

    count_key = "updated"
    # Notes that a query finds beyond those of this call, and the occurrences of the texts in them.
    notes_left = more_occurrences = 0
    # Nothing is to be stored, no picture either.
    is_dry_run = False
    # Fields are changed note by note, tags and decks of many notes in one action.
    weight = TOGETHER

    def __init__(self, updates: list[NoteUpdate], query: str, replace: Pairs):
        super().__init__()
        self.brief = bool(query)
        self.updates = updates
        self.query = query
        self.replace = replace
        self.destinations = dict.fromkeys(filter(None, (update.deckName for update in updates)))
        self.homes: dict[int, str] = {}
        self.deck_ids: IdByName = {}
        # The steps that take the changes back, and the cards that are moved, by the decks they come from.
        self.back: list[Step] = []
        self.moved: IdsByName = {}

    def run(self, expected: int | None) -> JsonObject:
        with confirm.agreed(self._read_notes, self._describe, expected, needs_expected=self.brief):
            self.prepare_all(self.updates)
            # Write what will be overwritten into the journal; a call that changes nothing gets no entry.
            # Cards are moved back by decks: each action redraws Anki's window, however many cards it is for.
            steps = self.back + journal.moved_again(self.moved)
            if steps:
                count = notes.counted(self.ready, "note")
                entry = JournalEntry(notes.profile_of(self.before), steps)
                journal.write("update_notes", f"{count} changed", f"the {count}", entry)
            answer = self.send_all(
                self.weight,
                "The same call can be made again: what is changed already stays as it is.",
            )
        return {**answer, **filled(left=self.notes_left)}

    def dry_run(self) -> JsonObject:
        """Count the notes there are, and show texts, tags and decks of the first before and after."""
        self.is_dry_run = True
        ids = self._read_notes()
        self.prepare_all(self.updates)
        occurrences: list[Occurrence] = []
        examples = []
        for index, update in enumerate(self.updates):
            if info := self.before.get(update.noteId):
                occurrences += replacing.occurrences(update, notes.values(info))
                examples.append(self._example(index, info))
        return {
            "dryRun": True,
            "count": len(ids),
            "missing": len(self.updates) - len(examples),
            "examples": [] if self.brief else examples[: notes.MOST_EXAMPLES],
            "warnings": [
                "it empties Anki's undo list (Ctrl+Z); anki_restore puts back",
                *self.warnings[:MOST_OCCURRENCES],
            ],
            **filled(
                places=occurrences[:MOST_OCCURRENCES],
                placesInAll=len(occurrences) + self.more_occurrences,
                makes=self._makes(),
            ),
        }

    def _read_notes(self) -> Collection[int]:
        """Read the notes as they are; the ids of those there are. One request for each 500, with new decks
        one more."""
        if self.query:
            return self._find_notes()
        self.before = notes.by_id([update.noteId for update in self.updates])
        if self.destinations:
            by_deck, self.deck_ids = client.results(
                action("getDecks", cards=notes.cards_of(self.before)),
                action("deckNamesAndIds"),
            )
            self.homes = notes.deck_by_card(by_deck)
        return self.before

    def _find_notes(self) -> Collection[int]:
        """Read the notes with something to replace; the ids of all. One request for each 500, and one.

        Raises ToolError UNKNOWN_FIELD: no note that the query finds has that field.
        """
        notes.check_names(self.query)
        matches = client.call("findNotes", query=self.query)
        fields = {replacing.EVERY_FIELD}
        self.updates = []
        self.before = {}
        ids = []
        for note, info in notes.in_parts(sorted(matches)):
            values = notes.values(info)
            fields.update(map(str.casefold, values))
            pairs = {
                name: pair
                for name, pair in self.replace.items()
                if any(replacing.find_matches(name, pair, values))
            }
            if not pairs:
                continue
            update = NoteUpdate(note, replace=pairs, all=True)
            ids.append(note)
            if len(ids) <= AT_ONCE:
                self.updates.append(update)
                self.before[note] = info
            else:
                self.more_occurrences += len(list(replacing.occurrences(update, values)))
        for name in self.replace:
            if matches and name.casefold() not in fields:
                raise notes.unknown_field(name)
        self.notes_left = len(ids) - len(self.updates)
        return ids

    def _describe(self, ids: Collection[int]) -> str:
        """The things that the updates change in words, and some notes; empty without notes."""
        if not ids:
            return ""
        updates = self.updates
        fields = dict.fromkeys(chain(*({**update.fields, **update.replace} for update in updates)))
        # The subjects in words, each with whether it is among the changes.
        subjects = {
            f"fields {quoted(', '.join(fields))}": fields,
            "tags": any(update.addTags or update.removeTags for update in updates),
            f"deck to {', '.join(map(quoted, self.destinations))}": self.destinations,
            "pictures": any(update.images for update in updates),
        }
        words = ", ".join(filled(**subjects))
        count = notes.counted(ids, "note")
        return f"change {words or 'nothing'} of {count}{confirm.examples(self.before)}"

    def _makes(self) -> JsonObject:
        """The decks and tags that Anki does not have yet and this call would make."""
        tags = set(chain.from_iterable(update.addTags for update in self.updates))
        existing = client.call("getTags")
        new_tags = sorted(tag for tag in tags if not note_input.find_name(tag, existing))
        new_decks = [
            name for name in self.destinations if not decks.existing_name(name, self.deck_ids)
        ]
        return filled(decks=new_decks, tags=new_tags)

    def _example(self, index: int, info: JsonObject) -> JsonObject:
        """The change of a note as the dry run shows it, or why there is none."""
        if index not in self.ready:
            return self.details[index]
        update = self.updates[index]
        new = self.ready[index].texts.values
        old = notes.values(info)
        return filled(
            noteId=update.noteId,
            text=notes.first_text(info),
            fields={name: replacing.difference(old[name], text) for name, text in new.items()},
            addTags=update.addTags,
            removeTags=update.removeTags,
            deckName=update.deckName and [self.homes[info["cards"][0]], update.deckName],
        )

    # The texts are made from what the note has now, so that they can be compared, counted and put back; a
    # deck or tag that it has already is left out, and the journal gets no entry for it.
    def prepare(self, index: int, update: NoteUpdate) -> NoteChange:
        note = update.noteId
        self.details[index]["noteId"] = note
        if note not in self.before:
            raise ItemError(
                f"note {note} was not found", "anki_find_notes shows which notes exist.", "MISSING"
            )
        if update == NoteUpdate(note, all=update.all):
            raise ItemError(
                "nothing to change",
                "Give fields, replace, addTags, removeTags, deckName or images.",
                "NOTHING",
            )
        # The new texts, and where pictures go.
        info = self.before[note]
        old = notes.values(info)
        values = replacing.new_values(update, old)
        first = next(iter(old))
        if first in values and not plain(values[first]):
            self.warnings.append(f"note {note} has nothing in its first field, {first}, after this")
        self.warnings += [
            f"note {note}, {warning}" for warning in note_input.checked_clozes(values)
        ]
        images, unknown = note_input.aim_images(update.images, list(old))
        if unknown:
            raise ItemError(
                f"{note_input.UNKNOWN_TARGET}: {', '.join(unknown)[:80]}",
                f"target_field must be one of {', '.join(old)}.",
                "UNKNOWN_TARGET_FIELD",
            )
        # Deck and tags; Anki removes with a tag what lies below it.
        deck = update.deckName.strip()
        if deck:
            # One that Anki does not have yet is made by changeDeck, under any name that it gets.
            deck = decks.existing_name(deck, self.deck_ids) or decks.checked_name(deck)
        if {self.homes.get(card) for card in info["cards"]} == {deck}:
            deck = ""
        added = note_input.checked_tags(update.addTags)
        tags = list(map(str.casefold, [*info["tags"], *added]))
        unwanted = note_input.checked_tags(update.removeTags)
        removed = [tag for tag in unwanted if decks.below([tag.casefold()], tags)]
        texts = NewTexts(values, [], [])
        if not self.is_dry_run:
            texts = with_pictures(self.pictures, values, old, images)
        return self._change(info, texts, added, removed, deck)

    def _change(
        self, info: JsonObject, texts: NewTexts, added: Names, removed: Names, deck: str
    ) -> NoteChange:
        """The change of a note; the steps that take it back join those of the others.

        - `info`: the note as it is; `texts`: its new texts, with pictures;
        - `added`, `removed`: tags; `deck`: the deck to move its cards into, empty if they stay.
        """
        note = info["noteId"]
        fields = texts.values
        changes = {
            "updatedFields": (list(fields), Step("notes", SET_FIELDS, {"fields": fields}, [note])),
            "addedTags": (added, Step("notes", "addTags", {"tags": " ".join(added)}, [note])),
            "removedTags": (
                removed,
                Step("notes", "removeTags", {"tags": " ".join(removed)}, [note]),
            ),
            "deckChangedTo": (deck, Step("cards", "changeDeck", {"deck": deck}, info["cards"])),
        }
        if fields:
            self.weight = 1
            old = {name: notes.values(info)[name] for name in fields}
            self.back.append(Step("notes", SET_FIELDS, {"fields": old}, [note]))
        if added or removed:
            self.back += journal.tagged_again({note: info["tags"]}, added)
        if deck:
            for card in info["cards"]:
                self.moved.setdefault(self.homes[card], []).append(card)
        return NoteChange(texts, {name: row for name, row in changes.items() if row[0]})

    def send(self, part: list[int]) -> None:
        # Steps with one key are one action: each takes some milliseconds, 290 with the Browser open,
        # however many notes it is for.
        steps: dict[str, Step] = {}
        for index in part:
            for _, step in self.ready[index].changes.values():
                steps.setdefault(_key(step), step._replace(ids=[])).ids.extend(step.ids)
        actions = chain.from_iterable(step.actions() for step in steps.values())
        answers = dict(zip(steps, client.multi(*actions), strict=True))
        for index in part:
            # An update of several steps fails with the refusal of one; the details name those that were made.
            change = self.ready[index]
            refusal = None
            detail: JsonObject = {}
            for name, (value, step) in change.changes.items():
                answer = answers[_key(step)]
                if isinstance(answer, Refused):
                    refusal = answer
                else:
                    detail[name] = value
            detail.update(change.texts.detail())
            if refusal:
                self.set_failed(index, refusal, **detail)
            else:
                self.set_detail(index, "ok", **detail)

    def end(self) -> None:
        """Take back the `ok` of each update whose texts the notes do not have. One request.

        AnkiConnect answers null to updateNoteFields also if it changed nothing: with the note open in Anki's
        Browser it does not. A note that is selected there is looked at again, as its editor may yet overwrite
        the change.
        """
        done = self.indexes_with("ok")
        if not done or self.weight == TOGETHER:  # no text was changed
            return
        try:
            (selected,) = client.multi(action("guiSelectedNotes"))
            if isinstance(selected, list) and self.before.keys() & selected:
                time.sleep(EDITOR_S)
            infos = notes.by_id(list(self.before))
        except ToolError as error:
            self.warnings.append(f"not read back: {error.message}")
            return
        for index in done:
            info = infos.get(self.updates[index].noteId)
            texts = notes.values(info) if info else {}
            stale = [
                name
                for name, sent in self.ready[index].texts.values.items()
                if as_anki_keeps(texts.get(name, "")) != as_anki_keeps(sent)
            ]
            if stale:
                del self.details[index]["updatedFields"]
                self.set_failed(
                    index,
                    ItemError(
                        f"{', '.join(stale)} is not as it was sent: is the note open in Anki's Browser, or "
                        "twice in this call?",
                        "Close the Browser, or select another note in it, then call again.",
                        "UNCHANGED",
                    ),
                )


def _key(step: Step) -> str:
    """A key, equal for steps that can be one action. A note's own texts are an action of their own."""
    return repr(id(step) if step.action == SET_FIELDS else step[:3])
