"""Search in the documentation."""

# Pages are shown in their order (search/query.py) if they score at least half as much as the first.
# A page gives one result, its best section, or two if the next one scores nearly as much; a page of dated
# entries gives the newest entry that has as much of the question as its best one. The same page of several
# sources is one result. The snippet begins a little before the place where most words of the question stand
# close together.

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

from tools.toolkit import JsonObject, Limits, ToolError, nearest_names

from . import pages
from .headings import ENTRY_LEVEL
from .search import index, messages
from .search.query import Term, question_terms, ranked

# Characters of a snippet.
SNIPPET_CHARS = 196
# Characters looked at on either side.
REACH_CHARS = 1000
# Runs of letters and digits, without `_`.
ALPHANUMERICS = re.compile(r"[^\W_]+")
# 150 to SNIPPET_CHARS characters of whole words.
SNIPPET = re.compile(r"(?<!\S)\S.{148,194}(?<!\s)(?!\S)")


@pages.DocsTool("search_docs", title="Search Klipper's docs")
def search_docs(
    query: Annotated[
        str, "words, question, command, option, error message or log", Limits(max_length=20_000)
    ],
    limit: Annotated[int, Limits(ge=1, le=7)] = 7,
) -> JsonObject | list[JsonObject]:
    """Search the Klipper documentation, best first: in English, with Klipper's names of options and commands
    where you know them.

    Code is found as it is typed: `SET_PRESSURE_ADVANCE`, `[extruder] rotation_distance`, an error message
    (Klipper's own are explained as `known_message`). Each result has `path` and `heading` for read_doc.

    Source: the pages in docs/ of the checkout. Each result has `offset`, `line`, `snippet`, too; `title` is
    there only if it differs from the path, `date` in a page of dated entries. `also_in` names the same page
    of other sources. `absent` names the words that are nowhere, not even inside of others.
    """
    if not query.strip():
        raise ToolError(
            "The query is empty",
            "Name a subject, an option, a command or an error; list_docs_map shows all pages.",
            "EMPTY_QUERY",
        )
    # Search: Klipper's own messages, and the pages.
    catalogue = index.index_of_pages()
    explanations = [message._asdict() for message in messages.messages_in(query)]
    terms, absent = question_terms(query, catalogue)
    results = list(islice(_results(catalogue, terms, query), limit))
    # Add what explains the results, or why there are none.
    answer: JsonObject = {}
    if len(explanations) == 1:
        answer["known_message"] = explanations[0]
    elif explanations:
        answer["known_messages"] = explanations
    if absent:
        words = [word[:40] for word in absent[:8]]
        answer["absent"] = f"not found in the documentation: {', '.join(words)}"
    if not results:
        names = [page.path for page in catalogue.files]
        nearest = nearest_names(query[:200].replace(" ", "_"), names, cutoff=0.4)
        listed = f"The nearest file names: {', '.join(nearest)}. " if nearest else ""
        answer["hint"] = (
            f"Nothing found. {listed}Try other words, in English; list_docs_map shows all pages."
        )
    return {**answer, "result": results} if answer else results


def _results(catalogue: index.Index, terms: list[Term], query: str) -> Iterator[JsonObject]:
    """Yield the results of the best pages: of a page two if two sections score nearly the same; a page of
    several sources is given once."""
    # The pages that score enough, the same of several sources together.
    ranking = ranked(catalogue, terms, query)
    copies_by_path = defaultdict(list)
    for candidate in ranking:
        if candidate.score >= 0.5 * ranking[0].score:
            page = candidate.page
            copies_by_path[page.path.removeprefix(f"{page.source}/")].append(candidate)
    for (page, _, sections), *copies in copies_by_path.values():
        text = pages.page_text(page)
        title = pages.page_title(text, page.path)
        best_score, best_share, best_number = sections[0]
        numbers = [number for score, _, number in sections[:2] if score >= 0.85 * best_score]
        # The newest entry that has as much of the question.
        if catalogue.sections[best_number].level == ENTRY_LEVEL:
            numbers = [min(number for _, share, number in sections if share >= best_share)]
        for number in numbers:
            section = catalogue.sections[number]
            result: JsonObject = {"path": page.path}
            if _letters(title) != _letters(Path(page.path).stem):
                result["title"] = title
            place = section.offset + _densest_place(text[section.offset : section.end], terms)
            result |= {
                "heading": section.heading,
                "line": text.count("\n", 0, section.offset) + 1,
                "offset": section.offset,
                "snippet": _snippet(text, place),
            }
            if section.level == ENTRY_LEVEL:
                result["date"] = section.heading
            if copies:
                result["also_in"] = [copy.page.path for copy in copies]
            yield result


def _letters(text: str) -> str:
    return "".join(ALPHANUMERICS.findall(text.lower()))


def _densest_place(text: str, terms: list[Term]) -> int:
    """Find the place in a section from which most words of the question are close together."""
    words = Term().union(*terms)
    lower = text.lower()
    starts = [match.start() for match in ALPHANUMERICS.finditer(lower) if match[0] in words]

    def variety(start: int) -> int:
        return len(words.intersection(ALPHANUMERICS.findall(lower, start, start + 160)))

    return max(starts, key=variety, default=0)


def _snippet(text: str, place: int) -> str:
    """Cut about 180 characters around a place, on one line and between words, with `…`; fewer only if the
    page has no more."""
    begin = max(0, place - REACH_CHARS)
    before = " ".join(text[begin:place].split())
    line = " ".join(text[begin : place + REACH_CHARS].split())
    # 80 characters stand before the match.
    start = max(0, min(len(before) - 80, len(line) - SNIPPET_CHARS))
    whole_words = SNIPPET.search(line, start)
    start, stop = whole_words.span() if whole_words else (start, start + SNIPPET_CHARS)
    snippet = line[start:stop].strip()
    if begin + start:
        snippet = f"…{snippet}"
    if stop < len(line) or place + REACH_CHARS < len(text):
        snippet += "…"
    return snippet


def preload() -> None:
    """Search once, for the processes that are forked from this one: they share what a search reads, and its
    code as the interpreter has adapted it."""
    search_docs("homing fails with timer too close")
