"""The tool for any action of AnkiConnect, as a whole and for read-only mode, and the actions it refuses."""

import re
from collections.abc import Iterator
from typing import Annotated

from tools.core import calls
from tools.toolkit import JsonObject, Limits, Tool, ToolError

from . import client
from .note_input import checked_filename
from .settings import current

# By tool: the actions that it does with a journal and the owner's consent, which must not be bypassed.
ACTIONS_OF_TOOLS = {
    "anki_delete_notes": "deleteNotes",
    "anki_delete_decks": "deleteDecks",
    "anki_delete_media": "deleteMediaFile",
    "anki_update_notes": "updateNote updateNoteFields updateNoteTags",
    "anki_change_cards": "addTags removeTags replaceTags replaceTagsInAllNotes changeDeck suspend"
    " unsuspend setDueDate forgetCards",
}

ONE_WAY = "makes the next sync one-way: reviews on a phone that are not synced yet are lost"
# Other actions that the setting ANKI_INVOKE has to allow, and what they do.
UNSAFE_ACTIONS = {
    "modelFieldAdd": ONE_WAY,
    "modelFieldReposition": ONE_WAY,
    "modelTemplateAdd": ONE_WAY,
    "modelTemplateReposition": ONE_WAY,
    "insertReviews": "writes reviews into the log that nobody did",
    "exportPackage": "overwrites any file of the machine that Anki runs on",
    "importPackage": "reads any file of the machine that Anki runs on",
    "guiImportFile": "reads any file of the machine that Anki runs on, or opens a dialog that blocks Anki",
    "removeEmptyNotes": "deletes every note type that has no notes",
    "modelFieldRemove": "deletes that field's text in all notes",
    "modelTemplateRemove": "deletes all cards of that template",
    "updateNoteModel": "replaces the type, fields and tags of a note",
    "relearnCards": "resets the schedule of cards for good",
    "setSpecificValueOfCard": "overwrites any value of a card for good",
    "setEaseFactors": "overwrites the ease of cards for good",
    "loadProfile": "closes the person's profile",
    "guiExitAnki": "closes Anki",
}
# By a part of an action's name: another way to do it, if AnkiConnect cannot or must not.
WAYS_IN_ANKI = {
    "export": "the person can do it in Anki: File, Export",
    "import": "the person can do it in Anki: File, Import",
    "filter": "the person can make filtered decks in Anki: Tools, Create Filtered Deck",
    "specificvalue": "the person can set the order of new cards in Anki: Browse, Cards, Reposition; "
    "anki_change_cards sets due dates, flags and suspension",
    "fsrs": "the person can do it in Anki: the gear beside the deck, Options, FSRS, Optimize",
    "backup": "the person can do it in Anki: File, Create Backup",
    "bury": "the person can bury cards in Anki: in a review with -, in the Browser with Cards, Toggle Bury",
    "tts": "a note type speaks a field by itself: {{tts en_US:Front}} in its template",
    "undo": "anki_answer_cards with undo takes back an answer, anki_restore a change; "
    "guiUndo is Anki's own Ctrl+Z",
    "notemodel": "add reverse cards with a type such as 'Basic (and reversed card)'; for notes that "
    "exist the person can change the type in Anki: Browse, select them, Notes, Change Note Type",
    "deckconfig": "the person can set new cards a day in Anki: the gear beside the deck, Options, Daily Limits",
    "modelfield": "after syncing every device the person can do it in Anki: Tools, Manage Note Types, Fields",
    "modeltemplate": "after syncing every device the person can do it in Anki: Tools, Manage Note Types, Cards",
    "reposition": "the person can do it in Anki: Browse, Cards, Reposition",
}
# Reading actions that make a deck of a name they do not know.
DECK_MAKING_ACTIONS = {"getDeckStats", "cardReviews", "getLatestReviewID"}
# With one of these in its parameters even canAddNotes stores a file in the media folder.
MEDIA_PARAMETERS = {"path", "url", "data", "picture", "audio", "video"}
# Parameters, at any depth, that the setting has to allow.
UNSAFE_PARAMETERS = {
    "path": "reads any file of the machine that Anki runs on",
    # AnkiConnect follows redirects, into Anki's own network too.
    "url": "lets Anki's machine fetch any address",
}


