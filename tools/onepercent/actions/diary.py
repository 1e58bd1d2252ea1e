"""Actions on the diary."""

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import fields, words, xp
from tools.onepercent.actions import Outcome, action, changed, entry, stored
from tools.onepercent.actions.work import Work

CONTENT = {name: fields.Text(10_000) for name in ("what_done", "what_not_done", "reflection", "plans")}

ENTRY = fields.Reference()

WRITING = ("diary.create_entry", "diary.delete_entry")


@action("diary.create_entry", {**CONTENT, "date": fields.Day(default="today")})
def create(work: Work, given: JsonObject) -> Outcome:
    """A new entry, also if the day has one."""
    values = {"date": work.today.isoformat()} | given
    _check_content(values)
    warnings = _warnings(work, values["date"])
    diary_id = work.create("diary", values)
    earned = work.earn(xp.DIARY_WRITTEN, "diary.create_entry", diary_id)
    found = {"entity": "diary", "date": values["date"], **stored(values, CONTENT), "xp_reward": earned}
    return Outcome([("creates", found)], created_id=diary_id, xp=earned, warnings=warnings)


@action("diary.update_entry", {"diary_id": ENTRY, **CONTENT}, required=("diary_id",), partial=True)
def update(work: Work, given: JsonObject) -> Outcome:
    """Other words for an entry."""
    found = work.find("diary", given.pop("diary_id"))
    values, changes = changed(found, given)
    _check_content({**found, **values})
    work.change("diary", found, values)
    return Outcome([("updates", {**entry(work, "diary", found), "changes": changes})])


@action("diary.delete_entry", {"diary_id": ENTRY}, required=("diary_id",))
def delete(work: Work, given: JsonObject) -> Outcome:
    """An entry goes, and the XP of writing it."""
    found = work.find("diary", given["diary_id"])
    work.change("diary", found, {"deleted_at": work.stamp})
    earned = work.earn(-work.brought(WRITING, found["id"]), "diary.delete_entry", found["id"])
    shown = {**entry(work, "diary", found), **stored(dict(found), CONTENT), "xp_reward": earned}
    return Outcome([("deletes", shown)], xp=earned)


def _warnings(work: Work, day: str) -> list[str]:
    if day > work.today.isoformat():
        return [words.say("warn.future_entry", day=words.day(day))]
    same_day = "SELECT 1 FROM diary WHERE user = ? AND date = ? AND deleted_at IS NULL"
    written = work.db.execute(same_day, (work.user, day)).fetchone()
    return [words.say("warn.second_entry", day=words.day(day))] if written else []


def _check_content(values: JsonObject) -> None:
    if not any(values.get(name) for name in CONTENT):
        raise ToolError(
            f"At least one of {', '.join(CONTENT)} is required",
            "Send one of the four with some text.",
            code="FIELD_REQUIRED",
        )
