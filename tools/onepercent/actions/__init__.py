"""The actions: each declares its fields above one function that validates, applies and describes the change.

A module beside this one is found by itself, so a new action is one file.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.core.errors import ToolError, several
from tools.core.json_types import JsonObject
from tools.onepercent import fields, sentences, words
from tools.onepercent.fields import Field
from tools.onepercent.habits.schedules import numbers
from tools.onepercent.words import Warning

if TYPE_CHECKING:
    from tools.onepercent.actions.unit_of_work import UnitOfWork

ENVELOPE = dict.fromkeys(("action", "client_action_id", "params"))

LONGEST_SHOWN = 120  # characters of a text that a diff repeats: a page of diary is not sent back twice
LONGEST_CHANGED = 60  # characters of a changed text that is shown whole, before and after
SHOWN_WHOLE = ("title", "name", "goal_title")

ACTIONS: dict[str, "Action"] = {}


@dataclass(slots=True)
class Outcome:
    """The result of an action: the diff's entries by section (`dry_run.DIFF_SECTIONS`), the id of what it
    created.

    `message`: what to say once it is done, if the entries do not say it; `warnings`: what may not be meant;
    `reversal`: the number of the apply that is taken back or brought back here, and if it is undone then.
    """

    entries: list[tuple[str, JsonObject]] = field(default_factory=list)
    message: str = ""
    created_id: int | None = None
    xp: int = 0
    warnings: list[Warning] = field(default_factory=list)
    reversal: tuple[int, bool] | None = None
    created_steps: list[int] = field(default_factory=list)

    @property
    def deletes(self) -> bool:
        return any(section == "deletes" for section, _ in self.entries)

    def done(self) -> list[str]:
        """Say what has happened."""
        if self.message:
            return [self.message]
        return [sentences.line(section, entry).done for section, entry in self.entries]


@dataclass(frozen=True)
class Action:
    """A declared action."""

    name: str
    fields: Mapping[str, Field]
    required: tuple[str, ...]
    run: "Perform" = field(compare=False)

    @cached_property
    def domain(self) -> str:
        """The kind of thing it acts on, as ENTITIES has it: goal, step, habit, diary, ssp; or person,
        undo."""
        return self.name.partition(".")[0]

    @cached_property
    def updates(self) -> bool:
        """In an update null clears a field."""
        return ".update" in self.name

    @cached_property
    def published(self) -> bool:
        """Only `undo_last` reverses, and only the shell imports."""
        return self.domain not in ("undo", "loop")

    def read(self, params: object) -> JsonObject:
        """The canonical values of `params`. Raises ToolError for the first thing that does not fit."""
        if not isinstance(params, dict):
            raise fields.required("params") if params is None else fields.invalid("params", "an object")
        return fields.members(params, self.fields, self.required, self.name, keeps_null=self.updates)


Perform = Callable[["UnitOfWork", JsonObject], Outcome]


def action(name: str, takes: Mapping[str, Field], *required: str):
    """Declare the function below an action: it takes the unit of work and the canonical values, and returns
    an Outcome."""

    def declare(run: Perform) -> Perform:
        ACTIONS[name] = Action(name, takes, required, run)
        return run

    return declare


def ordered() -> list["Action"]:
    """The published actions, in an order that does not depend on who imported which module first."""
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        importlib.import_module(f"{__name__}.{path.stem}")
    published = [action for action in ACTIONS.values() if action.published]
    return sorted(published, key=lambda action: (action.run.__module__, action.run.__code__.co_firstlineno))


def find(name: object) -> Action:
    """The published action of that name. Raises ToolError that names the nearest ones."""
    if name in (None, ""):
        raise fields.required("action")
    action = ACTIONS.get(str(name))
    if action and action.published:
        return action
    published = [published_action.name for published_action in ordered()]
    near = _near(fields.printable(name).lower(), published)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(published)}."
    raise ToolError(f"Unknown action: {fields.printable(name)}", hint, code="UNKNOWN_ACTION")


# Verbs that models invent for actions that take something back, and for those that remove it.
TAKING_BACK = ("uncomplete", "incomplete", "uncheck", "undo", "unmark", "revert", "restore", "cancel")
REMOVING = ("delete", "remove", "drop")


def _near(name: str, published: list[str]) -> list[str]:
    """The actions that a wrong name may mean; one that deletes only if the name says so."""
    domain, _, verb = name.partition(".")
    if any(word in verb for word in TAKING_BACK):
        return [other for other in (f"{domain}.reopen", f"{domain}.unmark") if other in published][:1]
    removes = any(word in verb for word in REMOVING)
    harmless = [other for other in published if removes or "delete" not in other]
    return several(name, harmless, cutoff=0.5)


def entry(unit: "UnitOfWork", entity: str, row: Mapping[str, Any], **more: object) -> JsonObject:
    """A diff's entry for an existing entity: its kind, id and title or name, and what is said of it."""
    key = unit.shown_id(entity, row["id"])
    known = {} if key is None else {"id": key}
    label = {"habit": "name", "diary": "date"}.get(entity, "title")
    return {"entity": entity, **known, label: row[label], **more}


