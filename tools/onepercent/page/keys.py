"""Keys of presses: the server gives a page a key beside an answer, and a press on the page sends it back.

A key is made of a secret beside the database and of what may be pressed: one preview, or the check boxes of one day.
The model gets the answer without it, so it cannot press; no key is stored.
"""

import hashlib
import hmac
import secrets
from contextlib import suppress
from pathlib import Path

from tools.core.errors import ToolError
from tools.core.files import make_file
from tools.onepercent import days, settings
from tools.onepercent.database import store

SECRET_BYTES = 32


def of_preview(preview_id: str) -> str:
    """The key of the press that applies a preview."""
    return _key(f"preview {preview_id}")


def of_day() -> str:
    """The key of the presses that tick off what is due today."""
    return _key(f"day {days.today(days.now())}")


def check(key: str, sent: str) -> None:
    """Raises ToolError NOT_PRESSED if `sent` is not `key`."""
    if not hmac.compare_digest(key.encode(), str(sent).encode("utf-8", "replace")):
        raise ToolError(
            "This is not a press on the page",
            "Only the person can press there. Use preview_actions, ask for a yes, then apply_actions.",
            code="NOT_PRESSED",
        )


def _key(subject: str) -> str:
    text = f"{settings.current().onepercent_user}\n{subject}"
    return hmac.new(_secret(Path(f"{store.path()}.key")), text.encode(), hashlib.sha256).hexdigest()


def _secret(file: Path) -> bytes:
    """The secret beside the database, made at first use: whole or not at all, for the owner alone."""
    with suppress(FileNotFoundError):
        return file.read_bytes()
    make_file(file, secrets.token_bytes(SECRET_BYTES))
    return file.read_bytes()
