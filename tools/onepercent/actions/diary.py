"""Actions on the diary."""

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import fields
from tools.onepercent.actions import Outcome, action, appended, changed, entry, stored
from tools.onepercent.actions.unit_of_work import UnitOfWork, missing
from tools.onepercent.database import Row
from tools.onepercent.rules import DIARY_WRITTEN
from tools.onepercent.words import Warning

CONTENT = {name: fields.text(10_000) for name in ("what_done", "what_not_done", "reflection", "plans")}
ENTRY = {"diary_id": fields.KEY}
WRITING = ("diary.create_entry", "diary.delete_entry")


@action("diary.create_entry", {**CONTENT, "date": fields.day(default="today")})
def create(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Write an entry; a day may have several."""
    values = {"date": unit.day} | params
    _check_content(values)
    warnings: list[Warning] = []
    same_day = "SELECT 1 FROM diary WHERE user = ? AND date = ? AND deleted_at IS NULL"
    if values["date"] > unit.day:
        warnings = [("warn.future_entry", {"day": values["date"]})]
    elif unit.db.execute(same_day, (unit.user, values["date"])).fetchone():
        warnings = [("warn.second_entry", {"day": values["date"]})]
    diary_id = unit.create("diary", values)
    earned = unit.earn(DIARY_WRITTEN, "diary.create_entry", diary_id)
    creation = {"entity": "diary", "date": values["date"], **stored(values, CONTENT), "xp_reward": earned}
    return Outcome([("creates", creation)], created_id=diary_id, xp=earned, warnings=warnings)


@action("diary.update_entry", {**ENTRY, "date": fields.day(), **CONTENT, "append": fields.record(CONTENT)})
def update(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Change the texts of an entry; `append` adds to them."""
    row = _found(unit, params.pop("diary_id", None), params.pop("date", None))
    values, changes = changed(row, appended(row, params, CONTENT))
    _check_content({**row, **values})
    unit.change("diary", row, values)
    return Outcome([("updates", entry(unit, "diary", row, changes=changes))])


@action("diary.delete_entry", ENTRY, "diary_id")
def delete(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """Delete an entry and take back the XP earned by writing it."""
    row = unit.find("diary", params["diary_id"])
    unit.change("diary", row, {"deleted_at": unit.stamp})
    earned = unit.earn(-unit.xp_from(WRITING, row["id"]), "diary.delete_entry", row["id"])
    shown = {**entry(unit, "diary", row), **stored(dict(row), CONTENT), "xp_reward": earned}
    return Outcome([("deletes", shown)], xp=earned)


def _found(unit: UnitOfWork, diary_id: int | str | None, day: str | None) -> Row:
    """The entry by its id, or the only one of a day. Raises ToolError FIELD_REQUIRED, FIELD_INVALID."""
    if diary_id is not None or day is None:
        if diary_id is None:
            raise fields.required("diary_id")
        return unit.find("diary", diary_id)
    statement = "SELECT id FROM diary WHERE user = ? AND date = ? AND deleted_at IS NULL ORDER BY id"
    ids = [row["id"] for row in unit.db.execute(statement, (unit.user, day)).fetchall()]
    if len(ids) > 1:
        hint = f"Send diary_id: {', '.join(map(str, ids))}."
        raise ToolError(f"{day} has {len(ids)} entries", hint, code="FIELD_INVALID", field="diary_id")
    if not ids:
        raise missing("diary")
    return unit.find("diary", ids[0])


def _check_content(values: JsonObject) -> None:
    if not any(values.get(name) for name in CONTENT):
        message = f"At least one of {', '.join(CONTENT)} is required"
        raise ToolError(message, "Send one of the four with some text.", code="FIELD_REQUIRED")
