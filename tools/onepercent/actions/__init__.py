"""Actions: each declares its fields above one function that validates, applies and describes the change.

Modules beside this one are discovered, so a new action is one file.
"""

# What happens to an action:
# 1. `parse` turns its params, as sent, into canonical values. A preview keeps these.
# 2. Its function finds rows through the unit of work, checks and changes them there, and adds the outcome to
#    it: entries of the diff, and warnings of what may not be meant.
# 3. The dry run rolls all of it back; apply_actions runs the same function again and commits. So a function
#    decides by its values, its rows and the unit's day alone.

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from tools.toolkit import JsonObject, ToolError, nearest_names

from ..base import days, fields, words
from ..base.diff import Archived, Changed, Deleted, Edit, Thing, target_of
from ..base.fields import Fields
from ..base.unknown_names import hint_for, sent_words
from ..habits.schedules import parsed_numbers
from . import targets
from .unit_of_work import ENTITY_OF, INTERNAL_COLUMNS, StoredRow, UnitOfWork

GOAL_ID_OR_NULL = replace(
    fields.ENTITY_ID, expected=f"{fields.ENTITY_ID.expected}, or null", nullable=True
)

# Characters of a text that a diff repeats: a page of diary is not sent back twice.
LONGEST_SHOWN = 120
# Characters of a changed text that is shown whole, before and after.
LONGEST_SHOWN_WHOLE = 60
SHOWN_WHOLE = ("title", "name", "repeat")
# Columns that are no edit by themselves: an entry shows them in other ways, or not at all.
COLUMNS_WITHOUT_EDIT = (
    *INTERNAL_COLUMNS,
    "goal_id",
    "deleted_at",
    "archived_at",
    "target_amount",
    "target_unit",
    "at_most",
)

# By table, the condition for rows whose title a new one should not repeat.
SAME_TITLE_CONDITIONS = targets.IN_SIGHT | {"steps": "is_complete = 0 AND goal_id = :goal"}

ACTIONS: dict[str, "Action"] = {}


# Takes the unit of work and the canonical values; an action on one entity its row and the other values.
ActionFunction = Callable[..., None]


@dataclass(eq=False)
class Action:
    """Declare the function below as an action: it takes the unit of work and the canonical values."""

    name: str
    fields: Fields
    required: tuple[str, ...] = ()
    run: ActionFunction = field(init=False)

    def __call__(self, run: ActionFunction) -> ActionFunction:
        self.run = run
        ACTIONS[self.name] = self
        return run

    @property
    def domain(self) -> str:
        """Kind of thing it acts on, as in ENTITIES: goal, step, habit, diary, ssp; or person, undo."""
        return self.name.partition(".")[0]

    @property
    def updates(self) -> bool:
        """True for an update, in which null clears a field."""
        return ".update" in self.name

    @property
    def published(self) -> bool:
        """True if preview_actions takes it: only `undo_last` reverses, only the shell imports."""
        return self.domain not in ("undo", "loop")

    def parse(self, params: object) -> JsonObject:
        """Canonical values of `params`. Raises ToolError for the first thing that does not fit."""
        if params is None:
            raise fields.missing_error("params")
        if not isinstance(params, dict):
            raise fields.invalid_error("params", "an object")
        return fields.parse_members(
            params, self.fields, self.required, self.name, keeps_null=self.updates
        )


def action_on_one(name: str, /, *required: str, **takes: fields.Field):
    """Declare the function below as an action on one entity: it takes the entity's row instead of its id, and
    the other values by name.

    `required` are fields beside the id: an action `goal.…` has a goal_id.
    """
    entity = name.partition(".")[0]
    id_name = f"{entity}_id"
    id_field = GOAL_ID_OR_NULL if entity == "goal" else fields.ENTITY_ID

    def declare(run: ActionFunction) -> ActionFunction:
        @Action(name, {id_name: id_field, **takes}, (id_name, *required))
        def find_and_run(unit: UnitOfWork, params: JsonObject) -> None:
            run(unit, unit.existing(entity, params.pop(id_name)), **params)

        return run

    return declare


