"""What an answer of AnkiConnect means, down to a failure for each way it can go wrong."""

import json
import re
from dataclasses import dataclass
from typing import Any

from tools.errors import ToolError
from tools.settings import current

ISOLATES = str.maketrans("", "", "\u2066\u2067\u2068\u2069")
TAGS = re.compile(r"<[^<>]*>")
UNREACHABLE = "ANKI_UNREACHABLE"
NO_ANSWER = "ANKI_NO_ANSWER"

ENVELOPE = {"result", "error"}
UNENVELOPED_VERSION = 4
"""Up to this version of a request AnkiConnect answers with the bare result."""

UNKNOWN_OUTCOME = "If it was a change, it may or may not have been made: look before you repeat it."


@dataclass(frozen=True)
class Reply:
    """An HTTP answer as it came."""

    status: int
    content_type: str
    body: bytes


class Failure(ToolError):
    """A request to AnkiConnect without a result."""


class Unreachable(Failure):
    """Nothing was sent, so nothing was done."""


class Refused(Failure):
    """AnkiConnect answered that it did not do it; `text` is its reason."""

    def __init__(self, text: str, hint: str, code: str = "ANKI_ERROR"):
        super().__init__(f"RuntimeError: {text}", hint, code=code)
        self.text = text


class Unanswered(Failure):
    """The request went out and no answer came back: it may have been done, or be done yet."""


def unreachable(why: str) -> Unreachable:
    return Unreachable(
        f"AnkiConnect cannot be reached at {current().anki_connect_url}: {why}",
        "Start Anki with the AnkiConnect add-on (code 2055492159) where ANKI_CONNECT_URL says, and check that address.",
        code=UNREACHABLE,
    )


def busy() -> Unreachable:
    return Unreachable(
        "Another session has kept AnkiConnect busy for two minutes",
        "Is a dialog open in Anki? Close it, or try again in a moment.",
        code="BUSY",
    )


def no_answer(waited_s: float) -> Unanswered:
    return Unanswered(
        f"AnkiConnect took the request and did not answer within {waited_s:g} s",
        f"Is a dialog open in Anki, or a sync running? Close it. {UNKNOWN_OUTCOME}",
        code=NO_ANSWER,
    )


def hangs(error: ToolError | None) -> bool:
    """Whether it says that Anki does not answer at the moment: another question would wait as long."""
    return error is not None and error.code == NO_ANSWER


def cut(error: Exception) -> Unanswered:
    return Unanswered(
        f"The connection to AnkiConnect was cut before it answered ({type(error).__name__})",
        f"Was Anki closed? {UNKNOWN_OUTCOME}",
        code="ANKI_CUT",
    )


def too_long(limit_bytes: int) -> Unanswered:
    return Unanswered(
        f"The answer at {current().anki_connect_url} is longer than {limit_bytes} bytes",
        "Ask for less at once, for example with `limit`.",
        code="ANKI_REPLY_TOO_LONG",
    )


def result(reply: Reply, version: int = 6) -> Any:
    """The result that a reply carries, whatever its HTTP status.

    Raises Failure.
    """
    try:
        found = json.loads(reply.body)
    except (ValueError, RecursionError):
        raise _stranger(reply) from None
    if isinstance(found, dict) and set(found) == ENVELOPE:
        return _opened(found)
    if version <= UNENVELOPED_VERSION and reply.status == 200:
        return found
    raise _stranger(reply)


def results(found: Any, count: int) -> list[Any]:
    """The result or the Refused of each entry of a `multi` of `count`."""
    if not isinstance(found, list) or len(found) != count:
        raise _stranger(Reply(200, "application/json", json.dumps(found).encode()))
    return [_entry(one) for one in found]


def _entry(one: Any) -> Any:
    if not isinstance(one, dict) or set(one) != ENVELOPE:
        return one
    try:
        return _opened(one)
    except Refused as refused:
        return refused


def _opened(envelope: dict[str, Any]) -> Any:
    if envelope["error"] is None:
        return envelope["result"]
    raise refused(clean(str(envelope["error"])))


def clean(text: str) -> str:
    """A message of Anki as plain text: without HTML and the invisible marks around what it quotes."""
    import html

    text = re.sub(r"<br\s*/?>", " ", text.translate(ISOLATES), flags=re.IGNORECASE)
    return html.unescape(TAGS.sub("", text)).strip() or "no reason given"


def refused(text: str) -> Refused:
    if text == "collection is not available":
        return Refused(text, "Open a profile in Anki: its window must show the decks.", "ANKI_NO_PROFILE")
    if text == "valid api key must be provided":
        return Refused(text, "Set ANKI_CONNECT_KEY to the `apiKey` of AnkiConnect's config, or unset both.", "ANKI_KEY")
    for part, hint in HINTS.items():
        if part in text:
            return Refused(text, hint)
    return Refused(text, "This is Anki's own answer: change what it names, then call again.")


HINTS = {
    "Invalid search": 'Correct the query: Anki\'s syntax is `deck:"A B" tag:x front:*word*`.',
    "model was not found": "anki.invoke with action modelNames lists the note types; anki.create_model makes one.",
    "deck was not found": "anki.list_decks shows the decks.",
    "Note was not found": "anki.find_notes finds the notes there are.",
    "is a duplicate": "A note with this first field is there already: anki.find_notes, then anki.update_notes.",
    "it is empty": "Fill the note type's first field.",
    "unknown reason": "No card comes of it: a Cloze note needs {{c1::…}} in its text.",
    "unsupported action": "Names are case-sensitive; anki.invoke with action apiReflect lists them.",
    "Model name already exists": "Choose another model_name, or look at this one with anki.model_info.",
}


def _stranger(reply: Reply) -> Unanswered:
    if reply.status == 403:
        return Unanswered(
            f"{current().anki_connect_url} refused the request (HTTP 403)",
            "A proxy in between adds an Origin, or ANKI_CONNECT_URL is no AnkiConnect: reach Anki directly.",
            code="ANKI_FORBIDDEN",
        )
    kind = f"HTTP {reply.status}, {reply.content_type}" if reply.body else f"HTTP {reply.status}, empty"
    return Unanswered(
        f"What answers at {current().anki_connect_url} is not AnkiConnect ({kind})",
        f"Point ANKI_CONNECT_URL at AnkiConnect, port 8765 by default. {UNKNOWN_OUTCOME}",
        code="NOT_ANKICONNECT",
    )
