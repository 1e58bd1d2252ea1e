"""Small databases in the state folder."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from tools.core.errors import ToolError
from tools.core.settings import state_path

if TYPE_CHECKING:
    from sqlite3 import Connection

PATIENCE_S = 10
"""How long another session may hold one."""


@contextmanager
def database(name: str, schema: str, subject: str, hint: str) -> Iterator["Connection"]:
    """The database `name`, made with `schema` if it is not there, and closed afterwards.

    Raises ToolError STATE_NOT_WRITABLE, which calls it `subject`.
    """
    import sqlite3

    path = state_path(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with closing(sqlite3.connect(path, timeout=PATIENCE_S)) as db:
            path.chmod(0o600)
            db.executescript(schema)
            yield db
    except (sqlite3.Error, OSError) as error:
        raise ToolError(f"{subject}, {path}, cannot be used: {error}", hint, code="STATE_NOT_WRITABLE") from error
