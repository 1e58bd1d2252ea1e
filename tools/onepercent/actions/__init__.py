"""The actions: each declares its fields above one function that validates, applies and describes the change.

A module beside this one is found by itself, so a new action is one file.
"""

import difflib
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.errors import ToolError
from tools.onepercent import days, fields, names

if TYPE_CHECKING:
    from tools.onepercent.work import Work

ENVELOPE = dict.fromkeys(("action", "client_action_id", "params"))

LONGEST_SHOWN = 500
"""Characters of a text that a diff repeats: every title is whole, a page of diary is not sent back twice."""

ACTIONS: dict[str, "Action"] = {}


@dataclass(slots=True)
class Outcome:
    """What an action did: the diff's entries by section, the line for the user, the id of what it created."""

    entries: list[tuple[str, dict[str, Any]]]
    message: str
    created_id: int | None = None
    xp: int = 0


@dataclass(frozen=True)
class Action:
    """A declared action. `partial`: an update, where null clears a field."""

    name: str
    fields: Mapping[str, Any]
    required: tuple[str, ...]
    partial: bool
    published: bool
    run: Callable[["Work", dict[str, Any]], Outcome] = field(compare=False)

    @property
    def domain(self) -> str:
        """What it acts on: goal, step, habit, diary."""
        return self.name.partition(".")[0]

    def read(self, params: Any) -> dict[str, Any]:
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
    """Declare the function below an action: of the unit of work and the canonical values, gives an Outcome."""

    def declare(run: Callable[["Work", dict[str, Any]], Outcome]) -> Callable[["Work", dict[str, Any]], Outcome]:
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


def find(name: Any) -> Action:
    """The published action of that name.

    Raises ToolError that names the nearest ones.
    """
    if name is None or name == "":
        raise fields.required("action")
    found = ACTIONS.get(name) if isinstance(name, str) else None
    if found and found.published:
        return found
    published = [one.name for one in ACTIONS.values() if one.published]
    near = difflib.get_close_matches(fields.shown(name).lower(), published, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(published)}."
    raise ToolError(f"Unknown action: {fields.shown(name)}", hint, code="UNKNOWN_ACTION")


def entry(work: "Work", entity: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """What a diff says of an entity that is there: its kind, id and title or name."""
    found: dict[str, Any] = {"entity": entity}
    if (key := work.shown_id(entity, row["id"])) is not None:
        found["id"] = key
    label = {"habit": "name", "diary": "date"}.get(entity, "title")
    return {**found, label: row[label]}


def changed(row: Mapping[str, Any], given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns that `given` really changes: the new values, and {column: {from, to}} for the diff.

    Raises ToolError NOTHING_TO_UPDATE.
    """
    columns = row.keys()
    values = {
        name: value
        for name, value in given.items()
        if not name.endswith("_id") and name in columns and row[name] != value
    }
    if not values:
        raise ToolError(
            "Nothing to update", "Send a field with a value other than the present one.", code="NOTHING_TO_UPDATE"
        )
    return values, {name: change(name, row[name], value) for name, value in values.items()}


def change(column: str, before: Any, after: Any) -> dict[str, Any]:
    """What a diff says of a column that changes."""
    return {"from": _shown(column, before), "to": _shown(column, after)}


def _shown(column: str, value: Any) -> Any:
    if column == "schedule_days":
        return days.listed(value)
    if column == "is_complete":
        return bool(value)
    return value[:LONGEST_SHOWN] + "…" if isinstance(value, str) and len(value) > LONGEST_SHOWN else value
