"""Exports for other programs: tables (CSV) for a spreadsheet, dated steps (.ics) for a calendar."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..database import Database, Row, store
from ..habits.due_days import DUE_DAY, GOAL_IS_IN_SIGHT, select

# Each table with the query of its rows: without what is deleted, with what is archived.
TABLE_QUERIES = {
    "marks": """SELECT m.date, h.name AS habit, m.status, m.amount, h.target_unit AS unit, m.excuse_reason,
            m.note, m.xp
        FROM habit_marks m JOIN habits h ON h.id = m.habit_id
        WHERE m.user = :user AND h.deleted_at IS NULL ORDER BY m.date, h.id""",
    "steps": f"""SELECT g.title AS goal, s.title AS step, s.description, s.priority, {DUE_DAY} AS date,
            s.time_duration AS minutes, s.progress, s.completed_on
        FROM steps s JOIN goals g ON g.id = s.goal_id
        WHERE s.user = :user AND s.deleted_at IS NULL AND g.deleted_at IS NULL ORDER BY g.id, s.id""",
    "diary": """SELECT date, what_done, what_not_done, reflection, plans FROM diary
        WHERE user = :user AND deleted_at IS NULL ORDER BY date, id""",
}
# With the forms of a calendar: days as 20260318, the last change as 20260318T120000Z.
CALENDAR_DAYS = f"""SELECT kind, id, title, goal || ifnull(char(10) || nullif(description, ''), '') AS about,
    strftime('%Y%m%d', date) AS day, strftime('%Y%m%d', date, '+1 day') AS next_day,
    strftime('%Y%m%dT%H%M%SZ', updated_at) AS changed FROM (
    SELECT 'step' AS kind, s.id, {DUE_DAY} AS date, s.title, g.title AS goal, s.description, s.updated_at
        FROM steps s JOIN goals g ON g.id = s.goal_id
        WHERE s.user = :user AND s.dt IS NOT NULL AND s.deleted_at IS NULL
            AND g.deleted_at IS NULL AND {GOAL_IS_IN_SIGHT}
    UNION ALL SELECT 'goal', id, due, title, title, why_important, updated_at FROM goals
        WHERE user = :user AND due IS NOT NULL AND deleted_at IS NULL AND {GOAL_IS_IN_SIGHT}
    ) ORDER BY date, kind, id"""

# Texts that spreadsheets compute: `=…`, `@…`, and with a call, a sheet or a program in them also `+…` and
# `-…`.
FORMULA = re.compile(r"[=@]|[+-].*[(|!]")
# A day of a calendar (RFC 5545).
EVENT = """\
BEGIN:VEVENT
UID:{kind}-{id}@pi-mcp
DTSTAMP:{changed}
DTSTART;VALUE=DATE:{day}
DTEND;VALUE=DATE:{next_day}
SUMMARY:{title}
DESCRIPTION:{about}
TRANSP:TRANSPARENT
END:VEVENT"""
# RFC 5545, 3.1: a line has at most 75 octets without its end; a line that goes on begins with a blank. The
# pieces end before a letter, of which the bytes after the first are 80 to BF.
PIECES = re.compile(rb".{1,74}(?![\x80-\xbf])")


def write_tables(folder: Path) -> list[str]:
    """Write each table into a file of the folder, in place of what it held; return the paths. Spreadsheets
    know UTF-8 by its byte order mark. Raises ToolError DATABASE_ERROR."""
    import csv

    with suppress(OSError):  # a file in it cannot be written, then
        folder.mkdir(mode=0o700, exist_ok=True)
    written = []
    with store.reading() as db:
        for name, query in TABLE_QUERIES.items():
            rows = select(db, query)
            file = folder / f"{name}.csv"
            with store.replacing(file) as part, part.open("w", encoding="utf-8-sig") as stream:
                table = csv.writer(stream)
                table.writerow(column[0] for column in rows.description)
                table.writerows(map(_as_texts, rows))
            written.append(str(file))
    return written


def _as_texts(row: Row) -> Iterator[Any]:
    """The values of a row, with an apostrophe before what a spreadsheet would take for a formula."""
    for value in row:
        is_formula = isinstance(value, str) and FORMULA.match(value)
        yield f"'{value}" if is_formula else value


def calendar_lines(db: Database) -> Iterator[str]:
    """The lines of a calendar (RFC 5545): a day for each dated step and each goal's due date. The same thing
    has the same UID in each export, so that a calendar replaces it."""
    yield from ("BEGIN:VCALENDAR\r\n", "VERSION:2.0\r\n", "PRODID:-//pi-mcp//OnePercent//EN\r\n")
    for row in select(db, CALENDAR_DAYS):
        texts = {name: _escaped(row[name]) for name in ("title", "about")}
        for line in EVENT.format(**dict(row) | texts).splitlines():
            yield b"\r\n ".join(PIECES.findall(line.encode())).decode() + "\r\n"
    yield "END:VCALENDAR\r\n"


def _escaped(text: str) -> str:
    return "\\n".join(re.sub(r"[\\;,]", r"\\\g<0>", text).splitlines())
