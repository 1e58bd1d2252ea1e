"""Actions on entries of the diary."""

from tools.toolkit import JsonObject, ToolError

from ..base import fields, rules
from ..base.diff import Created, Thing
from . import (
    Action,
    StoredRow,
    UnitOfWork,
    action_on_one,
    delete_entity,
    shown_values,
    update_entity,
)
from .unit_of_work import not_found_error

CONTENT = {name: fields.text(10_000) for name in fields.DIARY_FIELDS}
ENTRIES_OF_DAY = (
    "SELECT id FROM diary WHERE user = :user AND date = :day AND deleted_at IS NULL ORDER BY id"
)


@Action("diary.create_entry", {**CONTENT, "date": fields.day(default="today")})
def create(unit: UnitOfWork, params: JsonObject) -> None:
    """Write an entry; a day may have several."""
    day = params.setdefault("date", unit.day)
    _check_content(params)

    if day > unit.day:
        unit.warn("warn.future_entry", day=day)
    elif unit.scalar(ENTRIES_OF_DAY, day=day):
        unit.warn("warn.second_entry", day=day)

    entry_id = unit.outcome.created_id = unit.create("diary", params)
    earned = unit.earn(rules.DIARY_WRITTEN, "diary.create_entry", entry_id)
    thing = Thing("diary", dates=(day,))
    unit.add_entry(Created(thing, xp_reward=earned, values=shown_values(params, CONTENT)))


@Action(
    "diary.update_entry",
    {
        "diary_id": fields.ENTITY_ID,
        "date": fields.day(),
        **CONTENT,
        "append": fields.object_of(CONTENT),
    },
)
def update(unit: UnitOfWork, params: JsonObject) -> None:
    """Change the texts of an entry; `append` adds to them."""
    entry = _entry_named(unit, params.pop("diary_id", None), params.pop("date", None))
    _check_content(update_entity(unit, entry, params, CONTENT))


@action_on_one("diary.delete_entry")
def delete(unit: UnitOfWork, entry: StoredRow) -> None:
    """Delete an entry and take back the XP earned by writing it."""
    earned = unit.earn_difference(0, "diary.delete_entry", entry)
    delete_entity(unit, entry, xp_reward=earned)


def _entry_named(unit: UnitOfWork, diary_id: int | str | None, day: str | None) -> StoredRow:
    """Find an entry by its id, or the only one of a day. Raises ToolError FIELD_REQUIRED, FIELD_INVALID."""
    if diary_id is not None:
        return unit.existing("diary", diary_id)
    if day is None:
        raise fields.missing_error("diary_id")
    entries = unit.find_all("diary", ENTRIES_OF_DAY, day=day)
    if not entries:
        raise not_found_error("diary")
    if len(entries) > 1:
        ids = ", ".join(str(entry["id"]) for entry in entries)
        raise ToolError(
            f"{day} has {len(entries)} entries",
            f"Send diary_id: {ids}.",
            "FIELD_INVALID",
            field="diary_id",
        )
    return entries[0]


def _check_content(entry: JsonObject) -> None:
    if not any(entry.get(name) for name in CONTENT):
        raise ToolError(
            f"At least one of {', '.join(CONTENT)} is required",
            "Send one of the four with some text.",
            "FIELD_REQUIRED",
        )
