"""The call in progress: what a plain function may tell, or ask, the client that called it.

A tool imports `report` and `checkpoint` and needs no argument for them. Whoever runs a tool (server.py, the shell)
says with `calling` where reports go; outside a call both do nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from tools.errors import Cancelled

Report = Callable[[float, float | None, str], None]


@dataclass(frozen=True)
class Call:
    """`report(done, total, message)` tells the client; `cancelled()` is true once the client withdrew the call."""

    report: Report
    cancelled: Callable[[], bool]


_current: ContextVar[Call | None] = ContextVar("call", default=None)


@contextmanager
def calling(report: Report, cancelled: Callable[[], bool]) -> Iterator[None]:
    """Make `report` and `cancelled` those of every tool that runs inside."""
    token = _current.set(Call(report, cancelled))
    try:
        yield
    finally:
        _current.reset(token)


def report(done: float, total: float | None = None, message: str = "") -> None:
    """Tell the client how far the work is (MCP progress); `total` is None where it is unknown."""
    if call := _current.get():
        call.report(done, total, message)


def checkpoint() -> None:
    """Stop here if the client withdrew the call. To be called between steps, never inside a write.

    Raises Cancelled.
    """
    if (call := _current.get()) and call.cancelled():
        raise Cancelled()