def ordered() -> list[Action]:
    """Published actions by domain; within a domain in the order of their declarations."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    published = [action for action in ACTIONS.values() if action.published]
    return sorted(published, key=lambda action: action.domain)


def action_named(name: object) -> Action:
    """Find the published action of that name. Raises ToolError that names the nearest ones."""
    if not name:
        raise fields.missing_error("action")
    action = ACTIONS.get(str(name))
    if action and action.published:
        return action

    unknown = fields.printable(name).lower()
    domain, _, verb = unknown.partition(".")
    names = [each.name for each in ordered()]
    meant = [f"{domain}.{each}" for each in sent_words("verb").get(verb, "").split()]
    # A wrong name leads to a deletion only if it says so.
    harmless = [each for each in names if "delete" not in each]
    nearest = [each for each in meant if each in names]
    way = ""
    if not nearest:
        nearest = nearest_names(unknown, harmless, cutoff=0)
        way = hint_for(verb if domain in ENTITY_OF.values() else domain)
    hint = f"There are: {', '.join(nearest)}. {way}".rstrip()
    raise ToolError(f"Unknown action: {unknown}", hint, "UNKNOWN_ACTION")


def thing_of(unit: UnitOfWork, row: StoredRow) -> Thing:
    """The thing that a change of an existing row is about; for a pause its habit."""
    table = row.table
    if "habit_id" in row:
        thing = thing_of(unit, unit.row("habits", row["habit_id"]))
        if table == "habit_marks":
            return replace(thing, kind="mark", dates=(row["date"],))
        return thing

    entity = ENTITY_OF[table]
    if entity in ("person", "ssp"):
        return Thing(entity)
    known_id = None if f"{table}/{row['id']}" in unit.created_rows else row["id"]
    title = row.get("title") or row.get("name", "")
    goal_title = title_of_goal(unit, row) if entity == "step" else ""
    dates = (row["date"],) if entity == "diary" else ()
    return Thing(entity, title, known_id, goal_title, dates)


def title_of_goal(unit: UnitOfWork, row: JsonObject) -> str:
    """Title of the goal of a step or habit; "" if it has none."""
    goal_id = row.get("goal_id")
    return unit.row("goals", goal_id)["title"] if goal_id else ""


def changed_columns(row: JsonObject, params: JsonObject) -> JsonObject:
    """Columns that `params` really changes, with the new values. Raises ToolError NOTHING_TO_UPDATE."""
    values = {name: value for name, value in params.items() if row[name] != value}
    if not values:
        raise ToolError(
            "Nothing to update",
            "It already has these values; get_user_snapshot shows them.",
            "NOTHING_TO_UPDATE",
        )
    return values


def with_goal_title(unit: UnitOfWork, row: StoredRow) -> StoredRow:
    """Copy a row, with the title of the goal that it has now."""
    return StoredRow(row.table, row | {"goal_title": title_of_goal(unit, row) or None})


def edits(unit: UnitOfWork, before: StoredRow, after: StoredRow) -> dict[str, Edit]:
    """Edits that a diff shows of a changed row: a target is one edit, a goal's amount is shown by its sum, a
    place by its number in the list."""
    changes = {}
    for name, value in after.items():
        if name not in COLUMNS_WITHOUT_EDIT and before[name] != value:
            changes[name] = _edit(name, before[name], value)

    target = Edit(target_of(before), target_of(after))
    if target.before != target.after:
        changes["target"] = target
    if "amount" in changes and after.get("target_amount"):
        total = targets.sum_of(unit, after)
        total_before = round(total - (after["amount"] or 0) + (before["amount"] or 0), 3)
        del changes["amount"]
        changes["sum"] = Edit(total_before, {"amount": total, "target": target.after})
    # Only goals and habits have a place in a list; a field `place` of another thing is like any other.
    if "place" in changes and after.table in targets.IN_SIGHT:
        del changes["place"]
        changes["list_place"] = Edit(
            targets.place_number(unit, before), targets.place_number(unit, after)
        )
    return changes


def _edit(column: str, before: Any, after: Any) -> Edit:
    """Edit of a column; a long text is shown by its lengths and the part that changed."""
    lengths = [len(text) for text in (before, after) if isinstance(text, str)]
    if len(lengths) < 2 or max(lengths) <= LONGEST_SHOWN_WHOLE or column in SHOWN_WHOLE:
        return Edit(diff_value(column, before), diff_value(column, after))
    return Edit(f"({len(before)})", f"({len(after)})", words.changed_part(before, after))


def shown_values(values: JsonObject, columns: Iterable[str]) -> JsonObject:
    """Values that a diff shows of `columns`, without empty ones."""
    return {
        name: diff_value(name, values[name]) for name in columns if values.get(name) is not None
    }


def diff_value(column: str, value: Any) -> Any:
    """Stored value as a diff shows it: a long text by its beginning and its length."""
    if column in ("schedule_days", "month_days"):
        return parsed_numbers(value)
    if column == "is_complete":
        return bool(value)
    if column == "time_zone":
        return value or days.zone_of_settings()
    if isinstance(value, str) and len(value) > LONGEST_SHOWN and column not in SHOWN_WHOLE:
        return f"{value[:LONGEST_SHOWN]}… ({len(value)})"
    return value


def update_entity(unit: UnitOfWork, row: StoredRow, params: JsonObject, texts: Fields) -> StoredRow:
    """Set the columns that really change and return the new row; `append` adds a line to each of `texts`.
    Raises ToolError NOTHING_TO_UPDATE, FIELD_TOO_LONG."""
    for name, text in params.pop("append", {}).items():
        longer = "\n".join(filter(None, [params.get(name, row[name]), text]))
        params[name] = texts[name].parse(name, longer)

    values = changed_columns(row, params)
    unit.change(row, values)
    after = StoredRow(row.table, row | values)
    before = row
    if "goal_id" in values:
        before, after = with_goal_title(unit, before), with_goal_title(unit, after)
    unit.add_entry(Changed(thing_of(unit, row), changes=edits(unit, before, after)))
    return after


def deletion(unit: UnitOfWork, row: StoredRow) -> Deleted:
    """Diff entry of a deleted row; its texts or amount distinguish it from others of the same day."""
    entry = Deleted(thing_of(unit, row))
    match row.table:
        case "diary":
            entry.values = shown_values(row, fields.DIARY_FIELDS)
        case "ssp_evaluations":
            entry.scores = shown_values(row, [name for name in row if name not in INTERNAL_COLUMNS])
        case "habit_marks":
            entry.status = row["status"]
            entry.amount = row["amount"]
            entry.target = target_of(unit.row("habits", row["habit_id"]))
    return entry


def delete_entity(unit: UnitOfWork, row: StoredRow, **details: Any) -> None:
    """Hide an entity from the person; its row stays, so that undo brings it back. `details`: attributes of
    `Deleted`."""
    unit.change(row, {"deleted_at": unit.stamp})
    unit.add_entry(replace(deletion(unit, row), **details))


def reopen_entity(unit: UnitOfWork, row: StoredRow) -> None:
    """Reopen a goal or step; the XP of its completion goes on the day of that completion. Raises ToolError
    NOT_COMPLETED."""
    entity = ENTITY_OF[row.table]
    column, open_state = ("status", "work") if entity == "goal" else ("is_complete", 0)
    if row[column] == open_state:
        raise ToolError(
            f"{entity.capitalize()} is not completed", "There is nothing to undo.", "NOT_COMPLETED"
        )

    unit.change(row, {column: open_state, "completed_at": None, "completed_on": None})
    earned = unit.earn_difference(0, f"{entity}.reopen", row, row["completed_on"])
    changes = {column: Edit(row[column], open_state)}
    unit.add_entry(Changed(thing_of(unit, row), xp_reward=earned, changes=changes))


def set_archived(unit: UnitOfWork, row: StoredRow, archived: bool) -> None:
    """Archive a goal or habit, or bring it back. Raises ToolError NOTHING_TO_UPDATE."""
    archived_at = row["archived_at"] or unit.stamp
    unit.change(row, changed_columns(row, {"archived_at": archived_at if archived else None}))
    unit.add_entry(Archived(thing_of(unit, row), archived=archived))


def checked_day(unit: UnitOfWork, day: str | None, most_back: int, permission: str) -> str:
    """Return a day that is neither in the future nor long ago; today if none is sent. `permission`: what the
    error says can be done. Raises ToolError INVALID_DATE."""
    today = unit.day
    earliest = unit.day_after(-most_back)
    if day is None or earliest <= day <= today:
        return day or today

    why = "in the future" if day > today else f"more than {most_back} days back"
    raise ToolError(
        f"date is {why}: {day}",
        f"Today is {today}; {permission} from {earliest} to today.",
        "INVALID_DATE",
        field="date",
    )


def warn_of_same_title(unit: UnitOfWork, table: str, title: str, **values: int) -> None:
    """Warn if something in sight has this title already, ignoring case."""
    column = "name" if table == "habits" else "title"
    statement = f"""SELECT {column} FROM {table}
        WHERE user = :user AND deleted_at IS NULL AND {SAME_TITLE_CONDITIONS[table]}"""
    for (other,) in unit.select(statement, **values):
        if other.casefold() == title.casefold():
            unit.warn("warn.same_title", title=other)
            return
