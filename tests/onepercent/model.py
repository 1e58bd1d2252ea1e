"""The rules of OnePercent once more, as simply as they can be said: plain dicts, nothing kept that can be counted."""

from copy import deepcopy
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from tests.onepercent.test_streaks import counted
from tools.onepercent import days
from tools.onepercent.habits.streaks import DONE, EXCUSED, MISSED


class Refused(Exception):
    """The code of the error that the action must get."""


@dataclass
class Life:
    """What one user has."""

    goals: dict[int, dict] = field(default_factory=dict)
    steps: dict[int, dict] = field(default_factory=dict)
    habits: dict[int, dict] = field(default_factory=dict)
    marks: dict[tuple[int, str], dict] = field(default_factory=dict)
    diary: dict[int, dict] = field(default_factory=dict)
    spheres: dict[str, int] = field(default_factory=dict)
    gains: list[int] = field(default_factory=list)

    def copy(self) -> "Life":
        return deepcopy(self)

    @property
    def balance(self) -> int:
        return sum(self.gains)

    def earn(self, xp: int) -> int:
        xp = max(xp, -self.balance)
        self.gains.append(xp)
        return xp

    def shown(self, today: date) -> dict[str, Any]:
        """What the snapshot must say of it."""
        return {
            "goals": [self._goal(key) for key, goal in sorted(self.goals.items()) if not goal["deleted"]],
            "habits": [self._habit(key, today) for key, habit in sorted(self.habits.items()) if not habit["deleted"]],
            "diary": {key: entry["what_done"] for key, entry in self.diary.items() if not entry["deleted"]},
            "ssp": self.spheres,
            "xp": (self.balance, sum(gain for gain in self.gains if gain > 0)),
        }

    def _goal(self, key: int) -> tuple:
        steps = [step for step in self.steps.values() if step["goal"] == key and not step["deleted"]]
        done = sum(step["done"] for step in steps)
        return key, self.goals[key]["title"], self.goals[key]["status"], len(steps), done

    def _habit(self, key: int, today: date) -> tuple:
        habit = self.habits[key]
        marks = {
            date.fromisoformat(day): DONE if mark["status"] == "completed" else EXCUSED if mark["excuse"] else MISSED
            for (owner, day), mark in self.marks.items()
            if owner == key
        }
        return key, habit["name"], *counted(marks, days.schedule(habit["frequency"], habit["days"]), today)


def do(life: Life, action: str, params: dict[str, Any], today: date, new: int) -> int:
    """Do one action, whose ids are resolved; its XP. `new` is the id of what it creates."""
    kind, _, verb = action.partition(".")
    return {"goal": _goal, "step": _step, "habit": _habit, "diary": _diary, "ssp": _ssp}[kind](
        life, verb, params, today, new
    )


def _find(rows: dict[int, dict], key: Any, code: str) -> dict:
    if key not in rows or rows[key].get("deleted"):
        raise Refused(code)
    return rows[key]


def _update(row: dict, params: dict[str, Any], names: dict[str, str]) -> int:
    changes = {names[name]: value for name, value in params.items() if name in names and row[names[name]] != value}
    if not changes:
        raise Refused("NOTHING_TO_UPDATE")
    row.update(changes)
    return 0


def _goal(life: Life, verb: str, params: dict[str, Any], today: date, new: int) -> int:
    if verb == "create":
        life.goals[new] = {"title": params["title"], "status": "work", "deleted": False, "brought": 0}
        return 0
    goal = _find(life.goals, params["goal_id"], "GOAL_NOT_FOUND")
    if verb == "update":
        return _update(goal, params, {"title": "title"})
    if verb == "delete":
        goal["deleted"] = True
        for step in life.steps.values():
            step["deleted"] = step["deleted"] or step["goal"] == params["goal_id"]
        return 0
    return _closed(life, goal, "status", ("work", "complete"), verb, 150)


