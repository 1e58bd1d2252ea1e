"""The map of the documentation: folders and pages, for a first orientation."""

from typing import Any

from tools.klipper import pages
from tools.klipper.pages import Page
from tools.registry import Tool

TITLE_BYTES = 8192
"""How much of a page is read for its title."""


@Tool("list_docs_map", requires=pages.require_docs)
def list_docs_map() -> dict[str, Any]:
    """List all pages of the Klipper docs by folder, with title and size in bytes. For orientation; to find something
    use search_docs.

    Source: klipper_docs.ru.md §3.3. A folder is {"pages": [{name, title, size}], "folders": {name: folder},
    "assets": count of other files}, empty parts left out; a page's path is the names of its folders and its own,
    joined by "/".
    """
    root: dict[str, Any] = {}
    for page in pages.pages():
        *folders, name = page.path.split("/")
        folder = _folder(root, folders)
        folder.setdefault("pages", []).append({"name": name, "title": _title(page), "size": page.file.stat().st_size})
    for path in pages.assets():
        folder = _folder(root, path.split("/")[:-1])
        folder["assets"] = folder.get("assets", 0) + 1
    return root


def _folder(root: dict[str, Any], names: list[str]) -> dict[str, Any]:
    for name in names:
        root = root.setdefault("folders", {}).setdefault(name, {})
    return root


def _title(page: Page) -> str:
    with open(page.file, "rb") as file:
        return pages.title(file.read(TITLE_BYTES).decode("utf-8", "ignore"), page.path)
