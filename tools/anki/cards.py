"""The tool that changes the cards or notes of a search: counted first, recorded, then changed in parts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from tools.toolkit import JsonObject, Limits, Tool, ToolError, filled, quoted

from . import client, confirm, decks, journal, notes
from .batch import TOGETHER, timed_parts
from .client import Action, Ids, Unanswered, action, card_search, note_search
from .journal import FLAGS, SET_VALUE, SUSPENSIONS, JournalEntry, Step
from .note_input import Names, checked_tags
from .studying.review_log import MATURE_DAYS

# Weights of cards and notes in actions that AnkiConnect carries out one by one.
WEIGHTS = {SET_VALUE: 1, "replaceTags": 0.2}


@Tool("anki.change_cards", write=True, destructive=True, lock=False)
def change_cards(
    query: Annotated[str, "or cardIds, noteIds"] = "",
    cardIds: Ids | None = None,
    noteIds: Ids | None = None,
    suspend: bool = False,
    unsuspend: bool = False,
    due: Annotated[str, "in days: 0, 3-7; 3! sets the interval"] = "",
    forget: bool = False,
    deck: str = "",
    flag: Annotated[int | None, Limits(ge=0, le=7)] = None,
    addTags: Names | None = None,
    removeTags: Names | None = None,
    renameTag: Annotated[Names | None, "[old, new]"] = None,
    dryRun: bool = True,
    expected: Annotated[int | None, "the dry run's count"] = None,
) -> JsonObject:
    """Change many cards, or tags of their notes. First dry: {count, of, before, examples}; then, if the
    person agrees, with dryRun false and expected = count: {changed, of, before, after}.

    Source: AnkiConnect suspend, unsuspend, setDueDate, forgetCards, changeDeck, setSpecificValueOfCard,
    addTags, removeTags, replaceTags.
    """
    adding = checked_tags(addTags or [])
    removing = checked_tags(removeTags or [])
    renaming = checked_tags(renameTag or [])
    changes = list(_card_changes(forget, due, unsuspend, suspend, deck, flag))
    # If tags are only taken away, notes that do not have them do not count.
    tag_searches = []
    if not changes and not adding:
        tag_searches = [*map(_tag_search, removing), *map(_exact_tag_search, renaming[:1])]
    changes += _tag_changes(adding, removing, renaming)
    if not changes:
        raise _invalid(
            "There is nothing to change",
            "Give suspend, unsuspend, due, forget, deck, flag or tags.",
        )
    selection = _selection(query, {"cid": cardIds, "nid": noteIds}, tag_searches)
    bulk_change = BulkChange(changes, selection, adding + renaming[1:], removing)
    return bulk_change.dry_run() if dryRun else bulk_change.run(expected)


class Change(NamedTuple):
    """A change that a call asks for: its label, its action, and the query for those that already have it."""

    label: str
    action: str
    params: JsonObject
    done_query: str
    kind: str = "cards"


def _card_changes(
    forget: bool, due: str, unsuspend: bool, suspend: bool, deck: str, flag: int | None
) -> Iterator[Change]:
    """Changes of cards, in the order in which they are made."""
    # The schedule: forgetting a card takes back its due date, and both wake a suspended card.
    if forget:
        yield Change("forget", "forgetCards", {}, "is:new")
    if due:
        yield Change(f"due {due}", "setDueDate", {"days": due}, _due_in(due))
    if unsuspend:
        yield Change("unsuspend", "unsuspend", {}, "-is:suspended")
    if suspend:
        yield Change("suspend", "suspend", {}, "is:suspended")
    # Deck and flag, which leave the schedule as it is.
    if deck:
        name = decks.escaped(deck)
        query = f'deck:"{name}" -deck:"{name}::*"'
        yield Change(f"deck {quoted(deck)}", "changeDeck", {"deck": deck}, query)
    if flag is not None:
        params = {"keys": ["flags"], "newValues": [flag]}
        yield Change(f"flag {flag}", SET_VALUE, params, f"flag:{flag}")


def _tag_changes(adding: Names, removing: Names, renaming: Names) -> Iterator[Change]:
    """Changes of tags, in the order in which they are made. `renaming`: the old tag and the new one."""
    if adding:
        tags = " ".join(adding)
        query = " ".join(map(_exact_tag_search, adding))
        yield Change(f"addTags {quoted(tags)}", "addTags", {"tags": tags}, query, "notes")
    if removing:
        tags = " ".join(removing)
        query = f"-({' or '.join(map(_tag_search, removing))})"
        yield Change(f"removeTags {quoted(tags)}", "removeTags", {"tags": tags}, query, "notes")
    if renaming:
        if not len(renaming) == len(set(map(str.casefold, renaming))) == 2:
            raise _invalid(
                "renameTag takes two tags", "Give [old, new]; they must differ in more than case."
            )
        old, new = renaming
        label = f"renameTag {quoted(f'{old} {new}')}"
        params = {"tag_to_replace": old, "replace_with_tag": new}
        yield Change(label, "replaceTags", params, f"-{_exact_tag_search(old)}", "notes")


def _selection(query: str, ids_by_kind: dict[str, Ids | None], tag_searches: Names) -> str:
    """Query for the cards or notes that a call names, if one of `tag_searches` finds them too.

    Raises ToolError INVALID_ARGUMENTS unless they are named in one way, or only by tags.
    """
    notes.refuse_unquoted_names(query)
    searches = [client.ids_query(kind, ids) for kind, ids in ids_by_kind.items() if ids]
    if query:
        searches.append(f"({query})")
    having_tags = ""
    if tag_searches:
        having_tags = f" ({' or '.join(tag_searches)})"
        searches = searches or ["deck:*"]
    if len(searches) != 1:
        raise _invalid(
            "Name the cards by one of query, cardIds, noteIds", "The query deck:* finds every card."
        )
    return searches[0] + having_tags


def _due_in(due: str) -> str:
    """Query for the cards that are due in so many days."""
    # As Anki takes them: 0 for today, 3-7 for one of these days, ! to set the interval too.
    days = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?!?", due)
    first, last = map(int, days.groups(days[1])) if days else (1, 0)
    if first > last:
        raise _invalid(
            f"due: {due[:80]!r} is not a number of days",
            "Give days from today: 0, 3, 3-7; 3! sets the interval too.",
        )
    interval = f"prop:ivl>={first or 1} prop:ivl<={last or 1}" if due.endswith("!") else "-is:new"
    return f"-is:suspended -is:new prop:due>={first} prop:due<={last} {interval}"


def _invalid(problem: str, hint: str) -> ToolError:
    return ToolError(f"{problem}. Nothing was changed", hint, "INVALID_ARGUMENTS")


def _tag_search(tag: str) -> str:
    """Query for notes with a tag, or with one below it, which Anki removes with it."""
    return f'"tag:{decks.escaped(tag)}"'


def _exact_tag_search(tag: str) -> str:
    """Query for notes with exactly this tag: Anki renames no others."""
    pattern = re.escape(tag).replace('"', '\\"')
    return f'"tag:re:^{pattern}$"'


@dataclass
class BulkChange:
    """Changes of the cards or notes that a query, `selection`, finds. `added`, `removed`: tags.

    `_find_selection` sets the `profile` that is open; `cards` and `notes`; `ids`, those of the two that are
    counted, and `count`, their number in words; the cards `studied` and `mature`; `counts_before`, for the
    label of each change, how many already have it.
    """

    changes: list[Change]
    selection: str
    added: Names
    removed: Names

    def __post_init__(self) -> None:
        self.actions = {change.action for change in self.changes}
        self.kind = min(change.kind for change in self.changes)  # cards, if any
        self.labels = [change.label for change in self.changes]
        self.summary = ", ".join(self.labels)

    def dry_run(self) -> JsonObject:
        """Count the cards or notes that would change, with examples. `before`: how many already have each
        change."""
        answer = {
            "dryRun": True,
            "count": len(self._find_selection()),
            "of": self.kind,
            "before": self.counts_before,
        }
        examples = notes.examples(notes.by_id(sorted(self.notes)[: notes.MOST_EXAMPLES]))
        return answer | examples | filled(warnings=list(self._warnings()))

    def run(self, expected: int | None) -> JsonObject:
        with confirm.agreed(self._find_selection, self._describe, expected, needs_expected=True):
            answer = {
                "changed": 0,
                "of": self.kind,
                "before": self.counts_before,
                "after": self.counts_before,
            }
            # A call made again after a lost answer finds everything changed already.
            if set(self.counts_before.values()) == {len(self.ids)}:
                return answer
            entry = self._way_back()
            summary = f"{self.count} changed: {self.summary}"
            journal.write("change_cards", summary, f"the {self.count}", entry)
            answer.update(changed=len(self.ids), after=self._make_changes())
            return answer | filled(warnings=entry.warnings)

    def _describe(self, ids: Ids) -> str:
        """Describe the changes to the person; empty if there is nothing to change."""
        text = f"change {self.count} of {quoted(self.selection, 200)}: {self.summary}"
        return text if ids else ""

    def _warnings(self) -> Iterator[str]:
        if "forgetCards" in self.actions:
            count = notes.count_text(self.studied, "card")
            text = f"{count} lose their intervals, {len(self.mature)} of these of 3 weeks or more"
            yield f"{text}; anki_restore puts them back"
        new = len(self.cards) - len(self.studied)
        if "setDueDate" in self.actions and new:
            yield f"{new} new cards become review cards"
        for tag in self.removed:
            query = f'{self.selection} "tag:{decks.escaped(tag)}::*"'
            if below := client.call("findNotes", query=query):
                count = notes.count_text(below, "note")
                yield f"{tag} goes with the tags below it, {tag}::*, of {count}"
        if {"changeDeck", SET_VALUE} & self.actions:
            yield "it empties Anki's undo list (Ctrl+Z); anki_restore puts back"

    def _find_selection(self) -> Ids:
        """Find the cards and notes to change, and count those that already have each change. One request."""
        answers = client.with_profile(
            action("deckNamesAndIds"),
            card_search(self.selection),
            note_search(self.selection),
            card_search(f"{self.selection} -is:new"),
            card_search(f"{self.selection} prop:ivl>={MATURE_DAYS}"),
            *self._done_searches(self.selection),
        )
        self.profile, deck_ids, self.cards, self.notes, *answers = client.unrefused(answers)
        self.studied, self.mature, *matches = answers
        for change in self.changes:
            if deck := change.params.get("deck"):
                change.params["deck"] = decks.existing_name(deck, deck_ids)
                if change.params["deck"] is None:  # changeDeck would make it
                    raise decks.not_found([deck], deck_ids)
        self.counts_before = dict(zip(self.labels, map(len, matches)))
        self.ids = self.cards if self.kind == "cards" else self.notes
        self.count = notes.count_text(self.ids, self.kind[:-1])
        return self.ids

    def _done_searches(self, selection: str) -> list[Action]:
        """Build the searches for those of a selection that already have each change."""
        search = card_search if self.kind == "cards" else note_search
        return [search(f"{selection} {change.done_query}") for change in self.changes]

    def _make_changes(self) -> dict[str, int]:
        """Make the changes; count how many have each of them now."""
        ids = {"cards": self.cards, "notes": self.notes}
        total = sum(len(ids[change.kind]) for change in self.changes)
        done = 0
        try:
            for change in self.changes:
                weight = WEIGHTS.get(change.action, TOGETHER)
                work = f"changing {self.kind}"
                for part in timed_parts(ids[change.kind], work, weight, earlier=done, total=total):
                    actions = Step(change.kind, change.action, change.params, part).actions()
                    client.results(*actions, client.REDRAW)
                    done += len(part)
            selection = client.ids_query(f"{self.kind[0]}id", self.ids)
            matches = client.results(*self._done_searches(selection))
            return dict(zip(self.labels, map(len, matches)))
        except ToolError as error:
            remainder = "the rest is not"
            if isinstance(error, Unanswered):
                remainder = "the part after them may be made too"
            error.message += f". {done} of {total} changes are made, {remainder}"
            error.data["before"] = self.counts_before
            error.hint += (
                " Make the dry run again: it counts what there is now. anki_restore puts back."
            )
            raise

    def _way_back(self) -> JournalEntry:
        """Build the journal's entry, with warnings about changes that cannot be put back."""
        entry = JournalEntry(self.profile)
        if self.added or self.removed:
            tags = {note: info["tags"] for note, info in notes.in_parts(self.notes)}
            entry.steps += journal.steps_to_tags(tags, self.added)
        if "changeDeck" in self.actions:
            entry.steps += journal.steps_to_decks(client.call("getDecks", cards=self.cards))
        if SET_VALUE in self.actions:
            entry.steps += journal.steps_to_states(self.cards, FLAGS)
        if self.actions & {"setDueDate", "forgetCards"}:
            borrowed = set(self.cards)
            for info in journal.cards_in_own_deck(client.ids_query("cid", self.cards)):
                borrowed.discard(info["cardId"])
                schedule = journal.schedule_params(info)
                entry.steps.append(Step("cards", SET_VALUE, schedule, [info["cardId"]]))
            if borrowed:
                count = notes.count_text(borrowed, "card")
                entry.warnings.append(
                    f"the schedule of {count} cannot be put back: a filtered deck has borrowed them"
                )
            entry.warnings.append(
                "anki_restore puts schedules back; with FSRS, Anki recomputes its memory state at the next answer"
            )
        elif self.actions & {"suspend", "unsuspend"}:
            entry.steps += journal.steps_to_states(self.cards, SUSPENSIONS)
        return entry
