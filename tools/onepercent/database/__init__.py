"""The database file: opened, read, written. Here the types of what it holds."""

from collections.abc import Mapping
from sqlite3 import Connection as Database
from typing import Any

__all__ = ["Database", "Row"]

Row = Mapping[str, Any]
