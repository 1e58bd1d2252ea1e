"""Reading the documentation: a page by section or window by window, the map of all pages."""

from contextlib import suppress
from typing import Annotated

from tools.toolkit import JsonObject, Limits

from . import headings, pages
from .settings import Source, sources

# Characters of one answer's text, its closing line included.
MOST_CHARS = 10_000


@pages.DocsTool("read_doc", title="Read Klipper's docs")
def read_doc(
    path: Annotated[str, "from search_docs, or a link", Limits(max_length=1000)],
    offset: Annotated[int, "next_offset of the answer before", Limits(ge=0)] = 0,
    heading: Annotated[
        str, "its text or #anchor, a [section], option or command", Limits(max_length=200)
    ] = "",
) -> JsonObject:
    """Read one section of a Klipper docs page by its heading, or up to 10,000 characters from `offset`. While
    next_offset is not null there is more.

    Source: the page in docs/ of the checkout. `text` holds the page's characters from `offset` to
    `next_offset` (the end of the section or page, when null), then, if there is more, one closing line that
    is not the page's. With a heading `next_heading` names the section that follows.
    """
    # The page, or a section of it.
    page = pages.resolve(path)
    text = pages.page_text(page)
    heading = heading.strip("# \t") or page.anchor
    section = headings.PageSection("", 1, 0, len(text))  # the whole page
    if heading:
        section = headings.section_named(text, heading, page.path)
    # The part of it that fits into an answer.
    stop = end = section.end
    offset = max(offset, section.offset)
    closing = ""
    if end - offset > MOST_CHARS:  # the cut is after a line where that costs little
        longest = offset + MOST_CHARS - 100  # of the closing line
        stop = text.rfind("\n", offset + MOST_CHARS // 2, longest) + 1 or longest
        arguments = f"offset={stop} and this heading" if heading else f"offset={stop}"
        closing = f"\n[… {end - stop} characters more: read_doc again with {arguments}]"
    answer = {
        "path": page.path,
        "title": pages.page_title(text, page.path),
        "text": text[offset:stop] + closing,
        "offset": offset,
        "total_chars": len(text),
        "next_offset": stop if closing else None,
        "truncated": bool(closing),
    }
    if heading:
        later = (
            other.heading for other in headings.page_sections(text).values() if other.offset >= end
        )
        answer["next_heading"] = next(later, None)
    return answer


@pages.DocsTool("list_docs_map", title="Contents of Klipper's docs")
def list_docs_map(
    path: Annotated[
        str, "one page: its headings with their size; or a source", Limits(max_length=1000)
    ] = "",
) -> JsonObject:
    """List all pages of the Klipper docs by folder, with title and size in bytes; or the headings of one
    page.

    Source: the pages in docs/ of the checkout. A folder is {"pages": [{name, title, size}], "folders": {name:
    folder}, "assets": count of other files}, empty parts left out; a page's path is the names of its folders
    and its own, joined by "/"; further sources are a line each. A heading is its marks, its text and the
    characters of its section, all below it included.
    """
    for source in sources():
        if source.name == path.strip("/ "):
            return _tree(source)
    # The headings of one page; dated entries are only counted.
    page = pages.resolve(path)
    text = pages.page_text(page)
    lines = []
    entries = []
    for section in headings.page_sections(text).values():
        if section.level == headings.ENTRY_LEVEL:
            entries.append(section.heading)
        else:
            marks = "#" * section.level
            lines.append(f"{marks} {section.heading} ({section.end - section.offset})")
    outline = {"path": page.path, "total_chars": len(text), "headings": lines}
    if entries:
        outline["entries"] = f"{len(entries)} dated ones, {entries[-1]} to {entries[0]}"
    return outline


def _tree(source: Source) -> JsonObject:
    """List a source's pages by folder; of the main one also a line for each other source."""
    root: JsonObject = {}
    for file in pages.source_files(source):
        folder = root
        *folders, name = file.path.split("/")
        for child in folders:
            folder = folder.setdefault("folders", {}).setdefault(child, {})
        if not pages.is_markdown(file):
            folder["assets"] = folder.get("assets", 0) + 1
            continue
        with suppress(OSError):  # a sync has just taken it away, or it is a link to itself
            folder.setdefault("pages", []).append({"name": name, **pages.title_and_size(file)})
    if not source.name:
        for other in sources()[1:]:
            count = len(list(pages.pages(other)))
            listing = root.setdefault("sources", {})
            listing[other.name] = f"{count} pages: list_docs_map(path={other.name!r})"
    return root
