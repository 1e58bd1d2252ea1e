"""Who made the checkout in a folder, sync_docs or somebody else, and where none may be made."""

from pathlib import Path

from tools.core.settings import PROJECT
from tools.klipper.errors import failure

STATE = ".pi-mcp"
"""The folder in a checkout that says that sync_docs made it: the generations of pages, the lock."""
VERSION_0_1 = b"/local-edits/\n"
"""What version 0.1 wrote to `.git/info/exclude` of the checkouts that it made."""


def made_by_version_0_1(checkout: Path) -> bool:
    """Whether version 0.1 made the checkout, and nothing has brought it to generations since."""
    try:
        return not (checkout / ".git").is_symlink() and (checkout / ".git/info/exclude").read_bytes() == VERSION_0_1
    except OSError:
        return False


def is_foreign(checkout: Path) -> bool:
    """Whether somebody else made what is there: it is only read."""
    if (checkout / STATE).is_dir() or made_by_version_0_1(checkout):
        return False
    return checkout.exists() and (not checkout.is_dir() or any(checkout.iterdir()))


def check_place(folder: Path) -> None:
    """Raises ToolError UNSAFE_FOLDER for a folder that nobody can have meant for documentation."""
    real = folder.resolve()
    if any(place.resolve().is_relative_to(real) for place in (Path.home(), PROJECT)):
        message = f"The documentation cannot be kept in {folder}: that is, or holds, the home folder or the project"
        raise failure("UNSAFE_FOLDER", message)
