"""The client of AnkiConnect: one request at a time across all sessions, and a Failure for each way it can
fail."""

import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from tools.core import http
from tools.toolkit import JsonObject, ToolError, exclusive_lock, one_line

from .settings import current

API_VERSION = 6
LONGEST_REPLY_BYTES = 64 * 1024 * 1024
# Time that each entry of a `multi` adds to the timeout: a slow Pi adds a note in less.
ENTRY_S = 0.2

# A request, or an entry of a `multi`.
Action = JsonObject
# Ids of notes or cards.
Ids = list[int]
# Ids by name: of decks or note types, or of notes by their dedup_key.
IdByName = dict[str, int]
# Lists of ids by name: the cards of each deck, the notes with the same tags.
IdsByName = dict[str, Ids]


def action(name: str, /, **params: object) -> Action:
    """Build an action of AnkiConnect, to be sent by `send`, `multi` or `results`."""
    return {"action": name, "version": API_VERSION, "params": params}


def card_search(query: str) -> Action:
    """Build the action that finds the ids of cards."""
    return action("findCards", query=query)


def note_search(query: str) -> Action:
    """Build the action that finds the ids of notes."""
    return action("findNotes", query=query)


# An action that changes nothing but makes Anki redraw its window: a review that shows a deleted card moves
# on.
REDRAW = action("addTags", notes=[], tags="")

# Actions that change neither the collection nor a file, nor what Anki shows, if their parameters pass the
# checks.
READING = frozenset(
    """\
    apiReflect areDue areSuspended canAddNote canAddNotes canAddNotesWithErrorDetail cardReviews cardsInfo
    cardsModTime cardsToNotes deckNameFromId deckNames deckNamesAndIds findCards findModelsById
    findModelsByName findNotes getActiveProfile getCollectionStatsHTML getDeckConfig getDeckStats getDecks
    getEaseFactors getIntervals getLatestReviewID getMediaDirPath getMediaFilesNames getNoteTags
    getNumCardsReviewedByDay getNumCardsReviewedToday getProfiles getReviewsOfCards getTags guiCurrentCard
    guiReviewActive guiSelectedNotes modelFieldDescriptions modelFieldFonts modelFieldNames
    modelFieldsOnTemplates modelNames modelNamesAndIds modelStyling modelTemplates notesInfo notesModTime
    retrieveMediaFile suspended version""".split()
)


# The answer of an action: JSON of its own shape, checked by its caller.
Result = Any

UNREACHABLE = "ANKI_UNREACHABLE"
# Anki does not answer at the moment: another question would wait as long.
NO_ANSWER = "ANKI_NO_ANSWER"

