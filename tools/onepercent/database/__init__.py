"""The database file: opened, read, written. Here the types of what it holds."""

import sqlite3
from collections.abc import Mapping
from typing import Any

Database = sqlite3.Connection
Row = Mapping[str, Any]
