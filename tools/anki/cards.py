"""The tool that changes everything a search finds: counted first, put on record, then changed in parts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from tools.anki import card_states, client, confirm, decks, journal, note_input, notes
from tools.anki.batch import Parts
from tools.anki.card_text import card_row
from tools.anki.client import Action
from tools.anki.journal import SET_VALUE, Entry, Step
from tools.anki.replies import Unanswered
from tools.anki.studying.review_log import MATURE_DAYS
from tools.core import calls
from tools.core.errors import ToolError, quoted
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool

# Days from today as Anki takes them: 0 for today, 3-7 for one of these days, ! to set the interval too.
DAYS = re.compile(r"(?P<first>\d{1,4})(-(?P<last>\d{1,4}))?!?")

LONGEST_QUESTION = 60
TOGETHER = 0.02
WEIGHTS = {SET_VALUE: 1, "replaceTags": 0.2}
"""Cost per card or note: of bulk actions, and of those that AnkiConnect runs item by item."""

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
    ways = [
        f"({query.strip()})" if query.strip() else "",
        f"cid:{','.join(map(str, cardIds))}" if cardIds else "",
        f"nid:{','.join(map(str, noteIds))}" if noteIds else "",
    ]
    tags = (addTags or [], removeTags or [], renameTag or [])
    change = CardChange(suspend, unsuspend, due.strip(), forget, deck.strip(), flag, *tags)
    change.check()
    chosen = [way for way in ways if way]
    if not chosen and change.tagged():
        chosen = ["deck:*"]
    if len(chosen) != 1:
        problem = "Name the cards by one of query, cardIds, noteIds. Nothing was changed"
        hint = "The query deck:* finds every card."
        raise ToolError(problem, hint, code="INVALID_ARGUMENTS")
    bulk_change = BulkChange(change, f"{chosen[0]} {change.tagged()}".strip())
    return bulk_change.dry_run() if dryRun else bulk_change.run(expected)


class Measure(NamedTuple):
    """A search that counts, before a change and after it. Once the change is made it finds all, or none by
    its goal."""

    name: str
    search: str
    goal: bool | None = True


SUSPENDED = Measure("suspended", "is:suspended")
NEW = Measure("new", "is:new")


@dataclass(frozen=True)
class CardChange:
    """The changes that a call asks for, as it named them."""

    suspend: bool | None = None
    unsuspend: bool | None = None
    due: str = ""
    forget: bool | None = None
    deck: str = ""
    flag: int | None = None
    addTags: list[str] = field(default_factory=list)
    removeTags: list[str] = field(default_factory=list)
    renameTag: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        parts = []
        for name, value in vars(self).items():
            if value is True:
                parts.append(name)
            elif isinstance(value, list) and value:
                parts.append(f"{name} {quoted(' '.join(value))}")
            elif isinstance(value, str) and value:
                parts.append(f"{name} {quoted(value)}")
            elif name == "flag" and value is not None:
                parts.append(f"{name} {value}")
        return ", ".join(parts)

    def tagged(self) -> str:
        """The query for the notes that it changes, if it does nothing but take tags away or rename one."""
        others = CardChange(removeTags=self.removeTags, renameTag=self.renameTag)
        tags = [*self.removeTags, *self.renameTag[:1]]
        if not tags or self != others:
            return ""
        searches = [measure.search for measure in _tagged(None, *tags)]
        return f"({' or '.join(searches)})"

    def check(self) -> None:
        """Raise ToolError for what Anki would take for something else, or that makes no sense together."""
        days = DAYS.fullmatch(self.due)
        rename = self.renameTag
        if not self.summary:
            raise _wrong(
                "There is nothing to change", "Give suspend, unsuspend, due, forget, deck, flag or tags."
            )
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
        note_input.checked_tags([*self.addTags, *self.removeTags, *rename])

    def steps(self) -> list[tuple[Step, list[Measure]]]:
        """The asked changes in the order in which they are made, without ids, each with the measures that show how
        much is made; of measures with one name the last counts."""
        days = DAYS.fullmatch(self.due)
        span = (
            f"prop:due>={int(days['first'])} prop:due<={int(days['last'] or days['first'])}" if days else ""
        )
        awake = SUSPENDED._replace(goal=False)
        no_longer_new = NEW._replace(goal=False)
        in_days = Measure(f"due in {self.due} days", span)
        in_deck = Measure(f"in {self.deck}", f'deck:"{decks.quoted(self.deck)}"')
        flag = {"keys": ["flags"], "newValues": [self.flag]}
        removed = [tag for name in self.removeTags for tag in (name, f"{name}::*")]
        old, new = self.renameTag or ("", "")
        rename = {"tag_to_replace": old, "replace_with_tag": new}
        flagged = Measure(f"flag {self.flag}", f"flag:{self.flag}")
        renamed = [*_tagged(False, old), *_tagged(None, new)]
        every: list[tuple[object, str, str, JsonObject, list[Measure]]] = [
            (self.forget, "cards", "forgetCards", {}, [NEW]),
            (self.due, "cards", "setDueDate", {"days": self.due}, [awake, in_days, no_longer_new]),
            (self.unsuspend, "cards", "unsuspend", {}, [awake]),
            (self.suspend, "cards", "suspend", {}, [SUSPENDED]),
            (self.deck, "cards", "changeDeck", {"deck": self.deck}, [in_deck]),
            (self.flag is not None, "cards", SET_VALUE, flag, [flagged]),
            (
                self.addTags,
                "notes",
                "addTags",
                {"tags": " ".join(self.addTags)},
                _tagged(True, *self.addTags),
            ),
            (removed, "notes", "removeTags", {"tags": " ".join(self.removeTags)}, _tagged(False, *removed)),
            (old, "notes", "replaceTags", rename, renamed),
        ]
        steps = []
        for asked, of, action, more, measures in every:
            if asked:
                steps.append((Step(of, action, more, []), measures))
        return steps


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

    def __init__(self, change: CardChange, selection: str):
        self.change = change
        self.selection = selection
        self.steps = []
        measures = {}
        for step, its_measures in change.steps():
            self.steps.append(step)
            measures.update({measure.name: measure for measure in its_measures})
        self.measures = list(measures.values())
        self.of = "cards" if any(step.of == "cards" for step in self.steps) else "notes"

    def run(self, expected: int | None) -> JsonObject:
        with confirm.agreed(self._look, set, self._words, expected, demanded=True):
            if self._is_made():  # a call made again, after a lost answer: it has nothing to put back
                return {"changed": 0, "of": self.of, "before": self.before, "after": self.before}
            return self._carry_out()

    def _words(self, ids: list[int]) -> str:
        count = notes.counted(len(ids), self.of[:-1])
        return f"change {count} of {quoted(self.selection, 200)}: {self.change.summary}" if ids else ""

    def dry_run(self) -> JsonObject:
        """The count of what it would change, with some examples."""
        count = len(self._look())
        infos = client.call("cardsInfo", cards=sorted(self.cards)[: notes.EXAMPLES]) if self.cards else []
        examples = []
        for info in filter(None, infos):
            row = card_row(info, LONGEST_QUESTION)
            examples.append({"cardId": row["cardId"], "deck": row["deck"], "question": row["question"]})
        answer = {"dryRun": True, "count": count, "of": self.of, "before": self.before, "examples": examples}
        if warnings := list(self._warnings()):
            answer["warnings"] = warnings
        return answer

    def _warnings(self) -> Iterator[str]:
        if self.change.forget:
            studied, mature = client.results(
                ("findCards", {"query": f"{self.selection} -is:new"}),
                ("findCards", {"query": f"{self.selection} prop:ivl>={MATURE_DAYS}"}),
            )
            count = notes.counted(len(studied), "card")
            yield f"the intervals of {count} go, {len(mature)} of them of 3 weeks or more; anki_restore puts back"
        if self.change.due and self.before["new"]:
            yield f"{self.before['new']} new cards become review cards"
        for tag in self.change.removeTags:
            if below := self.before[f"tag {tag}::*"]:
                yield f"{tag} goes with the tags below it, {tag}::*, of {below} {self.of}"
        if self.change.deck or self.change.flag is not None:
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
        for step in self.steps:
            if step.action == "changeDeck":
                step.more["deck"] = decks.spelled_by_anki(self.change.deck, deck_ids)
                if step.more["deck"] is None:  # changeDeck would make it
                    raise decks.not_found([self.change.deck], deck_ids)
        self.before = self._counts(measured)
        self.ids = self.cards if self.of == "cards" else self.notes
        return self.ids

    def _is_made(self) -> bool:
        if "!" in self.change.due:  # no search finds intervals that were set
            return not self.ids
        counts = {True: len(self.ids), False: 0}
        goals = [measure for measure in self.measures if measure.goal is not None]
        return all(self.before[measure.name] == counts[bool(measure.goal)] for measure in goals)

    def _measuring(self, selection: str) -> list[Action]:
        action = "findCards" if self.of == "cards" else "findNotes"
        return [(action, {"query": f"{selection} {measure.search}"}) for measure in self.measures]

    def _counts(self, measured: list[list[int]]) -> dict[str, int]:
        return {measure.name: len(ids) for measure, ids in zip(self.measures, measured, strict=True)}

    def _carry_out(self) -> JsonObject:
        warnings = self._record()
        ids = {step.of: getattr(self, step.of) for step in self.steps}
        total = sum(map(len, ids.values()))
        done = 0
        selection = f"nid:{','.join(map(str, self.notes))}"
        if self.of == "cards":
            selection = card_states.search(self.cards)
        measuring = self._measuring(selection)
        try:
            for of, all_ids in ids.items():
                steps = [step for step in self.steps if step.of == of]
                weight = max(WEIGHTS.get(step.action, TOGETHER) for step in steps)
                for part in Parts(all_ids, weigh=dict.fromkeys(all_ids, weight).__getitem__):
                    calls.checkpoint()
                    actions: list[Action] = []
                    for step in steps:
                        actions += step._replace(ids=part).actions()
                    results = client.results(*actions, client.REDRAW, *measuring)
                    done += len(part)
                    calls.report(done, total, f"changing {self.of}")
        except ToolError as error:
            rest = (
                "the part after them may be changed too"
                if isinstance(error, Unanswered)
                else "the rest is not"
            )
            error.message += f". {done} of {total} are changed, {rest}"
            error.data["before"] = self.before
            error.hint += f" {AGAIN}"
            raise
        after = self._counts(results[len(actions) + 1 :])
        return {"changed": len(self.ids), "of": self.of, "before": self.before, "after": after, **warnings}

    def _record(self) -> dict[str, list[str]]:
        """Put on record what will be overwritten; what cannot be put back is a warning."""
        change = self.change
        entry = Entry(profile=self.profile)
        warnings = {}
        if any(step.of == "notes" for step in self.steps):
            tags = {note: info["tags"] for note, info in notes.in_parts(self.notes)}
            entry.steps += journal.tagged_again(tags, [*change.addTags, *change.renameTag[1:]])
        if change.deck:
            for deck, cards in client.call("getDecks", cards=self.cards).items():
                entry.steps.append(Step("cards", "changeDeck", {"deck": deck}, cards))
        if change.flag is not None:
            entry.steps += card_states.flagged_again(self.cards)
        if change.due or change.forget:
            schedules = card_states.scheduled_again(self.cards)
            entry.steps += schedules
            entry.warnings.append(MEMORY)
            if lost := len(self.cards) - len(schedules):
                count = notes.counted(lost, "card")
                text = f"the schedule of {count} cannot be put back: a filtered deck has borrowed them"
                warnings = {"warnings": [text]}
        elif change.suspend or change.unsuspend:
            entry.steps += card_states.suspended_again(self.cards)
        count = notes.counted(len(self.ids), self.of[:-1])
        journal.write("change_cards", f"{count} changed: {change.summary}", entry)
        return warnings
