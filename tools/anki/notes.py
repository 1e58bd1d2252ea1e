"""Notes in Anki: the tools that show and find them, and reading them for other tools."""

import re
from collections.abc import Iterator, Sized
from itertools import accumulate, chain
from typing import Annotated

from tools.core import calls
from tools.toolkit import JsonObject, Limits, Tool, ToolError, cut, did_you_mean, filled

from . import client, decks
from .card_text import plain
from .client import Action, Ids, IdsByName, action, card_search, note_search

# Notes as notesInfo has them, by id.
Infos = dict[int, JsonObject]

# The limit for a person in a shell, and for texts that are shown whole.
NO_LIMIT = 10**9
# Notes read in one request.
NOTES_PER_REQUEST = 500
# Examples in a dry run.
MOST_EXAMPLES = 5
# Characters of the text that stands for a note.
LONGEST_EXCERPT = 80


@Tool("anki.note_info")
def note_info(noteIds: Annotated[Ids, Limits(min_length=1)]) -> JsonObject:
    """Show notes by id, in that order, null for none.

    Source: AnkiConnect notesInfo, getDecks. {notes: [{noteId, modelName, deckName, tags, fields, cards}]}.
    """
    return {"notes": note_rows(noteIds)}


@Tool("anki.find_notes")
def find_notes(
    query: Annotated[str, 'e.g. deck:"A B" tag:x front:*word*', Limits(strip=True)] = "",
    duplicates: Annotated[str, "a field: groups of notes with one text in it"] = "",
    limit: Annotated[int, "50 by default", Limits(ge=1)] = 0,
    offset: Annotated[int, Limits(ge=0)] = 0,
    excerpt: Annotated[int, "characters per field", Limits(ge=1)] = 0,
    brief: Annotated[bool, "[id, first field] only"] = False,
) -> JsonObject:
    """Find notes with Anki's search, sorted by id; nextOffset if there are more.

    Source: AnkiConnect findNotes, notesInfo, getDecks. {noteIds, notes, total, nextOffset}, notes as
    anki_note_info shows them.
    """
    limit = limit or (NO_LIMIT if calls.is_by_person() else 50)
    refuse_unquoted_names(query)
    end = offset + limit
    if duplicates:
        groups = _duplicates(query, duplicates)
        return {"groups": groups[offset:end], **_total(groups, end)}
    if not query:
        raise ToolError(
            "There is nothing to find",
            "The query deck:* finds every note.",
            "INVALID_ARGUMENTS",
        )
    # Anki folds upper and lower case of Latin letters only.
    other = _in_any_case(query)
    searches = dict.fromkeys([query, other])
    matches, *wider = client.results(*map(note_search, searches))
    ids = sorted(matches)
    other_ids = set().union(*wider).difference(ids)
    # The notes of this page, each with as much as was asked for.
    page = ids[offset:end]
    if brief:
        length = excerpt or LONGEST_EXCERPT
        rows = by_id(page).items()
        answer: JsonObject = {"notes": [[note, first_text(info, length)] for note, info in rows]}
    else:
        answer = {"noteIds": page, "notes": note_rows(page, excerpt or NO_LIMIT)}
    answer |= _total(ids, end)
    # A search without matches is often a word in another case, or a name that is written otherwise.
    if other_ids:
        answer["inOtherCase"] = {"more": len(other_ids), "query": other}
    warnings = [] if ids else _unknown_names(query)
    return answer | filled(warnings=warnings)


def _total(matches: Sized, end: int) -> JsonObject:
    """Count all matches; if there are more than this page, say where the next one begins."""
    total = len(matches)
    return {"total": total, **filled(nextOffset=end if end < total else 0)}


def _duplicates(query: str, field: str) -> list[JsonObject]:
    """Group the notes with the same text in a field: {text, noteIds}.

    A request for each 500 notes, and one. Upper and lower case, tags and blanks do not count.
    """
    groups: dict[str, Ids] = {}
    name = decks.escaped(field).replace(":", "\\:")
    ids = client.call("findNotes", query=f'({query or "deck:*"}) "{name}:*"')
    for note, info in in_parts(sorted(ids)):
        for field_name, text in values(info).items():
            if field_name.casefold() == field.casefold():
                groups.setdefault(plain(text).casefold(), []).append(note)
    if not groups:
        raise unknown_field(field)
    return [
        {"text": cut(text, LONGEST_EXCERPT), "noteIds": note_ids}
        for text, note_ids in groups.items()
        if text and len(note_ids) > 1
    ]


def unknown_field(name: str) -> ToolError:
    return ToolError(
        f"No note that the query finds has a field {name[:80]!r}",
        "anki_find_notes shows the fields of notes. A note type is changed in Anki: Browse, Notes, "
        "Change Note Type.",
        "UNKNOWN_FIELD",
    )


def _in_any_case(query: str) -> str:
    """Let the plain words of a query match in any case, as regular expressions if Anki would not fold
    them."""

    def fold(match: re.Match[str]) -> str:
        text = match[0].strip('"')
        has_cases = not text.isascii() and text.lower() != text.upper()
        return f'"re:{text}"' if has_cases else match[0]

    # A word or a quoted phrase that stands for itself: letters and digits between blanks or brackets, so
    # nothing with `:`, no wildcard, not negated.
    return re.sub(r'(?<![^\s(])("(?:[^\W_]| )+"|[^\W_]+)(?![^\s)])', fold, query)


