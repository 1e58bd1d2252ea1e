"""Bringing the documentation up to date."""

from typing import Any

from tools import calls
from tools.errors import Cancelled, ToolError
from tools.klipper import changes, checkout, freshness, git, renewal
from tools.klipper.progress import Progress
from tools.klipper.repository import looked_at
from tools.klipper.sources import Source, sources
from tools.registry import Tool


@Tool("sync_docs", write=True, idempotent=True, open_world=True, requires=git.require_git, note=freshness.note)
def sync_docs() -> dict[str, Any]:
    """Bring the Klipper docs to the newest version (the first time: fetch them, about 2 MB). Answers the old and new
    commit and each page added, changed, removed or renamed with its change of size in bytes.

    Source: klipper_docs.ru.md §3.4. {"status", "old", "new", "added": {path: bytes}, …, "local_edits"}; with further
    sources {"sources": [{"source", …}]}, where one that failed has "error", "hint" and "code" and the others are done.

    Raises ToolError when every source failed.
    """
    every = sources()
    with freshness.announcing():
        found = [_attempt(one, Progress(one.label, index, len(every))) for index, one in enumerate(every)]
    failures = [one for one in found if isinstance(one, ToolError)]
    if len(failures) == len(found):
        raise failures[0]
    if len(found) == 1:
        return found[0]
    return {"sources": [{"source": one.label, **_shown(result)} for one, result in zip(every, found, strict=True)]}


def _attempt(source: Source, progress: Progress) -> dict[str, Any] | ToolError:
    calls.checkpoint()
    try:
        with checkout.locked(source) as handle:
            moved = renewal.synced(source, handle, progress)
            freshness.remember(source, moved.new, moved.new)
        with looked_at(source.checkout / ".git") as repository:
            return changes.told(repository, source, moved)
    except Cancelled:
        raise
    except ToolError as error:
        return error


def _shown(result: dict[str, Any] | ToolError) -> dict[str, Any]:
    if isinstance(result, ToolError):
        return {key: value for key, value in result.answer().items() if key != "success"}
    return result
