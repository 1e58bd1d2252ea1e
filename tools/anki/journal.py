"""The journal of deletions and changes: for each the steps by which anki.restore puts it back."""

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from tools.core import calls
from tools.toolkit import JsonObject

from . import client, state
from .client import Action, Ids, IdsByName, action, card_search
from .note_input import FieldTexts, Names

JOURNAL_MOST_ENTRIES = 1000
# Bytes for notes and cards, and again for media; the oldest entries beyond are removed.
JOURNAL_MOST_BYTES = 50_000_000

JOURNAL_SCHEMA = """
create table if not exists changes (
    id integer primary key autoincrement, at integer not null, tool text not null, summary text not null,
    data blob not null, filename text not null, content blob not null
)"""
_open_journal = partial(state.open_records, "anki-journal.sqlite3", JOURNAL_SCHEMA)
# Numbers the entries from the newest and adds up their sizes, those of media apart.
FORGET_OLD = """
delete from changes where id in (
    select id from (
        select id, row_number() over (order by id desc) as number,
            sum(length(data) + length(content)) over (partition by filename <> '' order by id desc) as bytes
        from changes
    ) where number > 1 and (number > ? or bytes > ?)
)"""

# The action that takes a single card.
SET_VALUE = "setSpecificValueOfCard"
# The action that takes a single note.
SET_FIELDS = "updateNoteFields"
# States of cards: the search for each, and the action that brings cards into it, with its parameters.
States = dict[str, tuple[str, JsonObject]]
SUSPENSIONS: States = {
    "is:suspended": ("suspend", {}),
    "-is:suspended": ("unsuspend", {}),
    # Unsuspending wakes these too, so they are buried again, until tomorrow.
    "is:buried-manually": (SET_VALUE, {"keys": ["queue"], "newValues": [-3]}),
    "is:buried-sibling": (SET_VALUE, {"keys": ["queue"], "newValues": [-2]}),
}
FLAGS: States = {
    f"flag:{flag}": (SET_VALUE, {"keys": ["flags"], "newValues": [flag]}) for flag in range(8)
}
# The columns of Anki's table `cards` that are a card's place in the schedule, and its flag; AnkiConnect calls
# `ivl` `interval`.
SCHEDULE_COLUMNS = "type queue due ivl factor reps lapses left flags".split()
# Cards in one request: the answer of cardsInfo has a kilobyte for each.
CARDS_PER_REQUEST = 500


class Step(NamedTuple):
    """An action on the `ids` of a `kind`, `notes` or `cards`, with its other parameters."""

    kind: str
    action: str
    params: JsonObject
    ids: Ids

    def actions(self) -> list[Action]:
        if not self.ids:
            return []
        if self.action == SET_VALUE:
            return [
                action(SET_VALUE, card=card, warning_check=True, **self.params) for card in self.ids
            ]
        if self.action == SET_FIELDS:
            return [action(SET_FIELDS, note={"id": note, **self.params}) for note in self.ids]
        return [action(self.action, **{self.kind: self.ids, **self.params})]


def steps_to_tags(tags: dict[int, Names], added: Names) -> list[Step]:
    """Build the steps back to the `tags` that notes have now: `added` are removed, then all `tags` are added,
    since removing a tag takes those below it too."""
    steps = []
    if added:
        steps.append(Step("notes", "removeTags", {"tags": " ".join(added)}, list(tags)))
    groups: IdsByName = {}
    for note, names in tags.items():
        groups.setdefault(" ".join(names), []).append(note)
    return steps + [
        Step("notes", "addTags", {"tags": text}, notes) for text, notes in groups.items()
    ]


def steps_to_decks(cards_by_deck: IdsByName) -> list[Step]:
    """Build the steps that move cards back into their decks."""
    return [
        Step("cards", "changeDeck", {"deck": deck}, cards) for deck, cards in cards_by_deck.items()
    ]


