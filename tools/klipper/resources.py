"""Each page of the documentation as a resource."""

from tools.core.resources import Resource
from tools.toolkit import JsonObject, ToolError

from . import pages


def _about(path: str) -> JsonObject:
    """Title and size of a page; empty if a sync has just removed it."""
    try:
        return pages.title_and_size(pages.resolve(path))
    except (OSError, ToolError):
        return {}


@Resource(
    "klipper://docs/{path}",
    "Klipper docs",
    entries=lambda: (page.path for page in pages.pages()),
    about=_about,
)
def page(path: str) -> str:
    """A page of the Klipper documentation, whole.

    Source: the pages that read_doc reads.
    """
    pages.require_docs()
    return pages.page_text(pages.resolve(path))
