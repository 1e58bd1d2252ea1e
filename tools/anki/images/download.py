"""Images fetched from the web, never from this machine or its network.

A host is resolved once, every address it has is checked, and the connection goes to a checked address: a name that
resolves differently the second time gains nothing. Each redirect is checked in the same way.
"""

import time
from urllib.parse import urlsplit

from tools.anki.images import addresses
from tools.anki.images.image_bytes import TOO_LARGE, ImageError
from tools.anki.settings import current
from tools.core import http

TIMEOUT_S = 30
"""For the whole of a download, redirects included."""

MOST_REDIRECTS = 5


def fetch(url: str) -> bytes:
    """The bytes at `url`.

    Raises ImageError: another scheme than http(s), an address that is not public, no answer in time, an HTTP error, too
    many redirects, more than IMAGE_MAX_BYTES.
    """
    limits = http.Limits(time.monotonic() + TIMEOUT_S, current().image_max_bytes, MOST_REDIRECTS, _admit)
    try:
        response = http.send(http.Request(_checked(url), headers={"Accept": "image/*"}), limits)
    except http.TooLong as error:
        raise too_large(error.size_bytes) from error
    except http.Late as error:
        raise _failed(url, f"no answer within {TIMEOUT_S} s") from error
    except http.HttpError as error:
        raise _failed(url, error.reason) from error
    if response.status != 200:
        raise _failed(url, f"HTTP {response.status}")
    return response.body


def _checked(url: str) -> str:
    url = url.strip()
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        fine = False
    if not fine:
        raise ImageError(
            f"{url[:200]!r} is not an http(s) address", "Give an http(s) URL of an image, or image_base64."
        )
    if any(char.isspace() or ord(char) < 32 for char in url):
        raise ImageError(f"{url[:200]!r} has blanks in it", "Write a space as %20.")
    return url


def _admit(host: str, ips: list[str]) -> None:
    """One private address among them spoils the host."""
    if not current().image_allow_private and not all(map(addresses.foreign, ips)):
        raise ImageError(
            f"{host} is on this machine or its network, where images are not fetched from",
            "Send the image as image_base64. (IMAGE_ALLOW_PRIVATE=1 allows it, for a network of your own.)",
            code="PRIVATE_ADDRESS",
        )


def too_large(size_bytes: int) -> ImageError:
    limit = current().image_max_bytes
    return ImageError(
        f"the image has {size_bytes} bytes or more, over the limit of {limit}",
        "Send a smaller one, or raise IMAGE_MAX_BYTES.",
        code=TOO_LARGE,
    )


def _failed(url: str, why: str) -> ImageError:
    return ImageError(
        f"{url[:200]} could not be downloaded: {why}", "Check the URL, or send image_base64.", "DOWNLOAD_FAILED"
    )
