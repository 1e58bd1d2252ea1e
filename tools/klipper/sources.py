"""The repositories whose documentation is searched and read together."""

import fcntl
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

from tools.core import calls
from tools.klipper import settings
from tools.klipper.ownership import STATE, check_place, is_foreign, made_by_version_0_1

CURRENT = "current"
"""The link in it that leads to the generation to read. Replacing it is what a sync switches by."""


class Pin:
    """A generation of pages that is not removed while this object lives: a shared lock on its folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self.handle, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def __del__(self) -> None:
        with suppress(AttributeError, OSError):
            os.close(self.handle)


@dataclass(frozen=True)
class Source:
    """One repository: its pages lie in the folder `docs` of `checkout`, or of the generation that `checkout` is at.

    `name` stands before the paths of its pages (`moonraker/…`); it is empty for Klipper's own.
    """

    name: str
    url: str
    branch: str
    checkout: Path
    docs: str
    pin: Pin | None = field(default=None, compare=False, repr=False)

    @property
    def root(self) -> Path:
        """The folder of the pages."""
        folder = self.pin.folder if self.pin else generation_of(self.checkout)
        return (folder or self.checkout) / self.docs

    @property
    def head(self) -> str:
        """The commit whose pages are here; empty if no sync fetched any."""
        if current := generation_of(self.checkout):
            return current.name.partition("-")[2]
        return "version 0.1" if made_by_version_0_1(self.checkout) else ""

    @property
    def label(self) -> str:
        """How people are told of it."""
        return self.name or "klipper"

    @property
    def prefix(self) -> str:
        """What stands before the paths of its pages."""
        return f"{self.name}/" if self.name else ""


_of_calls: WeakKeyDictionary[calls.Call, list[Source]] = WeakKeyDictionary()


def sources() -> list[Source]:
    """Klipper's own documentation first, then those of KLIPPER_DOCS_EXTRA.

    Each is pinned to one generation of its pages: within a call all see the same one, and while one of these sources
    is in use no sync removes its files.
    """
    call = calls.current()
    if call is None:
        return _pinned()
    if call not in _of_calls:
        _of_calls[call] = _pinned()
    return _of_calls[call]


def configured() -> list[Source]:
    """The same without pins, for who updates them: `root` is where the pages lie at that moment."""
    values = settings.current()
    checkout = values.klipper_docs_dir.absolute()
    own = Source("", values.klipper_docs_url, values.klipper_docs_branch, checkout, "docs")
    return [
        own,
        *(Source(r.name, r.url, r.branch, _place(checkout, r.name), r.docs) for r in values.klipper_docs_extra),
    ]


def generation_of(checkout: Path) -> Path | None:
    """The generation of pages that a checkout is at; None if sync_docs has not made one there."""
    try:
        return checkout / STATE / os.readlink(checkout / STATE / CURRENT)
    except OSError:
        return None


def extra_folder(checkout: Path) -> Path:
    """Where further repositories lie: a folder of their own, so that no other checkout is ever taken for one."""
    return checkout.parent / f".{checkout.name}.extra"


def folders_to_write() -> list[Path]:
    """The folders that sync_docs writes to with these settings.

    Raises ToolError UNSAFE_FOLDER.
    """
    own, *more = (source.checkout for source in configured())
    check_place(own)
    folders = [own, *(extra_folder(own) if folder.parent == extra_folder(own) else folder for folder in more)]
    return [folder for folder in dict.fromkeys(folders) if not is_foreign(folder) or folder == extra_folder(own)]


def _place(checkout: Path, name: str) -> Path:
    """Version 0.1 put further repositories beside the checkout: those stay."""
    beside = checkout.parent / name
    is_ours = made_by_version_0_1(beside) or (beside / STATE).is_dir()
    return beside if is_ours else extra_folder(checkout) / name


def _pinned() -> list[Source]:
    return [
        Source(source.name, source.url, source.branch, source.checkout, source.docs, _pin(source.checkout))
        for source in configured()
    ]


def _pin(checkout: Path) -> Pin | None:
    """None if there are no generations, or they cannot be opened."""
    folder = generation_of(checkout)
    while folder:
        pin = None
        with suppress(OSError):
            pin = Pin(folder)
        # A sync may have switched, even removed the folder, before the lock was held: then again.
        if folder == (newer := generation_of(checkout)):
            return pin
        folder = newer
    return None