FORWARDED = (
    "Over ssh, Anki usually runs on the computer that opened the session, whose client forwards it (ssh "
    "-R): each client to a socket (with `StreamLocalBindUnlink`) or port of its own. After sleep a dead "
    "session may hold it for minutes: docs/clients.md."
)
REFUSAL_HINTS = {
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
REFUSAL_CODES = {
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

        # Anki's message as plain text: without HTML and the invisible marks around its quotations.
        text = re.sub(r"<[^<>]*>", " ", re.sub("[\u2066-\u2069]", "", text))
        text = html.unescape(text).strip() or "no reason given"
        matching = (
            hint for phrase, hint in REFUSAL_HINTS.items() if phrase.casefold() in text.casefold()
        )
        hint = next(matching, "This is Anki's own answer: change what it names, then call again.")
        super().__init__(
            f"RuntimeError: {one_line(text, 500)}", hint, REFUSAL_CODES.get(text, "ANKI_ERROR")
        )
        self.text = text


class Unanswered(Failure):
    """The request went out and no answer came back: it may have been done, or be done yet."""


def call(name: str, *, extra_s: float = 0, **params: object) -> Result:
    """Send one action and return its result, waiting `extra_s` beyond ANKI_CONNECT_TIMEOUT. Raises
    Failure."""
    return send(action(name, **params), extra_s)


def multi(*actions: Action) -> list[Result]:
    """Send actions in one request and return their results in order, a Refused for each that is refused.

    Raises Failure if the request as a whole fails.
    """
    if not actions:
        return []
    answers = call("multi", extra_s=ENTRY_S * len(actions), actions=list(actions))
    if not isinstance(answers, list) or len(answers) != len(actions):
        raise _not_ankiconnect("a multi without an answer for each action")
    return list(map(_entry_result, answers))


def results(*actions: Action) -> list[Result]:
    """Send actions that belong together: as `multi`, but raise the first refusal."""
    return unrefused(multi(*actions))


def unrefused(answers: list[Result]) -> list[Result]:
    """Return the answers, or raise the first refusal among them."""
    for answer in answers:
        if isinstance(answer, Failure):
            raise answer
    return answers


def ids_query(keyword: str, ids: Iterable[int]) -> str:
    """Query for cards (keyword `cid`), notes (`nid`) or the cards of decks (`did`) by their ids."""
    return f"{keyword}:{','.join(map(str, ids)) or 0}"


def with_profile(*actions: Action) -> list[Result]:
    """Send actions as `multi` does, and return the name of Anki's profile before their results.

    It is empty with the add-on of 2023, which does not report it.
    """
    profile, *answers = multi(action("getActiveProfile"), *actions)
    return [profile if isinstance(profile, str) else "", *answers]


def action_names(request: object) -> Iterator[str]:
    """Names of the action, or of each entry of a `multi` at any depth, however malformed."""
    entries = [request]
    while entries:
        match entries.pop():
            case {"action": "multi", "params": {"actions": list() as actions}}:
                entries += actions
            case {"action": name}:
                yield str(name)
            case _:
                yield "None"


def send(request: JsonObject, extra_s: float = 0) -> Result:
    """Send a request and return its raw result.

    Raises Failure; if the request was to change something, its hint says that this may have been done.
    """
    settings = current()
    timeout_s = settings.anki_connect_timeout_s + extra_s
    body = json.dumps(_keyed(request)).encode("ascii")
    post = http.Request(
        settings.anki_connect_url, "POST", body, {"Content-Type": "application/json"}
    )
    answer = None
    try:
        # AnkiConnect answers one request at a time and lets five wait.
        with exclusive_lock("ankiconnect"):
            response = http.send(
                post, http.Bounds(time.monotonic() + timeout_s, LONGEST_REPLY_BYTES)
            )
        # The result counts, whatever the HTTP status.
        with suppress(ValueError, RecursionError):
            answer = json.loads(response.body)
        content = _entry_result(answer)
        if content is not answer:
            return unrefused([content])[0]
        content_type = response.headers.get_content_type()
        failure: Failure = _not_ankiconnect(f"HTTP {response.status}, {content_type}")
    except http.HttpError as error:
        failure = _failure(error, timeout_s)
    if isinstance(failure, Unanswered) and not READING.issuperset(action_names(request)):
        failure.hint += " The change may or may not have been made: look before you repeat it."
    raise failure


def _keyed(request: Any) -> Any:
    """Add AnkiConnect's key, if the settings have one, to a request and to each entry of a `multi`."""
    key = current().anki_connect_key
    if not key or not isinstance(request, dict):
        return request
    match request:
        case {"action": "multi", "params": {"actions": list() as entries} as params}:
            params = {**params, "actions": list(map(_keyed, entries))}
            request = {**request, "params": params}
    return {"key": key, **request}


def _failure(error: http.HttpError, timeout_s: float) -> Failure:
    """Translate the error of a request without a whole answer."""
    advice = f" {FORWARDED}" if os.environ.get("SSH_CONNECTION") else ""
    if not error.was_sent:
        return Unreachable(
            f"AnkiConnect cannot be reached at {current().anki_connect_url}: {error.reason}",
            "Start Anki with the AnkiConnect add-on (code 2055492159) on the machine that "
            f"ANKI_CONNECT_URL names, and check that address.{advice}",
            UNREACHABLE,
        )
    if isinstance(error, http.Late):
        return Unanswered(
            f"AnkiConnect took the request and did not answer within {timeout_s:g} s",
            f"Is a dialog open in Anki, or a sync running? Close it.{advice}",
            NO_ANSWER,
        )
    if isinstance(error, http.NotHttp):
        return _not_ankiconnect(error.reason)
    return Unanswered(
        f"AnkiConnect gave no whole answer: {error.reason}",
        "Was Anki closed? Answers of many megabytes are cut off too: ask for less at a time.",
        "ANKI_CUT",
    )


def _entry_result(answer: Any) -> Result:
    """Unwrap an envelope: its result, or a Refused if it has an error; anything else unchanged."""
    match answer:
        case {"result": result, "error": None}:
            return result
        case {"result": _, "error": error}:
            return Refused(str(error))
    return answer


def _not_ankiconnect(symptom: str) -> Unanswered:
    return Unanswered(
        f"What answers at {current().anki_connect_url} is not AnkiConnect ({symptom})",
        "Point ANKI_CONNECT_URL at AnkiConnect, port 8765 by default.",
        "NOT_ANKICONNECT",
    )
