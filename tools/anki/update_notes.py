"""The tool that changes notes, and reads them back."""

import time
from collections.abc import Collection
from dataclasses import dataclass
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
# Time in which the editor of Anki's Browser, if it was still loading a note, saves its own texts.
EDITOR_S = 1.5
MOST_OCCURRENCES = 10
# Notes of a query that a call changes: a minute of Anki's and some 20 MiB here.
MOST_NOTES_PER_CALL = 5000


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
    is_by_notes = notes and not query and not pairs
    is_by_query = query and not notes and pairs and all(old for old, _ in pairs.values())
    if not is_by_notes and not is_by_query:
        raise ToolError(
            "Give notes, or query with replace: {field or *: [old, new]}. Nothing was changed",
            'For example {"query": "deck:X", "replace": {"Back": ["teh", "the"]}, "dryRun": true}.',
            "INVALID_ARGUMENTS",
        )
    batch = UpdateBatch(notes or [], query, pairs)
    return batch.dry_run() if dryRun else batch.run(expected)


class ReportedStep(NamedTuple):
    """A step, and the key and value by which the answer's detail reports it."""

    key: str
    value: object
    step: Step


class NoteChange(NamedTuple):
    """An update that fits its note, with its pictures stored; any of its steps may be refused."""

    texts: NewTexts
    steps: list[ReportedStep]


