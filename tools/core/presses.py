"""Keys of presses: the server gives a page a key beside an answer, and a press on that page sends it back.

A key is made of a secret in a file and of what may be pressed: one preview, or the boxes of one day. The
model gets the answer without the key, so it cannot press. No key is stored.
"""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from .errors import ToolError
from .files import plain_file, replace_file
from .json_types import JsonObject

# The entry of a result's `_meta` that holds the key.
PRESS = "pi-mcp/press"
SECRET_BYTES = 32


def make_key(path: Path, subject: str) -> str:
    """The key for one thing that may be pressed, made with the secret in the file at `path`, which is created
    at its first use, readable only by its owner.

    Raises OSError; ToolError if others can read it: anyone who reads the secret can press.
    """
    import hmac  # here, for its 3.4 MiB of OpenSSL: most sessions show no page

    if not path.exists():
        replace_file(path, os.urandom(SECRET_BYTES), keeps_existing=True)
    with plain_file(path, of_this_user=True) as file:
        secret = file.read(SECRET_BYTES + 1)
    if len(secret) != SECRET_BYTES or path.stat().st_mode & 0o077:
        raise ToolError(
            f"{path} is damaged, or others can read it",
            "Remove it: the next page makes a new one. Until then ask in the conversation.",
            "NOT_PRESSED",
        )
    return hmac.new(secret, subject.encode(), "sha256").hexdigest()


def check_key(key: str, sent_key: str, hint: str) -> None:
    """Check the key that came with a press. Raises ToolError NOT_PRESSED."""
    import hmac

    if not hmac.compare_digest(key.encode(), sent_key.encode("utf-8", "replace")):
        raise ToolError(
            "This is not a press on the page",
            f"Only the person can press there. {hint}",
            "NOT_PRESSED",
        )


def key_as_meta(key: Callable[[], str]) -> JsonObject:
    """The key as an entry of a result's `_meta`; none if no key can be made, and then a press counts as the
    model's word."""
    try:
        return {PRESS: key()}
    except (OSError, ToolError) as error:
        logging.getLogger(__name__).warning("no key for a page: %s", error)
        return {}
