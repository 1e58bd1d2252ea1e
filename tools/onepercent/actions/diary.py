"""Actions on the diary."""

from typing import Any

from tools.errors import ToolError
from tools.onepercent import fields, xp
from tools.onepercent.actions import Outcome, action, changed, entry
from tools.onepercent.work import Work

CONTENT = {name: fields.Text(10_000) for name in ("what_done", "what_not_done", "reflection", "plans")}


@action("diary.create_entry", {**CONTENT, "date": fields.Day()})
def create(work: Work, given: dict[str, Any]) -> Outcome:
    """A new entry, also where the day has one."""
    values = {"date": work.today.isoformat()} | given
    _check_content(values)
    diary_id = work.create("diary", values)
    earned = work.earn(xp.DIARY_WRITTEN, "diary.create_entry", diary_id)
    found = {"entity": "diary", "date": values["date"], "xp_reward": earned}
    return Outcome([("creates", found)], f"Запись в дневнике за {values['date']} создана", diary_id, earned)


@action("diary.update_entry", {"diary_id": fields.Reference(), **CONTENT}, required=("diary_id",), partial=True)
def update(work: Work, given: dict[str, Any]) -> Outcome:
    """Other words for an entry."""
    found = work.find("diary", given["diary_id"])
    values, changes = changed(found, given)
    _check_content({**found, **values})
    work.change("diary", found, values)
    message = f"Запись в дневнике за {found['date']} обновлена"
    return Outcome([("updates", {**entry(work, "diary", found), "changes": changes})], message)


def _check_content(values: dict[str, Any]) -> None:
    if not any(values.get(name) for name in CONTENT):
        raise ToolError(
            f"At least one of {', '.join(CONTENT)} is required",
            "Send one of the four with some text.",
            code="FIELD_REQUIRED",
        )
