"""The call in progress: what a plain function may tell, or ask, the client that called it.

A tool imports `report`, `checkpoint` and `ask` and needs no argument for them. Whoever runs a tool (server.py, the
shell) says with `calling` where reports and questions go; outside a call nobody hears either.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from tools.core.errors import Cancelled, ToolError

Report = Callable[[float, float | None, str], None]
Ask = Callable[[str], str]


def nobody(question: str) -> str:
    """Where there is no person to ask.

    Raises ToolError CANNOT_ASK.
    """
    raise ToolError(
        "This needs the person's own yes, and this client cannot ask for it",
        "Use a client that supports elicitation, or let the person decide whether to unset the setting that asks.",
        code="CANNOT_ASK",
    )


@dataclass(frozen=True)
class Call:
    """`report(done, total, message)` tells the client; `cancelled()` is true once the client withdrew the call;
    `ask(question)` gives the person's `accept`, `decline` or `cancel`."""

    report: Report
    cancelled: Callable[[], bool]
    ask: Ask


_current: ContextVar[Call | None] = ContextVar("call", default=None)


@contextmanager
def calling(report: Report, cancelled: Callable[[], bool], ask: Ask = nobody) -> Iterator[None]:
    """Make `report`, `cancelled` and `ask` those of every tool that runs inside."""
    token = _current.set(Call(report, cancelled, ask))
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Call | None:
    """The call in progress; None outside one."""
    return _current.get()


def report(done: float, total: float | None = None, message: str = "") -> None:
    """Tell the client how far the work is (MCP progress); `total` is None if it is unknown."""
    if call := _current.get():
        call.report(done, total, message)


def ask(question: str) -> str:
    """The person's answer to a question: `accept`, `decline`, or `cancel` if it was closed unanswered.

    To be called before anything is changed and without a lock: a person takes time, and in the 2026 era the question
    goes out as the answer of a first call, and the call comes again with the answer.

    Raises ToolError CANNOT_ASK.
    """
    call = _current.get()
    return (call.ask if call else nobody)(question)


def digest(question: str) -> str:
    """What stands for a question, so that an answer is to that one."""
    import hashlib

    return hashlib.sha256(question.encode()).hexdigest()


class Asking(BaseException):
    """The call ends here with a question, to be called again with the answer. No error: wrappers let it pass."""


def checkpoint() -> None:
    """Stop here if the client withdrew the call. To be called between steps, never inside a write.

    Raises Cancelled.
    """
    if (call := _current.get()) and call.cancelled():
        raise Cancelled()
