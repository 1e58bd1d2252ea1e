"""Pages of the documentation: where they are, and which file a path means."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tools.errors import ToolError
from tools.klipper.markdown import headings
from tools.klipper.sources import sources

SUFFIX = ".md"
TITLE_BYTES = 8192
"""How much of a page is read for its title."""


@dataclass(frozen=True)
class Page:
    """A page written for readers: `path` is what read_doc takes, `file` where it lies."""

    path: str
    file: Path


def require_docs() -> None:
    """Raises ToolError DOCS_MISSING while there is no page at all."""
    if not any(_is_markdown(path) for source in sources() for path in _files(source.root)):
        raise ToolError(
            "The Klipper documentation is not on this machine yet",
            "Call sync_docs once; it fetches about 2 MB.",
            code="DOCS_MISSING",
        )


def pages() -> Iterator[Page]:
    """Every page of every source, by path; none that a link leads out of its source to."""
    for source in sources():
        root = source.root
        for relative in sorted(filter(_is_markdown, _files(root))):
            yield Page(source.prefix + relative, root / relative)


def assets() -> Iterator[str]:
    """The paths of all other files: pictures and the like."""
    for source in sources():
        for relative in _files(source.root):
            if not _is_markdown(relative):
                yield source.prefix + relative


def _is_markdown(path: str) -> bool:
    return path.lower().endswith(SUFFIX)


def _files(root: Path) -> Iterator[str]:
    """The paths below `root` that are not hidden; links lead out of it neither for files nor for folders."""
    inside = os.path.realpath(root)
    folders = [""]
    while folders:
        below = folders.pop()
        for entry in _entries(root / below):
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(f"{below}{entry.name}/")
            elif _within(entry, inside):
                yield below + entry.name


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _within(entry: os.DirEntry[str], inside: str) -> bool:
    if not entry.is_symlink():
        return True
    return not os.path.isdir(entry.path) and os.path.commonpath([os.path.realpath(entry.path), inside]) == inside


def read(page: Page) -> str:
    """The whole text as it stands in the file, line ends included.

    Raises ToolError: not there any more (a sync may have removed it), no text.
    """
    try:
        with page.file.open("rb", buffering=0) as file:
            return file.read().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise _missing(page.path) from None
    except UnicodeDecodeError:
        raise ToolError(
            f"{page.path} is not a text file", "read_doc reads pages; list_docs_map names them.", code="NOT_TEXT"
        ) from None
    except OSError as error:
        raise unreadable(page, error) from error


def unreadable(page: Page, error: OSError) -> ToolError:
    """What to say of a page that is there and does not open."""
    return ToolError(
        f"{page.path} cannot be read: {error.strerror}", "Call sync_docs to restore it.", code="UNREADABLE"
    )


def outline(page: Page) -> dict[str, Any]:
    """Title and size in bytes.

    Raises OSError.
    """
    with page.file.open("rb") as file:
        text = file.read(TITLE_BYTES).decode("utf-8", "ignore")
        return {"title": title(text, page.path), "size": file.seek(0, os.SEEK_END)}


def title(text: str, path: str) -> str:
    """A page's first heading, or its file name where it has none."""
    first = next(headings(text), None)
    return first.text if first else Path(path).stem.replace("_", " ")


def resolve(path: str) -> Page:
    """The page that `path` means: relative to docs; `docs/` in front, a missing `.md` and the case are forgiven.

    Raises ToolError: a path that leaves the documentation, a folder, a file that is no text, nothing there (the hint
    names the nearest pages).
    """
    wanted = path.strip()
    if not wanted or "\0" in wanted or any(ord(char) < 32 for char in wanted):
        raise _unsafe("The path is empty or has control characters")
    if wanted.startswith(("/", "~")) or "\\" in wanted or ".." in wanted.split("/"):
        raise _unsafe(f"The path must be relative to docs and stay inside it: {wanted[:200]}")
    parts = [part for part in wanted.partition("#")[0].split("/") if part not in ("", ".")]
    for candidate in _spellings(parts):
        if page := _file(candidate):
            return page
    raise _missing("/".join(parts))


def _spellings(parts: list[str]) -> Iterator[str]:
    stripped = parts[1:] if parts[:1] == ["docs"] else parts
    for path in ("/".join(parts), "/".join(stripped)):
        yield path
        yield path + SUFFIX
    folded = {"/".join(stripped).lower(), "/".join(stripped).lower() + SUFFIX}
    same = [page.path for page in pages() if page.path.lower() in folded]
    if len(same) == 1:
        yield same[0]


def _file(path: str) -> Page | None:
    for source in sources():
        if not path.startswith(source.prefix):
            continue
        file = source.root / path.removeprefix(source.prefix)
        try:
            real, inside = os.path.realpath(file), os.path.realpath(source.root)
            if os.path.commonpath([real, inside]) != inside:
                raise _unsafe(f"{path[:200]} leads out of the documentation")
            if os.path.isfile(real):
                return Page(path, file)
            if os.path.isdir(real):
                raise ToolError(
                    f"{path[:200] or 'docs'} is a folder", "list_docs_map shows the pages in it.", code="IS_FOLDER"
                )
        except (OSError, ValueError):
            continue
    return None


def _unsafe(message: str) -> ToolError:
    return ToolError(
        message, "Paths look like `Bed_Mesh.md`; search_docs and list_docs_map give them.", code="INVALID_PATH"
    )


def _missing(path: str) -> ToolError:
    names = {page.path.lower(): page.path for page in pages()}
    near = [names[one] for one in get_close_matches(path.lower(), names, n=3, cutoff=0.5)]
    hint = f"Did you mean {' or '.join(near)}?" if near else "list_docs_map names every page."
    return ToolError(f"No such page: {path[:200]}", hint, code="NOT_FOUND")
