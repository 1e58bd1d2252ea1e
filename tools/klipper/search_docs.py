"""Search in the documentation."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Annotated

from tools.core import registry
from tools.core.errors import ToolError, several
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool
from tools.klipper import pages
from tools.klipper.headings import ENTRY_LEVEL
from tools.klipper.search import index, messages
from tools.klipper.search.index import Index, read
from tools.klipper.search.query import Ranked, Term, question, ranked
from tools.klipper.settings import sources

MOST_ABSENT = 8
FEWEST, WEAK = 2, 0.5
"""So many pages are shown at least; a further one only if its score has this share of the best."""
ANOTHER = 0.85
"""The share of the best section's score that another section of the page has to have to be shown beside
it."""
NEAR = 0.8
"""The main source comes first where its page has this share of the score of another source's."""
CLOSE = 160
"""Characters in which the words of a question are together."""
LEAST, ROOM, LEAD = 150, 196, 80
"""Characters of a snippet, and so many of them before the match."""
REACH = 1000
"""Characters looked at on either side."""
BLANK = re.compile(r"\s+")
CUT = "…"


@Tool("search_docs", title="Search Klipper's docs", requires=pages.require_docs, envelope=True)
def search_docs(
    query: Annotated[
        str, "words, question, command, option, error message or log", Limits(max_length=20_000)
    ],
    limit: Annotated[int, Limits(ge=1, le=7)] = 7,
) -> JsonObject | list[JsonObject]:
    """Search the Klipper documentation, best first: in English, with Klipper's names of options and commands
    where you know them.

    Code is found as it is typed: `SET_PRESSURE_ADVANCE`, `[extruder] rotation_distance`, an error message
    (Klipper's own are explained as `known_message`). Each result has `path` and `heading` for read_doc,
    `offset`, `line`, a `snippet`.

    Source: the pages in docs/ of the checkout. `title` is there only if it differs from the path, `date` in a
    page of dated entries. `also_in` names the same page of other sources. `absent` names the words that are
    nowhere, not even inside of others.
    """
    if not query.strip():
        hint = "Name a subject, an option, a command or an error; list_docs_map shows all pages."
        raise ToolError("The query is empty", hint, code="EMPTY_QUERY")
    known = index.current()
    found = messages.known(query)
    terms, absent = question(query, known)
    results = list(islice(_results(known, terms, query), limit))
    answer: JsonObject = {}
    explained = [{"message": message.message, **messages.explained(message)} for message in found]
    if explained:
        answer |= {"known_message": explained[0]} if len(found) == 1 else {"known_messages": explained}
    if absent:
        answer["absent"] = f"not found in the documentation: {', '.join(absent[:MOST_ABSENT])}"
    if not results:
        return {**answer, "result": [], "hint": _nearest_names(query, known)}
    return {**answer, "result": results} if answer else results


def _results(known: Index, terms: Sequence[Term], query: str) -> Iterator[JsonObject]:
    """The results: the best pages, each page of several sources once."""
    files = {page.path: page for page in known.files}
    best = _worth_showing(known, ranked(known, terms), query)
    for path, also in _copies(best).items():
        if text := read(files[path]):
            for result in _of_page(known, best[path], text, terms):
                yield result | ({"also_in": also} if also else {})


def _worth_showing(known: Index, every: Sequence[Ranked], query: str) -> dict[str, Ranked]:
    """The best pages by path; those of further sources behind the main one's, unless the query names the
    source."""
    behind = tuple(
        source.prefix for source in sources() if source.prefix and source.name not in query.lower()
    )
    paths = [known.files[page.page].path for page in every]
    scores = [
        page.score * (NEAR if path.startswith(behind) else 1) for page, path in zip(every, paths, strict=True)
    ]
    rows = sorted(zip(scores, paths, every, strict=True), key=lambda row: -row[0])
    least = WEAK * max(scores, default=0)
    return {
        path: page for number, (score, path, page) in enumerate(rows) if number < FEWEST or score >= least
    }


