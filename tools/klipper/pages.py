"""Pages of the documentation: where they are, and which file a path means."""

import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from tools.toolkit import JsonObject, Tool, ToolError, nearest_names

from .headings import headings
from .settings import Source, sources

SUFFIX = ".md"
# The address of a page on the official site, or in the repository.
ADDRESS = r"https?://(?:www\.)?(?:klipper3d\.org|github\.com/[\w.-]+/[\w.-]+/(?:blob|tree|raw)/[\w.-]+)/(.*)"


class Page(NamedTuple):
    """A page written for readers: `path` is what read_doc takes, `location` the path of its file on this
    machine, `source` the name of a further source, `anchor` the place that was asked for."""

    path: str
    location: str
    source: str
    anchor: str = ""


def require_docs() -> None:
    """Raises ToolError DOCS_MISSING if there are no pages."""
    if not any(pages()):
        raise ToolError(
            "The Klipper documentation is not on this machine yet",
            "Call sync_docs once; it fetches about 2 MB.",
            "DOCS_MISSING",
        )


# A tool that reads the documentation.
DocsTool = partial(Tool, requires=require_docs, envelope=True)


def pages(*of: Source) -> Iterator[Page]:
    """Every page of every source, or of these, by path."""
    for source in of or sources():
        yield from filter(is_markdown, files(source))


def is_markdown(page: Page) -> bool:
    return page.path.lower().endswith(SUFFIX)


def files(source: Source) -> list[Page]:
    """The files of a source by path, except hidden ones and names that cannot be sent; links that lead out of
    it are not followed."""
    root = str(source.root)
    listed = []
    for folder, folders, names in os.walk(root):
        folders[:] = filter(_is_shown, folders)
        for name in filter(_is_shown, names):
            location = os.path.join(folder, name)
            if not os.path.islink(location) or _is_inside(location, root):
                path = source.prefix + location.removeprefix(f"{root}/")
                listed.append(Page(path, location, source.name))
    return sorted(listed)


def _is_shown(name: str) -> bool:
    # A name that is not UTF-8 has half a surrogate pair, which is not printable and does not go over the
    # protocol.
    return name.isprintable() and not name.startswith(".")


def _is_inside(path: str, root: str) -> bool:
    inside = os.path.realpath(root)
    return os.path.commonpath([os.path.realpath(path), inside]) == inside


def page_text(page: Page) -> str:
    """The whole text as it is in the file, line ends included.

    Raises ToolError: not there any more (a sync may have removed it), not text.
    """
    try:
        return Path(page.location).read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(
            f"{page.path} is not a text file",
            "read_doc reads pages; list_docs_map names them.",
            "NOT_TEXT",
        ) from None
    except OSError as error:
        raise ToolError(
            f"{page.path} cannot be read: {error.strerror}",
            "Call sync_docs to restore it.",
            "UNREADABLE",
        ) from error


def outline(page: Page) -> JsonObject:
    """Title and size in bytes.

    Raises OSError.
    """
    with open(page.location, "rb") as file:
        text = file.read(8192).decode("utf-8", "ignore")
        return {"title": title(text, page.path), "size": file.seek(0, os.SEEK_END)}


def title(text: str, path: str) -> str:
    """A page's first heading, or its file name if there is none."""
    first = next(headings(text), None)
    return first.heading if first else Path(path).stem.replace("_", " ")


def resolve(path: str) -> Page:
    """The page that `path` means: relative to docs, as a link in a page, or as an address of the site; with
    its anchor.

    `docs/` in front, `.html`, a missing `.md` and the case are forgiven. Raises ToolError: a path that leaves
    the documentation, nothing there (the hint names the nearest pages).
    """
    wanted = path.strip()
    if match := re.match(ADDRESS, wanted):
        wanted = unquote(match[1]).partition("?")[0] or "index.md"
    # A path that is absolute, in a home folder, of Windows, or leads up.
    if not wanted.isprintable() or re.search(r"^[/~]|\\|(?:^|/)\.\.(?:[/#]|$)", wanted):
        raise ToolError(
            f"The path must be relative to docs and stay inside it: {wanted[:200]}",
            "Paths look like `Bed_Mesh.md`; search_docs and list_docs_map give them.",
            "INVALID_PATH",
        )
    # A name may have a # of its own.
    for name, _, anchor in ((wanted, "", ""), wanted.rpartition("#"), wanted.partition("#")):
        if exact := at(os.path.normpath(name)):
            return exact._replace(anchor=anchor)
    by_path = {page.path.lower(): page for page in pages()}
    low = os.path.normpath(name).lower()
    bare = low.removeprefix("docs/").removesuffix(".html").removesuffix(SUFFIX)
    if page := by_path.get(bare + SUFFIX):
        return page._replace(anchor=anchor)
    suggestions = [by_path[low].path for low in nearest_names(low, by_path, cutoff=0.5)]
    hint = (
        f"Did you mean {' or '.join(suggestions)}?"
        if suggestions
        else "list_docs_map names every page."
    )
    raise ToolError(f"No such page: {name[:200]}", hint, "NOT_FOUND")


def at(path: str) -> Page | None:
    """The page at exactly this path."""
    for source in sources():
        root = str(source.root)
        location = os.path.join(root, path.removeprefix(source.prefix))
        if (
            path.startswith(source.prefix)
            and os.path.isfile(location)
            and _is_inside(location, root)
        ):
            return Page(path, location, source.name)
    return None
