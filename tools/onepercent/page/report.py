"""The command that writes the page of the days to a file, for any browser."""

from pathlib import Path

from tools.core.errors import ToolError
from tools.core.files import encodable, replace_file
from tools.core.json_types import JsonObject
from tools.core.registry import command
from tools.onepercent.get_user_snapshot import get_user_snapshot
from tools.onepercent.page.pages import days_page, last_weeks

SECTIONS = ["habits", "schedule", "xp"]
EMPTY = 'type="application/json">null<'
"""The place in the page that the data takes."""


@command("report")
def report(file: str) -> JsonObject:
    """Write the page of the days to a file for any browser; it needs no server and no network."""
    _, text = encodable(get_user_snapshot(include=SECTIONS) | {"_meta": last_weeks()})
    page = days_page().replace(EMPTY, EMPTY.replace("null", text.replace("<", "\\u003c")))
    target = Path(file).expanduser()
    try:
        replace_file(target, page)
    except OSError as error:
        raise ToolError(
            f"{target} cannot be written: {error.strerror}",
            "Choose a file in a folder that is writable.",
            code="FILE_ERROR",
        ) from error
    return {"file": str(target), "size_bytes": target.stat().st_size}
