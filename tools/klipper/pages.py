"""Pages of the documentation: where they are, and which file a path means."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.suggest import several
from tools.klipper.markdown import headings
from tools.klipper.sources import sources

SUFFIX = ".md"
HTML = ".html"
TITLE_BYTES = 8192
"""How much of a page is read for its title."""

LONGEST_BYTES = 2_000_000
"""A longer page is listed, but neither searched nor read: Klipper's longest has a tenth of it."""

ADDRESS = re.compile(
    r"https?://(?:www\.)?(?:klipper3d\.org|github\.com/[\w.-]+/[\w.-]+/(?:blob|tree|raw)/[\w.-]+)/(.*)"
)
"""The address of a page on the official site, or in the repository."""


class Page(NamedTuple):
    """A page written for readers: `path` is what read_doc takes, `location` the path of its file on this machine."""

    path: str
    location: str

    @property
    def file(self) -> Path:
        """Where it lies."""
        return Path(self.location)


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
            yield Page(source.prefix + relative, os.path.join(root, relative))


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
            if entry.name.startswith(".") or not _is_text(entry.name):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(f"{below}{entry.name}/")
            elif _within(entry, inside):
                yield below + entry.name


def _is_text(name: str) -> bool:
    """Whether a client could name the file: a name that is not UTF-8 does not go over the protocol."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


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

    Raises ToolError: not there any more (a sync may have removed it), not text, too long.
    """
    try:
        return _content(page).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise _missing(page.path) from None
    except UnicodeDecodeError:
        raise ToolError(
            f"{page.path} is not a text file", "read_doc reads pages; list_docs_map names them.", code="NOT_TEXT"
        ) from None
    except OSError as error:
        raise unreadable(page, error) from error


def _content(page: Page) -> bytes:
    """The bytes of a file by three calls of the system: a search reads every page, and a file object costs half as much again."""
    handle = os.open(page.location, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(handle).st_size
        if size > LONGEST_BYTES:
            raise _too_long(page, size)
        return os.read(handle, size + 1)
    finally:
        os.close(handle)


def _too_long(page: Page, size: int) -> ToolError:
    return ToolError(
        f"{page.path} has {size} bytes; pages of up to {LONGEST_BYTES} are read",
        "Ask search_docs for other pages about it.",
        code="TOO_LONG",
    )


def unreadable(page: Page, error: OSError) -> ToolError:
    """What to say of a page that is there and does not open."""
    return ToolError(
        f"{page.path} cannot be read: {error.strerror}", "Call sync_docs to restore it.", code="UNREADABLE"
    )


def outline(page: Page) -> JsonObject:
    """Title and size in bytes.

    Raises OSError.
    """
    with page.file.open("rb") as file:
        text = file.read(TITLE_BYTES).decode("utf-8", "ignore")
        return {"title": title(text, page.path), "size": file.seek(0, os.SEEK_END)}


def title(text: str, path: str) -> str:
    """A page's first heading, or its file name if there is none."""
    first = next(headings(text), None)
    return first.text if first else Path(path).stem.replace("_", " ")


class Target(NamedTuple):
    """What a path means: a page, and the `anchor` of a heading behind it."""

    page: Page
    anchor: str


def resolve(path: str) -> Page:
    """The page that `path` means, whatever anchor it has.

    Raises ToolError as `referred`.
    """
    return referred(path).page


def referred(path: str) -> Target:
    """The page and anchor that `path` means: relative to docs, as a link in a page, or as an address of the site.

    `docs/` in front, `.html`, a missing `.md` and the case are forgiven. Raises ToolError: a path that leaves the
    documentation, a folder, a file that is not text, nothing there (the hint names the nearest pages).
    """
    wanted = path.strip()
    if not wanted or any(ord(char) < 32 for char in wanted):
        raise _unsafe("The path is empty or has control characters")
    if match := ADDRESS.match(wanted):
        wanted = unquote(match[1]).partition("?")[0] or "index.md"
    if wanted.startswith(("/", "~")) or "\\" in wanted or ".." in re.split("[/#]", wanted) or "\0" in wanted:
        raise _unsafe(f"The path must be relative to docs and stay inside it: {path.strip()[:200]}")
    before, _, anchor = wanted.partition("#")
    for name, rest in ((wanted, ""), (before, anchor)):  # C#.md is a name
        parts = [part for part in name.split("/") if part not in ("", ".")]
        for candidate in _spellings(parts):
            if page := _file(candidate):
                return Target(page, rest)
    raise _missing("/".join(part for part in before.split("/") if part not in ("", ".")))


def _spellings(parts: list[str]) -> Iterator[str]:
    """The paths that may be meant, the likeliest first."""
    stripped = parts[1:] if parts[:1] == ["docs"] else parts
    for path in ("/".join(parts), "/".join(stripped)):
        yield path
        yield path + SUFFIX
    folded = "/".join(stripped).lower().removesuffix(HTML)
    same = [page.path for page in pages() if page.path.lower() in (folded, folded + SUFFIX)]
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
                return Page(path, str(file))
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
    near = [names[name] for name in several(path.lower(), names, cutoff=0.5)]
    hint = f"Did you mean {' or '.join(near)}?" if near else "list_docs_map names every page."
    return ToolError(f"No such page: {path[:200]}", hint, code="NOT_FOUND")
