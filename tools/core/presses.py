"""Keys of presses: the server gives a page a key beside an answer, and a press on that page sends it back.

A key is made of a secret in a file and of what may be pressed: one preview, or the boxes of one day. The
model gets the answer without it, so it cannot press; no key is stored.
"""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from .errors import ToolError
from .files import make_file, plain_file
from .json_types import JsonObject

# The entry of a result's `_meta` that holds the key.
PRESS = "pi-mcp/press"
SECRET_BYTES = 32


def make_key(file: Path, subject: str) -> str:
    """The key for one thing that may be pressed, made with the secret in `file`, which is created at first
    use for the owner alone.

    Raises OSError; ToolError if it is not such a file, since whoever guesses it can press.
    """
    import hmac  # here, for its 3.4 MiB of OpenSSL: most sessions show no page

    if not file.exists():
        make_file(file, os.urandom(SECRET_BYTES))
    with plain_file(file, of_this_user=True) as opened:
        secret = opened.read(SECRET_BYTES + 1)
    if len(secret) != SECRET_BYTES or file.stat().st_mode & 0o077:
        raise ToolError(
            f"{file} is damaged, or others can read it",
            "Remove it: the next page makes a new one. Until then ask in the conversation.",
            "NOT_PRESSED",
        )
    return hmac.new(secret, subject.encode(), "sha256").hexdigest()


def check_key(key: str, sent: str, hint: str) -> None:
    """Raises ToolError NOT_PRESSED if `sent` is not `key`."""
    import hmac

    if not hmac.compare_digest(key.encode(), str(sent).encode("utf-8", "replace")):
        raise ToolError(
            "This is not a press on the page",
            f"Only the person can press there. {hint}",
            "NOT_PRESSED",
        )


def key_as_meta(key: Callable[[], str]) -> JsonObject:
    """The key for a result's `_meta`; if it cannot be made, presses count as the model's word."""
    try:
        return {PRESS: key()}
    except (OSError, ToolError) as error:
        logging.getLogger(__name__).warning("no key for a page: %s", error)
        return {}
