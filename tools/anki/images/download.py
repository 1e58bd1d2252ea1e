"""Downloads from the public web, never from this machine or its network.

A host is resolved once, every address it has is checked, and the connection goes to a checked address: a name that
resolves differently the second time gains nothing. Each redirect is checked in the same way.
"""

import re
import time

from tools.anki.images.image_bytes import TOO_LARGE, ImageError
from tools.anki.settings import current
from tools.core import http

TIMEOUT_S = 30
"""For the whole of a download, redirects included."""
MOST_REDIRECTS = 5
# Nothing but http(s), and not a character that could end the line of a request.
WEB_ADDRESS = re.compile(r"https?://[^\s\x00-\x1f]+", re.IGNORECASE)


def fetch(url: str) -> bytes:
    """The bytes at `url`.

    Raises ImageError: not http(s), an address that is not public, no answer in time, an HTTP error, too many redirects,
    more than IMAGE_MAX_BYTES.
    """
    url = url.strip()
    if not WEB_ADDRESS.fullmatch(url):
        raise ImageError(f"{url[:200]!r} is not an http(s) address", "Give one with %20 for a space, or send base64.")
    limits = http.Limits(time.monotonic() + TIMEOUT_S, current().image_max_bytes, MOST_REDIRECTS, _admit)
    try:
        response = http.send(http.Request(url, headers={"Accept": "image/*"}), limits)
    except http.TooLong as error:
        raise too_large(error.size_bytes) from error
    except (http.HttpError, ValueError) as error:
        reason = f"no answer within {TIMEOUT_S} s" if isinstance(error, http.Late) else str(error)
        raise _failed(url, reason) from error
    if response.status != 200:
        raise _failed(url, f"HTTP {response.status}")
    return response.body


def _admit(host: str, ips: list[str]) -> None:
    """Refuse a host with one private address among its own."""
    if not current().image_allow_private and not all(map(http.is_foreign, ips)):
        raise ImageError(
            f"{host} is on this machine or its network, where images are not fetched from",
            "Send it as base64. (IMAGE_ALLOW_PRIVATE=1 allows it, for a network of your own.)",
            code="PRIVATE_ADDRESS",
        )


def too_large(size_bytes: int) -> ImageError:
    return ImageError(
        f"the image has {size_bytes} bytes or more, over the limit of {current().image_max_bytes}",
        "Send a smaller one, or raise IMAGE_MAX_BYTES.",
        code=TOO_LARGE,
    )


def _failed(url: str, reason: str) -> ImageError:
    return ImageError(
        f"{url[:200]} could not be downloaded: {reason}", "Check the URL, or send base64.", "DOWNLOAD_FAILED"
    )