def _copies(best: Iterable[str]) -> dict[str, list[str]]:
    """The paths of the same page in other sources, by the path that is shown."""
    prefixes = [source.prefix for source in sources() if source.prefix]
    same: dict[str, list[str]] = {}
    for path in best:
        name = next((path.removeprefix(prefix) for prefix in prefixes if path.startswith(prefix)), path)
        same.setdefault(name, []).append(path)
    return {first: others for first, *others in same.values()}


def _of_page(known: Index, page: Ranked, text: str, terms: Sequence[Term]) -> Iterator[JsonObject]:
    """The results of a page: two if two sections say nearly as much."""
    path = known.files[page.page].path
    most = page.sections[0][0] if page.sections else 0
    near = [section for score, _, section in page.sections if score >= ANOTHER * most]
    near = list(dict.fromkeys(near)) or [known.sections[page.page][0]]
    if known.places[near[0]].level == ENTRY_LEVEL:  # the newest entry that has as much of the question
        near = [min(section for _, share, section in page.sections if share >= page.sections[0][1])]
    for section in near[:2]:
        place = known.places[section]
        end = known.places[section + 1].offset if section + 1 in known.sections[page.page] else len(text)
        at = place.offset + _closest(text[place.offset : end], terms)
        result = _result(known, path, text, (place.heading, place.offset, at))
        yield result | ({"date": place.heading[:10]} if place.level == ENTRY_LEVEL else {})


def _closest(text: str, terms: Sequence[Term]) -> int:
    """The place in a section from which most terms are close together."""
    of_word = {word: number for number, term in enumerate(terms) for word in term.words}
    pattern = "|".join(sorted(map(re.escape, of_word), key=len, reverse=True))
    found = re.finditer(rf"(?<![^\W_])(?:{pattern})(?![^\W_])", text.lower()) if pattern else ()
    hits = [(match.start(), of_word[match[0]]) for match in found]
    best, offset = 0, 0
    for number, (start, _) in enumerate(hits):
        together = {term for at, term in hits[number : number + 20] if at < start + CLOSE}
        if len(together) > best:
            best, offset = len(together), start
    return offset


def _result(known: Index, path: str, text: str, place: tuple[str, int, int]) -> JsonObject:
    """A result: the section with a heading, at an offset, and a snippet around a match."""
    heading, offset, match = place
    title = known.titles[path]
    name = path.rpartition("/")[2].removesuffix(pages.SUFFIX)
    letters = [re.sub(r"[\W_]", "", text).lower() for text in (title, name)]
    return {
        "path": path,
        **({"title": title} if letters[0] != letters[1] else {}),
        "heading": heading,
        "line": text.count("\n", 0, offset) + 1,
        "offset": offset,
        "snippet": _snippet(text, match),
    }


def _nearest_names(query: str, known: Index) -> str:
    names = {
        page.path.removesuffix(pages.SUFFIX).lower().replace("_", " "): page.path for page in known.files
    }
    near = several(query[:200].lower().replace("_", " "), names, cutoff=0.4)
    listed = f"The nearest file names: {', '.join(names[name] for name in near)}. " if near else ""
    return f"Nothing found. {listed}Try other words, in English; list_docs_map shows all pages."


def _snippet(text: str, at: int) -> str:
    """About 180 characters around `at` on one line, cut between words with `…`; fewer only if the page has no
    more."""
    first = max(0, at - REACH)
    before = BLANK.sub(" ", text[first:at].lstrip())
    line = before + BLANK.sub(" ", text[at : at + REACH].rstrip())
    start = max(0, min(len(before) - LEAD, len(line) - ROOM))
    if start:
        start = max(start, line.find(" ", start, start + ROOM - LEAST) + 1)
    stop = start + ROOM
    if stop < len(line):
        stop = max(line.rfind(" ", start + LEAST, stop), start + LEAST)
    before_it = CUT if first + start else ""
    after_it = CUT if stop < len(line) or at + REACH < len(text) else ""
    return before_it + line[start:stop].strip() + after_it


@registry.before_fork
def preload() -> None:
    """Search once, for the processes that are forked from this one: they share what a search reads, and its code
    as the interpreter has adapted it."""
    with suppress(ToolError):  # there is no documentation yet
        search_docs("homing fails with timer too close")
