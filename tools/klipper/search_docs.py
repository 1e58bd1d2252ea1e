"""Search in the documentation."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Annotated, Any

from tools.core.calls import checkpoint
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool
from tools.klipper import headings, pages
from tools.klipper.headings import Section
from tools.klipper.markdown import heading_text
from tools.klipper.pages import Page
from tools.klipper.search import messages, spelling
from tools.klipper.search.evidence import Evidence, scan
from tools.klipper.search.messages import Message
from tools.klipper.search.query import Question, question, respelt
from tools.klipper.search.ranking import Place, Ranked, ranked
from tools.klipper.search.snippets import snippet

LARGE = 50_000
"""Characters of a page that may give two results."""

MOST_ABSENT = 8
FEWEST, WEAK = 3, 0.25
"""So many pages are shown at least; a further one only if its score has this share of the best. Of 270 questions none
lost its page by it, and the answers are a third shorter."""


@Tool("search_docs", requires=pages.require_docs)
def search_docs(
    query: Annotated[str, "words, question, command, option or error message", Limits(max_length=1000)],
    limit: Annotated[int, Limits(ge=1, le=7)] = 7,
) -> Any:
    """Search the Klipper documentation, in English or Russian, best first.

    Code is found as it is typed: `SET_PRESSURE_ADVANCE`, `[extruder] rotation_distance`, an error message (Klipper's own
    are explained as `known_message`). Each result has `path` and `heading` for read_doc, `offset`, `line`, a `snippet`.

    Source: klipper_docs.ru.md §3.1. `title` is there only if it differs from the path, `date` in a page of dated entries,
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
    results = list(_results(search, message, files))[:limit]
    answer: JsonObject = {"known_message": _explained(message)} if message else {}
    if search.absent:
        words = ", ".join(search.absent[:MOST_ABSENT])
        answer["absent"] = f"these words stand nowhere in the documentation: {words}"
    if not results:
        return {**answer, "result": [], "hint": _nearest_names(query)}
    return {**answer, "result": results} if answer else results


class Search:
    """What a search found: the pages in which most of the question stands, best first, and the words that stand nowhere."""

    def __init__(self, asked: Question, found: list[Ranked], absent: list[str]):
        self.asked = asked
        self.found = found
        self.absent = absent


def find(query: str, files: dict[str, Page]) -> Search:
    """Search the pages given by their paths."""
    names = {name.replace("_", ""): name for path in files if "_" in (name := _name(path))}
    asked = _respelt(question(query), {joined: (name, 0) for joined, name in names.items()})
    found = _gather(files, asked)
    absent = _absent(asked, found)
    if absent and (better := spelling.respell(absent, (_read(page) for page in files.values()), names)):
        asked = _respelt(asked, better)
        found = _gather(files, asked)
        absent = [word for word in absent if word not in better]
    return Search(asked, ranked(found, asked, lambda path: _read(files[path])), absent)


def _respelt(asked: Question, better: dict[str, tuple[str, int]]) -> Question:
    terms = tuple(respelt(term, *better[term.word]) if term.word in better else term for term in asked.terms)
    return replace(asked, terms=terms)


def _name(path: str) -> str:
    """The words of a file name (`bed_mesh`)."""
    return path.rpartition("/")[2].removesuffix(pages.SUFFIX).lower().replace("-", "_")


def _gather(files: dict[str, Page], asked: Question) -> list[Evidence]:
    return [evidence for path, page in files.items() if (evidence := scan(path, _read(page), asked))]


def _read(page: Page) -> str:
    """The text of a page; nothing if a sync has taken it away, or it is not text, or too long."""
    checkpoint()
    try:
        return pages.read(page)
    except ToolError:
        return ""


def _absent(asked: Question, found: Sequence[Evidence]) -> list[str]:
    """The words that stand in no page."""
    seen = 0
    for page in found:
        for terms, _, _ in page.passages:
            seen |= terms
    return [term.word for number, term in enumerate(asked.terms) if not seen >> number & 1]


def _results(search: Search, message: Message | None, files: dict[str, Page]) -> Iterator[JsonObject]:
    """The results: first where a known message sends the reader, then what the search found, each page once."""
    leading = list(dict.fromkeys(place.path for place in message.read if place.path in files)) if message else []
    leading = leading if message and message.leads else []
    least = WEAK * search.found[0].score if search.found else 0.0
    found = {one.path: one for at, one in enumerate(search.found) if at < FEWEST or one.score >= least}
    for path in [*leading, *(path for path in found if path not in leading)]:
        text = _read(files[path])
        one = found.get(path)
        section = _section_of(message, path, text) if path in leading else None
        if text and section:
            yield _shown(path, text, section, section.offset)
        elif text and one:
            yield from _of_page(one, text, search.asked)
        elif text:
            yield _shown(path, text, next(iter(headings.sections(text).values()), None), 0)


def _section_of(message: Message | None, path: str, text: str) -> Section | None:
    """The section of a page that a message names, if the page has it."""
    name = next((place.heading for place in message.read if place.path == path), "") if message else ""
    try:
        return headings.find(text, name, path) if name else None
    except ToolError:
        return None


def _of_page(one: Ranked, text: str, asked: Question) -> Iterator[JsonObject]:
    """The results of a page: two of a large one if two sections say nearly as much."""
    if entry := _entry(one, text, asked):
        yield entry
        return
    places = [one.best, one.another] if one.another and len(text) > LARGE else [one.best]
    for place in places:
        if place:
            yield _placed(one, place, text)


def _placed(one: Ranked, place: Place, text: str) -> JsonObject:
    offset = place.heading.offset if place.heading else 0
    name = heading_text(place.heading.raw) if place.heading else ""
    return _shown(one.path, text, Section(name, 0, offset, 0), place.at, _title(one))


def _title(one: Ranked) -> str:
    return heading_text(one.title.raw) if one.title else _name(one.path)


def _entry(one: Ranked, text: str, asked: Question) -> JsonObject | None:
    """The dated entry of a page in which most terms stand, the newest of several; None for a page without entries."""
    entries = headings.entries(text)
    evidence = scan(one.path, text, asked) if entries else None
    if not evidence:
        return None
    best = max(entries, key=lambda entry: len({hit[2] for hit in evidence.hits if entry.offset <= hit[0] < entry.end}))
    shown = _shown(one.path, text, best, best.offset, _title(one))
    return {**shown, "date": best.heading}


def _shown(path: str, text: str, section: Section | None, at: int, title: str = "") -> JsonObject:
    offset = section.offset if section else 0
    title = title or pages.title(text, path)
    differs = _name(title.replace(" ", "_")).replace("_", "") != _name(path).replace("_", "")
    return {
        "path": path,
        **({"title": title} if differs else {}),
        "heading": section.heading if section else "",
        "line": text.count("\n", 0, offset) + 1,
        "offset": offset,
        "snippet": snippet(text, at, offset),
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
    names = {_name(page.path).replace("_", " "): page.path for page in pages.pages()}
    near = get_close_matches(query.lower().replace("_", " "), names, n=3, cutoff=0.4)
    listed = f"The nearest file names: {', '.join(names[name] for name in near)}. " if near else ""
    return f"Nothing found. {listed}Try other words, in English; list_docs_map shows all pages."
