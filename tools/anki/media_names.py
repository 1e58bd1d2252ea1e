"""Names of media files that may be sent to AnkiConnect.

An empty name, or one that comes down to nothing, makes AnkiConnect move the whole media folder to the trash.
"""

import unicodedata

from tools.anki.batches.outcomes import ItemError

HINT = "Give the bare name of one file, such as `hello.mp3`: Anki's media folder has no subfolders."


def checked(name: str) -> str:
    """The name in the form Anki keeps it (NFC).

    Raises ItemError for an invalid name: empty, blank, `.`, `..`, with control characters or separators.
    """
    problem = _problem(name)
    if problem:
        raise ItemError(f"ValueError: {name[:80]!r} is not a media file name: {problem}", HINT, code="INVALID_FILENAME")
    return unicodedata.normalize("NFC", name)


def _problem(name: str) -> str:
    if not name.strip():
        return "it is empty"
    if name.strip() in (".", ".."):
        return "it is a folder"
    if any(unicodedata.category(char) in ("Cc", "Cs") for char in name):
        return "it has control characters"
    if "/" in name or "\\" in name:
        return "Anki's media folder is flat, and `/` and `\\` would leave it"
    return ""


def check_harmless(params: object) -> None:
    """Look through the parameters of any action for a file name that would take the media folder with it.

    Raises ToolError.
    """
    if isinstance(params, list):
        for member in params:
            check_harmless(member)
    elif isinstance(params, dict):
        for name, value in params.items():
            if name == "filename" and isinstance(value, str):
                checked(value.replace("\\", "/").rpartition("/")[2])
            check_harmless(value)