def steps_to_states(cards: Ids, states: States) -> list[Step]:
    """Build the steps that bring each card back into its present state. One request."""
    searches = [card_search(f"{client.ids_query('cid', cards)} {state}") for state in states]
    answers = zip(states.values(), client.results(*searches))
    return [Step("cards", *change, ids) for change, ids in answers]


def cards_in_own_deck(query: str) -> Iterator[JsonObject]:
    """Read the cards that a query finds, as cardsInfo has them, without their flags. One request, and one for
    each 500.

    Cards that a filtered deck has borrowed are left out: their place at home cannot be read.
    """
    cards = client.call("findCards", query=f"{query} -deck:filtered")
    for start in range(0, len(cards), CARDS_PER_REQUEST):
        for info in client.call("cardsInfo", cards=cards[start : start + CARDS_PER_REQUEST]):
            if info:  # empty for a card that was deleted since it was found
                yield {**info, "ivl": info["interval"], "flags": None}


def schedule_params(info: JsonObject) -> JsonObject:
    """Parameters of SET_VALUE that put a card back into its place in the schedule."""
    names = [name for name in SCHEDULE_COLUMNS if info.get(name) is not None]
    return {"keys": names, "newValues": [info[name] for name in names]}


@dataclass
class Note:
    """A deleted note.

    - `decks`: the deck of each of its cards;
    - `schedules`: for each card that was studied, the number of its template and the parameters of SET_VALUE.
    """

    id: int
    model: str
    decks: Names
    fields: FieldTexts
    tags: Names
    schedules: list[tuple[int, JsonObject]]


@dataclass
class JournalEntry:
    """The way back from one change: steps, notes to be added again, the content of a deleted file.

    `profile` is the profile of Anki, empty if it is not known; `warnings` name the changes that do not come
    back; `at` is the second it was written.
    """

    profile: str
    steps: list[Step] = field(default_factory=list)
    lost: list[Note] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    filename: str = ""
    content: bytes = b""
    at: int = 0


def write(tool: str, summary: str, things: str, entry: JournalEntry) -> None:
    """Record the way back from a change before it is made, and say in the answer of this call how to put
    `things` back.

    Raises ToolError STATE_NOT_WRITABLE: without a record nothing is changed.
    """
    data = json.dumps({**vars(entry), "content": ""}, default=vars)
    blob = zlib.compress(data.encode())
    row = (tool, summary, blob, entry.filename, entry.content)
    with _open_journal() as db, db:
        number = db.execute(
            "insert into changes values (null, strftime('%s', 'now'), ?, ?, ?, ?, ?)", row
        ).lastrowid
        db.execute(FORGET_OLD, (JOURNAL_MOST_ENTRIES, JOURNAL_MOST_BYTES))
    calls.append_line(f"anki_restore {{entry: {number}}} puts {things} back")


def newest_entries() -> list[list[int | str]]:
    """Last twenty entries as [id, time, tool, summary], newest first."""
    query = """
    select id, strftime('%Y-%m-%d %H:%M', at, 'unixepoch', 'localtime'), tool, summary
    from changes order by id desc limit 20"""
    with _open_journal() as db:
        return list(map(list, db.execute(query)))


def entry_of(number: int) -> JournalEntry | None:
    """Entry of this id; None if there is none."""
    query = "select data, filename, content, at from changes where id = ?"
    with _open_journal() as db:  # as text: sqlite holds no number of more than 63 bits
        row = db.execute(query, (str(number),)).fetchone()
    if row is None:
        return None
    blob, filename, content, at = row
    data = json.loads(zlib.decompress(blob))
    for note in data["lost"]:
        if "deck" in note:  # until 2026-11-26: that of the first card, and how many there were
            note["decks"] = [note.pop("deck")] * max(1, note.pop("cards", 1))
    steps = [Step(*step) for step in data["steps"]]
    lost = [Note(**note) for note in data["lost"]]
    return JournalEntry(data["profile"], steps, lost, data["warnings"], filename, content, at)
