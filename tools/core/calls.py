"""The call in progress: its reports, its questions to the person, its budget, and the caller it runs for.

A tool imports `report`, `checkpoint` and `ask`, and needs no argument for them. The code that runs a
tool (`protocol.py`, the shell) sets with `calling` where reports and questions go; outside a call they go
nowhere.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from typing import NamedTuple

from . import places
from .errors import Cancelled, ToolError

# Seconds for which a person may answer a question, in both eras; in that of 2025 it holds a turn.
QUESTION_S = 600
# Seconds of processor time that a call may take: even on a small Pi a tenth of it is much.
MOST_COMPUTED_S = 30.0
# The suffix of a toolset's name in a scope that allows only its readers.
READ_ONLY = ":read"

Report = Callable[[float, float, str], None]
Ask = Callable[[str, str], str]


def refuse_to_ask(question: str, key: str = "") -> str:
    """Refuse to ask, since there is no person to ask. Raises ToolError CANNOT_ASK."""
    raise ToolError(
        "This needs the person's own yes, and this client cannot ask for it",
        "Use a client that supports elicitation, or let the person decide whether to unset the setting "
        "that asks.",
        "CANNOT_ASK",
    )


class RunningCall(NamedTuple):
    """A call in progress, and how it reaches its client.

    - `report(done, total, message)`: tells the client how far it is;
    - `cancelled()`: true once the client withdrew it;
    - `ask(question, key)`: gives the person's `accept`, `decline` or `cancel`;
    - `by_person`: a person calls from a shell, so limits that are meant for a model do not apply;
    - `append_line(line)`: adds text after the answer, whatever its shape;
    - `ends_s`: the processor time of its thread at which its budget ends.

    The defaults are those outside of a call: nobody hears a report or is asked, lines are dropped, and there
    is no budget.
    """

    report: Report = lambda *_: None
    cancelled: Callable[[], bool] = lambda: False
    ask: Ask = refuse_to_ask
    by_person: bool = False
    append_line: Callable[[str], None] = lambda _: None
    ends_s: float = float("inf")


NO_CALL = RunningCall()
_running = ContextVar("running_call", default=NO_CALL)


@contextmanager
def calling(call: RunningCall) -> Iterator[list[str]]:
    """Make `call` the call in progress, with a budget of MOST_COMPUTED_S, in which waiting for a backend or a
    person is free. Yields the list of lines that will follow its answer."""
    lines: list[str] = []
    ends_s = time.thread_time() + MOST_COMPUTED_S
    token = _running.set(call._replace(append_line=lines.append, ends_s=ends_s))
    try:
        yield lines
    finally:
        _running.reset(token)


def report(done: float, total: float, message: str) -> None:
    """Report progress to the client."""
    _running.get().report(done, total, message)


def is_by_person() -> bool:
    """True if a person calls from a shell: limits that are meant for a model do not apply."""
    return _running.get().by_person


def append_line(line: str) -> None:
    """Add a line of text after the answer of the call in progress."""
    _running.get().append_line(line)


def checkpoint() -> None:
    """Stop here if the client withdrew the call, or if its budget is used up. To be called between steps and
    in each loop over foreign data, never inside a write. Raises Cancelled, ToolError."""
    call = _running.get()
    if call.cancelled():
        raise Cancelled()
    if time.thread_time() > call.ends_s:
        raise ToolError(
            f"This took more than {MOST_COMPUTED_S:g} seconds of this machine's processor",
            "Ask for less, or send less, at a time.",
            "OUT_OF_TIME",
        )


def ask(question: str, key: str = "") -> str:
    """The person's answer to a question: `accept`, `decline`, or `cancel` if it was closed unanswered. `key`:
    a secret that belongs to the question, without which nobody can forge an answer to it.

    To be called before anything is changed and without a lock: a person takes time, and in the 2026 era the
    question goes out as the answer of a first call, and the call comes again with the answer.

    Raises ToolError CANNOT_ASK.
    """
    return _running.get().ask(question, key)


# In the 2026 era a question ends its call, and the client calls again with the answer and with the `state`
# that went out with the question. Without the state a client could answer a question that nobody was asked,
# or use an old yes again. The state is a time and an HMAC over that time, the user, the call (tool and
# arguments) and the question. Its key belongs to what is asked about, or else to this process: after a
# restart the person is asked again.


def state_of(question: str, key: str, call: str, issued: str = "") -> str:
    """The state of a question. `key`: the secret of what is asked about; if empty, that of this process is
    used. `call`: the tool and its arguments. `issued`: seconds since 1970, by default now."""
    import hmac

    issued = issued or str(int(time.time()))
    signed_text = f"{issued}\n{remote_user()}\n{call}\n{question}"
    secret = key.encode() or _process_key()
    signature = hmac.new(secret, signed_text.encode("utf-8", "surrogatepass"), "sha256")
    return f"{issued}.{signature.hexdigest()}"


def is_state_of(state: object, question: str, key: str, call: str) -> bool:
    """True if `state` went out with this question within the last QUESTION_S seconds."""
    import hmac

    text = str(state).encode("utf-8", "replace").decode()
    issued = text.partition(".")[0]
    expected = state_of(question, key, call, issued)
    if not hmac.compare_digest(text.encode(), expected.encode()):
        return False
    # The HMAC fits, so this is a time that was written here.
    return 0 <= time.time() - int(issued) <= QUESTION_S


@cache
def _process_key() -> bytes:
    return os.urandom(32)


class Asking(BaseException):
    """Ends a call with a question for the person; the client repeats the call with the answer and `state`. It
    is not an error: wrappers let it pass."""

    def __init__(self, question: str, state: str):
        super().__init__(question)
        self.state = state


class Caller(NamedTuple):
    """A remote user, who comes over HTTP with a token: the toolsets they may use, those in which they may
    only read, and the id of the token."""

    user: str
    toolsets: frozenset[str]
    read_only: frozenset[str]
    token_id: str


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


def remote_caller() -> Caller | None:
    """The remote caller of this request; None for this process's own user, whom only the settings
    restrict."""
    return _caller.get()


def remote_user() -> str:
    """The remote user of this request; empty for this process's own."""
    remote = _caller.get()
    return remote.user if remote else ""


@contextmanager
def acting_for(remote: Caller) -> Iterator[None]:
    """Make `remote` the caller of everything inside, and of threads into which the context is copied."""
    token = _caller.set(remote)
    try:
        yield
    finally:
        _caller.reset(token)


def scopes() -> list[str]:
    """Every word that a token's scope can have: a toolset, or only its readers."""
    names = places.toolsets()
    readers = [name + READ_ONLY for name in names]
    return names + readers


@lru_cache(maxsize=256)  # asked for each request
def caller_of_scope(user: str, scope: str, token_id: str) -> Caller:
    """The caller that a token describes. `scope`: `onepercent klipper`, or `onepercent:read` for readers
    only; names that are not toolsets allow nothing."""
    words = scope.split()
    whole = frozenset(words).intersection(places.toolsets())
    readable = frozenset(name for name in places.toolsets() if name + READ_ONLY in words)
    return Caller(user, whole | readable, readable - whole, token_id)
