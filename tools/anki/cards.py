"""The tool that changes everything a search finds: counted first, put on record, then changed in parts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from tools.anki import card_states, client, confirm, decks, journal, note_input, notes
from tools.anki.batch import TOGETHER, Parts
from tools.anki.card_text import card_row
from tools.anki.client import Action
from tools.anki.journal import SET_VALUE, Entry, Step
from tools.anki.replies import Unanswered
from tools.anki.studying.review_log import MATURE_DAYS
from tools.core import calls
from tools.core.errors import ToolError, quoted
from tools.core.json_types import JsonObject, filled
from tools.core.schema import Limits
from tools.core.tool import Tool

# Days from today as Anki takes them: 0 for today, 3-7 for one of these days, ! to set the interval too.
DAYS = re.compile(r"(?P<first>\d{1,4})(-(?P<last>\d{1,4}))?!?")

LONGEST_QUESTION = 60
WEIGHTS = {SET_VALUE: 1, "replaceTags": 0.2}
"""Weights of cards and notes in actions that AnkiConnect carries out one by one."""

MEMORY = (
    "the schedule is back; with FSRS, Anki works out the memory of forgotten cards again at their next answer"
)
AGAIN = "Make the dry run again: it counts what there is now. anki_restore puts back."


@Tool("anki.change_cards", write=True, destructive=True, lock=False)
def change_cards(
    query: Annotated[str, "or cardIds, noteIds"] = "",
    cardIds: list[int] | None = None,
    noteIds: list[int] | None = None,
    suspend: bool | None = None,
    unsuspend: bool | None = None,
    due: Annotated[str, "in days: 0, 3-7; 3! sets the interval"] = "",
    forget: bool | None = None,
    deck: str = "",
    flag: Annotated[int | None, Limits(ge=0, le=7)] = None,
    addTags: list[str] | None = None,
    removeTags: list[str] | None = None,
    renameTag: Annotated[list[str] | None, "[old, new]"] = None,
    dryRun: bool = True,
    expected: Annotated[int | None, "the dry run's count"] = None,
) -> JsonObject:
    """Change many cards, or tags of their notes. First dry: {count, of, before, examples}; then, if the
    person agrees, with dryRun false and expected = count: {changed, of, before, after}.

    Source: AnkiConnect suspend, unsuspend, setDueDate, forgetCards, changeDeck, setSpecificValueOfCard,
    addTags, removeTags, replaceTags.
    """
    tags = (addTags or [], removeTags or [], renameTag or [])
    request = Request(suspend, unsuspend, due.strip(), forget, deck.strip(), flag, *tags)
    request.check()
    selections = [f"({query.strip()})"] if query.strip() else []
    for name, ids in (("cid", cardIds), ("nid", noteIds)):
        if ids:
            selections.append(f"{name}:{','.join(map(str, ids))}")
    tagged = request.tagged()
    if not selections and tagged:
        selections = ["deck:*"]
    if len(selections) != 1:
        problem = "Name the cards by one of query, cardIds, noteIds"
        raise _wrong(problem, "The query deck:* finds every card.")
    bulk_change = BulkChange(request, f"{selections[0]} {tagged}".strip())
    return bulk_change.dry_run() if dryRun else bulk_change.run(expected)


class Measure(NamedTuple):
    """A search that counts, before a change and after it. Once the change is made it finds all, or none by
    its goal."""

    name: str
    search: str
    goal: bool | None = True


SUSPENDED = Measure("suspended", "is:suspended")
AWAKE = Measure("suspended", "is:suspended", goal=False)
NEW = Measure("new", "is:new")


class Change(NamedTuple):
    """One of the asked changes: in words, as a step, and the measures that show how much of it is made."""

    words: str
    of: str
    action: str
    more: JsonObject
    measures: list[Measure]


@dataclass(frozen=True)
class Request:
    """The changes that a call asks for, as it named them."""

    suspend: bool | None
    unsuspend: bool | None
    due: str
    forget: bool | None
    deck: str
    flag: int | None
    addTags: list[str]
    removeTags: list[str]
    renameTag: list[str]

    def tagged(self) -> str:
        """The query for the notes that it changes, if it does nothing but take tags away or rename one."""
        if any(change.action not in ("removeTags", "replaceTags") for change in self.changes()):
            return ""
        tags = self.removeTags + self.renameTag[:1]
        searches = [measure.search for measure in _tagged(None, *tags)]
        return f"({' or '.join(searches)})"

    def check(self) -> None:
        """Raise ToolError for what Anki would take for something else, or that makes no sense together."""
        days = DAYS.fullmatch(self.due)
        rename = self.renameTag
        if self.suspend and (self.unsuspend or self.due):
            raise _wrong(
                "suspend does not go with unsuspend or due", "Give one of them: a due date wakes cards."
            )
        if self.due and not (days and int(days["first"]) <= int(days["last"] or days["first"])):
            hint = "Give days from today: 0, 3, 3-7; 3! sets the interval too."
            raise _wrong(f"due: {self.due[:80]!r} is not a number of days", hint)
        if rename and not len(rename) == len({tag.casefold() for tag in rename}) == 2:
            raise _wrong(
                "renameTag takes two tags", "Give [old, new]; to Anki they must differ in more than case."
            )
        note_input.checked_tags(self.addTags + self.removeTags + rename)
        if not self.changes():
            raise _wrong(
                "There is nothing to change", "Give suspend, unsuspend, due, forget, deck, flag or tags."
            )

    def changes(self) -> list[Change]:
        """The asked changes in the order in which they are made; of measures with one name the last counts."""
        changes = []
        if self.forget:
            changes.append(Change("forget", "cards", "forgetCards", {}, [NEW]))
        if days := DAYS.fullmatch(self.due):
            search = f"prop:due>={int(days['first'])} prop:due<={int(days['last'] or days['first'])}"
            measures = [AWAKE, Measure(f"due in {self.due} days", search), NEW._replace(goal=False)]
            changes.append(Change(f"due {self.due}", "cards", "setDueDate", {"days": self.due}, measures))
        if self.unsuspend:
            changes.append(Change("unsuspend", "cards", "unsuspend", {}, [AWAKE]))
        if self.suspend:
            changes.append(Change("suspend", "cards", "suspend", {}, [SUSPENDED]))
        if self.deck:
            measure = Measure(f"in {self.deck}", f'deck:"{decks.quoted(self.deck)}"')
            words = f"deck {quoted(self.deck)}"
            changes.append(Change(words, "cards", "changeDeck", {"deck": self.deck}, [measure]))
        if self.flag is not None:
            words = f"flag {self.flag}"
            more = {"keys": ["flags"], "newValues": [self.flag]}
            changes.append(Change(words, "cards", SET_VALUE, more, [Measure(words, f"flag:{self.flag}")]))
        if tags := " ".join(self.addTags):
            measures = _tagged(True, *self.addTags)
            changes.append(Change(f"addTags {quoted(tags)}", "notes", "addTags", {"tags": tags}, measures))
        if tags := " ".join(self.removeTags):
            below = [f"{tag}::*" for tag in self.removeTags]
            measures = _tagged(False, *self.removeTags, *below)
            words = f"removeTags {quoted(tags)}"
            changes.append(Change(words, "notes", "removeTags", {"tags": tags}, measures))
        if self.renameTag:
            old, new = self.renameTag
            more = {"tag_to_replace": old, "replace_with_tag": new}
            words = f"renameTag {quoted(f'{old} {new}')}"
            measures = [*_tagged(False, old), *_tagged(None, new)]
            changes.append(Change(words, "notes", "replaceTags", more, measures))
        return changes


def _wrong(problem: str, hint: str) -> ToolError:
    return ToolError(f"{problem}. Nothing was changed", hint, code="INVALID_ARGUMENTS")


def _tagged(goal: bool | None, *tags: str) -> list[Measure]:
    """The measures of tags; a `*` at the end of one stays a wildcard."""
    measures = []
    for tag in tags:
        search = decks.quoted(tag)
        if tag.endswith("*"):
            search = search.removesuffix("\\*") + "*"
        measures.append(Measure(f"tag {tag}", f'"tag:{search}"', goal))
    return measures


class BulkChange:
    """One change of what a search finds."""

    def __init__(self, request: Request, selection: str):
        self.request = request
        self.selection = selection
        self.changes = request.changes()
        self.of = min(change.of for change in self.changes)  # cards, if any
        self.measures: dict[str, Measure] = {}
        for change in self.changes:
            self.measures.update({measure.name: measure for measure in change.measures})

    def run(self, expected: int | None) -> JsonObject:
        with confirm.agreed(self._look, set, self._words, expected, demanded=True):
            if self._is_made():  # a call made again, after a lost answer: it has nothing to put back
                return {"changed": 0, "of": self.of, "before": self.before, "after": self.before}
            return self._carry_out()

    def _words(self, ids: list[int]) -> str:
        count = notes.counted(len(ids), self.of[:-1])
        return f"change {count} of {quoted(self.selection, 200)}: {self._summary()}" if ids else ""

    def _summary(self) -> str:
        return ", ".join(change.words for change in self.changes)

    def dry_run(self) -> JsonObject:
        """The count of what it would change, with some examples."""
        count = len(self._look())
        infos = client.call("cardsInfo", cards=sorted(self.cards)[: notes.EXAMPLES]) if self.cards else []
        examples = []
        for info in filter(None, infos):
            row = card_row(info, LONGEST_QUESTION)
            examples.append({"cardId": row["cardId"], "deck": row["deck"], "question": row["question"]})
        answer = {"dryRun": True, "count": count, "of": self.of, "before": self.before, "examples": examples}
        return {**answer, **filled(warnings=list(self._warnings()))}

    def _warnings(self) -> Iterator[str]:
        if self.request.forget:
            studied, mature = client.results(
                ("findCards", {"query": f"{self.selection} -is:new"}),
                ("findCards", {"query": f"{self.selection} prop:ivl>={MATURE_DAYS}"}),
            )
            count = notes.counted(len(studied), "card")
            yield f"the intervals of {count} go, {len(mature)} of them of 3 weeks or more; anki_restore puts back"
        if self.request.due and self.before["new"]:
            yield f"{self.before['new']} new cards become review cards"
        for tag in self.request.removeTags:
            if below := self.before[f"tag {tag}::*"]:
                yield f"{tag} goes with the tags below it, {tag}::*, of {below} {self.of}"
        if self.request.deck or self.request.flag is not None:
            yield "it empties Anki's undo list (Ctrl+Z); anki_restore puts back"

    def _look(self) -> list[int]:
        """The ids that the search finds; counts how much of them is changed already. One request."""
        profile, *results = client.multi(
            client.PROFILE,
            ("deckNamesAndIds", {}),
            ("findCards", {"query": self.selection}),
            ("findNotes", {"query": self.selection}),
            *self._measuring(self.selection),
        )
        self.profile = client.profile(profile)
        deck_ids, self.cards, self.notes, *measured = client.whole(results)
        for change in self.changes:
            if change.action == "changeDeck":
                change.more["deck"] = decks.spelled_by_anki(self.request.deck, deck_ids)
                if change.more["deck"] is None:  # changeDeck would make it
                    raise decks.not_found([self.request.deck], deck_ids)
        self.before = self._counts(measured)
        self.ids = self.cards if self.of == "cards" else self.notes
        return self.ids

    def _is_made(self) -> bool:
        if "!" in self.request.due:  # no search finds intervals that were set
            return not self.ids
        for measure in self.measures.values():
            goal = len(self.ids) if measure.goal else 0
            if measure.goal is not None and self.before[measure.name] != goal:
                return False
        return True

    def _measuring(self, selection: str) -> list[Action]:
        action = "findCards" if self.of == "cards" else "findNotes"
        return [(action, {"query": f"{selection} {measure.search}"}) for measure in self.measures.values()]

    def _counts(self, measured: list[list[int]]) -> dict[str, int]:
        return dict(zip(self.measures, map(len, measured), strict=True))

    def _carry_out(self) -> JsonObject:
        entry, warnings = self._way_back()
        count = notes.counted(len(self.ids), self.of[:-1])
        journal.write("change_cards", f"{count} changed: {self._summary()}", entry)
        ids = {"cards": self.cards, "notes": self.notes}
        selection = f"{'cid' if self.of == 'cards' else 'nid'}:{','.join(map(str, self.ids))}"
        measuring = self._measuring(selection)
        total = sum(len(ids[change.of]) for change in self.changes)
        done = 0
        try:
            for change in self.changes:
                weight = WEIGHTS.get(change.action, TOGETHER)
                for part in Parts(ids[change.of], weight):
                    calls.checkpoint()
                    actions = Step(change.of, change.action, change.more, part).actions()
                    results = client.results(*actions, client.REDRAW, *measuring)
                    done += len(part)
                    calls.report(done, total, f"changing {self.of}")
        except ToolError as error:
            rest = "the rest is not"
            if isinstance(error, Unanswered):
                rest = "the part after them may be made too"
            error.message += f". {done} of {total} changes are made, {rest}"
            error.data["before"] = self.before
            error.hint += f" {AGAIN}"
            raise
        after = self._counts(results[len(actions) + 1 :])
        answer = {"changed": len(self.ids), "of": self.of, "before": self.before, "after": after}
        return {**answer, **filled(warnings=warnings)}

    def _way_back(self) -> tuple[Entry, list[str]]:
        """The entry of the journal, and what cannot be put back."""
        request = self.request
        entry = Entry(profile=self.profile)
        warnings = []
        if any(change.of == "notes" for change in self.changes):
            tags = {note: info["tags"] for note, info in notes.in_parts(self.notes)}
            entry.steps += journal.tagged_again(tags, [*request.addTags, *request.renameTag[1:]])
        if request.deck:
            for deck, cards in client.call("getDecks", cards=self.cards).items():
                entry.steps.append(Step("cards", "changeDeck", {"deck": deck}, cards))
        if request.flag is not None:
            entry.steps += card_states.flagged_again(self.cards)
        if request.due or request.forget:
            schedules = card_states.scheduled_again(self.cards)
            entry.steps += schedules
            entry.warnings.append(MEMORY)
            if lost := len(self.cards) - len(schedules):
                count = notes.counted(lost, "card")
                warnings.append(
                    f"the schedule of {count} cannot be put back: a filtered deck has borrowed them"
                )
        elif request.suspend or request.unsuspend:
            entry.steps += card_states.suspended_again(self.cards)
        return entry, warnings
