"""What an answer of AnkiConnect means, down to a failure for each way it can go wrong."""

import json
import os
import re
from dataclasses import dataclass
from typing import Any

from tools.anki.settings import current
from tools.core import http
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject

Result = Any
"""What an action answers: JSON of its own shape, checked by whoever asked for it."""

ISOLATES = str.maketrans("", "", "\u2066\u2067\u2068\u2069")
TAGS = re.compile(r"<[^<>]*>")
UNREACHABLE = "ANKI_UNREACHABLE"
NO_ANSWER = "ANKI_NO_ANSWER"

ENVELOPE = {"result", "error"}
UNENVELOPED_VERSION = 4
"""Up to this version of a request AnkiConnect answers with the bare result."""

UNKNOWN_OUTCOME = "The change may or may not have been made: look before you repeat it."

FORWARD = (
    "If Anki is on the computer that this ssh session comes from, its client must forward it (ssh -R), each client to a "
    "port or socket of its own (README)."
)
LEFT_BEHIND = "If the socket is one that ssh forwards: the Pi's sshd_config needs `StreamLocalBindUnlink yes` (README)."
SLEPT = (
    "Over ssh -R, a session that ended in sleep may hold the forwarded port for some minutes: wait, or forward a socket "
    "(README)."
)


@dataclass(frozen=True)
class Reply:
    """An HTTP answer as it came."""

    status: int
    content_type: str
    body: bytes


class Failure(ToolError):
    """A request to AnkiConnect without a result."""


class Unreachable(Failure):
    """Nothing was sent, or nothing was taken: nothing was done."""


class Refused(Failure):
    """AnkiConnect answered that it did not do it; `text` is its reason."""

    def __init__(self, text: str, hint: str, code: str = "ANKI_ERROR"):
        super().__init__(f"RuntimeError: {text}", hint, code=code)
        self.text = text


class Unanswered(Failure):
    """The request went out and no answer came back: it may have been done, or be done yet."""


def failure(error: http.HttpError, timeout_s: float) -> Failure:
    """What a request without a whole answer means for Anki."""
    url = current().anki_connect_url
    if not error.sent:
        return Unreachable(f"AnkiConnect cannot be reached at {url}: {error.reason}", start_hint(), code=UNREACHABLE)
    if isinstance(error, http.Late):
        return Unanswered(
            f"AnkiConnect took the request and did not answer within {timeout_s:g} s",
            f"Is a dialog open in Anki, or a sync running? Close it.{_forwarded(SLEPT)}",
            code=NO_ANSWER,
        )
    if isinstance(error, http.TooLong):
        return Unanswered(
            f"The answer at {url} is longer than {error.size_bytes} bytes",
            "Ask for less at once, for example with `limit`.",
            code="ANKI_REPLY_TOO_LONG",
        )
    if isinstance(error, http.NotHttp):
        return _not_ankiconnect(error.reason)
    return Unanswered(f"AnkiConnect gave no whole answer: {error.reason}", "Was Anki closed?", code="ANKI_CUT")


def start_hint() -> str:
    """What to do if nothing listens."""
    start = (
        "Start Anki with the AnkiConnect add-on (code 2055492159) where ANKI_CONNECT_URL says, and check that address."
    )
    return f"{start}{_forwarded(LEFT_BEHIND if current().anki_connect_url.startswith('unix:') else FORWARD)}"


def _forwarded(advice: str) -> str:
    """Advice for a session over ssh, whose Anki is usually on the computer that it comes from."""
    return f" {advice}" if os.environ.get("SSH_CONNECTION") else ""


def busy() -> Unreachable:
    return Unreachable(
        "Another session has kept AnkiConnect busy for two minutes",
        "Is a dialog open in Anki? Close it, or try again in a moment.",
        code="BUSY",
    )


def hangs(error: ToolError | None) -> bool:
    """Whether it says that Anki does not answer at the moment: another question would wait as long."""
    return error is not None and error.code == NO_ANSWER


def result(reply: Reply, version: int = 6) -> Result:
    """The result that a reply carries, whatever its HTTP status.

    Raises Failure.
    """
    try:
        answer = json.loads(reply.body)
    except (ValueError, RecursionError):
        raise _unexpected(reply) from None
    if isinstance(answer, dict) and set(answer) == ENVELOPE:
        return _opened(answer)
    if version <= UNENVELOPED_VERSION and reply.status == 200:
        return answer
    raise _unexpected(reply)


def results(answers: object, count: int) -> list[Result]:
    """The result or the Refused of each entry of a `multi` of `count`."""
    if not isinstance(answers, list) or len(answers) != count:
        raise _unexpected(Reply(200, "application/json", json.dumps(answers).encode()))
    return [_entry(answer) for answer in answers]


def _entry(answer: object) -> Result:
    if not isinstance(answer, dict) or set(answer) != ENVELOPE:
        return answer
    try:
        return _opened(answer)
    except Refused as refused:
        return refused


def _opened(envelope: JsonObject) -> Result:
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
    "model was not found": "anki_invoke with action modelNames lists the note types; anki_create_model makes one.",
    "deck was not found": "anki_list_decks shows the decks.",
    "Note was not found": "anki_find_notes finds the notes that exist.",
    "is a duplicate": "A note with this first field is there already: anki_find_notes, then anki_update_notes.",
    "it is empty": "Fill the note type's first field.",
    "unknown reason": "No card comes of it: a Cloze note needs {{c1::…}} in its text.",
    "unsupported action": "Names are case-sensitive; anki_invoke with action apiReflect lists them.",
    "Model name already exists": "Choose another model_name, or look at this one with anki_model_info.",
}


def _unexpected(reply: Reply) -> Failure:
    if reply.status == 403:
        return Unreachable(
            f"{current().anki_connect_url} refused the request (HTTP 403)",
            "A proxy in between adds an Origin, or ANKI_CONNECT_URL is not AnkiConnect: reach Anki directly.",
            code="ANKI_FORBIDDEN",
        )
    return _not_ankiconnect(f"HTTP {reply.status}, {reply.content_type if reply.body else 'empty'}")


def _not_ankiconnect(what: str) -> Unanswered:
    return Unanswered(
        f"What answers at {current().anki_connect_url} is not AnkiConnect ({what})",
        "Point ANKI_CONNECT_URL at AnkiConnect, port 8765 by default.",
        code="NOT_ANKICONNECT",
    )
