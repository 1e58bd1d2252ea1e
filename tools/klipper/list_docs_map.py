"""The map of the documentation: folders and pages, for a first orientation."""

from typing import Annotated

from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool
from tools.klipper import headings, pages
from tools.klipper.pages import Page

MOST_HEADINGS = 400


@Tool("list_docs_map", requires=pages.require_docs)
def list_docs_map(
    path: Annotated[str | None, "one page: its headings with their size", Limits(max_length=1000)] = None,
) -> JsonObject:
    """List all pages of the Klipper docs by folder, with title and size in bytes; or the headings of one page. To find
    something use search_docs.

    Source: the pages in docs/ of the checkout. A folder is {"pages": [{name, title, size}], "folders": {name: folder},
    "assets": count of other files}, empty parts left out; a page's path is the names of its folders and its own,
    joined by "/". A heading is its marks, its text and the characters of its section, all below it included.
    """
    return _page(path) if path else _tree()


def _page(path: str) -> JsonObject:
    """The headings of one page; dated entries are only counted."""
    page = pages.resolve(path)
    text = pages.read(page)
    listed = headings.sections(text).values()
    entries = headings.entries(text)
    shown = [
        f"{'#' * section.level} {section.heading} ({section.end - section.offset})"
        for section in listed
        if section.level < headings.ENTRY_LEVEL
    ]
    outline = {"path": page.path, "total_chars": len(text), "headings": shown[:MOST_HEADINGS]}
    if len(shown) > MOST_HEADINGS:
        outline["more"] = len(shown) - MOST_HEADINGS
    if entries:
        outline["entries"] = f"{len(entries)} dated ones, {entries[-1].heading} to {entries[0].heading}"
    return outline


def _tree() -> JsonObject:
    """All pages by folder."""
    root: JsonObject = {}
    for page in pages.pages():
        *folders, name = page.path.split("/")
        if outline := _outline(page):
            _folder(root, folders).setdefault("pages", []).append({"name": name, **outline})
    for path in pages.assets():
        folder = _folder(root, path.split("/")[:-1])
        folder["assets"] = folder.get("assets", 0) + 1
    return root


def _folder(root: JsonObject, names: list[str]) -> JsonObject:
    for name in names:
        root = root.setdefault("folders", {}).setdefault(name, {})
    return root


def _outline(page: Page) -> JsonObject | None:
    """Title and size; None if it does not open: a sync has just taken it away, or it is a link to itself."""
    try:
        return pages.outline(page)
    except OSError:
        return None
