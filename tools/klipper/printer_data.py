"""The printer's own files, which are only read, in the folder that Moonraker keeps for it
(`~/printer_data`)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tools.toolkit import ToolError, plain_file

from .settings import current


def printer_folder() -> Path:
    """Name the folder of the settings, whether it exists or not."""
    return current().klipper_printer_data.expanduser()


def existing_folder(alternative: str) -> Path:
    """Find the folder of the printer on this machine. `alternative` ends the hint if there is none: what the
    tool accepts instead.

    Raises ToolError.
    """
    path = printer_folder()
    if not path.is_dir():
        raise ToolError(
            f"There is no printer folder on this machine: {path}",
            f"Set KLIPPER_PRINTER_DATA to the folder that holds config/ and logs/{alternative}.",
            "NO_PRINTER",
        )
    return path


@contextmanager
def opened(path: Path, inside: Path | None) -> Iterator[BinaryIO]:
    """Open a plain file to read. Never waits for a pipe, opens no device, follows no link out of `inside`
    except to a `*.cfg`: programs such as Mainsail keep theirs in their own folder.

    Raises ToolError, also for what fails while it is read.
    """
    try:
        if inside and not _may_be_read(path, inside):
            raise _read_error(path, "it lies outside the printer's folder", "OUTSIDE")
        with plain_file(path) as file:
            yield file
    except (OSError, ValueError) as error:
        raise _read_error(path, str(getattr(error, "strerror", error)), "UNREADABLE") from error


def read_file(path: Path, inside: Path | None, most: int) -> bytes:
    """Read a plain file of at most `most` bytes.

    Raises ToolError.
    """
    with opened(path, inside) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise _read_error(path, f"it has more than {most} bytes", "TOO_LONG")
    return data


def _may_be_read(path: Path, folder: Path) -> bool:
    """True for a file in the folder, or a link in it to another program's part of the configuration."""
    real_path = os.path.realpath(path)
    is_linked = real_path.endswith(".cfg") and os.path.abspath(path).startswith(
        f"{os.path.abspath(folder)}/"
    )
    return is_linked or real_path.startswith(f"{os.path.realpath(folder)}/")


def _read_error(path: Path, reason: str, code: str) -> ToolError:
    name = os.fsencode(path).decode("utf-8", "replace")
    return ToolError(
        f"{name} cannot be read: {reason}", "Name a plain file in the printer's own folder.", code
    )
