"""Reading one page, by section or window by window."""

from typing import Annotated

from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool
from tools.klipper import headings, pages

LIMIT = 10_000
"""Characters of one answer's text, its closing line included."""
CLOSING = "\n[… {} characters more: read_doc again with offset={}{}]"


@Tool("read_doc", title="Read Klipper's docs", requires=pages.require_docs, envelope=True)
def read_doc(
    path: Annotated[str, "from search_docs, or a link", Limits(max_length=1000)],
    offset: Annotated[int, "next_offset of the answer before", Limits(ge=0)] = 0,
    heading: Annotated[
        str | None, "its text or #anchor, a [section], option or command", Limits(max_length=200)
    ] = None,
) -> JsonObject:
    """Read one section of a Klipper docs page by its heading, or up to 10,000 characters from `offset`. While next_offset
    is not null there is more.

    Source: the page in docs/ of the checkout. `text` holds the page's characters from `offset` to `next_offset` (the end of the
    section or page, when null), then, if there is more, one closing line that is not the page's. With a heading
    `next_heading` names the section that follows.
    """
    page, anchor = pages.referred(path)
    text, name = pages.read(page), page.path
    wanted = heading if heading and heading.strip("# \t") else anchor
    section = headings.find(text, wanted, name) if wanted.strip("# \t") else None
    end = section.end if section else len(text)
    offset = max(offset, section.offset) if section else offset
    window, stop = _window(text, offset, end, in_section=section is not None)
    answer = {
        "path": name,
        "title": pages.title(text, name),
        "text": window,
        "offset": offset,
        "total_chars": len(text),
        "next_offset": stop if stop < end else None,
        "truncated": stop < end,
    }
    return answer | ({"next_heading": headings.following(section, text) or None} if section else {})


def _window(text: str, offset: int, end: int, *, in_section: bool) -> tuple[str, int]:
    """The part that fits into one answer from `offset`, cut after a line where that costs little, and its end."""
    if end - offset <= LIMIT:
        return text[offset:end], end
    also = " and this heading" if in_section else ""
    stop = offset + LIMIT - len(CLOSING) - len(also) - 2 * len(str(len(text)))
    line_end = text.rfind("\n", offset + LIMIT // 2, stop) + 1
    stop = line_end or stop
    return text[offset:stop] + CLOSING.format(end - stop, stop, also), stop
