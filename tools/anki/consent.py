"""What the owner demands before something is deleted or changed: the setting ANKI_CONFIRM."""

from tools.anki.settings import current
from tools.core import calls
from tools.core.errors import ToolError


def check(what: str, count: int, expected: int | None) -> None:
    """Go on only with the true count, or with the person's own yes. To be called without a lock: a person takes time.

    Raises ToolError EXPECTED_COUNT or DECLINED.
    """
    demanded = current().anki_confirm
    if demanded == "count" if expected is None else expected != count:
        raise ToolError(
            f"expected is {expected}, and it would {what} (count: {count}). Nothing was changed",
            f"Try it with dryRun, ask the person, then send expected = {count}.",
            code="EXPECTED_COUNT",
            count=count,
        )
    if demanded == "elicit" and (answer := calls.ask(f"Anki: {what}?")) != "accept":
        raise ToolError(
            f"The person did not agree ({answer}). Nothing was changed",
            "Ask what they want instead.",
            code="DECLINED",
        )
