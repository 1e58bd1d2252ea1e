"""Search in the documentation."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.suggest import several
from tools.core.tool import Tool
from tools.klipper import headings, pages
from tools.klipper.headings import Section
from tools.klipper.markdown import Outline, heading_text
from tools.klipper.pages import Page
from tools.klipper.search import messages
from tools.klipper.search.evidence import WINDOW, Hit
from tools.klipper.search.finding import Search, file_words, find, read
from tools.klipper.search.messages import Message
from tools.klipper.search.ranking import Place, Ranked
from tools.klipper.search.snippets import snippet

LARGE = 50_000
"""Characters of a page that may give two results."""

MOST_ABSENT = 8
FEWEST, WEAK = 3, 0.25
"""So many pages are shown at least; a further one only if its score has this share of the best. None of 270 questions
lost its page by it, and the answers are a third shorter."""


@Tool("search_docs", requires=pages.require_docs)
def search_docs(
    query: Annotated[str, "words, question, command, option or error message", Limits(max_length=1000)],
    limit: Annotated[int, Limits(ge=1, le=7)] = 7,
) -> JsonObject | list[JsonObject]:
    """Search the Klipper documentation, in English or Russian, best first.

    Code is found as it is typed: `SET_PRESSURE_ADVANCE`, `[extruder] rotation_distance`, an error message (Klipper's own
    are explained as `known_message`). Each result has `path` and `heading` for read_doc, `offset`, `line`, a `snippet`.

    Source: the pages in docs/ of the checkout. `title` is there only if it differs from the path, `date` in a page of dated entries,
    of which the newest that says most is shown. `absent` names the words that stand nowhere.
    """
    if not query.strip():
        raise ToolError(
            "The query is empty",
            "Name a subject, an option, a command or an error; list_docs_map shows all pages.",
            code="EMPTY_QUERY",
        )
    files = {page.path: page for page in pages.pages()}
    search = find(query, files)
    message = messages.known(query)
    results = list(islice(_results(search, message, files), limit))
    answer: JsonObject = {"known_message": _explained(message)} if message else {}
    if search.absent:
        words = ", ".join(search.absent[:MOST_ABSENT])
        answer["absent"] = f"these words stand nowhere in the documentation: {words}"
    if not results:
        return {**answer, "result": [], "hint": _nearest_names(query)}
    return {**answer, "result": results} if answer else results


def _results(search: Search, message: Message | None, files: Mapping[str, Page]) -> Iterator[JsonObject]:
    """The results: first where a known message sends the reader, then the pages of the search, each page once."""
    leading: dict[str, messages.Place] = {}
    for place in message.read if message and message.leads else ():
        if place.path in files:
            leading.setdefault(place.path, place)
    best = {page.path: page for page in _worth_showing(search.pages)}
    for path in dict.fromkeys([*leading, *best]):
        text = read(files[path])
        section = _section(text, leading[path]) if path in leading else None
        if text and section:
            yield _result(path, text, section.heading, section.offset, section.offset)
        elif text and path in best:
            yield from _of_page(best[path], text, search.hits[path])
        elif text:
            first = Outline(text).below(0)
            yield _matching(path, text, Place(first, first.offset if first else 0))


def _worth_showing(best: Sequence[Ranked]) -> list[Ranked]:
    """The pages without those that say little beside the first."""
    return [page for index, page in enumerate(best) if index < FEWEST or page.score >= WEAK * best[0].score]


def _section(text: str, place: messages.Place) -> Section | None:
    """The section of a page that a message names, if the page has it."""
    try:
        return headings.find(text, place.heading, place.path) if place.heading else None
    except ToolError:
        return None


def _of_page(page: Ranked, text: str, hits: Sequence[Hit]) -> Iterator[JsonObject]:
    """The results of a page: two of a large one if two sections say nearly as much."""
    title = heading_text(page.title.raw) if page.title else file_words(page.path)
    if entry := _entry(text, hits, page.best):
        yield {**_result(page.path, text, entry.heading, entry.offset, entry.offset, title), "date": entry.heading}
        return
    yield _matching(page.path, text, page.best, title)
    if page.another and len(text) > LARGE:
        yield _matching(page.path, text, page.another, title)


def _entry(text: str, hits: Sequence[Hit], place: Place) -> Section | None:
    """The dated entry of a page in which most terms stand, the newest of several; None if there is none with a hit."""
    start = place.heading.offset if place.heading else 0
    if text.find(headings.CENTURY, start, place.offset + WINDOW) < 0:  # most pages have no dates where they match
        return None
    best, most = None, 0
    for entry in headings.entries(text):
        terms = {number for _, _, number in hits[bisect_left(hits, (entry.offset,)) : bisect_left(hits, (entry.end,))]}
        if len(terms) > most:
            best, most = entry, len(terms)
    return best


def _matching(path: str, text: str, place: Place, title: str = "") -> JsonObject:
    """The result for a match."""
    heading = place.heading
    if heading:
        return _result(path, text, heading_text(heading.raw), heading.offset, place.offset, title)
    return _result(path, text, "", 0, place.offset, title)


def _result(path: str, text: str, heading: str, offset: int, match: int, title: str = "") -> JsonObject:
    """A result: the section with that heading, at `offset`, and a snippet around `match`."""
    title = title or pages.title(text, path)
    differs = file_words(title.replace(" ", "_")).replace("_", "") != file_words(path).replace("_", "")
    return {
        "path": path,
        **({"title": title} if differs else {}),
        "heading": heading,
        "line": text.count("\n", 0, offset) + 1,
        "offset": offset,
        "snippet": snippet(text, match, offset),
    }


def _explained(message: Message) -> JsonObject:
    """A message of Klipper for the model: what it means, what to look at first, where to read on."""
    return {
        "message": message.message,
        "means": message.meaning,
        "first": message.first,
        "read": [f"{place.path}#{place.heading}".rstrip("#") for place in message.read],
    }


def _nearest_names(query: str) -> str:
    names = {file_words(page.path).replace("_", " "): page.path for page in pages.pages()}
    near = several(query.lower().replace("_", " "), names, cutoff=0.4)
    listed = f"The nearest file names: {', '.join(names[name] for name in near)}. " if near else ""
    return f"Nothing found. {listed}Try other words, in English; list_docs_map shows all pages."
