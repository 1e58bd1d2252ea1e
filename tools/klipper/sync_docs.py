"""Bringing the documentation up to date."""

from tools.core.errors import Cancelled, ToolError
from tools.core.json_types import JsonObject
from tools.core.tool import Tool
from tools.klipper.checkout import freshness, generations, git, report
from tools.klipper.checkout.report import Progress
from tools.klipper.checkout.update import update
from tools.klipper.ownership import check_place, is_foreign
from tools.klipper.sources import Source, configured


@Tool(
    "sync_docs",
    write=True,
    idempotent=True,
    open_world=True,
    requires=git.require_git,
    description_suffix=freshness.note,
)
def sync_docs() -> JsonObject:
    """Bring the Klipper docs to the newest version (fetches about 2 MB). Answers the old and new
    commit and each page added, changed, removed or renamed with its change of size in bytes.

    Source: git fetch of KLIPPER_DOCS_URL. {"status", "old", "new", "added": {path: bytes}, …, "local_edits"}; with further
    sources {"sources": [{"source", …}]}, where one that failed has "error", "hint" and "code" and the others are done.

    Raises ToolError when every source failed.
    """
    sources, answers, failures = configured(), [], []
    with freshness.announcing():
        for index, source in enumerate(sources):
            try:
                answers.append(_sync(source, Progress(source.label, index, len(sources))))
            except Cancelled:
                raise
            except ToolError as error:
                failures.append(error)
                answers.append({"error": error.message, "hint": error.hint, "code": error.code})
    if len(failures) == len(sources):
        raise failures[0]
    if len(sources) == 1:
        return answers[0]
    return {"sources": [{"source": source.label, **answer} for source, answer in zip(sources, answers, strict=True)]}


def _sync(source: Source, progress: Progress) -> JsonObject:
    check_place(source.checkout)
    if is_foreign(source.checkout):
        return report.only_read(source)
    with generations.locked(source) as handle:
        answer = update(source, handle, progress)
    freshness.remember(source, source.head)
    return answer
