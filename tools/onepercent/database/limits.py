"""Rate limits: calls per user and tool in a sliding minute, counted across the processes that share the database.

The times lie in a small file beside the database, not in it: a snapshot must cost no write transaction.
"""

import fcntl
import json
import math
import os
import time
from pathlib import Path
from typing import Any

from tools.core.errors import ToolError
from tools.onepercent import settings
from tools.onepercent.database import store

PER_MINUTE = {
    "get_user_snapshot": 60,
    "preview_actions": 30,
    "apply_actions": 20,
    "cancel_preview": 30,
    "undo_last": 30,
    "apply_by_press": 20,
    "tick_by_press": 60,
}

WINDOW_S = 60
PATIENCE_S = 0.5


def count(tool: str, user: str) -> None:
    """Count a call.

    Raises ToolError RATE_LIMITED when the minute's calls are used up; such a call does not count. If the file
    cannot be opened there is no limit: it only protects from a model in a loop, and a person must not be refused.
    """
    if not settings.current().onepercent_rate_limit:
        return
    try:
        handle = _open(store.path())
    except OSError:
        return
    try:
        wait_s = _enter(handle, f"{tool} {user}", PER_MINUTE[tool], time.time()) if _locked(handle) else 0
    except OSError:
        return
    finally:
        os.close(handle)
    if wait_s:
        raise ToolError(
            "Rate limit exceeded", f"Wait {wait_s} s, then call {tool} again.", code="RATE_LIMITED", retry_after=wait_s
        )


def _open(database: Path) -> int:
    database.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return os.open(f"{database}.limits", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _locked(handle: int) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
        time.sleep(0.001)


def _enter(handle: int, name: str, most: int, moment_s: float) -> int:
    """Enter the call and return 0, or return the seconds to wait."""
    text = os.pread(handle, os.fstat(handle).st_size, 0)
    calls = {
        caller: recent
        for caller, times in _read(text).items()
        if (recent := [t for t in times if moment_s - WINDOW_S < t <= moment_s])
    }
    mine = calls.setdefault(name, [])
    if len(mine) >= most:
        return math.ceil(mine[-most] + WINDOW_S - moment_s) or 1
    mine.append(moment_s)
    written = json.dumps(calls).encode()
    os.pwrite(handle, written, 0)
    os.ftruncate(handle, len(written))
    return 0


def _read(text: bytes) -> dict[str, list[Any]]:
    try:
        calls = json.loads(text)
        return {str(name): sorted(float(t) for t in times) for name, times in calls.items()}
    except (ValueError, TypeError, AttributeError):
        return {}
