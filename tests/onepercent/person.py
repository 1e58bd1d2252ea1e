"""A person and the model that acts for them, as the tests play both."""

import os
import uuid
from datetime import datetime, timezone

from tools.core import registry, settings
from tools.core.registry import COMMANDS
from tools.core.tool import TOOLS
from tools.onepercent.database import store
from tools.onepercent.database.migrations import STATE_TABLES

registry.load()


class Clock:
    """The clock the tests turn; `days.now` is replaced by it."""

    moment = datetime.fromisoformat("2026-03-18T12:00:00+00:00")

    def set(self, moment):
        self.moment = datetime.fromisoformat(moment)

    def __call__(self):
        return self.moment.astimezone(timezone.utc)


def use(file, **more):
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


def call(name, **arguments):
    """The answer of a tool, called as a client does."""
    return TOOLS[name].call(arguments)


def act(action, key=None, /, **params):
    """An action with a new id; `key` is the id of the goal, step, habit or entry that it acts on."""
    if key is not None:
        params = {f"{action.partition('.')[0]}_id": key, **params}
    return {"action": action, "client_action_id": str(uuid.uuid4()), "params": params}


def new_goal(title, **more):
    return act("goal.create", title=title, **more)


def new_step(title, goal_id=None, **more):
    """A step of the goal that was created last before it, unless another one is named."""
    return act("step.create", goal_id=goal_id, title=title, **more)


def errand(title, **more):
    """A step without a goal of its own."""
    return act("step.create", inbox=True, title=title, **more)


def new_habit(name, **more):
    return act("habit.create", name=name, **more)


def new_entry(**texts):
    return act("diary.create_entry", **texts)


def complete(step, **more):
    return act("step.complete", step, **more)


def mark(habit, **more):
    """The habit was kept."""
    return act("habit.mark_completed", habit, **more)


def miss(habit, **more):
    return act("habit.mark_missed", habit, **more)


def pause(habit, first=None, last=None, **more):
    return act("habit.pause", habit, **{"from": first, "to": last}, **more)


def ref(action):
    """What stands for the id that `action` creates."""
    return "$ref:" + action["client_action_id"]


def propose(*actions, **more):
    """Preview, whatever comes of it."""
    return call("preview_actions", actions=list(actions), **more)


def preview(*actions):
    """Preview, which must succeed with every action."""
    answer = propose(*actions)
    assert answer["success"] and not answer["diff"]["errors"], answer
    return answer


def said(*actions):
    """What the person reads before the yes to these actions."""
    return preview(*actions)["message"]


def apply(previewed, key=None):
    """Apply what was previewed."""
    arguments = {"preview_id": previewed["preview_id"], "idempotency_key": key or str(uuid.uuid4())}
    return call("apply_actions", **arguments, user_confirmation="да")


def do(*actions):
    """Preview and apply; the ids of what was created."""
    answer = apply(preview(*actions))
    assert answer["success"], answer
    return [result.get("created_id") for result in answer["results"]]


def accepted(*actions):
    """Preview and apply; what the person read before the yes."""
    previewed = preview(*actions)
    assert apply(previewed)["success"]
    return previewed["message"]


def undo(**more):
    """Preview and apply the undo of the last change; what was said of it before the yes."""
    previewed = call("undo_last", **more)
    assert previewed["success"], previewed
    answer = apply(previewed)
    assert answer["success"], answer
    return previewed


def refused(*actions):
    """The error of the only action."""
    answer = propose(*actions)
    assert answer["code"] == "ALL_FAILED", answer
    return answer["errors"][0]


def snapshot(*include, **more):
    """The sections of the snapshot."""
    answer = call("get_user_snapshot", **({"include": list(include)} if include else {}), **more)
    assert answer["success"], answer
    return answer["data"]


def items(section, **more):
    """The items of one section; goals with their open steps."""
    return snapshot("steps" if section == "goals" else section, **more)[section]["items"]


def first_goal():
    """The first goal in sight, with its open steps."""
    return items("goals")[0]


def first_habit():
    """The first habit in sight."""
    return items("habits")[0]


def titles(**more):
    """Of the goals."""
    return [goal["title"] for goal in items("goals", **more)]


def schedule(**more):
    return snapshot("schedule", **more)["schedule"]


def history(**more):
    return snapshot("history", **more)["history"]


def past(**more):
    """The history of the first habit."""
    return history(**more)["habits"][0]


def marks(first="2026-03-09"):
    """Of the first habit, a sign for each day since."""
    return past(date_from=first)["marks"]


def balance():
    """The XP."""
    return snapshot("xp")["xp"]["balance"]


def found(words):
    return call("get_user_snapshot", find=words)["found"]["items"]


def run(name, *words):
    """What a command of the shell gives."""
    return COMMANDS["onepercent", name](*map(str, words))


def rows(statement, *values):
    """What the database says."""
    with store.reading() as db:
        return [tuple(row) for row in db.execute(statement, values)]


def state():
    """Every row of what people have, by table."""
    return {table: rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in STATE_TABLES}


def behind_the_tools(*statements):
    """Change the database as no tool does."""
    with store.writing() as db:
        for statement in statements:
            db.execute(statement)


def insert(db, table, **values):
    """A row of this person that no tool wrote."""
    values = {"user": "local", **values}
    db.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
        [*values.values()],
    )
