"""Actions on the diary."""

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import fields
from tools.onepercent.actions import (
    Outcome,
    action,
    action_on_one,
    delete_entity,
    stored,
    update_entity,
)
from tools.onepercent.actions.unit_of_work import UnitOfWork, missing
from tools.onepercent.database import Row
from tools.onepercent.diff import Created, Thing
from tools.onepercent.rules import DIARY_WRITTEN

CONTENT = {name: fields.text(10_000) for name in fields.DIARY}
OF_DAY = "SELECT id FROM diary WHERE user = ? AND date = ? AND deleted_at IS NULL ORDER BY id"


@action("diary.create_entry", {**CONTENT, "date": fields.day(default="today")})
def create(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Write an entry; a day may have several."""
    day = params.setdefault("date", unit.day)
    _check_content(params)

    outcome = Outcome()
    if day > unit.day:
        outcome.warn("warn.future_entry", day=day)
    elif unit.db.execute(OF_DAY, (unit.user, day)).fetchone():
        outcome.warn("warn.second_entry", day=day)

    outcome.created_id = unit.create("diary", params)
    earned = unit.earn(DIARY_WRITTEN, "diary.create_entry", outcome.created_id)
    thing = Thing("diary", dates=(day,))
    outcome.entries.append(Created(thing, xp_reward=earned, values=stored(params, CONTENT)))
    return outcome


@action(
    "diary.update_entry",
    {
        "diary_id": fields.KEY,
        "date": fields.day(),
        **CONTENT,
        "append": fields.record(CONTENT),
    },
)
def update(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Change the texts of an entry; `append` adds to them."""
    entry = _found(unit, params.pop("diary_id", None), params.pop("date", None))
    outcome = update_entity(unit, "diary", entry, params, CONTENT)
    _check_content(dict(unit.find("diary", entry["id"])))
    return outcome


@action_on_one("diary.delete_entry")
def delete(unit: UnitOfWork, entry: Row, params: JsonObject) -> Outcome:
    """Delete an entry and take back the XP earned by writing it."""
    earned = unit.earn_in_all(0, "diary.delete_entry", entry["id"])
    return delete_entity(unit, "diary", entry, values=stored(dict(entry), CONTENT), xp_reward=earned)


def _found(unit: UnitOfWork, diary_id: int | str | None, day: str | None) -> Row:
    """The entry by its id, or the only one of a day. Raises ToolError FIELD_REQUIRED, FIELD_INVALID."""
    if diary_id is not None:
        return unit.find("diary", diary_id)
    if day is None:
        raise fields.required("diary_id")
    entries = unit.find_all("diary", OF_DAY, day)
    if not entries:
        raise missing("diary")
    if len(entries) > 1:
        ids = ", ".join(str(entry["id"]) for entry in entries)
        message = f"{day} has {len(entries)} entries"
        raise ToolError(message, f"Send diary_id: {ids}.", code="FIELD_INVALID", field="diary_id")
    return entries[0]


def _check_content(entry: JsonObject) -> None:
    if not any(entry.get(name) for name in CONTENT):
        message = f"At least one of {', '.join(CONTENT)} is required"
        raise ToolError(message, "Send one of the four with some text.", code="FIELD_REQUIRED")
