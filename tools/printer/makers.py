"""The age and origin of a printer's Klipper: closed printers run an old one that their maker changed."""

import re
from contextlib import suppress

from tools.core.errors import ToolError
from tools.klipper import pages
from tools.klipper.search.messages import Message

# The text in place of a guess at a message's meaning.
UNKNOWN = Message(
    "", "Not one of Klipper's own messages.", "Ask whose it is: the printer's maker or a plugin.", []
)
# In Releases.md, newest first: the heading of a release, and the year and month it is available since.
DATED = re.compile(r"^## Klipper (\d+\.\d+)\.0\s+Available on (\d{4})(\d\d)", re.MULTILINE)
# The prefix of each message in the log of Creality's Klipper: level, time, logger, place.
MAKERS_LINE = re.compile(rb"^\[[A-Z][\w ]*\] \d{4}-\d\d-\d\d [\d:,]+ \[\w+\] \[[^\]]*\] ")


def klipper_of(version: str) -> str:
    """The age of a version and whether its files were changed; "" for the newest release."""
    release = version.removeprefix("v").partition("-")[0].rpartition(".")[0]
    if version and not release:
        return "its maker's own, of unknown age: messages may be the maker's, too"
    dates = {}
    with suppress(ToolError, OSError):  # without the documentation there are no dates
        for name, year, month in DATED.findall(pages.page_text(pages.resolve("Releases.md"))):
            dates[name] = f"{year}-{month}"
    newest = next(iter(dates), release)
    if release not in dates or release == newest:
        return ""
    changed = ", with files changed by its maker or a plugin" if version.endswith("-dirty") else ""
    return f"of {dates[release]}{changed}; today's is {newest}"
