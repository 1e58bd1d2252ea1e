"""Reading one page, window by window."""

from difflib import get_close_matches
from typing import Annotated, Any

from tools.errors import ToolError
from tools.klipper import markdown, pages
from tools.registry import Tool
from tools.schema import Limits

LIMIT = 10_000
"""Characters of one answer's text, its closing line included."""


@Tool("read_doc", requires=pages.require_docs)
def read_doc(
    path: Annotated[str, "as search_docs gives it"],
    offset: Annotated[int, "next_offset of the answer before", Limits(ge=0)] = 0,
    heading: Annotated[str | None, "start at this heading: its text or #anchor"] = None,
) -> dict[str, Any]:
    """Read a page of the Klipper docs: up to 10,000 characters, from `offset` or a heading. While next_offset is not
    null there is more.

    Source: klipper_docs.ru.md §3.2. `text` holds the page's characters from `offset` to `next_offset` (the end, when
    null), then, where there is more, one closing line that is not the page's.
    """
    page = pages.resolve(path)
    text = pages.read(page)
    if heading and heading.strip("# \t"):
        offset = max(offset, _place(text, heading, page.path))
    if offset > len(text):
        raise ToolError(
            f"offset {offset} is behind the end of {page.path}",
            f"The page has {len(text)} characters; 0 is its beginning.",
            code="INVALID_OFFSET",
        )
    window, end = _window(text, offset)
    return {
        "path": page.path,
        "title": pages.title(text, page.path),
        "text": window,
        "offset": offset,
        "total_chars": len(text),
        "next_offset": end if end < len(text) else None,
        "truncated": end < len(text),
    }


def _window(text: str, offset: int) -> tuple[str, int]:
    """What fits into one answer from `offset`, cut after a line where that costs little, and where it ends."""
    if len(text) - offset <= LIMIT:
        return text[offset:], len(text)
    closing = "\n[… {} characters more: read_doc again with offset={}]"
    end = offset + LIMIT - len(closing) - 2 * len(str(len(text)))
    line_end = text.rfind("\n", offset + LIMIT // 2, end) + 1
    end = line_end or end
    return text[offset:end] + closing.format(len(text) - end, end), end


def _place(text: str, wanted: str, path: str) -> int:
    """The offset of a heading, by its text or its anchor (the second of two equal ones is `…-1`, as on GitHub)."""
    found: dict[str, int] = {}
    names: dict[str, str] = {}
    for heading in markdown.headings(text):
        anchor = base = markdown.anchor(heading.text)
        number = 0
        while anchor in found:
            number += 1
            anchor = f"{base}-{number}"
        found[anchor] = heading.offset
        names[anchor] = heading.text
    key = markdown.anchor(wanted.lstrip("# \t"))
    for one in (wanted.strip().removeprefix("#"), key):
        if one in found:
            return found[one]
    near = get_close_matches(key, found, n=3, cutoff=0.4) or [one for one in found if key in one][:3] or list(found)[:5]
    raise ToolError(
        f"No such heading in {path}: {wanted[:200]}",
        "Nearest: " + "; ".join(names[one] for one in near) if near else f"{path} has no headings.",
        code="HEADING_NOT_FOUND",
    )
