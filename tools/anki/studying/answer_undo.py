"""Taking the last answer to a card back, by Anki's own Undo."""

import json
import re
import time
from binascii import crc32
from collections.abc import Sequence
from typing import Any

from tools.toolkit import JsonObject, ToolError

from .. import client, state
from ..card_text import BUTTONS
from ..client import Action, Refused, action, card_search, note_search
from .review_log import newest_answers

# Key under which `state` keeps the answers that can be taken back, oldest first, each as a list:
# - the [card, note, deck], the row of the log, and the steps of Undo that came before this answer;
# - the digest of Anki's state after it, None if another answer of the same call followed.
UNDOABLE_KEY = "answers and their states"
# Anki's window answers in the background: so often the log is read, each time after this pause.
LOG_READS = 4
LOG_PAUSE_S = 0.5

# The searches for marked cards.
MARK_SEARCHES = (
    "is:suspended",
    "is:buried",
    # Each flag is in a different combination of these three.
    "flag:1 or flag:3 or flag:5 or flag:7",
    "flag:2 or flag:3 or flag:6 or flag:7",
    "flag:4 or flag:5 or flag:6 or flag:7",
)
NAME_READS = (action("deckNames"), action("modelNames"))
ANSWERS_TODAY = action("getNumCardsReviewedToday")

NOT_OURS = "The last answer in Anki was not given by anki_answer_cards"


def remember_undoable(answers: list[Any], state_answers: Sequence[object]) -> None:
    """Keep the answers that can be taken back, the last one with the digest of Anki's state after it."""
    *_, last = answers
    last[-1] = state_digest(state_answers)
    state.remember(UNDOABLE_KEY, answers)


def take_back(wanted_card: int | None = None) -> JsonObject:
    """Take back the last answer that a batch gave.

    Raises ToolError if Anki's Undo would take back something else: a later answer, or any change after it; or
    if the last answer is of another card than `wanted_card`.
    """
    answers = state.recall(UNDOABLE_KEY)
    if not answers:
        raise _nothing_to_undo(NOT_OURS)
    subject, row_id, steps, digest = answers.pop()
    # The last answer in Anki has to be ours, and of the card that is meant.
    card, note, _ = subject
    log, edited, *names = client.results(
        action("getReviewsOfCards", cards=[card]),
        note_search(f"edited:1 -nid:{note}"),
        *NAME_READS,
    )
    row = newest_answers(log)[card]
    if row.id != row_id or wanted_card not in (card, None):
        raise _nothing_to_undo(NOT_OURS)
    # Nothing else may have changed since: Undo would begin with it.
    times, *state_answers = client.multi(
        action("notesModTime", notes=edited), *state_reads(subject, names)
    )
    if isinstance(times, Refused):  # the add-on of 2023 does not give them
        changed = bool(edited)
    else:  # whole seconds: an edit in that of the answer may be older
        changed = any(edit["mod"] >= row.id // 1000 for edit in times if edit)
    if changed or state_digest(state_answers) != digest:
        raise _nothing_to_undo(
            "Notes or cards were changed after the answer: Anki's Undo would take that back first"
        )
    # It is undone once the log has another row than that of the answer.
    client.call("guiUndo")
    for _ in range(LOG_READS):
        if newest_answers(client.call("getReviewsOfCards", cards=[card]))[card] != row:
            state.remember(UNDOABLE_KEY, answers)
            _undo_reset(steps, answers, names)
            return {"undone": {"cardId": card, "ease": BUTTONS[row.ease - 1]}}
        time.sleep(LOG_PAUSE_S)
    raise ToolError(
        "The answer was not undone: Anki's Undo took back a later step instead, or had nothing to undo",
        "Ask the person to look in Anki: if a later step was undone, Edit, Redo brings it back.",
        "UNDO_OTHER",
    )


def _undo_reset(steps: int, answers: list[Any], names: list[list[str]]) -> None:
    """Undo the steps before the answer that was taken back. Anki's state then is the one from which an
    earlier answer of the same call can be taken back."""
    reads = state_reads(answers[-1][0], names) if answers else []
    state_answers = client.multi(*[action("guiUndo")] * steps, *reads)[steps:]
    if answers and answers[-1][-1] is None:
        remember_undoable(answers, state_answers)


def _nothing_to_undo(problem: str) -> ToolError:
    return ToolError(
        problem,
        "Nothing was undone. In Anki the person can go back step by step with Ctrl+Z.",
        "NOTHING_TO_UNDO",
    )


def state_reads(subject: list[Any], names: list[list[str]]) -> list[Action]:
    """Build the actions that read Anki's state: any step of Undo, except the change of another note, changes
    it.

    They read the number of answers today, the decks and the cards in each, the note types, the suspended,
    buried and flagged cards; this card, its note and its deck's options.
    """
    card, note, deck = subject
    deck_names, model_names = names
    return [
        ANSWERS_TODAY,
        action("getDeckStats", decks=deck_names),
        action("getDeckConfig", deck=deck),
        action("deckNamesAndIds"),
        action("modelNamesAndIds"),
        action("cardsInfo", cards=[card]),
        action("notesInfo", notes=[note]),
        *map(card_search, MARK_SEARCHES),
        *(action("modelStyling", modelName=name) for name in model_names),
    ]


def state_digest(answers: Sequence[object]) -> int:
    """Checksum of the answers to `state_reads`, without the parts that change as time goes by."""
    # Quotes within a text are escaped.
    changing = r'"(?:new|learn|review)_count": \d+|"nextReviews": \[[^]]*\]'
    content = re.sub(changing, "", json.dumps(answers, default=str))
    return crc32(content.encode())
