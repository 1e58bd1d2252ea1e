"""The map of the documentation: folders and pages, for a first orientation."""

from typing import Any

from tools.klipper import pages
from tools.klipper.pages import Page
from tools.registry import Tool


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
        if found := _found(page):
            _folder(root, folders).setdefault("pages", []).append({"name": name, **found})
    for path in pages.assets():
        folder = _folder(root, path.split("/")[:-1])
        folder["assets"] = folder.get("assets", 0) + 1
    return root


def _folder(root: dict[str, Any], names: list[str]) -> dict[str, Any]:
    for name in names:
        root = root.setdefault("folders", {}).setdefault(name, {})
    return root


def _found(page: Page) -> dict[str, Any] | None:
    """Title and size; None where a sync has just taken the page away."""
    try:
        return pages.outline(page)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise pages.unreadable(page, error) from error
