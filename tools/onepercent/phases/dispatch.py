"""Dispatch of OnePercent's calls, from the arguments as sent to the answer and its row in the audit."""

import logging
import math
from collections import deque
from contextvars import ContextVar
from datetime import date, timedelta
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

from tools.core import calls
from tools.core.parameters import ABSENT_TEXTS, InvalidArguments
from tools.toolkit import JsonObject, Tool, ToolError, compact_json

from .. import settings
from ..base import days, fields, rules
from ..database import Database, insertion, store

logger = logging.getLogger(__name__)

# These tools declare `on_call=dispatch`, so Tool.call hands every call over to here: the contract has limits
# and argument errors of its own. In order:
# 1. counted: over the limit it is refused, and leaves no row in the audit;
# 2. read: names, then types, each with the contract's code;
# 3. run, in the wrappers of all tools;
# 4. recorded: a writing tool that succeeds records its answer in the transaction of its change, so that the
#    row is there if and only if the change is; a failure is recorded here, after that transaction is rolled
#    back.

WINDOW_S = 60

LONGEST_FAILURE = 4_000  # characters kept of the request and of the answer of a call that failed


class AuditedCall(NamedTuple):
    """A call in progress."""

    tool: str
    arguments: JsonObject
    started_s: float


call_in_progress: ContextVar[AuditedCall] = ContextVar("audited_call")
_purged: set[date] = set()  # the days on which this process has purged
# The times of the last calls by tool and user, as many as a minute may have.
_recent: dict[tuple[str, str], deque[float]] = {}


def dispatch(tool: Tool, arguments: JsonObject) -> Any:
    """Answer a call, given its arguments as sent."""
    token = call_in_progress.set(AuditedCall(tool.name, arguments, monotonic()))
    try:
        answer = _answer(tool, arguments)
        if tool.write and not answer["success"] and answer["code"] != "RATE_LIMITED":
            with store.writing() as db:
                record(db, answer)
    except ToolError as error:
        logger.warning("no audit row: %s", error.message)
    finally:
        call_in_progress.reset(token)
    return answer


# Declares a tool that writes. Its writers wait for each other in sqlite, across processes, so no lock is
# needed.
writing_tool = partial(Tool, write=True, lock=False, on_call=dispatch)


def count_call(tool: str) -> None:
    """Count a call; one that is refused does not count. Raises ToolError RATE_LIMITED."""
    if not settings.current().onepercent_rate_limit:
        return
    recent = _recent.setdefault((tool, settings.user()), deque(maxlen=rules.CALLS_PER_MINUTE[tool]))
    moment_s = monotonic()
    if len(recent) == recent.maxlen:
        wait_s = math.ceil(recent[0] + WINDOW_S - moment_s)
        if wait_s > 0:
            raise ToolError(
                "Rate limit exceeded",
                f"Wait {wait_s} s, then call {tool} again.",
                "RATE_LIMITED",
                retry_after=wait_s,
            )
    recent.append(moment_s)


def _answer(tool: Tool, arguments: JsonObject) -> Any:
    parameters = tool.parameters
    try:
        count_call(tool.name)
        fields.check_names(arguments, parameters.members, tool.listed_name)
        for name in parameters.required:
            if arguments.get(name) is None:
                raise fields.missing_error(name)
        # No optional argument of these tools is free text, so a blank one is absent.
        present = {
            name: value
            for name, value in arguments.items()
            if value not in ABSENT_TEXTS or name in parameters.required
        }
        values = parameters.parse(present)
    except ToolError as error:
        if isinstance(error, InvalidArguments):
            error.code = "FIELD_INVALID"
        return error.answer()
    return tool.handler(**values)


def record(db: Database, answer: JsonObject) -> JsonObject:
    """Write the current call's row of the audit inside the open transaction; return the answer, which is a
    success unless it says otherwise."""
    import uuid

    answer = {"success": True} | answer
    call = call_in_progress.get()
    remote = calls.remote_caller()
    # The key of a press proves that the person pressed, so it must stay secret.
    request = {name: value for name, value in call.arguments.items() if name != "press_key"}
    row = {
        "request_id": str(uuid.uuid4()),
        "at": days.stamp(days.now()),
        "user": settings.user(),
        "tool": call.tool,
        "request": _audit_json(request, answer["success"]),
        "answer": _audit_json(answer, answer["success"]),
        "error": answer.get("code"),
        "ms": round((monotonic() - call.started_s) * 1000, 3),
        "token": remote.token_id if remote else "",
    }
    db.execute(insertion("audit", *row), tuple(row.values()))
    return answer


def purge(db: Database) -> None:
    """Delete old calls and previews, once a day, except those that answer a repeated idempotency_key."""
    today = days.now().date()
    if today in _purged:
        return
    _purged.add(today)
    before = days.stamp(days.now() - timedelta(rules.AUDIT_DAYS_KEPT))
    unused = "NOT EXISTS (SELECT audit_id FROM previews WHERE audit_id = audit.id)"
    db.execute(f"DELETE FROM audit WHERE at < ? AND {unused}", (before,))
    db.execute("DELETE FROM previews WHERE created_at < ? AND status <> 'applied'", (before,))


def _audit_json(value: JsonObject, is_whole: bool) -> str:
    """JSON text; a long failure is cut, so that a model in a loop fills no disk."""
    try:
        json_text = compact_json(value)
    except RecursionError:  # lists in lists, a thousand deep: it was refused
        json_text = repr(list(value))
    if is_whole or len(json_text) <= LONGEST_FAILURE:
        return json_text
    return compact_json({"cut": json_text[:LONGEST_FAILURE], "characters": len(json_text)})
