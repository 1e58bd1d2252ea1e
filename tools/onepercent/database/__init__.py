"""The database file: opened, read, written. Here are the types of rows, single values, insertions."""

import sqlite3
from collections.abc import Mapping
from functools import cache
from typing import Any

Database = sqlite3.Connection
Row = Mapping[str, Any]


def scalar(db: Database, statement: str, values: Mapping[str, object] | None = None) -> Any:
    """First column of the first row of a query; None if there is none."""
    row = db.execute(statement, values or {}).fetchone()
    return row and row[0]


@cache
def insertion(table: str, *columns: str) -> str:
    """Statement that inserts a row."""
    names = ", ".join(f'"{name}"' for name in columns)
    places = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({names}) VALUES ({places})"
