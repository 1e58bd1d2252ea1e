"""Entries of a diff: a class per kind of change, with everything that is said about it.

Actions and undo make them; sentences and pages read their attributes. Only this file knows their keys in the
answers' JSON: the names of the attributes, unless `as_json` changes them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from tools.toolkit import JsonObject, filled

DIFF_SECTIONS = ("creates", "updates", "deletes", "completions")
# The entity of a kind that is none itself.
ENTITY_OF_KIND = {"inbox": "goal", "steps": "step", "mark": "habit"}
TITLE_KEYS = {"habit": "name", "mark": "name", "ssp": "category"}  # keys of the title
MOST_ROWS = 6  # moved steps that are named one by one


@dataclass(frozen=True)
class Thing:
    """The thing that a change is about.

    kind: goal, step, habit, diary, ssp or person; also inbox (the goal for errands), steps (several), mark.
    title: its title or name; the category of an ssp.
    id: none for what the same preview creates.
    goal_title: the goal of a step, or of steps that have one goal.
    dates: the days of marks, the day of a diary entry; ranges as 2026-11-16..2026-11-22.
    """

    kind: str
    title: str = ""
    id: int | None = None
    goal_title: str = ""
    dates: tuple[str, ...] = ()

    def as_json(self) -> JsonObject:
        members = filled(
            entity=ENTITY_OF_KIND.get(self.kind, self.kind),
            id=self.id,
            **{TITLE_KEYS.get(self.kind, "title"): self.title},
            goal_title=self.goal_title,
            dates=list(self.dates),
        )
        if len(self.dates) == 1:
            members["date"] = members.pop("dates")[0]
        return members


def target_of(row: Mapping[str, Any]) -> JsonObject | None:
    """Target of a row as tools and diffs show it; None if it has none."""
    values = dict(row)
    amount = values.get("target_amount")
    if amount is None:
        return None
    return {"at_most" if values.get("at_most") else "amount": amount, "unit": values["target_unit"]}


class Edit(NamedTuple):
    """A changed field. For a long text `changed_part` is what changed, and the values are its lengths."""

    before: Any
    after: Any
    changed_part: str = ""

    def as_json(self) -> JsonObject:
        return {"from": self.before, "to": self.after} | filled(place=self.changed_part)


@dataclass
class DiffEntry:
    """One change.

    xp_reward: the XP that it moves, None if it never moves any.
    count: how many things changed.
    values: the stored or deleted values by field.
    """

    thing: Thing
    xp_reward: int | None = None
    count: int = 1
    values: JsonObject = field(default_factory=dict)

    # The head of its sentence, by which entries are counted: its section, or `restored`.
    verb: ClassVar[str] = "updates"

    @property
    def section(self) -> str:
        """Section of the diff that it stands in."""
        return "creates" if self.verb == "restored" else self.verb

    def as_json(self) -> JsonObject:
        """Every attribute that is not empty, as the tools show it."""
        members = self.thing.as_json() | self.values
        for name, value in vars(self).items():
            usual = getattr(type(self), name, None)
            if name not in ("thing", "values") and value not in (usual, [], {}):
                members[name] = value
        return members

    def things(self) -> Counter[str]:
        """Number of changed things by kind."""
        return Counter({"step" if self.thing.kind == "steps" else self.thing.kind: self.count})


@dataclass
class Created(DiffEntry):
    """Something new. steps: the steps created with it, or as it."""

    steps: Sequence[JsonObject] = ()
    verb = "creates"

    def as_json(self) -> JsonObject:
        members = super().as_json()
        if self.steps:
            members["rows"] = list(map(_step_row, members.pop("steps")))
        return members

    def things(self) -> Counter[str]:
        steps = Counter(step=len(self.steps))
        return steps if self.thing.kind == "steps" else super().things() + steps


def _step_row(step: JsonObject) -> list[Any]:
    """Values of a step in a list, without the usual ones at the end."""
    row = list(step.values())
    while row[-1] in (None, "attention"):
        row.pop()
    return row


@dataclass
class Changed(DiffEntry):
    """Changed fields; for a reopened thing also the XP that is taken back."""

    changes: dict[str, Edit] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        changes = {name: edit.as_json() for name, edit in self.changes.items()}
        return super().as_json() | filled(changes=changes)


@dataclass
class Grouped(DiffEntry):
    """A group of things: the `fields` that change, or the `noun` of what an import adds."""

    fields: Sequence[str] = ()
    noun: str = ""


@dataclass
class Shifted(DiffEntry):
    """Steps that move: the title of each, its day before and after. `days`: the distance, if all move by the
    same."""

    moves: Sequence[tuple[str, str, str]] = ()
    days: int | None = None

    def as_json(self) -> JsonObject:
        return self.thing.as_json() | filled(
            count=self.count,
            first=list(self.moves[0][1:]),
            last=list(self.moves[-1][1:]),
            rows=[list(step[:2]) for step in self.moves[:MOST_ROWS]],
            shifted_days=self.days,
        )


@dataclass
class Archived(DiffEntry):
    """Something archived, or brought back."""

    archived: bool | None = None


@dataclass
class Paused(DiffEntry):
    """A pause: its days `from` and `to` (None: until it is resumed), and a `reason` if there is one."""

    pause: JsonObject = field(default_factory=dict)


@dataclass
class Resumed(DiffEntry):
    """The end of a pause, which began on the day `resumed`."""

    resumed: str = ""


@dataclass
class Done(DiffEntry):
    """A goal reached, a step done. `date`: if it was named; `next`: the day of the step that comes next."""

    date: str = ""
    next: str | None = None
    verb = "completions"


@dataclass
class Marked(DiffEntry):
    """Marks of a habit.

    amount, target: of the last of the days; added: what was added to its amount.
    replaces: the former status by day; of a single mark the status alone.
    """

    status: str = ""
    excuse_reason: str | None = None
    note: str | None = None
    amount: float | None = None
    target: JsonObject | None = None
    added: float | None = None
    replaces: str | Mapping[str, str] = ""
    verb = "completions"


@dataclass
class Deleted(DiffEntry):
    """Something deleted, or brought back by an undo (`restored`), with what goes with it and what identifies
    it.

    step_titles: of the steps that go or come with a goal.
    marks, best_streak, streak_in: of a habit.
    repeat: the rule of a series that ends; scores: of a rating.
    status, amount, target: of a mark.
    """

    restored: bool = False
    step_titles: Sequence[str] = ()
    marks: int = 0
    best_streak: int = 0
    streak_in: str = ""
    repeat: str | None = None
    scores: JsonObject = field(default_factory=dict)
    status: str = ""
    amount: float | None = None
    target: JsonObject | None = None

    @property
    def verb(self) -> str:  # type: ignore[override]
        return "restored" if self.restored else "deletes"

    def as_json(self) -> JsonObject:
        members = super().as_json()
        if self.step_titles:
            count = len(members.pop("step_titles"))
            members[f"steps_{'restored' if self.restored else 'deleted'}"] = count
        return members

    def things(self) -> Counter[str]:
        return super().things() + Counter(step=len(self.step_titles))
