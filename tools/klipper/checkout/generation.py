"""A generation of pages: the files of one commit in a folder that is never written to again."""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tools.core.files import replace_file

MANIFEST = "manifest.json"
LINK = "120000"
CHUNK_BYTES = 1 << 16


class Entry(NamedTuple):
    """A file as upstream has it: its mode, the name of the object with its contents, its size in bytes."""

    mode: str
    blob: str
    size: int = 0


@dataclass
class Generation:
    """`files` are by path from `folder`, the pages below its `docs`."""

    folder: Path
    commit: str
    title: str
    docs: str
    files: dict[str, Entry]

    def save(self, folder: Path) -> None:
        """Write the manifest to `folder`."""
        content = {name: value for name, value in vars(self).items() if name != "folder"}
        replace_file(folder / MANIFEST, json.dumps(content))  # ASCII: file names may be any bytes

    def differences(self) -> dict[str, str]:
        """The files that are not as upstream has them: edited or added here, missing. By path, with the name of
        what is there now, which is empty if that is no file or link."""
        here = {path: blob_of(self.folder / path, len(self.commit)) for path in {*self.files, *self._paths()}}
        return {path: blob for path, blob in here.items() if path not in self.files or blob != self.files[path].blob}

    def _paths(self) -> Iterator[str]:
        for folder, folders, files in os.walk(self.folder / self.docs):
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            yield from (os.path.relpath(os.path.join(folder, name), self.folder) for name in [*files, *links])


def load(folder: Path) -> Generation | None:
    """The generation in `folder`; None if it is not whole."""
    try:
        content = json.loads((folder / MANIFEST).read_bytes())
        content["files"] = {path: Entry(*entry) for path, entry in content["files"].items()}
        return Generation(folder, **content)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def blob_of(file: Path, digits: int) -> str:
    """The name of git's object with what a file or link holds, in as many digits; empty for anything else."""
    import hashlib

    with suppress(OSError):
        status = file.lstat()
        digest = hashlib.new("sha256" if digits == 64 else "sha1", b"blob %d\0" % status.st_size)
        if stat.S_ISLNK(status.st_mode):
            digest.update(os.fsencode(os.readlink(file)))
            return digest.hexdigest()
        if stat.S_ISREG(status.st_mode):
            with file.open("rb") as content:
                for chunk in iter(lambda: content.read(CHUNK_BYTES), b""):
                    digest.update(chunk)
            return digest.hexdigest()
    return ""
