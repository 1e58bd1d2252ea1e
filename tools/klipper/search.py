"""Search in the documentation."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Annotated, Any

from tools.calls import checkpoint
from tools.errors import ToolError
from tools.klipper import pages, spelling
from tools.klipper.evidence import Evidence, scan
from tools.klipper.markdown import heading_text
from tools.klipper.pages import Page
from tools.klipper.query import Question, question, respelt
from tools.klipper.ranking import Ranked, ranked
from tools.klipper.snippets import snippet
from tools.registry import Tool
from tools.schema import Limits


@Tool("search_docs", requires=pages.require_docs)
def search_docs(
    query: Annotated[str, "words, question, command, option or error message", Limits(max_length=1000)],
    limit: Annotated[int, Limits(ge=1, le=7)] = 7,
) -> Any:
    """Search the Klipper documentation, in English or Russian; one result a page, best first.

    Code is found as it is typed: `SET_PRESSURE_ADVANCE`, `[extruder] rotation_distance`, an error message. Each result
    has the `path` for read_doc, the nearest `heading` with its `line`, and a `snippet`.

    Source: klipper_docs.ru.md §3.1.
    """
    if not query.strip():
        raise ToolError(
            "The query is empty",
            "Name a subject, an option, a command or an error; list_docs_map shows all pages.",
            code="EMPTY_QUERY",
        )
    files = {page.path: page for page in pages.pages()}
    results = [_shown(one, text) for one in find(query, files)[:limit] if (text := _read(files[one.path]))]
    return results or {"result": [], "hint": _nearest_names(query)}


def find(query: str, files: dict[str, Page]) -> list[Ranked]:
    """The pages, of those given by their paths, in which most of the question stands, best first."""
    names = {name.replace("_", ""): name for path in files if "_" in (name := _name(path))}
    asked = _respelt(question(query), {joined: (name, 0) for joined, name in names.items()})
    found = _gather(files, asked)
    if absent := _absent(asked, found):
        better = spelling.respell(absent, (_read(page) for page in files.values()), names)
        if better:
            asked = _respelt(asked, better)
            found = _gather(files, asked)
    return ranked(found, asked, lambda path: _read(files[path]))


def _respelt(asked: Question, better: dict[str, tuple[str, int]]) -> Question:
    terms = tuple(respelt(term, *better[term.word]) if term.word in better else term for term in asked.terms)
    return replace(asked, terms=terms)


def _name(path: str) -> str:
    """The words of a file name (`bed_mesh`)."""
    return path.rpartition("/")[2].removesuffix(pages.SUFFIX).lower().replace("-", "_")


def _gather(files: dict[str, Page], asked: Question) -> list[Evidence]:
    return [found for path, page in files.items() if (found := scan(path, _read(page), asked))]


def _read(page: Page) -> str:
    """The text of a page; nothing if a sync has taken it away or it is no text."""
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


def _shown(one: Ranked, text: str) -> dict[str, Any]:
    title = heading_text(one.title.raw) if one.title else _name(one.path).replace("_", " ")
    offset = one.heading.offset if one.heading else 0
    return {
        "path": one.path,
        "title": title,
        "heading": heading_text(one.heading.raw) if one.heading else title,
        "line": text.count("\n", 0, offset) + 1,
        "snippet": snippet(text, one.at, offset),
    }


def _nearest_names(query: str) -> str:
    names = {_name(page.path).replace("_", " "): page.path for page in pages.pages()}
    near = get_close_matches(query.lower().replace("_", " "), names, n=3, cutoff=0.4)
    listed = f"The nearest file names: {', '.join(names[one] for one in near)}. " if near else ""
    return f"Nothing found. {listed}Try other words, in English; list_docs_map shows all pages."
