"""The types of what the database holds: sqlite3 itself is imported when a database is first opened."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tools.core.json_types import JsonObject

if TYPE_CHECKING:
    from sqlite3 import Connection as Database
else:
    Database = object

Row = Mapping[str, Any]

Key = tuple[int | str, ...]
"""The values of a row's key columns."""

Place = tuple[str, Key]
"""A table and the key of a row in it."""


class Change(NamedTuple):
    """A change of one row: the columns replaced and set. None stands for no row: it was inserted, or removed."""

    table: str
    key: Key
    replaced: JsonObject | None
    values: JsonObject | None

    @property
    def place(self) -> Place:
        return self.table, self.key
