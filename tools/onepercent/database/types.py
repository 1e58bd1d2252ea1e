"""The types of what sqlite gives: sqlite3 itself is imported when a database is first opened."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite3 import Connection as Database
    from sqlite3 import Row
else:
    Database = Row = object

__all__ = ["Database", "Row"]
