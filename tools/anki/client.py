"""Requests to AnkiConnect: one connection each, one at a time across all sessions."""

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any

from tools.anki import replies
from tools.anki.replies import Failure, Result, Unanswered
from tools.anki.settings import current
from tools.core import http
from tools.core.files import exclusive_lock
from tools.core.json_types import JsonObject

API_VERSION = 6
LONGEST_REPLY_BYTES = 64 * 1024 * 1024
# Time that each entry of a `multi` adds to the timeout: a slow Pi adds a note in less.
ENTRY_S = 0.2

Action = tuple[str, JsonObject]
# Ids of notes or cards.
Ids = list[int]
# The id of each deck or note type by its name, and the cards of each deck.
IdsByName = dict[str, int]
CardsByDeck = dict[str, Ids]


def action(name: str, /, **params: object) -> Action:
    """An action of AnkiConnect with its parameters, to be sent by `multi` or `results`."""
    return name, params


def card_search(query: str) -> Action:
    """The action that finds the ids of cards."""
    return action("findCards", query=query)


def note_search(query: str) -> Action:
    """The action that finds the ids of notes."""
    return action("findNotes", query=query)


# An action that changes nothing but makes Anki redraw its window: a review that shows a deleted card moves
# on.
REDRAW = action("addTags", notes=[], tags="")
PROFILE = action("getActiveProfile")

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


def call(action: str, *, extra_s: float = 0, **params: object) -> Result:
    """The result of one action; `extra_s` is waited beyond ANKI_CONNECT_TIMEOUT. Raises Failure."""
    return send(_entry(action, params), extra_s)


def multi(*actions: Action) -> list[Result]:
    """The result of each action, in one request and in order; for one that AnkiConnect refuses, the Refused.

    Raises Failure where the request as a whole fails.
    """
    if not actions:
        return []
    entries = [keyed(_entry(action, params)) for action, params in actions]
    answers = send(_entry("multi", {"actions": entries}), ENTRY_S * len(entries))
    if not isinstance(answers, list) or len(answers) != len(entries):
        raise replies.not_ankiconnect("a multi without an answer for each action")
    return [replies.entry_result(answer) for answer in answers]


def results(*actions: Action) -> list[Result]:
    """As `multi`, but the first refusal is raised: for questions that belong together."""
    return unrefused(multi(*actions))


def unrefused(answers: list[Result]) -> list[Result]:
    """The answers, or the first refusal raised."""
    for answer in answers:
        if isinstance(answer, Failure):
            raise answer
    return answers


def ids_query(kind: str, ids: Iterable[int]) -> str:
    """The query for these cards (kind `cid`) or notes (`nid`)."""
    return f"{kind}:{','.join(map(str, ids)) or 0}"


def profile(answer: Result) -> str:
    """The name of Anki's profile in an answer to PROFILE; empty with the add-on of 2023, which does not have
    it."""
    return answer if isinstance(answer, str) else ""


def names(action: object, params: object) -> Iterator[str]:
    """The name of the action, or of each entry of a `multi` at any depth, however malformed."""
    entries: list[object] = [{"action": action, "params": params}]
    while entries:
        match entries.pop():
            case {"action": "multi", "params": {"actions": list() as actions}}:
                entries += actions
            case {"action": name}:
                yield str(name)
            case _:
                yield str(None)


def _entry(action: str, params: JsonObject) -> JsonObject:
    entry = {"action": action, "version": API_VERSION}
    if params:
        entry["params"] = params
    return entry


def keyed(request: Any) -> Any:
    """A request, or an entry of a `multi`, with AnkiConnect's key."""
    key = current().anki_connect_key
    return {"key": key, **request} if key and isinstance(request, dict) else request


def send(request: JsonObject, extra_s: float = 0) -> Result:
    """The raw result of a request. Raises Failure; after a change it says that the change may have been
    made."""
    settings = current()
    timeout_s = settings.anki_connect_timeout_s + extra_s
    body = json.dumps(keyed(request)).encode("ascii")
    post = http.Request(
        settings.anki_connect_url, "POST", body, {"Content-Type": "application/json"}
    )
    try:
        # AnkiConnect answers one request at a time and lets five wait.
        with exclusive_lock("ankiconnect"):
            response = http.send(
                post, http.Limits(time.monotonic() + timeout_s, LONGEST_REPLY_BYTES)
            )
        return replies.result(response)
    except http.HttpError as error:
        failure = replies.failure(error, timeout_s)
    except Unanswered as error:
        failure = error
    sent = set(names(request["action"], request.get("params")))
    if isinstance(failure, Unanswered) and not sent <= READING:
        failure.hint += " The change may or may not have been made: look before you repeat it."
    raise failure