def _closed(life: Life, row: dict, name: str, states: tuple[Any, Any], verb: str, worth: int) -> int:
    """Complete or reopen: what it has brought in all is its worth, or nothing."""
    state = states[verb == "complete"]
    if row[name] == state:
        raise Refused("ALREADY_COMPLETED" if verb == "complete" else "NOT_COMPLETED")
    row[name] = state
    earned = life.earn((worth if verb == "complete" else 0) - row["brought"])
    row["brought"] += earned
    return earned


def _step(life: Life, verb: str, params: dict[str, Any], today: date, new: int) -> int:
    if verb == "create":
        _find(life.goals, params["goal_id"], "GOAL_NOT_FOUND")
        life.steps[new] = {
            "goal": params["goal_id"],
            "title": params["title"],
            "done": False,
            "deleted": False,
            "brought": 0,
        }
        return 0
    step = _find(life.steps, params["step_id"], "STEP_NOT_FOUND")
    if verb == "update":
        if "goal_id" in params:
            _find(life.goals, params["goal_id"], "GOAL_NOT_FOUND")
        return _update(step, params, {"title": "title", "goal_id": "goal"})
    if verb == "delete":
        step["deleted"] = True
        return 0
    return _closed(life, step, "done", (False, True), verb, 25)


def _habit(life: Life, verb: str, params: dict[str, Any], today: date, new: int) -> int:
    if verb == "create":
        reward = params.get("xp_reward", 10)
        frequency = params.get("frequency_type", "daily")
        life.habits[new] = {
            "name": params["name"], "reward": reward, "penalty": params.get("xp_penalty", reward), "deleted": False,
            "frequency": frequency, "days": ",".join(map(str, sorted(params.get("schedule_days", ())))),
        }  # fmt: skip
        return 0
    habit = _find(life.habits, params["habit_id"], "HABIT_NOT_FOUND")
    if verb == "update":
        return _update(habit, params, {"name": "name", "frequency_type": "frequency"})
    if verb == "delete":
        habit["deleted"] = True
        return 0
    status, excuse = verb.removeprefix("mark_"), params.get("excuse_reason")
    day = params.get("date", today.isoformat())
    if not (today - timedelta(days=7)).isoformat() <= day <= today.isoformat():
        raise Refused("INVALID_DATE")
    before = life.marks.get((params["habit_id"], day))
    if verb == "unmark":
        if before is None:
            raise Refused("NOT_COMPLETED")
        del life.marks[params["habit_id"], day]
        return life.earn(-before["xp"])
    if before and before["status"] == status:
        raise Refused("ALREADY_COMPLETED")
    worth = habit["reward"] if status == "completed" else 0 if excuse else -habit["penalty"]
    earned = life.earn(worth - (before["xp"] if before else 0))
    life.marks[params["habit_id"], day] = {
        "status": status, "excuse": excuse, "xp": earned + (before["xp"] if before else 0)
    }  # fmt: skip
    return earned


def _diary(life: Life, verb: str, params: dict[str, Any], today: date, new: int) -> int:
    if verb == "create_entry":
        life.diary[new] = {"what_done": params["what_done"], "deleted": False, "brought": life.earn(10)}
        return life.diary[new]["brought"]
    entry = _find(life.diary, params["diary_id"], "DIARY_NOT_FOUND")
    if verb == "delete_entry":
        entry["deleted"] = True
        return life.earn(-entry["brought"])
    return _update(entry, params, {"what_done": "what_done"})


def _ssp(life: Life, verb: str, params: dict[str, Any], today: date, new: int) -> int:
    if life.spheres.get(params["category"]) == params["score"]:
        raise Refused("NOTHING_TO_UPDATE")
    life.spheres[params["category"]] = params["score"]
    return 0


def whole(section: dict[str, Any]) -> list[dict[str, Any]]:
    """The items of a section, each with what most of them share."""
    return [{**section.get("usual", {}), **item} for item in section["items"]]
