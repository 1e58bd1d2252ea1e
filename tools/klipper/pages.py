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

PAGE_SUFFIX = ".md"
# The address of a page on the official site, or in the repository.
PAGE_URL = r"https?://(?:www\.)?(?:klipper3d\.org|github\.com/[\w.-]+/[\w.-]+/(?:blob|tree|raw)/[\w.-]+)/(.*)"


class DocsPage(NamedTuple):
    """A page written for readers: `path` is what read_doc takes, `location` the path of its file on this
    machine, `source` the name of a further source, `anchor` the place that was asked for."""

    path: str
    location: str
    source: str
    anchor: str = ""


def require_docs() -> None:
    """Raise ToolError DOCS_MISSING if there are no pages."""
    if not any(pages()):
        raise ToolError(
            "The Klipper documentation is not on this machine yet",
            "Call sync_docs once; it fetches about 2 MB.",
            "DOCS_MISSING",
        )


# A tool that reads the documentation.
DocsTool = partial(Tool, requires=require_docs, envelope=True)


def pages(*chosen: Source) -> Iterator[DocsPage]:
    """Yield the pages of these sources, or of all, by path."""
    for source in chosen or sources():
        yield from filter(is_markdown, source_files(source))


def is_markdown(page: DocsPage) -> bool:
    return page.path.lower().endswith(PAGE_SUFFIX)


def source_files(source: Source) -> list[DocsPage]:
    """List a source's files by path, except hidden ones and names that cannot be sent; links that lead out of
    it are not followed."""
    root = str(source.root)
    listed = []
    for folder, folders, names in os.walk(root):
        folders[:] = filter(_is_listed, folders)
        for name in filter(_is_listed, names):
            location = os.path.join(folder, name)
            if not os.path.islink(location) or _is_inside(location, root):
                path = source.prefix + location.removeprefix(f"{root}/")
                listed.append(DocsPage(path, location, source.name))
    return sorted(listed)


def _is_listed(name: str) -> bool:
    # A name that is not UTF-8 has half a surrogate pair, which is not printable and does not go over the
    # protocol.
    return name.isprintable() and not name.startswith(".")


def _is_inside(path: str, root: str) -> bool:
    inside = os.path.realpath(root)
    return os.path.commonpath([os.path.realpath(path), inside]) == inside


def page_text(page: DocsPage) -> str:
    """Read a page's whole text, with the line ends of the file.

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


def title_and_size(page: DocsPage) -> JsonObject:
    """Read a page's title and its size in bytes.

    Raises OSError.
    """
    with open(page.location, "rb") as file:
        text = file.read(8192).decode("utf-8", "ignore")
        return {"title": page_title(text, page.path), "size": file.seek(0, os.SEEK_END)}


def page_title(text: str, path: str) -> str:
    """A page's first heading, or its file name if there is none."""
    section = next(headings(text), None)
    return section.heading if section else Path(path).stem.replace("_", " ")


def resolve(path: str) -> DocsPage:
    """Find the page that `path` means: relative to docs, as a link in a page, or as an address of the site;
    with its anchor.

    `docs/` in front, `.html`, a missing `.md` and the case are forgiven. Raises ToolError: a path that leaves
    the documentation, nothing there (the hint names the nearest pages).
    """
    path = path.strip()
    if match := re.match(PAGE_URL, path):
        path = unquote(match[1]).partition("?")[0] or "index.md"
    # A path that is absolute, in a home folder, of Windows, or leads up.
    if not path.isprintable() or re.search(r"^[/~]|\\|(?:^|/)\.\.(?:[/#]|$)", path):
        raise ToolError(
            f"The path must be relative to docs and stay inside it: {path[:200]}",
            "Paths look like `Bed_Mesh.md`; search_docs and list_docs_map give them.",
            "INVALID_PATH",
        )
    # The anchor begins at the first #, unless a file has one in its name.
    name, _, anchor = path.partition("#")
    for place, _, place_anchor in ((path, "", ""), path.rpartition("#"), (name, "", anchor)):
        if page := page_at(os.path.normpath(place)):
            return page._replace(anchor=place_anchor)
    by_path = {page.path.lower(): page for page in pages()}
    lower = os.path.normpath(name).lower()
    stem = lower.removeprefix("docs/").removesuffix(".html").removesuffix(PAGE_SUFFIX)
    if page := by_path.get(stem + PAGE_SUFFIX):
        return page._replace(anchor=anchor)
    suggestions = [by_path[near].path for near in nearest_names(lower, by_path, cutoff=0.5)]
    hint = (
        f"Did you mean {' or '.join(suggestions)}?"
        if suggestions
        else "list_docs_map names every page."
    )
    raise ToolError(f"No such page: {name[:200]}", hint, "NOT_FOUND")


def page_at(path: str) -> DocsPage | None:
    """Find the page at exactly this path."""
    for source in sources():
        root = str(source.root)
        location = os.path.join(root, path.removeprefix(source.prefix))
        if (
            path.startswith(source.prefix)
            and os.path.isfile(location)
            and _is_inside(location, root)
        ):
            return DocsPage(path, location, source.name)
    return None
