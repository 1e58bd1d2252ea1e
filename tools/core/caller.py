"""The caller of the moment: over HTTP each request comes from a user whose token says what may be used.

None, the default, is this process's own user, over stdio and in the shell: then the settings alone decide.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache

from tools.core import places, settings

# What follows a toolset's name in a scope that allows only its readers.
READ_ONLY = ":read"


@dataclass(frozen=True)
class Caller:
    """A remote user: the toolsets it may use, those of which it may only read, the id of its token, and whether its
    client said in an earlier request that it shows pages."""

    user: str
    toolsets: frozenset[str]
    read_only: frozenset[str]
    token_id: str
    shows_pages: bool = False


_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


def current() -> Caller | None:
    """The remote caller of this request; None for the local user."""
    return _caller.get()


@contextmanager
def acting_for(caller: Caller) -> Iterator[None]:
    """Make `caller` the caller of everything inside, also in the threads that it waits for."""
    token, user_token = _caller.set(caller), settings.USER.set(caller.user)
    try:
        yield
    finally:
        _caller.reset(token)
        settings.USER.reset(user_token)


@lru_cache(maxsize=256)  # asked for each request
def of_scope(user: str, scope: tuple[str, ...], token_id: str) -> Caller | None:
    """The caller that a token describes: `onepercent klipper`, or `onepercent:read` for its readers only. Names that
    are not toolsets allow nothing; None if nothing is left."""
    known = set(places.toolsets())
    whole = known & set(scope)
    reading = {name for name in known if name + READ_ONLY in scope} - whole
    if not whole | reading:
        return None
    return Caller(user, frozenset(whole | reading), frozenset(reading), token_id)
