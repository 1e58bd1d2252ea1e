"""The tool that searches for notes."""

import re
from typing import Annotated

from tools.anki import client, notes
from tools.anki.client import Action
from tools.anki.replies import Refused
from tools.anki.studying.card_text import cut
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool

PLAIN = re.compile(r'(?<![^\s(])("[^":\\*_-]+"|[^\s():"\\*_-]+)(?![^\s)])')
"""A word or a quoted phrase that stands for itself: nothing with `:`, no wildcard, not negated."""
TEXT = re.compile(r"[\w ]+")


@Tool("anki.find_notes", raw=True)
def find_notes(
    query: Annotated[str, 'e.g. deck:"A B" tag:x front:*word*', Limits(min_length=1, strip=True)],
    limit: Annotated[int | None, "all by default", Limits(ge=1)] = None,
    offset: Annotated[int, Limits(ge=0)] = 0,
    excerpt: Annotated[int | None, "characters per field", Limits(ge=1)] = None,
) -> JsonObject:
    """Find notes with Anki's search: {noteIds, notes, total}, sorted by id, notes as anki_note_info shows them.

    Source: AnkiConnect findNotes, notesInfo, getDecks.
    """
    other = in_any_case(query)
    searches: list[Action] = [("findNotes", {"query": text}) for text in (query, other) if text]
    matches, *wider = client.multi(*searches)
    if isinstance(matches, Refused):
        raise matches
    ids = sorted(matches or [])
    page = ids[offset:] if limit is None else ids[offset : offset + limit]
    infos = notes.infos(page)
    for info in infos:
        if info and excerpt:
            info["fields"] = {name: cut(text, excerpt) for name, text in info["fields"].items()}
    answer = {"noteIds": page, "notes": infos, "total": len(ids)}
    more = len(set(wider[0]) - set(ids)) if wider and isinstance(wider[0], list) else 0
    if more:  # Anki folds upper and lower case of Latin letters only
        answer["inOtherCase"] = {"more": more, "query": other}
    return answer


def in_any_case(query: str) -> str:
    """The query with its plain words in any case, as regular expressions; empty if Anki finds them anyhow."""
    other = PLAIN.sub(lambda match: _folding(match[0]), query)
    return other if other != query else ""


def _folding(token: str) -> str:
    text = token.strip('"')
    other_script = any(not char.isascii() and char.lower() != char.upper() for char in text)
    return f'"re:{text}"' if other_script and TEXT.fullmatch(text) else token
