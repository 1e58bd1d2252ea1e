"""Entries of the journal before it kept steps: it kept what a change had overwritten. They are converted once, under
their numbers."""

import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from tools.core.json_types import JsonObject

if TYPE_CHECKING:
    from sqlite3 import Connection

HAS_OLD = "select 1 from sqlite_schema where name = 'journal'"
# The columns of Anki's table `cards` in a schedule, after the card's id or the number of its template.
COLUMNS = ("type", "queue", "due", "ivl", "factor", "reps", "lapses", "left", "flags")
SET_VALUE = "setSpecificValueOfCard"
TAGS_STAY = "tags that the change added stay"


def convert(db: "Connection", media: Path) -> None:
    """Move every entry of the old table to the new one; `media` is the folder of the deleted files."""
    if not db.execute(HAS_OLD).fetchone():
        return
    with db:
        db.execute("begin immediate")
        if not db.execute(HAS_OLD).fetchone():  # another session was faster
            return
        for number, at, tool, summary, text in db.execute("select id, at, tool, summary, data from journal"):
            before = json.loads(text)
            file = media / f"{number}.media"
            content = file.read_bytes() if file.is_file() else b""
            blob = zlib.compress(json.dumps(converted(before)).encode())
            row = (number, at, tool, summary, blob, before["filename"], content)
            db.execute("insert into changes values (?, ?, ?, ?, ?, ?, ?)", row)
        db.execute("drop table journal")


def converted(before: JsonObject) -> JsonObject:
    """The data of an entry, from what the change had overwritten."""
    lost = []
    steps: list[tuple[str, str, JsonObject, list[int]]] = []
    warnings = []
    for note in before["notes"]:
        tags = note.pop("tags")
        cards = note.pop("cards")
        if note.pop("deleted"):
            schedules = [(card[0], values(card)) for card in cards]
            lost.append({**note, "tags": tags or [], "schedules": schedules})
            continue
        steps.append(("notes", "updateNoteFields", {"fields": note["fields"]}, [note["id"]]))
        if tags is not None:
            steps.append(("notes", "addTags", {"tags": " ".join(tags)}, [note["id"]]))
            warnings = [TAGS_STAY]
    for deck, cards in before["cards_by_deck"].items():
        steps.append(("cards", "changeDeck", {"deck": deck}, cards))
    states = before["cards"]
    for card in states["schedules"]:
        steps.append(("cards", SET_VALUE, values(card), [card[0]]))
    for flag, cards in states["by_flag"].items():
        steps.append(("cards", SET_VALUE, {"keys": ["flags"], "newValues": [int(flag)]}, cards))
    steps.append(("cards", "suspend", {}, states["suspended"]))
    steps.append(("cards", "unsuspend", {}, states["awake"]))
    return {"steps": steps, "lost": lost, "warnings": warnings, "profile": before["profile"]}


def values(schedule: list[int | None]) -> JsonObject:
    """The parameters of SET_VALUE for a card's place in the schedule."""
    known = {name: value for name, value in zip(COLUMNS, schedule[1:], strict=False) if value is not None}
    return {"keys": list(known), "newValues": list(known.values())}
