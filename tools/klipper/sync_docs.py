"""The update of the documentation, and its state for `server.py --check`."""

from datetime import date
from typing import Annotated

from tools.core import calls
from tools.core.health import Health, health_check
from tools.toolkit import Cancelled, JsonObject, Limits, Tool, ToolError

from . import pages
from .checkout import freshness, generations, git
from .config import changes
from .config.machine import cut_between_words
from .search import index
from .settings import Source, check_folder, is_foreign_checkout, sources

HOW_TO_SYNC = "Call sync_docs once: python3 -m tools call sync_docs"
STATE_WORDS = {
    True: "behind its upstream",
    False: "up to date at the last look",
    None: "not yet compared with its upstream",
}


@Tool(
    "sync_docs",
    title="Update Klipper's docs",
    write=True,
    idempotent=True,
    open_world=True,
    requires=git.require_git,
    envelope=True,
    description_suffix=freshness.note,
)
def sync_docs(
    since: Annotated[
        str,
        "a day: also the entries of Config_Changes since then",
        Limits(max_length=10),
    ] = "",
) -> JsonObject:
    """Bring the Klipper docs to the newest version (fetches about 2 MB).

    Source: git fetch of KLIPPER_DOCS_URL. {"status", "old", "new", "added": [path], …, "local_edits"};
    with further sources {"sources": [{"source", …}]}; one that failed has "error", "hint" and "code" there,
    and the others are done.

    Raises ToolError when every source failed.
    """
    try:
        if since:
            since = date.fromisoformat(since).isoformat()
    except ValueError:
        raise ToolError(
            f"{since} is not a date", "Write it as 2026-10-22.", "INVALID_DAY"
        ) from None
    all_sources = sources()
    answers = []
    failures = []
    with freshness.announcing():
        for number, source in enumerate(all_sources):
            try:
                answer = _sync(source, since, number, len(all_sources))
            except Cancelled:
                raise
            except ToolError as error:
                failures.append(error)
                answer = error.answer()
            answers.append({"source": source.label, **answer})
    if len(failures) == len(all_sources):
        raise failures[0]
    index.index_of_pages()  # so that no session has to count the words in its first search
    return {"sources": answers} if len(all_sources) > 1 else answer


def _sync(source: Source, since: str, number: int, count: int) -> JsonObject:
    """Bring one source up to date; for progress it is the one of this `number` among `count`."""

    def report(percent: int, step: str) -> None:
        calls.report(100 * number + percent, 100 * count, f"{source.label}: {step}")

    # A checkout that somebody else made is only read.
    check_folder(source.checkout)
    if is_foreign_checkout(source.checkout):
        if not source.root.is_dir():
            raise git.failure(
                "NOT_A_CHECKOUT", f"{source.checkout} is there, but there is no documentation in it"
            )
        answer: JsonObject = {
            "status": "only read",
            "folder": str(source.checkout),
            "note": "sync_docs did not make this checkout and only reads it: nothing was changed. Its owner "
            "keeps it up to date: Moonraker's update manager for the printer's own ~/klipper, "
            "git for others.",
        }
    else:
        with generations.checkout_lock(source):
            answer = generations.update_checkout(source, report)
        freshness.remember(source, source.head)
    # Only Klipper's own documentation has dated changes.
    if since and not source.name:
        text = pages.page_text(pages.resolve(changes.CHANGES_PAGE))
        lines = [
            f"{entry.date}: {entry.text}"
            for entry in changes.entries_of_page(text)
            if entry.date >= since
        ]
        answer["config_changes_since"] = [cut_between_words(line, 200) for line in lines[:20]]
    return answer


@health_check
def health() -> Health:
    """Report the pages that are here, their commit and whether it is the newest. No network.

    Raises ToolError if git is missing or a folder to write to cannot be one.
    """
    git.require_git()
    counts = {}
    for source in sources():
        check_folder(source.checkout)
        counts[source] = len(list(pages.pages(source)))
    if not any(counts.values()):
        return Health("unset", "the documentation is not here yet", HOW_TO_SYNC)
    reports = []
    for source, count in counts.items():
        if is_foreign_checkout(source.checkout):
            state = f" of {source.checkout}, which is only read: its owner updates it"
        elif not source.generation:
            state = f", not fetched into {source.checkout} yet"
        else:
            state = f", {generations.commit_title(source.generation)}, {STATE_WORDS[freshness.is_behind(source)]}"
        reports.append(f"{source.label}: {count} pages{state}")
    is_outdated = freshness.note() or not all(counts.values())
    return Health("ok", "; ".join(reports), HOW_TO_SYNC if is_outdated else "")
