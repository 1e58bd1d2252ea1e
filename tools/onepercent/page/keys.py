"""Keys of what may be pressed on OnePercent's pages, made with a secret beside the database."""

from pathlib import Path

from tools.core import presses

from .. import settings
from ..database import store


def of_preview(preview_id: str) -> str:
    """The key of the press that applies a preview."""
    return _press_key(f"preview {preview_id}")


def of_day() -> str:
    """The key of the presses that tick off what is due today."""
    return _press_key(f"day {store.persons_today()}")


def of_question(preview_id: str) -> str:
    """The key of the question whether to apply a preview: a later call recognizes the answer by it."""
    return _press_key(f"question {preview_id}")


def check(key: str, sent: str) -> None:
    """Check that a page sent the key. Raises ToolError NOT_PRESSED."""
    presses.check_key(key, sent, "Use preview_actions, ask for a yes, then apply_actions.")


def _press_key(subject: str) -> str:
    return presses.make_key(Path(f"{store.path()}.key"), f"{settings.user()}\n{subject}")
