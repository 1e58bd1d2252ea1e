"""The audit: every call of a writing tool leaves a row, whatever came of it.

`entry` surrounds a call: it counts it, reads its arguments with the contract's own errors, and records a failure. What
succeeds is recorded by the tool in the transaction of its change.
"""

import json
import logging
import time
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tools import arguments, settings
from tools.errors import ToolError
from tools.onepercent import days, fields, limits, names, store

if TYPE_CHECKING:
    from tools.registry import Tool

logger = logging.getLogger(__name__)

FAILURE_PATIENCE_S = 2
"""How long a failed call waits to be recorded: it may have failed because the database was busy."""


@dataclass(frozen=True)
class Request:
    """A call in progress."""

    tool: str
    given: dict[str, Any]
    started_s: float


_current: ContextVar[Request] = ContextVar("request")


def entry(tool: "Tool", given: dict[str, Any]) -> Any:
    """The answer to a call with the arguments as sent."""
    token = _current.set(Request(tool.name, given, time.monotonic()))
    try:
        answer = _answer(tool, given)
        if tool.write and not answer["success"]:
            _record_failure(answer)
        return answer
    finally:
        _current.reset(token)


def _answer(tool: "Tool", given: dict[str, Any]) -> Any:
    try:
        limits.count(tool.name, settings.current().onepercent_user)
        values = _values(tool, given)
    except ToolError as error:
        return error.answer()
    return tool.handler(**values)


def _values(tool: "Tool", given: dict[str, Any]) -> dict[str, Any]:
    names.known(given, tool.signature.parameters, tool.wire_name)
    required = tool.schema.get("required", ())
    if missing := next((name for name in required if name not in given), None):
        raise fields.required(missing)
    # No optional argument of these tools is free text, so a blank one is absent.
    given = {name: value for name, value in given.items() if name in required or value not in arguments.ABSENT_TEXTS}
    try:
        return arguments.canonical(tool, given)
    except ToolError as error:
        raise ToolError(error.message, error.hint, code="FIELD_INVALID") from error


def record(db: Any, answer: dict[str, Any]) -> int:
    """Write the row of the call in progress inside the transaction of its change; the row's id."""
    import uuid

    request = _current.get()
    ms = round((time.monotonic() - request.started_s) * 1000, 3)
    values = (
        str(uuid.uuid4()), days.stamp(days.now()), settings.current().onepercent_user, request.tool,
        packed(request.given), packed(answer), answer.get("code"), ms,
    )  # fmt: skip
    columns = "request_id, at, user, tool, request, answer, error, ms"
    return db.execute(f"INSERT INTO audit ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values).lastrowid


def _record_failure(answer: dict[str, Any]) -> None:
    try:
        with store.writing(patience_s=FAILURE_PATIENCE_S) as db:
            record(db, answer)
    except ToolError as error:
        logger.warning("no audit row: %s", error.message)


def packed(value: Any) -> str:
    """Compact JSON that every database and client can hold."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text if fields.encodable(text) else json.dumps(value, separators=(",", ":"))
    except (RecursionError, ValueError):
        return '"(nested too deeply, or a number too large)"'