@Tool("anki.invoke", title="Anki: any action", write=True, destructive=True)
def invoke(
    action: Annotated[str, "e.g. sync, multi", Limits(min_length=1, strip=True)],
    params: Annotated[JsonObject | None, "sent unchanged"] = None,
    version: Annotated[int, Limits(ge=5)] = 0,
) -> object:
    """Call any other AnkiConnect action, for its raw result. Reading, sync, guiBrowse, guiDeckReview are
    safe; other gui* may open a window that blocks Anki. What other tools do, or what harms files or sync, is
    refused.

    Source: AnkiConnect, any action.
    """
    params = params or {}
    members = list(_nested_members(params))
    # An empty file name, or one that normalizes to nothing, moves the whole media folder to the trash.
    for key, value in members:
        if key == "filename" and isinstance(value, str):
            checked_filename(value)
    request = {"action": action, "version": version or client.API_VERSION, "params": params}
    if current().anki_invoke != "all" and not calls.is_by_person():
        for name in client.action_names(request):
            _check_safe(name[:80], members)
    try:
        return client.send(request)
    except client.Refused as error:
        if (way := _way_in_anki(action)) and error.text == "unsupported action":
            error.hint = f"AnkiConnect cannot do it; {way}."
        elif way:
            error.hint += f" Or {way}."
        raise


@Tool("anki.invoke", title="Anki: any action", read_only_variant=True)
def invoke_reading(
    action: Annotated[str, "e.g. findCards, cardsInfo, multi", Limits(min_length=1, strip=True)],
    params: Annotated[JsonObject | None, "as AnkiConnect documents them; sent unchanged"] = None,
    version: Annotated[int, "of the API; 6 by default", Limits(ge=5)] = 0,
) -> object:
    """Call any AnkiConnect action that only reads, for what no other anki tool does. Returns its raw result.

    Source: AnkiConnect, any action; MCP_READ_ONLY.
    """
    brings_media = any(key in MEDIA_PARAMETERS for key, _ in _nested_members(params))
    for name in client.action_names({"action": action, "params": params}):
        if brings_media or name not in client.READING - DECK_MAKING_ACTIONS:
            hint = "In read-only mode (MCP_READ_ONLY) only actions that change and store nothing are sent."
            if name in DECK_MAKING_ACTIONS:
                hint = "It makes a deck of an unknown name, which read-only mode forbids; use anki_due or anki_stats."
            raise ToolError(f"Not a reading action: {name[:80]}", hint, "READ_ONLY")
    return invoke(action, params, version)


def _way_in_anki(action: str) -> str:
    return next((way for part, way in WAYS_IN_ANKI.items() if part in action.casefold()), "")


def _nested_members(params: object) -> Iterator[tuple[str, object]]:
    """Each key of the parameters with its value, at any depth; not the names of a note's `fields`."""
    waiting = [params]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            for key, member in value.items():
                yield key, member
                texts = member.values() if isinstance(member, dict) else [None]
                if key != "fields" or not all(isinstance(text, str) for text in texts):
                    waiting.append(member)


def _check_safe(action: str, members: list[tuple[str, object]]) -> None:
    """Refuse actions that another tool does with a journal and consent, or that reach files of Anki's host.

    Raises ToolError ANKI_INVOKE.
    """
    problem = hint = ""
    for key, value in members:
        if key in UNSAFE_PARAMETERS and value:
            problem = f"with `{key}` {UNSAFE_PARAMETERS[key]}"
            hint = "anki_store_media fetches and stores files."
        # AnkiConnect joins the pattern to the media folder's path, which `/` and `..` lead out of.
        if key == "pattern" and re.search(r"[/\\]|\.\.", str(value)):
            problem = "with such a pattern leads out of Anki's media folder"
            hint = "Give one such as *.mp3."
    if action in UNSAFE_ACTIONS:
        problem = UNSAFE_ACTIONS[action]
        hint = f"No other tool does it; {_way_in_anki(action) or 'Anki itself does'}."
    for tool, actions in ACTIONS_OF_TOOLS.items():
        if action in actions.split():
            problem = f"is done by {tool}, which can be undone"
            hint = f"Call {tool}."
    if problem:
        hint += " The person can set ANKI_INVOKE=all to let everything through."
        raise ToolError(f"{action} {problem}. Nothing was sent", hint, "ANKI_INVOKE")
