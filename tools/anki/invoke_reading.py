"""The tool for any reading action of AnkiConnect, which read-only mode lists in place of anki.invoke."""

from typing import Annotated, Any

from tools.anki.invoke import invoke
from tools.errors import ToolError
from tools.registry import Tool
from tools.schema import Limits

ACTIONS = """\
    apiReflect areDue areSuspended canAddNote canAddNotes canAddNotesWithErrorDetail cardReviews cardsInfo cardsModTime
    cardsToNotes deckNameFromId deckNames deckNamesAndIds findCards findModelsById findModelsByName findNotes
    getActiveProfile getCollectionStatsHTML getDeckConfig getDeckStats getDecks getEaseFactors getIntervals
    getLatestReviewID getMediaDirPath getMediaFilesNames getNoteTags getNumCardsReviewedByDay getNumCardsReviewedToday
    getProfiles getReviewsOfCards getTags guiCurrentCard guiReviewActive guiSelectedNotes modelFieldDescriptions
    modelFieldFonts modelFieldNames modelFieldsOnTemplates modelNames modelNamesAndIds modelStyling modelTemplates
    notesInfo notesModTime retrieveMediaFile suspended version"""
"""Actions that change neither the collection nor a file, nor what Anki shows."""
READING = frozenset(ACTIONS.split())


@Tool("anki.invoke", bare=True, stands_in=True)
def invoke_reading(
    action: Annotated[str, "e.g. findCards, cardsInfo, getDeckStats, multi", Limits(min_length=1, strip=True)],
    params: Annotated[dict[str, Any] | None, "as AnkiConnect documents them; sent unchanged"] = None,
    version: Annotated[int | None, "of the API; 6 by default"] = None,
) -> Any:
    """Call any AnkiConnect action that only reads, for what no other anki tool does. Returns its raw result.

    Source: AnkiConnect, any action; MCP_READ_ONLY.
    """
    _check(action, params)
    return invoke(action, params, version)


def _check(action: Any, params: Any) -> None:
    """Raises ToolError READ_ONLY unless the action reads; a `multi` reads when every entry does."""
    if action == "multi" and isinstance(params, dict) and isinstance(params.get("actions"), list):
        for one in params["actions"]:
            _check(*((one.get("action"), one.get("params")) if isinstance(one, dict) else (None, None)))
    elif action not in READING:
        raise ToolError(
            f"Not a reading action: {str(action)[:80]}",
            "The server is in read-only mode (MCP_READ_ONLY): only actions that change nothing are let through.",
            code="READ_ONLY",
        )
