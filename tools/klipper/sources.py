"""The repositories whose documentation is searched and read together, and the folders they lie in."""

import os
from dataclasses import dataclass
from pathlib import Path

from tools.core.errors import ToolError
from tools.core.settings import PROJECT
from tools.klipper import settings
from tools.klipper.settings import STATE, is_foreign

CURRENT = "current"
"""The link in it to the generation to read. A sync switches by replacing it."""
SPARSE = ".git/info/sparse-checkout"
"""A checkout of the documentation alone has this file; a printer's whole ~/klipper has not, and stays at its version."""
AGAIN = "The pages that are here stay readable; call sync_docs again later."
HINTS = {
    "DISK_FULL": f"Free some space. {AGAIN}",
    "UNSAFE_TREE": "The upstream holds what git refuses. Nothing was changed; do not use it.",
    "UPSTREAM_REFUSED": "The upstream wants a login. Use an address that needs none, or store the credentials for git.",
    "NOT_WRITABLE": "Make the checkout writable for this user, or point KLIPPER_DOCS_DIR elsewhere.",
    "INVALID_UPSTREAM": "Correct KLIPPER_DOCS_URL and KLIPPER_DOCS_BRANCH (or KLIPPER_DOCS_EXTRA). The pages that are here stay.",
    "UPSTREAM_UNREACHABLE": f"Check the network and KLIPPER_DOCS_URL. {AGAIN}",
    "GIT_FAILED": f"Nothing is lost. {AGAIN}",
    "GIT_MISSING": "Install it: sudo apt install git",
    "NOT_A_CHECKOUT": "Move it away, or let KLIPPER_DOCS_DIR name a folder that does not exist yet; then call sync_docs again.",
    "NO_DOCS": "The old pages stay. Correct the address, the branch or the folder's path in the settings.",
    "UNSAFE_FOLDER": "Let KLIPPER_DOCS_DIR name a folder of its own, for example ~/klipper-docs.",
    "TIMEOUT": f"The upstream or the disk is too slow right now. {AGAIN}",
}


def failure(code: str, message: str) -> ToolError:
    """The error of one of these cases."""
    return ToolError(message, HINTS[code], code=code)


@dataclass(frozen=True)
class Source:
    """One repository: its pages lie in the folder `docs` of a generation, or of the checkout if it has none. `name` is the
    first part of the paths of its pages (`moonraker/…`); it is empty for Klipper's own."""

    name: str
    url: str
    branch: str
    checkout: Path
    docs: str
    generation: Path | None = None

    @property
    def root(self) -> Path:
        """The folder of the pages."""
        return (self.generation or self.checkout) / self.docs

    @property
    def head(self) -> str:
        """The commit of the pages that are here now; empty if it is not known, or nobody wants it compared."""
        if current := generation_of(self.checkout):
            return current.name.rpartition("_")[2]
        return _head_of_a_person(self.checkout) if (self.checkout / SPARSE).is_file() else ""

    @property
    def label(self) -> str:
        """The name that people read."""
        return self.name or "klipper"

    @property
    def prefix(self) -> str:
        """The beginning of the paths of its pages."""
        return f"{self.name}/" if self.name else ""


def sources() -> list[Source]:
    """Klipper's own documentation first, then those of KLIPPER_DOCS_EXTRA; with the generations of this moment."""
    values = settings.current()
    checkout = values.klipper_docs_dir.absolute()
    own = (("", values.klipper_docs_url, values.klipper_docs_branch, checkout, "docs"),)
    more = ((r.name, r.url, r.branch, _extra_folder(checkout) / r.name, r.docs) for r in values.klipper_docs_extra)
    return [Source(*words, generation=generation_of(words[3])) for words in (*own, *more)]


def generation_of(checkout: Path) -> Path | None:
    """The current generation of a checkout; None if sync_docs has not made one there."""
    try:
        return checkout / STATE / os.readlink(checkout / STATE / CURRENT)
    except OSError:
        return None


def _head_of_a_person(checkout: Path) -> str:
    """The commit that a checkout of somebody else is at, read without git: its configuration may name programs."""
    git_dir = checkout / ".git"
    try:
        head = (git_dir / "HEAD").read_text("ascii").strip().removeprefix("ref: ")
        if (git_dir / head).is_file():
            return (git_dir / head).read_text("ascii").strip()
        # `packed-refs` has rows of `commit name`; without a branch HEAD has the commit itself.
        packed = (git_dir / "packed-refs").read_text("utf-8") if head.startswith("refs/") else f"{head} {head}"
        return next((row.partition(" ")[0] for row in packed.splitlines() if row.endswith(f" {head}")), "")
    except (OSError, ValueError):
        return ""


def _extra_folder(checkout: Path) -> Path:
    """Further repositories lie in a folder of their own: no other checkout beside is ever taken for one of them."""
    return checkout.parent / f".{checkout.name}.extra"


def folders_to_write() -> list[Path]:
    """The folders that sync_docs writes to with these settings.

    Raises ToolError UNSAFE_FOLDER.
    """
    own, *more = sources()
    check_place(own.checkout)
    mine = [] if is_foreign(own.checkout) else [own.checkout]
    return [*mine, _extra_folder(own.checkout)] if more else mine


def check_place(folder: Path) -> None:
    """Raises ToolError UNSAFE_FOLDER for a folder that nobody can have meant for documentation."""
    real = folder.resolve()
    if any(place.resolve().is_relative_to(real) for place in (Path.home(), PROJECT)):
        message = f"The documentation cannot be kept in {folder}: that is, or holds, the home folder or the project"
        raise failure("UNSAFE_FOLDER", message)
