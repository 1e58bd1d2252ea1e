"""The audit: every call of a writing tool leaves a row, whatever came of it.

`entry` surrounds a call: it counts it, reads its arguments with the contract's own errors, and records a failure. What
succeeds is recorded by the tool in the transaction of its change.
"""

import json
import logging
import os
import time
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from tools.core import caller
from tools.core.errors import ToolError
from tools.core.files import compact_json
from tools.core.json_types import JsonObject
from tools.core.parameters import ABSENT_TEXTS
from tools.onepercent import days, fields, names, settings
from tools.onepercent.database import limits, store
from tools.onepercent.database.types import Database

if TYPE_CHECKING:
    from tools.core.tool import Tool

logger = logging.getLogger(__name__)

FAILURE_PATIENCE_S = 2
"""How long a failed call waits to be recorded: it may have failed because the database was busy."""
PRESS_KEY = "press_key"
"""The argument by which a press on a page proves itself."""

UNRECORDED = ("RATE_LIMITED",)
"""Refusals that leave no row: they are there for a model that calls without end."""

KEPT_DAYS = 90

LONGEST_FAILURE = 4_000
LONGEST_RECORD = 500_000
"""Characters kept of a request and of an answer, of a call that failed and of any: fifty pages of diary are fewer."""


@dataclass(frozen=True)
class Request:
    """A call in progress."""

    tool: str
    arguments: JsonObject
    started_s: float

    @property
    def kept(self) -> JsonObject:
        """What the row keeps of the arguments: all but the key of a press, which must stay secret."""
        return {name: value for name, value in self.arguments.items() if name != PRESS_KEY}


_current: ContextVar[Request] = ContextVar("request")


def entry(tool: "Tool", arguments: JsonObject) -> Any:
    """The answer to a call, given its arguments as sent."""
    token = _current.set(Request(tool.name, arguments, time.monotonic()))
    try:
        answer = _answer(tool, arguments)
        if tool.write and not answer["success"] and answer["code"] not in UNRECORDED:
            _record_failure(answer)
        return answer
    finally:
        _current.reset(token)


def _answer(tool: "Tool", arguments: JsonObject) -> Any:
    try:
        limits.count(tool.name, settings.current().onepercent_user)
        values = _values(tool, arguments)
    except ToolError as error:
        return error.answer()
    return tool.handler(**values)


def _values(tool: "Tool", arguments: JsonObject) -> JsonObject:
    names.known(arguments, tool.parameters.members, tool.listed_name)
    required = tool.parameters.required
    if missing := next((name for name in required if name not in arguments), None):
        raise fields.required(missing)
    # No optional argument of these tools is free text, so a blank one is absent.
    arguments = {name: value for name, value in arguments.items() if name in required or value not in ABSENT_TEXTS}
    try:
        return tool.parameters.canonical(arguments)
    except ToolError as error:
        raise ToolError(error.message, error.hint, code="FIELD_INVALID") from error


def record(db: Database, answer: JsonObject) -> int:
    """Write the row of the current call inside the transaction of its change; return the row's id."""
    import uuid

    request = _current.get()
    ms = round((time.monotonic() - request.started_s) * 1000, 3)
    longest = LONGEST_RECORD if answer["success"] else LONGEST_FAILURE
    values = (
        str(uuid.uuid4()), days.stamp(days.now()), settings.current().onepercent_user, request.tool,
        _cut(packed(request.kept), longest), _cut(packed(answer), longest), answer.get("code"), ms, _token(),
    )  # fmt: skip
    columns = "request_id, at, user, tool, request, answer, error, ms, token"
    return db.execute(f"INSERT INTO audit ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values).lastrowid or 0


def _token() -> str:
    """The id of the token that a remote caller came with."""
    remote = caller.current()
    return remote.token_id if remote else ""


def purge(db: Database) -> None:
    """Delete old calls and previews, once a day per process, except those that answer a repeated idempotency_key."""
    today = days.now().date()
    if _purged.get(os.getpid()) == today:
        return
    _purged[os.getpid()] = today
    before = days.stamp(days.now() - timedelta(days=KEPT_DAYS))
    answered = "SELECT audit_id FROM previews WHERE audit_id = audit.id"
    db.execute(f"DELETE FROM audit WHERE at < ? AND NOT EXISTS ({answered})", (before,))
    db.execute("DELETE FROM previews WHERE created_at < ? AND status <> 'applied'", (before,))
    day_ago = days.stamp(days.now() - timedelta(days=1))
    db.execute(
        "UPDATE previews SET plan = NULL WHERE status = 'expired' AND created_at < ? AND plan IS NOT NULL", (day_ago,)
    )


_purged: dict[int, date] = {}
"""By process: the day of its last purge."""


def _record_failure(answer: JsonObject) -> None:
    try:
        with store.writing(patience_s=FAILURE_PATIENCE_S) as db:
            record(db, answer)
    except ToolError as error:
        logger.warning("no audit row: %s", error.message)


def _cut(text: str, longest: int) -> str:
    """JSON text; if it is too long, a JSON object with its beginning and length."""
    return text if len(text) <= longest else packed({"cut": text[:longest], "characters": len(text)})


def packed(value: object) -> str:
    """Compact JSON that every database and client can hold."""
    try:
        text = compact_json(value)
        return text if fields.encodable(text) else json.dumps(value, separators=(",", ":"))
    except (RecursionError, ValueError):
        return '"(nested too deeply, or a number too large)"'
