"""Anki's windows: what they show must follow what is changed behind them."""

from tools.anki import client
from tools.anki.client import Action
from tools.anki.replies import Refused, Result

REDRAW: Action = ("addTags", {"notes": [], "tags": ""})
"""Changes nothing, and makes Anki draw its window anew: a review that shows a deleted card moves on to the next."""


def results_redrawn(change: Action, *looks: Action) -> list[Result]:
    """The results of a change and of what looks at it afterwards, in one request, with Anki's window drawn anew.

    Raises Failure. Another server than AnkiConnect may refuse the redraw, which has no window to draw.
    """
    changed, _, *seen = client.multi(change, REDRAW, *looks)
    for result in (changed, *seen):
        if isinstance(result, Refused):
            raise result
    return [changed, *seen]
