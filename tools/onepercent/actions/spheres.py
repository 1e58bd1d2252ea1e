"""The action that rates a sphere of life."""

from tools.core.json_types import JsonObject
from tools.onepercent import fields
from tools.onepercent.actions import Outcome, action, changed
from tools.onepercent.actions.goals import CATEGORIES
from tools.onepercent.actions.work import Row, Work

SPHERE = fields.Choice(CATEGORIES, "INVALID_CATEGORY")
SCORE = fields.Whole(1, 10)


@action("ssp.rate", {"category": SPHERE, "score": SCORE}, required=("category", "score"))
def rate(work: Work, given: JsonObject) -> Outcome:
    """How content the person is with a sphere, 1 to 10; the other spheres keep their last score."""
    category, score = given["category"], given["score"]
    last = _last(work)
    if last is not None and f"ssp_evaluations/{last['id']}" in work.own:
        _, changes = changed(last, {category: score})
        work.assign("ssp_evaluations", last, {category: score})
        evaluation_id = last["id"]
    else:
        before = {name: last[name] if last else None for name in CATEGORIES}
        _, changes = changed(before, {category: score})
        evaluation_id = work.create("ssp", before | {category: score})
    found = {"entity": "ssp", "category": category, "changes": {"score": changes[category]}}
    return Outcome([("updates", found)], created_id=evaluation_id)


def _last(work: Work) -> Row | None:
    newest = "SELECT id FROM ssp_evaluations WHERE user = ? ORDER BY id DESC LIMIT 1"
    row = work.db.execute(newest, (work.user,)).fetchone()
    return work.read("ssp_evaluations", row["id"]) if row else None
