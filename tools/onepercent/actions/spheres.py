"""The action that rates a sphere of life."""

from tools.core.json_types import JsonObject
from tools.onepercent import fields
from tools.onepercent.actions import Outcome, action, changed
from tools.onepercent.actions.goals import CATEGORIES
from tools.onepercent.actions.unit_of_work import Row, UnitOfWork

SPHERE = fields.Choice(CATEGORIES, "INVALID_CATEGORY")
SCORE = fields.Whole(1, 10)


@action("ssp.rate", {"category": SPHERE, "score": SCORE}, required=("category", "score"))
def rate(unit: UnitOfWork, params: JsonObject) -> Outcome:
    """How content the person is with a sphere, 1 to 10; the other spheres keep their last score."""
    category, score = params["category"], params["score"]
    last = _last(unit)
    if last is not None and f"ssp_evaluations/{last['id']}" in unit.own:
        _, changes = changed(last, {category: score})
        unit.assign("ssp_evaluations", last, {category: score})
        evaluation_id = last["id"]
    else:
        before = {name: last[name] if last else None for name in CATEGORIES}
        _, changes = changed(before, {category: score})
        evaluation_id = unit.create("ssp", before | {category: score})
    shown = {"entity": "ssp", "category": category, "changes": {"score": changes[category]}}
    return Outcome([("updates", shown)], created_id=evaluation_id)


def _last(unit: UnitOfWork) -> Row | None:
    newest = "SELECT id FROM ssp_evaluations WHERE user = ? ORDER BY id DESC LIMIT 1"
    row = unit.db.execute(newest, (unit.user,)).fetchone()
    return unit.read("ssp_evaluations", row["id"]) if row else None
