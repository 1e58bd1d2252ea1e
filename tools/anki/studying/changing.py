"""Changing what a search finds: counted first, put on record, then done in parts that fit Anki's pace."""

from collections.abc import Sequence

from tools.anki import client, consent, decks, notes, window
from tools.anki.batches.parts import Parts
from tools.anki.client import Action
from tools.anki.journal import card_states, entries
from tools.anki.journal.entries import Before, CardStates, Note
from tools.anki.replies import Refused, Unanswered
from tools.anki.studying import changes
from tools.anki.studying.card_text import cut
from tools.anki.studying.changes import Wanted
from tools.anki.studying.rows import row
from tools.core import calls, locks
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject

EXAMPLES = 5
LONGEST_QUESTION = 60

TOGETHER = 0.02
"""What a card costs in an action that takes all of them, compared with an action of its own."""
ONE_BY_ONE = 0.2
"""What a note costs in replaceTags, which AnkiConnect carries out note by note."""
NOTES = 1000
"""Notes whose tags are read in one request."""

AGAIN = "Make the dry run again: it counts what there is now."


class Changing:
    """One change of what a search finds."""

    def __init__(self, wanted: Wanted, selection: str):
        self.wanted, self.selection = wanted, selection
        self.counters = changes.counters(wanted)
        self.of = "cards" if wanted.of_cards else "notes"
        self.done = 0

    def run(self, expected: int | None) -> JsonObject:
        self._look()
        if expected != self.count:
            raise ToolError(
                f"expected is {expected}, and there are {self.count} {self.of}. Nothing was changed",
                f"Look at the dry run; then send expected = {self.count} with dryRun false, if the person agrees.",
                code="EXPECTED_COUNT",
                count=self.count,
            )
        if not self.count:
            return {"changed": 0, "of": self.of}
        consent.check(f"change {self.count} {self.of}", self.count, expected)
        with locks.exclusive("anki"):
            return self._carry_out()

    def dry_run(self) -> JsonObject:
        """What it would change, with some examples."""
        self._look()
        counts = {"count": self.count, "of": self.of, "before": self.before}
        return {"dryRun": True, **counts, "examples": self._examples()}

    def _look(self) -> None:
        """What the search finds, and how much of it is changed already. One request."""
        deck_ids, self.cards, self.notes, *counted = client.results(
            ("deckNamesAndIds", {}),
            ("findCards", {"query": self.selection}),
            ("findNotes", {"query": self.selection}),
            *self._counting(self.selection),
        )
        if self.wanted.deck and self.wanted.deck not in deck_ids:  # changeDeck would make it
            raise decks.not_found([self.wanted.deck], deck_ids)
        self.changed_before: dict[str, list[int]] = dict(zip(self.counters, counted, strict=True))
        self.before = self._counts(counted)
        self.count = len(self.cards if self.wanted.of_cards else self.notes)

    def _counting(self, selection: str) -> list[Action]:
        action = "findCards" if self.wanted.of_cards else "findNotes"
        return [(action, {"query": f"{selection} {search}"}) for search in self.counters.values()]

    def _counts(self, ids: Sequence[object]) -> dict[str, int]:
        return {
            name: len(matches) for name, matches in zip(self.counters, ids, strict=True) if isinstance(matches, list)
        }

    def _examples(self) -> list[JsonObject]:
        infos = client.call("cardsInfo", cards=sorted(self.cards)[:EXAMPLES]) if self.cards else []
        rows = [row(info) for info in infos if info]
        return [
            {"cardId": card["cardId"], "deck": card["deck"], "question": cut(card["question"], LONGEST_QUESTION)}
            for card in rows
        ]

    def _carry_out(self) -> JsonObject:
        warnings = self._record()
        cards = self.cards if self.wanted.of_cards else []
        items = [*cards, *(self.notes if self.wanted.of_notes else [])]
        parts = Parts(range(len(items)), weigh=lambda index: self._weight(of_card=index < len(cards)))
        try:
            for part in parts:
                calls.checkpoint()
                split = sum(index < len(cards) for index in part)
                ids = [items[index] for index in part]
                after = self._send(ids[:split], ids[split:], last=not parts.left)
                self.done += len(part)
                calls.report(self.done, len(items), f"changing {self.of}")
        except ToolError as error:
            raise self._interrupted(error, len(items)) from error
        return {"changed": self.count, "of": self.of, "before": self.before, "after": after, **warnings}

    def _weight(self, *, of_card: bool) -> float:
        if of_card:
            return 1 if self.wanted.flag is not None else TOGETHER
        return ONE_BY_ONE if self.wanted.renameTag else TOGETHER

    def _send(self, cards: list[int], notes: list[int], *, last: bool) -> dict[str, int]:
        """One part; behind the last one, what is changed by then."""
        actions = [*changes.of_cards(self.wanted, cards), *changes.of_notes(self.wanted, notes)]
        end = [window.REDRAW, *self._counting(self._ids())] if last else []
        results = client.multi(*actions, *end)
        if refused := next((result for result in results[: len(actions)] if isinstance(result, Refused)), None):
            raise refused
        return self._counts(results[len(actions) + 1 :]) if last else {}

    def _ids(self) -> str:
        if self.wanted.of_cards:
            return card_states.search(self.cards)
        return f"nid:{','.join(map(str, self.notes))}"

    def _interrupted(self, error: ToolError, total: int) -> ToolError:
        """The error that ends the change, with what is known of the rest."""
        if isinstance(error, Refused):
            error.data["after"] = self._counts(client.multi(*self._counting(self._ids())))
            if "unsupported action" in error.text:
                error.hint = (
                    "This AnkiConnect cannot do it: update the add-on in Anki (Tools, Add-ons, Check for Updates)."
                )
        rest = "the part after them may be changed too" if isinstance(error, Unanswered) else "the rest is not"
        error.message += f". {self.done} of {total} are changed, {rest}"
        error.data["before"] = self.before
        error.hint += f" {AGAIN} anki_restore puts back."
        return error

    def _record(self) -> dict[str, list[str]]:
        """Put on record what will be overwritten; what cannot be put back is a warning."""
        wanted = self.wanted
        by_deck = client.call("getDecks", cards=self.cards) if wanted.deck else {}
        kept = CardStates()
        if wanted.due or wanted.forget:
            kept.schedules = card_states.schedules(self.cards)
        elif wanted.suspend or wanted.unsuspend:
            kept.suspended = self.changed_before["suspended"]
            kept.awake = sorted(set(self.cards) - set(kept.suspended))
        if wanted.flag is not None:
            kept.by_flag = card_states.flags(self.cards)
        before = Before(self._tags() if wanted.of_notes else [], by_deck or {}, kept)
        entries.write("change_cards", f"{self.count} {self.of} changed: {wanted.summary}", before)
        lost = len(self.cards) - len(kept.schedules) if wanted.due or wanted.forget else 0
        text = f"the schedule of {lost} cards cannot be put back: a filtered deck has borrowed them"
        return {"warnings": [text]} if lost else {}

    def _tags(self) -> list[Note]:
        infos: dict[int, notes.Info] = {}
        for start in range(0, len(self.notes), NOTES):
            infos |= notes.indexed(client.call("notesInfo", notes=self.notes[start : start + NOTES]))
        return [
            Note(note, info.get("modelName") or "", "", tags=list(info.get("tags", []))) for note, info in infos.items()
        ]
