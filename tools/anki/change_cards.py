"""The tool that changes many cards or notes at once."""

from typing import Annotated

from tools.anki import client, consent, decks, notes, window
from tools.anki.journal import entries
from tools.anki.journal.entries import Before, Note
from tools.anki.replies import Refused
from tools.anki.studying import changes
from tools.anki.studying.card_text import cut
from tools.anki.studying.changes import Wanted
from tools.anki.studying.rows import row
from tools.core import locks
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool

EXAMPLES = 5
LONGEST_QUESTION = 60


@Tool("anki.change_cards", write=True, destructive=True, raw=True, lock=False)
def change_cards(
    query: Annotated[str, "or cardIds or noteIds"] = "",
    cardIds: list[int] | None = None,
    noteIds: list[int] | None = None,
    suspend: bool | None = None,
    unsuspend: bool | None = None,
    due: Annotated[str, "in days: 0, 3-7; 3! sets the interval"] = "",
    forget: bool | None = None,
    deck: str = "",
    flag: Annotated[int | None, Limits(ge=0, le=7)] = None,
    addTags: list[str] | None = None,
    removeTags: list[str] | None = None,
    renameTag: Annotated[list[str] | None, "[old, new]"] = None,
    dryRun: bool = True,
    expected: Annotated[int | None, "the dry run's count"] = None,
) -> JsonObject:
    """Change many cards, or tags of their notes. First dry: {count, of, before, examples}; then, if the person agrees,
    with dryRun false and expected = count: {changed, of, before, after}.

    Source: AnkiConnect suspend, unsuspend, setDueDate, forgetCards, changeDeck, setSpecificValueOfCard, addTags,
    removeTags, replaceTags.
    """
    wanted = changes.checked(
        Wanted(
            suspend,
            unsuspend,
            due.strip(),
            forget,
            deck.strip(),
            flag,
            addTags or [],
            removeTags or [],
            renameTag or [],
        )
    )
    return _Change(wanted, _selection(query, cardIds, noteIds)).run(dryRun, expected)


def _selection(query: str, cards: list[int] | None, notes: list[int] | None) -> str:
    """The search for what is to be changed."""
    ways = [
        f"({query.strip()})" if query.strip() else "",
        f"cid:{','.join(map(str, cards))}" if cards else "",
        f"nid:{','.join(map(str, notes))}" if notes else "",
    ]
    chosen = [way for way in ways if way]
    if len(chosen) != 1:
        raise ToolError(
            "Say in one way which cards: query, cardIds or noteIds. Nothing was changed",
            "Every card has the query deck:*.",
            code="INVALID_ARGUMENTS",
        )
    return chosen[0]


class _Change:
    """One change of what a search finds."""

    def __init__(self, wanted: Wanted, selection: str):
        self.wanted, self.selection = wanted, selection
        self.counters = changes.counters(wanted)
        self.of = "cards" if wanted.of_cards else "notes"

    def run(self, dry: bool, expected: int | None) -> JsonObject:
        there, self.cards, self.notes, *before = client.results(
            ("deckNamesAndIds", {}),
            ("findCards", {"query": self.selection}),
            ("findNotes", {"query": self.selection}),
            *self._counting(self.selection),
        )
        self._check_deck(there)
        self.before = self._counted(before)
        count = len(self.cards if self.wanted.of_cards else self.notes)
        if dry:
            return {"dryRun": True, "count": count, "of": self.of, "before": self.before, "examples": self._examples()}
        if expected != count:
            raise ToolError(
                f"expected is {expected}, and there are {count} {self.of}. Nothing was changed",
                f"Look at the dry run; then send expected = {count} with dryRun false, if the person agrees.",
                code="EXPECTED_COUNT",
                count=count,
            )
        if count:
            consent.check(f"change {count} {self.of}", count, expected)
        with locks.exclusive("anki"):
            return self._carry_out(count)

    def _check_deck(self, there: dict[str, int]) -> None:
        """changeDeck would make a deck of a name that it does not know."""
        if self.wanted.deck and self.wanted.deck not in there:
            raise decks.not_found([self.wanted.deck], there)

    def _counting(self, selection: str) -> list[client.Action]:
        action = "findCards" if self.wanted.of_cards else "findNotes"
        return [(action, {"query": f"{selection} {search}"}) for search in self.counters.values()]

    def _counted(self, found: list[list[int]]) -> dict[str, int]:
        return {name: len(ids) for name, ids in zip(self.counters, found, strict=True)}

    def _examples(self) -> list[JsonObject]:
        infos = client.call("cardsInfo", cards=sorted(self.cards)[:EXAMPLES]) if self.cards else []
        rows = [row(info) for info in infos if info]
        return [
            {"cardId": one["cardId"], "deck": one["deck"], "question": cut(one["question"], LONGEST_QUESTION)}
            for one in rows
        ]

    def _carry_out(self, count: int) -> JsonObject:
        if not count:
            return {"changed": 0, "of": self.of}
        self._record(count)
        actions = changes.actions(self.wanted, self.cards, self.notes)
        ids = (
            f"cid:{','.join(map(str, self.cards))}" if self.wanted.of_cards else f"nid:{','.join(map(str, self.notes))}"
        )
        results = client.multi(*actions, window.REDRAW, *self._counting(ids))
        refused = next((result for result in results[: len(actions)] if isinstance(result, Refused)), None)
        counted = results[len(actions) + 1 :]
        after = self._counted([found if isinstance(found, list) else [] for found in counted])
        if refused:
            raise _stopped(refused, self.before, after)
        return {"changed": count, "of": self.of, "before": self.before, "after": after}

    def _record(self, count: int) -> None:
        """Put on record the tags and decks that will be overwritten. One request, if there are any."""
        infos, by_deck = client.results(
            ("notesInfo", {"notes": self.notes if self.wanted.of_notes else []}),
            ("getDecks", {"cards": self.cards if self.wanted.deck else []}),
        )
        kept = [
            Note(note, info.get("modelName") or "", "", tags=list(info.get("tags", [])))
            for note, info in notes.indexed(infos).items()
        ]
        if kept or by_deck:
            entries.write("change_cards", f"{count} {self.of} changed", Before(kept, by_deck or {}))


def _stopped(error: Refused, before: dict[str, int], after: dict[str, int]) -> ToolError:
    """One action was refused; the counts say what the others did."""
    error.data.update(before=before, after=after)
    if "unsupported action" in error.text:
        error.hint = "This AnkiConnect cannot do it: update the add-on in Anki (Tools, Add-ons, Check for Updates)."
    return error
