"""The owner's consent before a deletion or change: the setting ANKI_CONFIRM, and the count that a call
expects."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from tools.core import calls
from tools.toolkit import ToolError, exclusive_lock, quoted

from . import notes
from .settings import current

Selection = TypeVar("Selection", bound=Iterable[int])


@contextmanager
def agreed(
    select: Callable[[], Selection],
    describe: Callable[[Selection], str],
    expected: int | None,
    *,
    needs_expected: bool = False,
) -> Iterator[Selection]:
    """Get consent to a change, and hold the lock of Anki's writers around it.

    The person is asked without the lock, since they may think for minutes; if the selection differs
    afterwards, it is not what they agreed to.

    - `select`: finds the ids of what the change touches;
    - `describe`: describes the change of these, empty if nothing changes;
    - `expected`: the count that the caller stated, required if `needs_expected`.

    Raises ToolError EXPECTED_COUNT or DECLINED.
    """
    needs_expected = needs_expected or expected is not None or current().anki_confirm == "count"

    def checked(asked_ids: set[int] | None) -> Selection:
        """Select, and refuse other ids than the person was asked about, or another number than expected."""
        selection = select()
        selected = set(selection)
        reason = ""
        if asked_ids is not None and selected != asked_ids:
            gone = len(asked_ids - selected)
            reason = f"added in the meantime: {len(selected - asked_ids)}, gone: {gone}"
        elif needs_expected and expected != len(selected):
            reason = f"expected is {expected}"
        if reason and (description := describe(selection)):
            raise ToolError(
                f"{reason}, and it would {description} (count: {len(selected)}). Nothing was changed",
                f"Try it with dryRun, ask the person, then send expected = {len(selected)}.",
                "EXPECTED_COUNT",
                count=len(selected),
            )
        return selection

    asked_ids = None
    if current().anki_confirm == "elicit":
        selection = checked(None)
        asked_ids = set(selection)
        if description := describe(selection):
            _ask_person(description)
    # Under the lock it is selected again, and has to be the same.
    with exclusive_lock("anki"):
        yield checked(asked_ids)


def _ask_person(description: str) -> None:
    """Ask the person, not the model. Raises ToolError DECLINED."""
    answer = calls.ask(f"Anki: {description}?")
    if answer != "accept":
        raise ToolError(
            f"The person did not agree ({answer}). Nothing was changed",
            "Ask what they want instead.",
            "DECLINED",
        )


def examples_text(infos: notes.Infos) -> str:
    """Quote the first fields of two notes for a question, each on one line."""
    excerpts = [quoted(notes.first_text(info), 40) for info in islice(infos.values(), 2)]
    return f": {', '.join(excerpts)} …" if excerpts else ""
