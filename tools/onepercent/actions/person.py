"""Actions on the person: how content they are with the spheres of life, how they count days."""

from tools.toolkit import JsonObject

from .. import settings
from ..base import fields, rules
from ..base.diff import Changed, Edit, Thing
from . import Action, StoredRow, UnitOfWork, changed_columns, edits
from .goals import CATEGORIES


def _known_zone(name: str, value: object) -> str:
    try:
        return settings.zone(str(value))
    except ValueError:
        raise fields.invalid_error(
            name, "an IANA time zone, like Europe/Moscow or Asia/Vladivostok"
        ) from None


# A time zone; null stands for that of the settings.
ZONE = fields.Field({"type": "string"}, "IANA time zone", _known_zone, nullable=True)
# The clock of a person without a row of `persons`.
NO_PERSON = StoredRow("persons", {"time_zone": None, "day_start_hour": 0})


@Action(
    "person.update",
    {
        "time_zone": ZONE,
        "day_start_hour": fields.integer(0, rules.LATEST_DAY_START_HOUR),
    },
)
def update(unit: UnitOfWork, params: JsonObject) -> None:
    """Change the person's time zone, or the hour at which their day begins; the past keeps its days."""
    row = unit.row("persons", unit.user)
    before = row or NO_PERSON
    values = changed_columns(before, params)
    changes = edits(unit, before, StoredRow("persons", before | values))
    if row:
        unit.change(row, values)
    else:
        unit.create("persons", values)
    unit.add_entry(Changed(Thing("person"), changes=changes))


@Action(
    "ssp.rate",
    {
        "category": fields.choice(CATEGORIES, "INVALID_CATEGORY"),
        "score": fields.integer(1, 10),
    },
    ("category", "score"),
)
def rate(unit: UnitOfWork, params: JsonObject) -> None:
    """Rate a sphere of life from 1 to 10; the other spheres keep their last score."""
    category = params["category"]
    newest = unit.scalar("SELECT max(id) FROM ssp_evaluations WHERE user = :user") or 0
    evaluation = unit.row("ssp_evaluations", newest)
    scores = {name: evaluation.get(name) for name in CATEGORIES}
    rated = changed_columns(scores, {category: params["score"]})
    score = Edit(scores[category], params["score"])
    unit.add_entry(Changed(Thing("ssp", category), changes={"score": score}))
    unit.outcome.created_id = unit.create("ssp_evaluations", scores | rated)
