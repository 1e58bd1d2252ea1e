"""Amounts that goals and habits count towards, and a place in an order of one's own."""

import re
from dataclasses import replace
from typing import Annotated

from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.onepercent import fields
from tools.onepercent.actions import Outcome
from tools.onepercent.actions.unit_of_work import ENTITIES, UnitOfWork
from tools.onepercent.database import Row
from tools.onepercent.diff import Changed, Edit, Entry, target_of
from tools.onepercent.rules import LARGEST_AMOUNT, LARGEST_PLACE

AMOUNT = fields.plain(
    Annotated[float, Limits(ge=0.001, le=LARGEST_AMOUNT)],
    "number",
    f"a number above 0, at most {LARGEST_AMOUNT}",
)
# An amount that is there already, or that goes.
ANY_AMOUNT = fields.plain(
    Annotated[float, Limits(ge=-LARGEST_AMOUNT, le=LARGEST_AMOUNT)],
    "number",
    f"a number, at most {LARGEST_AMOUNT}",
)
UNIT = fields.text(20, line=True)
PARTS = fields.record({"amount": AMOUNT, "unit": UNIT}, ("amount",))
# The unit if none is said.
TIMES = "×"


def _target(name: str, value: object) -> JsonObject:
    """An amount with its unit; also a number alone, or both as a text: “20 pages”."""
    if type(value) in (int, float):
        value = {"amount": value}
    if isinstance(value, str) and (spoken := fields.SPOKEN_AMOUNT.fullmatch(value.strip())):
        digits = re.sub(r"\s", "", spoken[1]).replace(",", ".")
        value = {"amount": float(digits), "unit": spoken[2].strip() or TIMES}
    return {"unit": TIMES} | PARTS.convert(name, value)


TARGET = replace(PARTS, convert=_target, empty=True)

# Where a goal or habit is to stand: before another one, null for the last; or its place, from 1 on.
ORDER = {"before": replace(fields.KEY, takes_null=True), "order": fields.whole(1, LARGEST_PLACE)}

# The sum of a goal: what was added to it, and the amounts of the habits that add to it.
SUM = """round(ifnull(g.amount, 0) + (SELECT total(m.amount) FROM habits h JOIN habit_marks m ON m.habit_id = h.id
    WHERE h.goal_id = g.id AND h.deleted_at IS NULL), 3)"""
SUM_OF_GOAL = f"SELECT {SUM} FROM goals g WHERE id = ?"

# Things in the order of the person; what was never moved stands by its id.
IN_ORDER = "ifnull(place, id), id"
# What the list shows, in which a place is counted.
IN_SIGHT = {"goals": "status = 'work' AND archived_at IS NULL", "habits": "archived_at IS NULL"}

TARGET_COLUMNS = ("target_amount", "target_unit", "at_most")
FEEDING = "SELECT id FROM habits WHERE user = ? AND goal_id = ? AND deleted_at IS NULL ORDER BY id"


def columns(params: JsonObject) -> JsonObject:
    """The values by the columns that keep them: those of a target."""
    if "target" not in params:
        return params
    target = params.pop("target") or {}
    return params | {"target_amount": target.get("amount"), "target_unit": target.get("unit")}


def sum_of(unit: UnitOfWork, goal: Row) -> float:
    """What a goal has come to."""
    (total,) = unit.db.execute(SUM_OF_GOAL, (goal["id"],)).fetchone()
    return float(total)


def warn_of_reached(unit: UnitOfWork, outcome: Outcome, goal: Row | None) -> None:
    """Say that an open goal has what it wants."""
    wanted = goal["target_amount"] if goal else None
    is_open = goal and goal["status"] == "work" and not goal["archived_at"]
    if goal and wanted and is_open and sum_of(unit, goal) >= wanted:
        outcome.warn(
            "warn.reached", title=goal["title"], sum={"amount": sum_of(unit, goal), "target": target_of(goal)}
        )


def moved(unit: UnitOfWork, entity: str, row: Row, params: JsonObject) -> JsonObject:
    """The params with the place that `before` or `order` means: halfway between two others, or after the last."""
    if "before" not in params and "order" not in params:
        return params
    table = ENTITIES[entity]
    statement = f"""SELECT id, ifnull(place, id), {IN_SIGHT[table]} FROM {table}
        WHERE user = ? AND deleted_at IS NULL AND id <> ? ORDER BY {IN_ORDER}"""
    others = unit.db.execute(statement, (unit.user, row["id"])).fetchall()
    in_sight = [at for at, (_, _, is_seen) in enumerate(others) if is_seen]
    number = params.pop("order", len(others) + 1)
    at = in_sight[number - 1] if number <= len(in_sight) else len(others)
    if (before := params.pop("before", None)) is not None:
        other = unit.find(entity, before)["id"]
        unit.found[entity] = row  # the one that an error is about
        if other == row["id"]:
            raise fields.invalid("before", f"another {entity}")
        at = [key for key, _, _ in others].index(other)

    places = [place for _, place, _ in others]
    own_place = row["id"] if row["place"] is None else row["place"]
    present = sum((place, key) < (own_place, row["id"]) for key, place, _ in others)
    if [key for key in in_sight if key < at] == [key for key in in_sight if key < present]:
        return params
    if at >= len(places):
        return params | {"place": float(max(places, default=0) + 1)}
    previous = places[at - 1] if at else places[0] - 2
    return params | {"place": (previous + places[at]) / 2}


def gather(unit: UnitOfWork, table: str, before: Row, after: Row, entry: Entry) -> None:
    """Say a changed target as one thing, the amount of a goal by its sum, a place by its number in the list."""
    if not isinstance(entry, Changed):
        return
    changes = entry.changes
    if changes.keys() & TARGET_COLUMNS:
        for name in TARGET_COLUMNS:
            changes.pop(name, None)
        changes["target"] = Edit(_shown_target(before), _shown_target(after))
    if changes.pop("amount", None) and after["target_amount"]:
        present = sum_of(unit, after)
        earlier = round(present - (after["amount"] or 0) + (before["amount"] or 0), 3)
        changes["sum"] = Edit(earlier, {"amount": present, "target": target_of(after)})
    if "place" in changes:
        changes["place"] = Edit(_number(unit, table, before), _number(unit, table, after))


def _shown_target(row: Row) -> JsonObject | None:
    return None if row["target_amount"] is None else target_of(row)


def _number(unit: UnitOfWork, table: str, row: Row) -> int:
    """The number of a thing in its list, as the list is now."""
    statement = f"""SELECT count(*) + 1 FROM {table} WHERE user = ? AND deleted_at IS NULL AND {IN_SIGHT[table]}
        AND id <> ? AND (ifnull(place, id), id) < (?, ?)"""
    key = row["id"]
    place = key if row["place"] is None else row["place"]
    (number,) = unit.db.execute(statement, (unit.user, key, place, key)).fetchone()
    return int(number)


def warn_of_unit(unit: UnitOfWork, outcome: Outcome, habit: Row, goal: Row | None) -> None:
    """Warn of a habit whose amounts do not count in the unit of its goal."""
    if goal is None or goal["target_amount"] is None:
        return
    if habit["target_amount"] is None:
        outcome.warn("warn.adds_nothing", title=habit["name"], goal=goal["title"])
    elif habit["target_unit"].casefold() != goal["target_unit"].casefold():
        units = {"here": habit["target_unit"], "unit": goal["target_unit"]}
        outcome.warn("warn.unit", title=habit["name"], goal=goal["title"], **units)
