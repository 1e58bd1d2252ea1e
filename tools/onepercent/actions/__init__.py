"""The actions: each declares its fields above one function that validates, applies and describes the change.

A module beside this one is found by itself, so a new action is one file.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.suggest import several
from tools.onepercent import days, fields, names, words

if TYPE_CHECKING:
    from tools.onepercent.actions.unit_of_work import UnitOfWork

ENVELOPE = dict.fromkeys(("action", "client_action_id", "params"))

LONGEST_SHOWN = 120
"""Characters of a text that a diff repeats: a page of diary is not sent back twice. Titles are whole."""
WHOLE = ("title", "name", "goal_title")

ACTIONS: dict[str, "Action"] = {}


@dataclass(slots=True)
class Outcome:
    """What an action did: the diff's entries by section, the id of what it created.

    `message`: a line for the person, if the entries do not say it; `warnings`: what may not be meant; `reversal`: the
    number of what was applied and is taken back here, and whether it is undone then.
    """

    entries: list[tuple[str, JsonObject]]
    message: str = ""
    created_id: int | None = None
    xp: int = 0
    warnings: list[str] = field(default_factory=list)
    reversal: tuple[int, bool] | None = None

    def planned(self) -> list[str]:
        """What is going to happen, for the person."""
        return [self.message] if self.message else [words.planned(section, entry) for section, entry in self.entries]

    def done(self) -> list[str]:
        """What has happened, for the person."""
        return [self.message] if self.message else [words.done(section, entry) for section, entry in self.entries]


@dataclass(frozen=True)
class Action:
    """A declared action. `partial`: an update, where null clears a field."""

    name: str
    fields: Mapping[str, Any]
    required: tuple[str, ...]
    partial: bool
    published: bool
    run: Callable[["UnitOfWork", JsonObject], Outcome] = field(compare=False)

    @property
    def domain(self) -> str:
        """What it acts on: goal, step, habit, diary."""
        return self.name.partition(".")[0]

    def read(self, params: object) -> JsonObject:
        """The canonical values of `params`.

        Raises ToolError for the first thing that does not fit.
        """
        if not isinstance(params, dict):
            raise fields.required("params") if params is None else fields.invalid("params", "an object")
        names.known(params, self.fields, self.name)
        for name in self.required:
            if name not in params:
                raise fields.required(name)
        return {
            name: self.fields[name].read(name, value)
            for name, value in params.items()
            if value is not None or self.partial or name in self.required
        }


def action(
    name: str,
    takes: Mapping[str, Any],
    *,
    required: tuple[str, ...] = (),
    partial: bool = False,
    published: bool = True,
):
    """Declare the function below an action: it takes the unit of work and the canonical values, and returns an Outcome."""

    def declare(run: Callable[["UnitOfWork", JsonObject], Outcome]) -> Callable[["UnitOfWork", JsonObject], Outcome]:
        if name in ACTIONS:
            raise TypeError(f"Two actions are named {name!r}")
        ACTIONS[name] = Action(name, takes, required, partial, published, run)
        return run

    return declare


def load() -> None:
    """Import every module of actions, once; each registers what it declares."""
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if not path.stem.startswith("__"):
            importlib.import_module(f"{__name__}.{path.stem}")


def ordered() -> list["Action"]:
    """The published actions, in an order that does not depend on who imported which module first."""
    load()
    published = [action for action in ACTIONS.values() if action.published]
    return sorted(published, key=lambda action: (action.run.__module__, action.run.__code__.co_firstlineno))


def find(name: object) -> Action:
    """The published action of that name.

    Raises ToolError that names the nearest ones.
    """
    if name is None or name == "":
        raise fields.required("action")
    action = ACTIONS.get(name) if isinstance(name, str) else None
    if action and action.published:
        return action
    published = [published_action.name for published_action in ordered()]
    near = _near(fields.shown(name).lower(), published)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(published)}."
    raise ToolError(f"Unknown action: {fields.shown(name)}", hint, code="UNKNOWN_ACTION")


TAKING_BACK = ("uncomplete", "incomplete", "uncheck", "undo", "unmark", "revert", "restore", "cancel")
"""What models call the actions that take something back."""
REMOVING = ("delete", "remove", "drop", "archive")


def _near(name: str, published: list[str]) -> list[str]:
    """The actions that a wrong name may mean; one that deletes only if the name says so."""
    domain, _, verb = name.partition(".")
    if any(word in verb for word in TAKING_BACK):
        return [other for other in (f"{domain}.reopen", f"{domain}.unmark") if other in published][:1]
    harmless = [other for other in published if "delete" not in other or any(word in verb for word in REMOVING)]
    return several(name, harmless, cutoff=0.5)


def entry(unit: "UnitOfWork", entity: str, row: Mapping[str, Any]) -> JsonObject:
    """A diff's entry for an existing entity: its kind, id and title or name."""
    shown: JsonObject = {"entity": entity}
    if (key := unit.shown_id(entity, row["id"])) is not None:
        shown["id"] = key
    label = {"habit": "name", "diary": "date"}.get(entity, "title")
    return {**shown, label: row[label]}


def changed(row: Mapping[str, Any], params: JsonObject) -> tuple[JsonObject, JsonObject]:
    """The columns that `params` really changes: the new values, and {column: {from, to}} for the diff.

    Raises ToolError NOTHING_TO_UPDATE.
    """
    columns = row.keys()
    values = {name: value for name, value in params.items() if name in columns and row[name] != value}
    if not values:
        raise ToolError(
            "Nothing to update", "Send a field with a value other than the present one.", code="NOTHING_TO_UPDATE"
        )
    return values, {name: change(name, row[name], value) for name, value in values.items()}


def change(column: str, before: object, after: object) -> JsonObject:
    """A diff's value for a changed column."""
    return {"from": shown(column, before), "to": shown(column, after)}


def stored(values: Mapping[str, Any], columns: Iterable[str]) -> JsonObject:
    """A diff's values for the columns to be stored, without the empty ones."""
    return {name: shown(name, values[name]) for name in columns if values.get(name) is not None}


def shown(column: str, value: Any) -> Any:
    """A stored value as a diff shows it; a long text by its beginning and its length."""
    if column == "schedule_days":
        return days.listed(value)
    if column == "is_complete":
        return bool(value)
    if isinstance(value, str) and len(value) > LONGEST_SHOWN and column not in WHOLE:
        return f"{value[:LONGEST_SHOWN]}… ({len(value)})"
    return value


def twin(unit: "UnitOfWork", table: str, column: str, text: str, condition: str, *values: object) -> list[str]:
    """A warning if something undeleted has this title already, whatever its case."""
    rows = unit.db.execute(
        f"""SELECT {column} FROM {table} WHERE user = ? AND deleted_at IS NULL AND {condition}
        AND length({column}) = ?""",
        (unit.user, *values, len(text)),
    )
    folded = text.casefold()
    same = next((title for (title,) in rows if title.casefold() == folded), None)
    return [words.say("warn.same_title", title=words.quoted(same))] if same else []
