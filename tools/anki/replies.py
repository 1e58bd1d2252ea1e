"""An answer of AnkiConnect: its result, or a failure for each way it can go wrong."""

import json
import os
import re
from typing import Any

from tools.anki.settings import current
from tools.core import http
from tools.core.errors import ToolError, one_line

# The answer of an action: JSON of its own shape, checked by whoever asked for it.
Result = Any

HTML_TAGS = re.compile(r"<[^<>]*>")
UNREACHABLE = "ANKI_UNREACHABLE"
NO_ANSWER = "ANKI_NO_ANSWER"

ENVELOPE = {"result", "error"}

START = "Start Anki with the AnkiConnect add-on (code 2055492159) on the machine that ANKI_CONNECT_URL names, and check that address."
FORWARDED = (
    "Over ssh, Anki usually runs on the computer that opened the session, whose client forwards it (ssh "
    "-R): each client to a socket (with `StreamLocalBindUnlink`) or port of its own. After sleep a dead "
    "session may hold it for minutes: docs/clients.md."
)
HINTS = {
    "collection is not available": "Open a profile in Anki: its window must show the decks.",
    "valid api key must be provided": "Set ANKI_CONNECT_KEY to the `apiKey` of AnkiConnect's config, or unset both.",
    "Invalid search": 'Correct the query: Anki\'s syntax is `deck:"A B" tag:x front:*word*`.',
    "model was not found": "anki_invoke with action modelNames lists the note types; anki_create_model makes one.",
    "deck was not found": "anki_list_decks shows the decks.",
    "Note was not found": "anki_find_notes finds the notes that exist.",
    "is a duplicate": "A note with this first field already exists: anki_find_notes, then anki_update_notes.",
    "it is empty": "Fill the note type's first field.",
    "unknown reason": "It makes no card. A Cloze note type needs {{c1::…}} in its cloze field, and no "
    "other can have it: use note type Cloze, or write it without {{c1::}}.",
    "unsupported action": "Names are case-sensitive, anki_invoke with action apiReflect lists them; for "
    "more update the add-on in Anki (Tools, Add-ons, Check for Updates).",
    "auth not configured": "The person logs in once in Anki: Sync, with their AnkiWeb account or server.",
    "Sync status": "Both sides changed in a way that only one can keep. The person chooses in Anki: "
    "Sync, then Upload or Download; ask first which side has the newest reviews.",
    "'NoneType' object has no attribute": "Anki's collection may be closed, as during a full sync: wait, "
    "then call again. Otherwise a parameter names something that is not there.",
    "Gui review is not currently active.": "Start a review in Anki, or call anki_due without `current`.",
    "Model name already exists": "Choose another model_name, or look at this one with anki_model_info.",
}
CODES = {
    "collection is not available": "ANKI_NO_PROFILE",
    "valid api key must be provided": "ANKI_KEY",
    "Gui review is not currently active.": "NO_REVIEW",
}


class Failure(ToolError):
    """A request to AnkiConnect without a result."""


class Unreachable(Failure):
    """Nothing was sent or accepted, so nothing was done."""


class Refused(Failure):
    """AnkiConnect answered that it did not do it; `text` is its reason."""

    def __init__(self, text: str):
        import html

        # Anki's message as plain text: without HTML and the invisible marks around what it quotes.
        text = HTML_TAGS.sub(" ", re.sub("[\u2066-\u2069]", "", text))
        text = html.unescape(text).strip() or "no reason given"
        matching = (hint for part, hint in HINTS.items() if part.casefold() in text.casefold())
        hint = next(matching, "This is Anki's own answer: change what it names, then call again.")
        super().__init__(
            f"RuntimeError: {one_line(text, 500)}", hint, CODES.get(text, "ANKI_ERROR")
        )
        self.text = text


class Unanswered(Failure):
    """The request went out and no answer came back: it may have been done, or be done yet."""


def failure(error: http.HttpError, timeout_s: float) -> Failure:
    """The Failure of a request without a whole answer."""
    url = current().anki_connect_url
    advice = f" {FORWARDED}" if os.environ.get("SSH_CONNECTION") else ""
    if not error.sent:
        return Unreachable(
            f"AnkiConnect cannot be reached at {url}: {error.reason}",
            START + advice,
            UNREACHABLE,
        )
    if isinstance(error, http.Late):
        return Unanswered(
            f"AnkiConnect took the request and did not answer within {timeout_s:g} s",
            f"Is a dialog open in Anki, or a sync running? Close it.{advice}",
            NO_ANSWER,
        )
    if isinstance(error, http.NotHttp):
        return not_ankiconnect(error.reason)
    return Unanswered(
        f"AnkiConnect gave no whole answer: {error.reason}",
        "Was Anki closed? Answers of many megabytes are cut off too: ask for less at a time.",
        "ANKI_CUT",
    )


def hangs(error: ToolError) -> bool:
    """True if it says that Anki does not answer at the moment: another question would wait as long."""
    return error.code == NO_ANSWER


def result(response: http.Response) -> Result:
    """The result in a response, whatever its HTTP status. Raises Failure."""
    try:
        answer = json.loads(response.body)
    except (ValueError, RecursionError):
        answer = None
    content = entry_result(answer)
    if isinstance(content, Refused):
        raise content
    if content is answer:
        raise not_ankiconnect(f"HTTP {response.status}, {response.headers.get_content_type()}")
    return content


def entry_result(answer: Any) -> Result:
    """The result in an envelope, a Refused if it has an error; anything else unchanged."""
    if not isinstance(answer, dict) or set(answer) != ENVELOPE:
        return answer
    return answer["result"] if answer["error"] is None else Refused(str(answer["error"]))


def not_ankiconnect(what: str) -> Unanswered:
    return Unanswered(
        f"What answers at {current().anki_connect_url} is not AnkiConnect ({what})",
        "Point ANKI_CONNECT_URL at AnkiConnect, port 8765 by default.",
        "NOT_ANKICONNECT",
    )
