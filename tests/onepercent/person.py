"""A person and the model that acts for them, as the tests play both."""

import os
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from tools.core import registry, settings
from tools.core.tool import TOOLS

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


def act(action: str, **params: Any) -> dict[str, Any]:
    """An action with a new id."""
    return {"action": action, "client_action_id": str(uuid.uuid4()), "params": params}


def ref(action: dict[str, Any]) -> str:
    """What stands for the id that `action` creates."""
    return "$ref:" + action["client_action_id"]


def preview(*actions: Any) -> dict[str, Any]:
    """Preview, which must succeed with every action."""
    answer = call("preview_actions", actions=list(actions))
    assert answer["success"] and not answer["diff"]["errors"], answer
    return answer


def apply(previewed: dict[str, Any], key: str | None = None) -> dict[str, Any]:
    """Apply what was previewed."""
    arguments = {"preview_id": previewed["preview_id"], "idempotency_key": key or str(uuid.uuid4())}
    return call("apply_actions", **arguments, user_confirmation="да")


def do(*actions: Any) -> list[int | None]:
    """Preview and apply; the ids of what was created."""
    answer = apply(preview(*actions))
    assert answer["success"], answer
    return [result.get("created_id") for result in answer["results"]]


def refused(*actions: Any) -> dict[str, Any]:
    """The error of the only action."""
    answer = call("preview_actions", actions=list(actions))
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


def insert(db: Any, table: str, **values: Any) -> None:
    """A row of this person that no tool wrote."""
    values = {"user": "local", **values}
    db.execute(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
        [*values.values()],
    )
