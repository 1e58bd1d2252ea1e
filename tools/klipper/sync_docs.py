"""Bringing the documentation up to date."""

from tools.core import calls
from tools.core.errors import Cancelled, ToolError
from tools.core.json_types import JsonObject
from tools.core.tool import Tool
from tools.klipper.checkout import folder, freshness, git, report
from tools.klipper.checkout.address import validate
from tools.klipper.checkout.ownership import is_foreign
from tools.klipper.checkout.progress import Progress
from tools.klipper.checkout.update import update
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
    """Bring the Klipper docs to the newest version (the first time: fetch them, about 2 MB). Answers the old and new
    commit and each page added, changed, removed or renamed with its change of size in bytes.

    Source: klipper_docs.ru.md §3.4. {"status", "old", "new", "added": {path: bytes}, …, "local_edits"}; with further
    sources {"sources": [{"source", …}]}, where one that failed has "error", "hint" and "code" and the others are done.

    Raises ToolError when every source failed.
    """
    sources = configured()
    with freshness.announcing():
        results = [_attempt(source, Progress(source.label, at, len(sources))) for at, source in enumerate(sources)]
    failures = [result for result in results if isinstance(result, ToolError)]
    if len(failures) == len(results):
        raise failures[0]
    answers = [_answer(result) for result in results]
    if len(answers) == 1:
        return answers[0]
    return {"sources": [{"source": source.label, **answer} for source, answer in zip(sources, answers, strict=True)]}


def _attempt(source: Source, progress: Progress) -> JsonObject | ToolError:
    calls.checkpoint()
    try:
        validate(source.label, source.url, source.branch)
        folder.check_place(source.checkout)
        if is_foreign(source.checkout):
            return report.only_read(source)
        with folder.locked(source) as handle:
            outcome = update(source, handle, progress)
        freshness.remember(source, outcome.new.commit, outcome.new.commit)
        return report.answer(source, outcome)
    except Cancelled:
        raise
    except ToolError as error:
        return error


def _answer(result: JsonObject | ToolError) -> JsonObject:
    if isinstance(result, ToolError):
        return {name: value for name, value in result.answer().items() if name != "success"}
    return result