# The same call made again changes nothing twice: a field gets the text that it has, a tag or a deck is
# there already, and a replacement knows its own result. What is overwritten goes to the journal before
# the first request that changes anything; the notes are read back afterwards.
@dataclass
class UpdateBatch(Batch[NoteUpdate, NoteChange]):
    """Changes of notes: {updated, skipped, details, left}.

    With a query, texts are replaced in all notes that it finds: all are counted, but only
    MOST_NOTES_PER_CALL are held in memory and changed; `left` are for the same call made again.

    `infos_before`: the notes by id, as they were read first. `destinations`: the decks that updates name; if
    there are any, `deck_of` has the deck of each card.
    """

    updates: list[NoteUpdate]
    query: str
    replace: Pairs
    count_key = "updated"
    # Notes that a query finds beyond those of this call, and the occurrences of the texts in them.
    notes_left = more_occurrences = 0
    # Nothing is to be stored, no picture either.
    is_dry_run = False
    # Fields are changed note by note, tags and decks of many notes in one action.
    weight = TOGETHER

    def __post_init__(self) -> None:
        super().__init__()
        self.brief = bool(self.query)
        self.destinations = dict.fromkeys(
            filter(None, (update.deckName for update in self.updates))
        )
        self.deck_of: dict[int, str] = {}
        self.deck_ids: IdByName = {}
        # The steps that take the changes back, and the cards that are moved, by the decks they come from.
        self.restoring_steps: list[Step] = []
        self.moved_cards: IdsByName = {}

    def run(self, expected: int | None) -> JsonObject:
        with confirm.agreed(self._read_notes, self._describe, expected, needs_expected=self.brief):
            self.prepare_all(self.updates)
            # Write the overwritten values into the journal; a call that changes nothing gets no entry.
            # Cards are moved back by decks: each action redraws Anki's window, however many cards it is for.
            steps = self.restoring_steps + journal.steps_to_decks(self.moved_cards)
            if steps:
                count = notes.count_text(self.ready, "note")
                entry = JournalEntry(notes.profile_of(self.infos_before), steps)
                journal.write("update_notes", f"{count} changed", f"the {count}", entry)
            answer = self.send_all(
                self.weight,
                "The same call can be made again: what is changed already stays as it is.",
            )
        return answer | filled(left=self.notes_left)

    def dry_run(self) -> JsonObject:
        """Count the notes to be changed, and show texts, tags and decks of the first before and after."""
        self.is_dry_run = True
        ids = self._read_notes()
        self.prepare_all(self.updates)
        occurrences: list[Occurrence] = []
        examples = []
        for index, update in enumerate(self.updates):
            if info := self.infos_before.get(update.noteId):
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
                makes=self._new_names(),
            ),
        }

    def _read_notes(self) -> Collection[int]:
        """Read the notes as they are, and return the ids of those that exist. One request for each 500, and
        one if decks change."""
        if self.query:
            return self._find_notes()
        self.infos_before = notes.by_id([update.noteId for update in self.updates])
        if self.destinations:
            by_deck, self.deck_ids = client.results(
                action("getDecks", cards=notes.cards_of(self.infos_before)),
                action("deckNamesAndIds"),
            )
            self.deck_of = notes.deck_by_card(by_deck)
        return self.infos_before

    def _find_notes(self) -> Collection[int]:
        """Find the notes with something to replace, and read those of this call. One request for each 500,
        and one.

        Raises ToolError UNKNOWN_FIELD: no note that the query finds has that field.
        """
        notes.refuse_unquoted_names(self.query)
        matches = client.call("findNotes", query=self.query)
        field_names = {replacing.EVERY_FIELD}
        self.updates = []
        self.infos_before = {}
        ids = []
        for note, info in notes.in_parts(sorted(matches)):
            values = notes.values(info)
            field_names.update(map(str.casefold, values))
            pairs = {
                name: pair
                for name, pair in self.replace.items()
                if any(replacing.find_matches(name, pair, values))
            }
            if not pairs:
                continue
            update = NoteUpdate(note, replace=pairs, all=True)
            ids.append(note)
            if len(ids) <= MOST_NOTES_PER_CALL:
                self.updates.append(update)
                self.infos_before[note] = info
            else:
                self.more_occurrences += len(list(replacing.occurrences(update, values)))
        for name in self.replace:
            if matches and name.casefold() not in field_names:
                raise notes.unknown_field(name)
        self.notes_left = len(ids) - len(self.updates)
        return ids

    def _describe(self, ids: Collection[int]) -> str:
        """Describe the changes to the person, with two of the notes; empty without notes."""
        if not ids:
            return ""
        fields = dict.fromkeys(chain(*(update.fields | update.replace for update in self.updates)))
        phrases = []
        if fields:
            phrases.append(f"fields {quoted(', '.join(fields))}")
        if any(update.addTags or update.removeTags for update in self.updates):
            phrases.append("tags")
        if self.destinations:
            phrases.append(f"deck to {', '.join(map(quoted, self.destinations))}")
        if any(update.images for update in self.updates):
            phrases.append("pictures")
        selection = notes.count_text(ids, "note") + confirm.examples_text(self.infos_before)
        return f"change {', '.join(phrases) or 'nothing'} of {selection}"

    def _new_names(self) -> JsonObject:
        """List the decks and tags that this call would make."""
        tags = set(chain.from_iterable(update.addTags for update in self.updates))
        existing = client.call("getTags")
        new_tags = sorted(tag for tag in tags if not note_input.find_name(tag, existing))
        new_decks = [
            name for name in self.destinations if not decks.existing_name(name, self.deck_ids)
        ]
        return filled(decks=new_decks, tags=new_tags)

    def _example(self, index: int, info: JsonObject) -> JsonObject:
        """Show the change of a note in the dry run, or the reason why there is none."""
        if index not in self.ready:
            return self.details[index]
        update = self.updates[index]
        new = self.ready[index].texts.values
        old = notes.values(info)
        return filled(
            noteId=update.noteId,
            text=notes.first_text(info),
            fields={
                name: replacing.differing_excerpts(old[name], text) for name, text in new.items()
            },
            addTags=update.addTags,
            removeTags=update.removeTags,
            deckName=update.deckName and [self.deck_of[info["cards"][0]], update.deckName],
        )

    # The texts are made from the note as it is now, so that they can be compared, counted and put back; a
    # deck or tag that it has already is left out, and the journal gets no entry for it.
    def prepare(self, index: int, update: NoteUpdate) -> NoteChange:
        note = update.noteId
        self.details[index]["noteId"] = note
        if note not in self.infos_before:
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
        info = self.infos_before[note]
        old_values = notes.values(info)
        new_values = replacing.new_values(update, old_values)
        first_field = next(iter(old_values))
        if first_field in new_values and not plain(new_values[first_field]):
            self.warnings.append(
                f"note {note} has nothing in its first field, {first_field}, after this"
            )
        self.warnings += [
            f"note {note}, {warning}" for warning in note_input.checked_clozes(new_values)
        ]
        images, unknown = note_input.aim_images(update.images, list(old_values))
        if unknown:
            raise ItemError(
                f"{note_input.UNKNOWN_TARGET}: {', '.join(unknown)[:80]}",
                f"target_field must be one of {', '.join(old_values)}.",
                "UNKNOWN_TARGET_FIELD",
            )
        # Deck and tags; Anki removes the tags below a tag with it.
        deck = update.deckName.strip()
        if deck:
            # One that Anki does not have yet is made by changeDeck, under any name that it gets.
            deck = decks.existing_name(deck, self.deck_ids) or decks.checked_name(deck)
        if {self.deck_of.get(card) for card in info["cards"]} == {deck}:
            deck = ""
        added = note_input.checked_tags(update.addTags)
        tags = list(map(str.casefold, [*info["tags"], *added]))
        unwanted = note_input.checked_tags(update.removeTags)
        removed = [tag for tag in unwanted if decks.below([tag.casefold()], tags)]
        texts = NewTexts(new_values, [], [])
        if not self.is_dry_run:
            texts = with_pictures(self.pictures, new_values, old_values, images)
        return self._change(info, texts, added, removed, deck)

    def _change(
        self, info: JsonObject, texts: NewTexts, added: Names, removed: Names, deck: str
    ) -> NoteChange:
        """Build the change of a note, and note the steps that take it back.

        - `info`: the note as it is; `texts`: its new texts, with pictures;
        - `added`, `removed`: tags; `deck`: the deck to move its cards into, empty if they stay.
        """
        note = info["noteId"]
        fields = texts.values
        steps = []
        if fields:
            self.weight = 1
            step = Step("notes", SET_FIELDS, {"fields": fields}, [note])
            steps.append(ReportedStep("updatedFields", list(fields), step))
            old = {name: notes.values(info)[name] for name in fields}
            self.restoring_steps.append(step._replace(params={"fields": old}))
        tag_changes = [("addedTags", "addTags", added), ("removedTags", "removeTags", removed)]
        for key, name, tags in tag_changes:
            if tags:
                step = Step("notes", name, {"tags": " ".join(tags)}, [note])
                steps.append(ReportedStep(key, tags, step))
        if added or removed:
            self.restoring_steps += journal.steps_to_tags({note: info["tags"]}, added)
        if deck:
            step = Step("cards", "changeDeck", {"deck": deck}, info["cards"])
            steps.append(ReportedStep("deckChangedTo", deck, step))
            for card in info["cards"]:
                self.moved_cards.setdefault(self.deck_of[card], []).append(card)
        return NoteChange(texts, steps)

    def send(self, part: list[int]) -> None:
        # Steps with the same key are one action: each takes some milliseconds, 290 with the Browser open,
        # however many notes it is for.
        steps: dict[str, Step] = {}
        for index in part:
            for _, _, step in self.ready[index].steps:
                steps.setdefault(_action_key(step), step._replace(ids=[])).ids.extend(step.ids)
        actions = chain.from_iterable(step.actions() for step in steps.values())
        answers = dict(zip(steps, client.multi(*actions), strict=True))
        for index in part:
            # An update of several steps fails with the refusal of one; the details name those that were made.
            change = self.ready[index]
            refusal = None
            detail: JsonObject = {}
            for key, value, step in change.steps:
                answer = answers[_action_key(step)]
                if isinstance(answer, Refused):
                    refusal = answer
                else:
                    detail[key] = value
            detail.update(change.texts.detail())
            if refusal:
                self.set_failed(index, refusal, **detail)
            else:
                self.set_detail(index, "ok", **detail)

    def end(self) -> None:
        """Fail each `ok` update whose texts the note does not have. One request.

        AnkiConnect answers null to updateNoteFields even if it changed nothing, as with a note open in Anki's
        Browser. The editor there may yet overwrite the change of a selected note.
        """
        ok_indexes = self.indexes_with("ok")
        if not ok_indexes or self.weight == TOGETHER:  # no text was changed
            return
        # Read the notes again, once the Browser's editor has saved its own texts.
        try:
            (selected,) = client.multi(action("guiSelectedNotes"))
            if isinstance(selected, list) and self.infos_before.keys() & selected:
                time.sleep(EDITOR_S)
            infos = notes.by_id(list(self.infos_before))
        except ToolError as error:
            self.warnings.append(f"not read back: {error.message}")
            return
        # Compare them with what was sent.
        for index in ok_indexes:
            info = infos.get(self.updates[index].noteId)
            texts = notes.values(info) if info else {}
            unchanged = [
                name
                for name, new_text in self.ready[index].texts.values.items()
                if as_anki_keeps(texts.get(name, "")) != as_anki_keeps(new_text)
            ]
            if unchanged:
                del self.details[index]["updatedFields"]
                self.set_failed(
                    index,
                    ItemError(
                        f"{', '.join(unchanged)} is not as it was sent: is the note open in Anki's Browser, or "
                        "twice in this call?",
                        "Close the Browser, or select another note in it, then call again.",
                        "UNCHANGED",
                    ),
                )


def _action_key(step: Step) -> str:
    """Key of a step's action; steps with the same key share one. The texts of a note share none."""
    return repr(id(step) if step.action == SET_FIELDS else step[:3])
