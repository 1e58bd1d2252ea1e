"""The pages in which a question stands."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from tools.core.calls import checkpoint
from tools.core.errors import ToolError
from tools.klipper import pages
from tools.klipper.pages import Page
from tools.klipper.search import spelling
from tools.klipper.search.evidence import Evidence, Hit, scan
from tools.klipper.search.query import Question, question, respelt
from tools.klipper.search.ranking import Ranked, ranked


class Search(NamedTuple):
    """The pages that say most about a question, best first; the hits of each page; the words that stand in no page."""

    pages: list[Ranked]
    hits: dict[str, list[Hit]]
    absent: list[str]


def find(query: str, files: Mapping[str, Page]) -> Search:
    """Search the pages, given by their paths."""
    names = {name.replace("_", ""): name for path in files if "_" in (name := file_words(path))}
    asked = _respelt(question(query), names)
    evidence = _scan(files, asked)
    absent = _absent(asked, evidence)
    if spellings := spelling.respell(absent, map(read, files.values()), names) if absent else {}:
        asked = _respelt(asked, spellings)
        evidence = _scan(files, asked)
        absent = [word for word in absent if word not in spellings]
    best = ranked(evidence, asked, lambda path: read(files[path]))
    return Search(best, {page.path: page.hits for page in evidence}, absent)


def file_words(path: str) -> str:
    """The words of a file name (`bed_mesh`)."""
    return path.rpartition("/")[2].removesuffix(pages.SUFFIX).lower().replace("-", "_")


def read(page: Page) -> str:
    """The text of a page; "" if a sync has removed it, or it is not text, or too long."""
    checkpoint()
    try:
        return pages.read(page)
    except ToolError:
        return ""


def _respelt(asked: Question, spellings: Mapping[str, str]) -> Question:
    terms = (respelt(term, spellings[term.word]) if term.word in spellings else term for term in asked.terms)
    return replace(asked, terms=tuple(terms))


def _scan(files: Mapping[str, Page], asked: Question) -> list[Evidence]:
    return [evidence for path, page in files.items() if (evidence := scan(path, read(page), asked))]


def _absent(asked: Question, evidence: Sequence[Evidence]) -> list[str]:
    """The words that stand in no page."""
    terms = 0
    for page in evidence:
        terms |= page.terms
    return [term.word for number, term in enumerate(asked.terms) if not terms >> number & 1]
