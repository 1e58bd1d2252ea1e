"""Fingerprints: how a row looked, small enough to keep, exact enough to tell what changed since."""

from collections.abc import Iterable, Mapping
from typing import Any

from tools.core.errors import ToolError

SHORT = 64
"""Longer text is remembered by its digest."""

SILENT = ("created_at", "updated_at", "completed_at", "user", "id")
"""Columns that say nothing to a person."""


def fingerprint(values: Iterable[Any]) -> list[Any]:
    """The values of a row, long texts by their digest. Equal rows have equal ones, also after a trip through JSON."""
    return [digested(value) if type(value) is str else value for value in values]


def digested(value: object) -> Any:
    """A value, or the digest of a long text."""
    if type(value) is not str or len(value) <= SHORT:
        return value
    import hashlib

    return "sha256:" + hashlib.sha256(value.encode()).hexdigest()


def stale(what: str) -> ToolError:
    """The error of a preview that no longer holds."""
    return ToolError(
        f"Preview is stale: {what}",
        "Call preview_actions again and show the person the new diff.",
        code="PREVIEW_STALE",
    )


def difference(table: str, before: list[Any] | None, row: Any) -> str:
    """What became of a row, in a sentence: `step 'Read' changed: title, dt`."""
    if row is None:
        return f"{_noun(table)} was removed"
    if before is None:
        return f"{label(table, row)} was added"
    pairs = zip(row.keys(), before, fingerprint(row), strict=False)
    changed = [name for name, was, value in pairs if was != value and name not in SILENT]
    if "deleted_at" in changed:
        return f"{label(table, row)} was {'deleted' if row['deleted_at'] else 'restored'}"
    return f"{label(table, row)} changed: {', '.join(changed) or 'it was written again'}"


def label(table: str, row: Mapping[str, Any]) -> str:
    """A row as a sentence names it."""
    columns = row.keys()
    name = next((row[column] for column in ("title", "name", "date") if column in columns), "")
    return f"{_noun(table)} '{name}'" if name else _noun(table)


def _noun(table: str) -> str:
    return {
        "goals": "goal", "steps": "step", "habits": "habit", "habit_marks": "mark of", "diary": "diary entry of",
        "xp_ledger": "XP",
    }.get(table, table)  # fmt: skip
