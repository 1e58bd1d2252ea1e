"""Target amounts of goals and habits, and their place in the person's own order."""

import re
from dataclasses import replace

from tools.toolkit import JsonObject, ToolError

from ..base import fields, rules
from ..base.diff import target_of
from ..habits import due_days
from .unit_of_work import ENTITY_OF, StoredRow, UnitOfWork

AMOUNT = fields.amount(0.001)
# An amount that may be 0, or be taken off.
ANY_AMOUNT = fields.amount(-rules.LARGEST_AMOUNT)
UNIT = fields.text(20, line=True)
TARGET_PARTS = fields.object_of({"amount": AMOUNT, "unit": UNIT}, ("amount",))
# “300 000”, “2,5 л”: a number, perhaps in groups of digits, and its unit.
SPOKEN_AMOUNT = r"(\d[\d \u00a0]*(?:[.,]\d+)?)(.*)"
# The unit of a target without one.
TIMES = "×"


def _target_or_text(name: str, value: object) -> JsonObject:
    """Read an amount with its unit; a number alone and a text (“20 pages”) are taken too."""
    if type(value) in (int, float):
        value = {"amount": value}
    if isinstance(value, str) and (spoken := re.fullmatch(SPOKEN_AMOUNT, value.strip())):
        digits = re.sub(r"\s", "", spoken[1]).replace(",", ".")
        value = {"amount": float(digits), "unit": spoken[2].strip() or TIMES}
    return {"unit": TIMES} | TARGET_PARTS.convert(name, value)


TARGET = replace(TARGET_PARTS, convert=_target_or_text, nullable=True)

# The fields that move a goal or habit: before another one (null: to the end), or to a place from 1 on.
ORDER = {
    "before": replace(fields.ENTITY_ID, nullable=True),
    "order": fields.integer(1, rules.LARGEST_PLACE),
}

# The sum of a goal: what was added to it, and the amounts of the habits that add to it.
GOAL_SUM = """round(ifnull(g.amount, 0) + (SELECT total(m.amount)
    FROM habits h JOIN habit_marks m ON m.habit_id = h.id
    WHERE h.goal_id = g.id AND h.deleted_at IS NULL), 3)"""

# The condition for a place to count: the list shows the goal or habit.
IN_SIGHT = {"goals": due_days.GOAL_IS_OPEN, "habits": due_days.HABIT_IS_IN_SIGHT}
# Goals and habits stand in the person's order: by `place`, or by the id if they were never moved. What moves
# gets a place halfway between its new neighbours. The later one is named by its id (`before`) or by its number
# among those in sight (`order`); without one it goes to the end.
PLACE_BETWEEN = """WITH others AS (SELECT id, ifnull(place, id) AS place, {in_sight} AS is_seen FROM {table}
        WHERE user = :user AND deleted_at IS NULL AND id <> :id),
    ranked AS (SELECT *, lag(place, 1, place - 2) OVER so_far AS previous, sum(is_seen) OVER so_far AS number
        FROM others WINDOW so_far AS (ORDER BY place, id))
    SELECT ifnull((SELECT (previous + place) / 2.0 FROM ranked
        WHERE id = :before OR (:before IS NULL AND is_seen AND number = :order)),
        (SELECT ifnull(max(place), 0) + 1.0 FROM others))"""

HABITS_OF_GOAL = """SELECT id FROM habits
    WHERE user = :user AND goal_id = :goal AND deleted_at IS NULL ORDER BY id"""


def as_columns(params: JsonObject) -> JsonObject:
    """Values by the columns that store them: a target has an amount and a unit."""
    if "target" not in params:
        return params
    target = params.pop("target") or {}
    amount = target.get("amount", target.get("at_most"))
    return params | {"target_amount": amount, "target_unit": target.get("unit")}


def no_target_error(entity: str) -> ToolError:
    """Error for an amount of a goal or habit that has no target."""
    return ToolError(
        f"{entity.capitalize()} has no target to count towards",
        f'Give it one with {entity}.update: target {{"amount": 2, "unit": "l"}}.',
        "FIELD_INVALID",
        field="amount",
    )


def sum_of(unit: UnitOfWork, goal: StoredRow) -> float:
    """Amount that a goal has reached."""
    return float(unit.scalar(f"SELECT {GOAL_SUM} FROM goals g WHERE id = :goal", goal=goal["id"]))


def warn_of_reached(unit: UnitOfWork, goal: StoredRow) -> None:
    """Warn that an open goal has reached its target."""
    if not goal["target_amount"] or goal["status"] != "work" or goal["archived_at"]:
        return
    total = sum_of(unit, goal)
    if total >= goal["target_amount"]:
        unit.warn(
            "warn.reached", title=goal["title"], sum={"amount": total, "target": target_of(goal)}
        )


def with_place(unit: UnitOfWork, row: StoredRow, params: JsonObject) -> JsonObject:
    """Replace `before` or `order` in the params by the place that it means."""
    if not params.keys() & ORDER.keys():
        return params
    table = row.table
    entity = ENTITY_OF[table]
    before = params.pop("before", None)
    if before is not None:
        before = unit.existing(entity, before)["id"]
        unit.subjects[entity] = row  # the one that an error is about
        if before == row["id"]:
            raise fields.invalid_error("before", f"another {entity}")

    statement = PLACE_BETWEEN.format(table=table, in_sight=IN_SIGHT[table])
    order = params.pop("order", None)
    place = unit.scalar(statement, id=row["id"], before=before, order=order)
    if place_number(unit, StoredRow(table, row | {"place": place})) == place_number(unit, row):
        return params
    return params | {"place": place}


def place_number(unit: UnitOfWork, row: StoredRow) -> int:
    """Number of a goal or habit in its list as the list is now."""
    table = row.table
    statement = f"""SELECT count(*) + 1 FROM {table}
        WHERE user = :user AND deleted_at IS NULL AND {IN_SIGHT[table]} AND id <> :id
        AND (ifnull(place, id), id) < (ifnull(:place, :id), :id)"""
    return int(unit.scalar(statement, id=row["id"], place=row["place"]))


def warn_of_unit(unit: UnitOfWork, habit: JsonObject, goal: StoredRow) -> None:
    """Warn of a habit that counts in another unit than its goal, or in none."""
    if goal["target_amount"] is None:
        return
    if habit["target_amount"] is None:
        unit.warn("warn.adds_nothing", title=habit["name"], goal=goal["title"])
    elif habit["target_unit"].casefold() != goal["target_unit"].casefold():
        unit.warn(
            "warn.unit",
            title=habit["name"],
            goal=goal["title"],
            here=habit["target_unit"],
            unit=goal["target_unit"],
        )
