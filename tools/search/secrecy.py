"""The key, kept out of all that is shown."""

import base64
import re
from functools import lru_cache

from tools.search.settings import current

SHORTEST = 4
"""Characters of a key that is looked for; a shorter one would be found in every word."""


def hidden(text: str) -> str:
    """`text` without the key (the part after its scheme), which a service may echo as it is, %-encoded or in base64."""
    secret = current().search_api_key.rpartition(" ")[2]
    return _forms(secret).sub("***", text) if len(secret) >= SHORTEST else text


@lru_cache(maxsize=1)
def _forms(secret: str) -> re.Pattern[str]:
    """What the key looks like: each character plain or %-encoded; or base64 of a text that holds it at any place."""
    encoded = "".join(f"(?:{re.escape(char)}|%(?i:{ord(char):02x}))" for char in secret)
    return re.compile("|".join([encoded, *(_base64_inside(secret, before) for before in range(3))]))


def _base64_inside(secret: str, before: int) -> str:
    """Base64 of the secret with so many other bytes before it in its group of three, and any after it."""
    text = base64.b64encode(b"\0" * before + secret.encode()).decode()
    groups, rest = divmod(before + len(secret), 3)
    alone = text[(0, 2, 3)[before] : 4 * groups + rest]
    shared = r"[\w+/-]"  # a character at the edge, made of bits of the secret and of its neighbour
    pattern = re.escape(alone).replace(r"\+", "[+-]").replace("/", "[/_]")
    return (shared if before else "") + pattern + (shared if rest else "")
