"""Notes found again by the text of their first field, as Anki's own duplicate check does it."""

import re
import unicodedata

from tools.anki import client, decks
from tools.anki.batches.added_keys import Sent
from tools.anki.client import Action

CONTROL = re.compile(r"[^\S ]")
"""Line breaks and tabs, which a query cannot hold; `_` stands for any character."""


def find(notes: list[Sent], model_id: int | None, first_field: str) -> list[int | None]:
    """For each note the id of the one in Anki that has its first field, or None. One request.

    Raises Failure.
    """
    answers = client.results(*(question(note, model_id, first_field) for note in notes))
    return [max(ids) if ids else None for ids in answers]


def question(note: Sent, model_id: int | None, first_field: str) -> Action:
    """The action that finds every note with this first field."""
    return "findNotes", {"query": _query(note, model_id, first_field)}


def _query(note: Sent, model_id: int | None, first_field: str) -> str:
    text = unicodedata.normalize("NFC", note.first).replace("\r", "")
    if model_id and not CONTROL.search(text):
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'"dupe:{model_id},{quoted}"'
    value = CONTROL.sub("_", decks.quoted(text).replace(":", "\\:"))
    return f'"note:{decks.quoted(note.model)}" "{decks.quoted(first_field)}:{value}"'