def refuse_unquoted_names(query: str) -> None:
    """Refuse an unquoted name of a deck or note type that has a blank: Anki would search notes for its second
    word. One request, if words follow an unquoted name.

    Raises ToolError INVALID_QUERY.
    """
    # deck:X and note:X without quotes, with more behind a blank.
    pattern = r"(?i)(?<![\"\w])(deck|note):([^\s\"()]+)(?= +[^\s)])"
    unquoted = list(re.finditer(pattern, query))
    names_by_keyword = _names_by_keyword() if unquoted else {}
    for match in unquoted:
        keyword = match[1].lower()
        query_tail = query[match.start(2) :].casefold()
        for name in names_by_keyword[keyword]:
            if " " in name and query_tail.startswith(name.casefold()):
                raise ToolError(
                    f"{keyword}:{name} needs quotes: without them Anki looks for {keyword}:{match[2]} and words",
                    f'Write "{keyword}:{name}" with its quotes.',
                    "INVALID_QUERY",
                )


def _unknown_names(query: str) -> list[str]:
    """Name the decks, tags and note types in the query that Anki does not have, in a sentence each. One
    request."""
    names_by_keyword = _names_by_keyword()
    sentences = []
    # deck:X, deck:"X Y", "deck:X Y"; the same with tag and note. After a quotation mark the name goes on to
    # the next one.
    pattern = r'(?i)(")?\b(deck|tag|note):(")?((?(1)[^"]+|(?(3)[^"]+|[^\s()"]+)))'
    # Names with a meaning of their own, wildcards, regular expressions.
    special = r"(?i)current|filtered|none|re:.*|.*\*.*"
    for match in re.finditer(pattern, query):
        keyword = match[2].lower()
        name = match[4].replace("\\", "")
        names: set[str] = set()
        for full_name in names_by_keyword[keyword]:  # with their parents: tag:a finds a::b too
            names.update(accumulate(full_name.split("::"), "{}::{}".format))
        if not re.fullmatch(special, name) and name.casefold() not in map(str.casefold, names):
            sentences.append(f"there is no {keyword}:{name}. {did_you_mean(name, names)}".strip())
    return sentences


def _names_by_keyword() -> dict[str, list[str]]:
    """Names of decks, tags and note types, by their keywords in a query."""
    actions = (action("deckNames"), action("getTags"), action("modelNames"))
    return dict(zip(("deck", "tag", "note"), client.results(*actions)))


def note_rows(ids: Ids, length: int = NO_LIMIT) -> list[JsonObject | None]:
    """Show the note of each id, its fields cut to `length` characters; None if it does not exist. Two
    requests."""
    by_note = by_id(ids)
    deck_of = read_decks(cards_of(by_note))
    rows = {
        note: {
            "noteId": note,
            "modelName": info["modelName"],
            "deckName": next(map(deck_of.get, info["cards"]), None),
            "tags": info["tags"],
            "fields": {name: cut(text, length) for name, text in values(info).items()},
            "cards": info["cards"],
        }
        for note, info in by_note.items()
    }
    return [rows.get(note) for note in ids]


def by_id(ids: Ids) -> Infos:
    """Read the notes that exist, all at once; as `in_parts`."""
    return dict(in_parts(ids))


def in_parts(ids: Ids) -> Iterator[tuple[int, JsonObject]]:
    """Read the notes that exist, each as notesInfo has it, its cards in the order of the templates. A request
    for each 500."""
    for start in range(0, len(ids), NOTES_PER_REQUEST):
        calls.checkpoint()
        calls.report(start, len(ids), "reading notes")
        answer = client.call("notesInfo", notes=ids[start : start + NOTES_PER_REQUEST])
        # For a missing note the add-on gives `{}`.
        infos = {info["noteId"]: info for info in answer or [] if info}
        # Of other servers that speak AnkiConnect, notesInfo names no cards.
        bare = [note for note, info in infos.items() if "cards" not in info]
        searches = [card_search(f"nid:{note}") for note in bare]
        for note, cards in zip(bare, client.results(*searches)):
            infos[note]["cards"] = sorted(cards)
        yield from infos.items()


def profile_of(infos: Infos) -> str:
    """Name of Anki's profile, from the first of these notes; empty with the add-on of 2023."""
    return next(iter(infos.values())).get("profile", "")


def cards_of(infos: Infos) -> Ids:
    """Ids of the cards of all these notes."""
    return list(chain.from_iterable(info["cards"] for info in infos.values()))


def deck_by_card(answer: IdsByName) -> dict[int, str]:
    """Turn an answer of getDecks around: the deck of each card."""
    return {card: deck for deck, cards in answer.items() for card in cards}


def read_decks(cards: Ids) -> dict[int, str]:
    """Read the deck of each card. One request."""
    return deck_by_card(client.call("getDecks", cards=cards)) if cards else {}


def values(info: JsonObject) -> dict[str, str]:
    """Contents of a note's fields by name, in the order of its note type."""
    return {name: field["value"] for name, field in info["fields"].items()}


def count_text(things: Sized, noun: str) -> str:
    """Write a number with its noun: `1 note`, `2 notes`."""
    count = len(things)
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def first_text(info: JsonObject, length: int = LONGEST_EXCERPT) -> str:
    """First field of a note as plain text, cut to `length` characters."""
    return cut(plain(next(iter(values(info).values()), "")), length)


def examples(infos: Infos) -> JsonObject:
    """Show the first notes, each by the text of its first field."""
    first_notes = list(infos.items())[:MOST_EXAMPLES]
    return {"examples": [{"noteId": note, "text": first_text(info)} for note, info in first_notes]}


def duplicate_search(model_id: int, text: str) -> Action:
    """Build the action that finds notes of a type with this first field, as Anki's own duplicate check
    does."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    # Behind a line break Anki finds nothing; as an entity it is taken for what it is.
    escaped = re.sub(decks.BLANK, lambda match: f"&#{ord(match[0])};", escaped)
    return note_search(f'"dupe:{model_id},{escaped}"')