def changed(row: Mapping[str, Any], params: JsonObject) -> tuple[JsonObject, JsonObject]:
    """The columns that `params` really changes: the new values, and {column: {from, to}} for the diff. Raises
    ToolError NOTHING_TO_UPDATE."""
    columns = row.keys()
    values = {name: value for name, value in params.items() if name in columns and row[name] != value}
    if not values:
        hint = "Send a field with a value other than the present one."
        raise ToolError("Nothing to update", hint, code="NOTHING_TO_UPDATE")
    return values, {name: change(name, row[name], value) for name, value in values.items()}


def appended(row: Mapping[str, Any], params: JsonObject, texts: Mapping[str, Field]) -> JsonObject:
    """The params with the texts that `append` makes longer, each by a line. Raises ToolError FIELD_TOO_LONG,
    FIELD_INVALID."""
    additions = params.pop("append", None) or {}
    if twice := additions.keys() & params.keys():
        raise fields.invalid(f"append.{min(twice)}", f"sent without {min(twice)}")
    longer = {name: f"{row[name]}\n{text}" if row[name] else text for name, text in additions.items()}
    return params | {name: texts[name].read(name, text) for name, text in longer.items()}


def change(column: str, before: Any, after: Any) -> JsonObject:
    """A diff's value for a changed column; of a long text its length, and the place that changed."""
    texts = [text for text in (before, after) if isinstance(text, str)]
    if column in SHOWN_WHOLE or len(texts) < 2 or max(map(len, texts)) <= LONGEST_CHANGED:
        return {"from": diff_value(column, before), "to": diff_value(column, after)}
    return {"from": f"({len(before)})", "to": f"({len(after)})", "place": words.changed_place(before, after)}


def stored(values: Mapping[str, Any], columns: Iterable[str]) -> JsonObject:
    """A diff's values for the columns to be stored, without the empty ones."""
    return {name: diff_value(name, values[name]) for name in columns if values.get(name) is not None}


def diff_value(column: str, value: Any) -> Any:
    """A stored value as a diff shows it; a long text by its beginning and its length."""
    if column in ("schedule_days", "month_days"):
        return numbers(value)
    if column == "is_complete":
        return bool(value)
    if isinstance(value, str) and len(value) > LONGEST_SHOWN and column not in SHOWN_WHOLE:
        return f"{value[:LONGEST_SHOWN]}… ({len(value)})"
    return value


def check_day(unit: "UnitOfWork", day: str | None, most_back: int, what: str) -> str:
    """A day that is not in the future nor long ago; today if none is sent. Raises ToolError INVALID_DATE."""
    today = unit.day
    earliest = (unit.today - timedelta(days=most_back)).isoformat()
    if day is None or earliest <= day <= today:
        return day or today
    why = "in the future" if day > today else f"more than {most_back} days back"
    hint = f"Today is {today}; {what} from {earliest} to today."
    raise ToolError(f"date is {why}: {day}", hint, code="INVALID_DATE", field="date")


def same_title(
    unit: "UnitOfWork", table: str, title: str, condition: str = "1", *values: object
) -> list[Warning]:
    """A warning if something undeleted has this title already, in any case of letters."""
    if unit.expected is not None:
        return []  # only a preview warns
    column = "name" if table == "habits" else "title"
    statement = f"SELECT {column} FROM {table} WHERE user = ? AND deleted_at IS NULL AND {condition} AND length({column}) = ?"
    rows = unit.db.execute(statement, (unit.user, *values, len(title)))
    folded = title.casefold()
    same = next((other for (other,) in rows if other.casefold() == folded), "")
    return [("warn.same_title", {"title": same})] if same else []


def set_archived(unit: "UnitOfWork", entity: str, row: Mapping[str, Any], archived: bool) -> Outcome:
    """Put a goal or habit out of sight, or back. Raises ToolError NOTHING_TO_UPDATE."""
    if bool(row["archived_at"]) == archived:
        state, back = ("already archived", "unarchive") if archived else ("not archived", "archive")
        hint = f"{entity}.{back} does the opposite."
        raise ToolError(f"{entity.capitalize()} is {state}", hint, code="NOTHING_TO_UPDATE")
    unit.change(f"{entity}s", row, {"archived_at": unit.stamp if archived else None})
    return Outcome([("updates", entry(unit, entity, row) | {"archived": archived})])
