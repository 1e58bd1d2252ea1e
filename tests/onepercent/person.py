"""A person and the model that acts for them, as the tests play both."""

import os
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from tools.core import registry, settings
from tools.core.tool import TOOLS
from tools.onepercent.database import store
from tools.onepercent.database.migrations import STATE_TABLES

registry.load()


class Clock:
    """The clock the tests turn; `days.now` is replaced by it."""

    def __init__(self, moment: str = "2026-03-18T12:00:00+00:00"):
        self.moment = datetime.fromisoformat(moment)

    def set(self, moment: str) -> None:
        self.moment = datetime.fromisoformat(moment)

    def __call__(self) -> datetime:
        return self.moment.astimezone(timezone.utc)


def use(file: Path, **more: str) -> None:
    """Make `file` the database of this process, in UTC and without rate limits unless `more` says
    otherwise."""
    os.environ |= {
        "ONEPERCENT_DB": str(file),
        "MCP_STATE_DIR": str(file.parent),
        "ONEPERCENT_RATE_LIMIT": "off",
        "ONEPERCENT_TZ": "UTC",
        "ONEPERCENT_USER": "local",
        **more,
    }
    settings.forget()


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """The answer of a tool, called as a client does."""
    return TOOLS[name].call(arguments)


def act(action: str, key: Any = None, /, **params: Any) -> dict[str, Any]:
    """An action with a new id; `key` is the id of the goal, step, habit or entry that it acts on."""
    if key is not None:
        params = {f"{action.partition('.')[0]}_id": key, **params}
    return {"action": action, "client_action_id": str(uuid.uuid4()), "params": params}


def new_goal(title: str, **more: Any) -> dict[str, Any]:
    return act("goal.create", title=title, **more)


def new_step(title: str, goal_id: Any = None, **more: Any) -> dict[str, Any]:
    """A step of the goal that was created last before it, unless another one is named."""
    return act("step.create", goal_id=goal_id, title=title, **more)


def errand(title: str, **more: Any) -> dict[str, Any]:
    """A step without a goal of its own."""
    return act("step.create", inbox=True, title=title, **more)


def new_habit(name: str, **more: Any) -> dict[str, Any]:
    return act("habit.create", name=name, **more)


def new_entry(**texts: str) -> dict[str, Any]:
    return act("diary.create_entry", **texts)


def complete(step: Any, **more: Any) -> dict[str, Any]:
    return act("step.complete", step, **more)


def mark(habit: Any, **more: Any) -> dict[str, Any]:
    """The habit was kept."""
    return act("habit.mark_completed", habit, **more)


def miss(habit: Any, **more: Any) -> dict[str, Any]:
    return act("habit.mark_missed", habit, **more)


def ref(action: dict[str, Any]) -> str:
    """What stands for the id that `action` creates."""
    return "$ref:" + action["client_action_id"]


def propose(*actions: Any, **more: Any) -> dict[str, Any]:
    """Preview, whatever comes of it."""
    return call("preview_actions", actions=list(actions), **more)


def preview(*actions: Any) -> dict[str, Any]:
    """Preview, which must succeed with every action."""
    answer = propose(*actions)
    assert answer["success"] and not answer["diff"]["errors"], answer
    return answer


def said(*actions: Any) -> str:
    """What the person reads before the yes to these actions."""
    return preview(*actions)["message"]


def apply(previewed: dict[str, Any], key: str | None = None) -> dict[str, Any]:
    """Apply what was previewed."""
    arguments = {"preview_id": previewed["preview_id"], "idempotency_key": key or str(uuid.uuid4())}
    return call("apply_actions", **arguments, user_confirmation="да")


def do(*actions: Any) -> list[int | None]:
    """Preview and apply; the ids of what was created."""
    answer = apply(preview(*actions))
    assert answer["success"], answer
    return [result.get("created_id") for result in answer["results"]]


def undo(**more: Any) -> dict[str, Any]:
    """Preview and apply the undo of the last change; what was said of it before the yes."""
    previewed = call("undo_last", **more)
    assert previewed["success"], previewed
    answer = apply(previewed)
    assert answer["success"], answer
    return previewed


def refused(*actions: Any) -> dict[str, Any]:
    """The error of the only action."""
    answer = propose(*actions)
    assert answer["code"] == "ALL_FAILED", answer
    return answer["errors"][0]


def snapshot(*include: str, **more: Any) -> dict[str, Any]:
    """The sections of the snapshot."""
    answer = call("get_user_snapshot", **({"include": list(include)} if include else {}), **more)
    assert answer["success"], answer
    return answer["data"]


def items(section: str, **more: Any) -> list[dict[str, Any]]:
    """The items of one section; goals with their open steps."""
    return snapshot("steps" if section == "goals" else section, **more)[section]["items"]


def titles(**more: Any) -> list[str]:
    """Of the goals."""
    return [goal["title"] for goal in items("goals", **more)]


def schedule(**more: Any) -> dict[str, Any]:
    return snapshot("schedule", **more)["schedule"]


def history(**more: Any) -> dict[str, Any]:
    return snapshot("history", **more)["history"]


def past(**more: Any) -> dict[str, Any]:
    """The history of the first habit."""
    return history(**more)["habits"][0]


def balance() -> int:
    """The XP."""
    return snapshot("xp")["xp"]["balance"]


def found(words: str) -> list[dict[str, Any]]:
    return call("get_user_snapshot", find=words)["found"]["items"]


def rows(statement: str, *values: Any) -> list[tuple]:
    """What the database says."""
    with store.reading() as db:
        return [tuple(row) for row in db.execute(statement, values)]


def state() -> dict[str, list[tuple]]:
    """Every row of what people have, by table."""
    return {table: rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in STATE_TABLES}


def behind_the_tools(*statements: str) -> None:
    """Change the database as no tool does."""
    with store.writing() as db:
        for statement in statements:
            db.execute(statement)


def insert(db: Any, table: str, **values: Any) -> None:
    """A row of this person that no tool wrote."""
    values = {"user": "local", **values}
    db.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
        [*values.values()],
    )
