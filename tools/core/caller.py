"""The caller of the moment: over HTTP each request comes from a user whose token says what may be used.

Nobody, the default, is this process's own user, over stdio and in the shell: then the settings alone decide. No tool
asks for the caller: `settings.current()` and `registry` do.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from tools.core.toolsets import toolsets

READ_ONLY = ":read"
"""What follows a toolset's name in a scope that allows only its readers."""


@dataclass(frozen=True)
class Caller:
    """A remote user: the toolsets it may use, those of which it may only read, the id of its token, and whether its
    client said in an earlier request that it shows pages."""

    user: str
    toolsets: frozenset[str]
    read_only: frozenset[str]
    token_id: str
    shows_pages: bool = False


_current: ContextVar[Caller | None] = ContextVar("caller", default=None)


def current() -> Caller | None:
    """Who this is done for; None for this process's own user."""
    return _current.get()


@contextmanager
def acting_for(caller: Caller) -> Iterator[None]:
    """Make `caller` the caller of everything inside, also in the threads that it waits for."""
    token = _current.set(caller)
    try:
        yield
    finally:
        _current.reset(token)


def of_scope(user: str, scope: tuple[str, ...], token_id: str) -> Caller | None:
    """The caller that a token describes: `onepercent klipper`, or `onepercent:read` for its readers only. Names that
    are not toolsets allow nothing; None if nothing is left."""
    known = set(toolsets())
    whole = known & set(scope)
    reading = {name for name in known if name + READ_ONLY in scope} - whole
    if not whole | reading:
        return None
    return Caller(user, frozenset(whole | reading), frozenset(reading), token_id)


def may_use(toolset: str) -> bool:
    """Whether the caller may use a toolset at all."""
    caller = _current.get()
    return caller is None or toolset in caller.toolsets


def may_only_read(toolset: str) -> bool:
    """Whether the caller may use only the readers of a toolset."""
    caller = _current.get()
    return caller is not None and toolset in caller.read_only
