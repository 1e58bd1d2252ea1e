"""The map of the documentation: folders and pages, for a first orientation."""

from contextlib import suppress
from typing import Annotated

from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool
from tools.klipper import headings, pages
from tools.klipper.sources import Source, sources


@Tool("list_docs_map", title="Contents of Klipper's docs", requires=pages.require_docs, envelope=True)
def list_docs_map(
    path: Annotated[str | None, "one page: its headings with their size; or a source", Limits(max_length=1000)] = None,
) -> JsonObject:
    """List all pages of the Klipper docs by folder, with title and size in bytes; or the headings of one page. To find
    something use search_docs.

    Source: the pages in docs/ of the checkout. A folder is {"pages": [{name, title, size}], "folders": {name: folder},
    "assets": count of other files}, empty parts left out; a page's path is the names of its folders and its own,
    joined by "/"; further sources are a line each. A heading is its marks, its text and the characters of its section, all below it included.
    """
    named = {source.name: source for source in sources()}
    shown = named.get((path or "").strip().strip("/"))
    return _tree(shown) if shown else _page(path or "")


def _page(path: str) -> JsonObject:
    """The headings of one page; dated entries are only counted."""
    page = pages.resolve(path)
    text = pages.read(page)
    listed = list(headings.sections(text).values())
    entries = [place.heading for place in listed if place.level == headings.ENTRY_LEVEL]
    named = [place for place in listed if place.level < headings.ENTRY_LEVEL]
    shown = [f"{'#' * place.level} {place.heading} ({place.end - place.offset})" for place in named]
    outline: JsonObject = {"path": page.path, "total_chars": len(text), "headings": shown}
    if entries:
        outline["entries"] = f"{len(entries)} dated ones, {entries[-1]} to {entries[0]}"
    return outline


def _tree(shown: Source) -> JsonObject:
    """The pages of a source by folder; of the main one with a line for each other source."""
    root: JsonObject = {}
    for page in pages.pages([shown]):
        with suppress(OSError):  # a sync has just taken it away, or it is a link to itself
            about = {"name": page.path.rpartition("/")[2], **pages.outline(page)}
            _folder(root, page.path).setdefault("pages", []).append(about)
    for path in pages.assets([shown]):
        folder = _folder(root, path)
        folder["assets"] = folder.get("assets", 0) + 1
    for source in sources() if not shown.name else ():
        if source.name:
            count = len(list(pages.pages([source])))
            root.setdefault("sources", {})[source.name] = f"{count} pages: list_docs_map(path={source.name!r})"
    return root


def _folder(root: JsonObject, path: str) -> JsonObject:
    """The folder that a path lies in."""
    for name in path.split("/")[:-1]:
        root = root.setdefault("folders", {}).setdefault(name, {})
    return root
