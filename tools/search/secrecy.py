"""The key, kept out of all that is shown."""

from tools.settings import current

SHORTEST = 4
"""Characters of a key that is looked for; a shorter one would be found in every word."""


def hidden(text: str) -> str:
    """`text` without the key (the part after its scheme), which a service may echo."""
    secret = current().search_api_key.rpartition(" ")[2]
    return text.replace(secret, "***") if len(secret) >= SHORTEST else text
