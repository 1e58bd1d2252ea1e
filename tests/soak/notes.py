"""The notes of one owner in Anki: what every one of them may be by now, and calls that are checked against that."""

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.soak.anki_process import DECKS
from tests.soak.record import Answer, Lost, Record, Request, expect

Flow = Iterator[Request]
State = tuple[str, frozenset[str], str] | None
"""Back, tags and deck of a note; None where there is none."""

MOST = 40
NOTHING_SENT = "ANKI_UNREACHABLE"


@dataclass
class Note:
    """`possible` holds every state the note may be in: one where all its calls were answered."""

    front: str
    possible: list[State]
    id: int | None = None
    key: str = ""
    key_sure: bool = False
    wanted: State = None
    answers: list[str] = field(default_factory=list)
    """What was said of it so far: status and code of each call."""

    @property
    def state(self) -> State:
        """The state of a note whose state is known."""
        return self.possible[0]

    @property
    def certain(self) -> bool:
        return len(self.possible) == 1


class Notes:
    """Notes that nobody else touches; a flow yields requests and is sent their answers."""

    def __init__(self, owner: str, chance: random.Random, record: Record):
        self.owner, self.chance, self.record = owner, chance, record
        self.notes: dict[str, Note] = {}
        self.made = 0

    def flow(self) -> Flow:
        if len(self._alive()) > MOST:
            return self.delete(10)
        if (unsure := self._unsure()) and self.chance.random() < 0.5:
            return self.repeat(unsure)
        flows = (self.add, self.add, self.update, self.update, self.delete, self.find, self.find, self.look)
        return self.chance.choice(flows)()

    def _alive(self) -> list[Note]:
        return [note for note in self.notes.values() if note.certain and note.state and note.id]

    def _unsure(self) -> list[Note]:
        return [note for note in self.notes.values() if not note.certain and None in note.possible and note.wanted]

    def _some(self, most: int) -> list[Note]:
        alive = self._alive()
        return self.chance.sample(alive, min(len(alive), self.chance.randint(1, most)))

    def _open(self, notes: int = 1) -> None:
        self.record.count(self.record.uncertain, ("anki", "left open"), notes)

    def _word(self) -> str:
        return f"{self.chance.getrandbits(48):012x}"

    def _state(self) -> State:
        return f"back {self._word()}", frozenset({self.owner}), self.chance.choice(DECKS)

    def add(self) -> Flow:
        """New notes, and sometimes among them what must be refused."""
        deck, new = self.chance.choice(DECKS), []
        for _ in range(self.chance.randint(1, 4)):
            self.made += 1
            back, tags, _ = self._state()
            note = Note(f"{self.owner} {self.made} {self._word()}", [None], wanted=(back, tags, deck))
            note.key = str(uuid.UUID(int=self.chance.getrandbits(128))) if self.chance.random() < 0.5 else ""
            new.append(note)
        self.notes |= {note.front: note for note in new}
        yield from self._send(new, deck, self._traps())

    def _traps(self) -> list[tuple[dict[str, Any], str, int | None]]:
        """Notes that must not be added, with the status and, for a used key, the note that the answer must name."""
        alive = self._alive()
        keyed = [note for note in alive if note.key_sure]
        tags = {"tags": [self.owner]}
        traps = [({"fields": {"Front": "", "Back": "x"}, **tags}, "error", None)]
        if alive:
            fields = {"Front": self.chance.choice(alive).front, "Back": "twice"}
            traps.append(({"fields": fields, **tags}, "duplicate", None))
        if keyed:
            used = self.chance.choice(keyed)
            fields = {"Front": f"{self.owner} never {self._word()}", "Back": "never"}
            traps.append(({"fields": fields, **tags, "dedup_key": used.key}, "duplicate", used.id))
        return [trap for trap in traps if self.chance.random() < 0.3]

    def repeat(self, unsure: list[Note]) -> Flow:
        """Send notes again that may be there or not; afterwards each is there once."""
        deck = unsure[0].wanted[2]
        yield from self._send([note for note in unsure if note.wanted[2] == deck][:4], deck, [])

    def _send(self, new: list[Note], deck: str, traps: list) -> Flow:
        before = {note.front: note.possible for note in new}
        for note in new:
            note.possible = _either(note.possible, [note.wanted])
        inputs = [
            {"fields": {"Front": note.front, "Back": note.wanted[0]}, "tags": sorted(note.wanted[1])}
            | ({"dedup_key": note.key} if note.key else {})
            for note in new
        ]
        request = Request("anki_add_notes", {"notes": [*inputs, *(trap for trap, _, _ in traps)], "deck": deck})
        try:
            answer = yield request
        except Lost:
            self._open(sum(states == [None] for states in before.values()))
            raise
        details = answer.value.get("details", [{"status": "not_sent"}] * len(request.arguments["notes"]))
        expect(len(details) == len(request.arguments["notes"]), f"not a detail for each note: {answer.value}")
        for note, detail in zip(new, details, strict=False):
            self._added(note, detail, before[note.front], answer)
        for (_, status, note_id), detail in zip(traps, details[len(new) :], strict=True):
            got = detail["status"]
            expect(got == status or (answer.code and got in ("not_sent", "unknown")), f"not refused: {detail}")
            expect(note_id is None or got != "duplicate" or detail["noteId"] == note_id, f"another note: {detail}")

    def _added(self, note: Note, detail: dict[str, Any], before: list[State], answer: Answer) -> None:
        status = detail["status"]
        note.answers.append(f"add {status} {answer.code}")
        if status == "ok":
            expect(before != [note.wanted], f"added twice: {detail}")
            note.possible, note.id, note.key_sure = [note.wanted], detail["noteId"], bool(note.key) and not answer.code
            if before != [None]:
                self.record.count(self.record.uncertain, ("anki", "not done"))
        elif status == "duplicate" and before != [None]:
            note.possible, note.id = [note.wanted], detail.get("noteId")
            self.record.count(self.record.uncertain, ("anki", "done"))
        elif status == "not_sent" and answer.code:
            note.possible = before
        else:
            expect(status == "unknown" and answer.code, f"a new note got {detail}")
            self._open(before == [None])

    def update(self) -> Flow:
        """Another back, and maybe another tag and another deck."""
        chosen = self._some(3)
        if not chosen:
            return
        before = {note.front: note.possible for note in chosen}
        for note in chosen:
            note.possible = self._steps(note)
        try:
            answer = yield Request("anki_update_notes", {"notes": [_update(note) for note in chosen]})
        except Lost:
            self._open(len(chosen))
            raise
        details = answer.value.get("details", [{"status": "not_sent"}] * len(chosen))
        for note, detail in zip(chosen, details, strict=True):
            note.answers.append(f"update {detail['status']} {answer.code}")
            if detail["status"] == "ok":
                note.possible = note.possible[-1:]
            elif detail["status"] == "not_sent" and answer.code:
                note.possible = before[note.front]
            else:
                expect(detail["status"] == "unknown" and answer.code, f"an update got {detail}")
                self._open()

    def _steps(self, note: Note) -> list[State]:
        """The states that an update goes through, one change after the other."""
        _, tags, deck = note.state
        states = [note.state, (f"back {self._word()}", tags, deck)]
        if self.chance.random() < 0.4:
            extra = {tag for tag in tags if tag != self.owner}
            states.append((states[-1][0], tags | {f"t{self._word()}"}, deck))
            if extra:
                states.append((states[-1][0], states[-1][1] - extra, deck))
        if self.chance.random() < 0.3:
            states.append((*states[-1][:2], self.chance.choice(DECKS)))
        return states

    def delete(self, most: int = 2) -> Flow:
        chosen = self._some(most)
        if not chosen:
            return
        for note in chosen:
            note.possible, note.wanted = [*note.possible, None], None
        try:
            answer = yield Request("anki_delete_notes", {"noteIds": [note.id for note in chosen]})
        except Lost:
            self._open(len(chosen))
            raise
        for note in chosen:
            note.answers.append(f"delete {answer.code}")
        if answer.code == NOTHING_SENT:
            for note in chosen:
                note.possible = note.possible[:1]
        elif answer.code:
            self._open(len(chosen))
        else:
            expect(answer.value == {"deleted": len(chosen), "missing": 0}, f"deleted {answer.value} of {len(chosen)}")
            for note in chosen:
                note.possible = [None]

    def look(self) -> Flow:
        """One note by its id, beside one that is not."""
        chosen = self._some(1)
        ids = [note.id for note in chosen] + [1]
        answer = yield Request("anki_note_info", {"noteIds": ids})
        if not answer.code:
            *infos, none = answer.value["notes"]
            expect(none is None, f"a note that never was: {none}")
            expect(
                [info and _seen(info) for info in infos] == [note.state for note in chosen], f"{infos}, not {chosen}"
            )

    def find(self) -> Flow:
        """Every note of the owner; what was open is settled by that."""
        answer = yield Request("anki_find_notes", {"query": f"tag:{self.owner}"})
        if not answer.code:
            self.compare(answer.value["notes"])

    def compare(self, infos: list[dict[str, Any]]) -> None:
        """The notes that are there are those that must be, each once and whole."""
        present = {info["fields"]["Front"]: info for info in infos}
        expect(
            len(present) == len(infos), f"a note is there twice: {sorted(info['fields']['Front'] for info in infos)}"
        )
        if strange := present.keys() - self.notes.keys():
            expect(False, f"notes that were refused or never sent: {strange}")
        for front, note in self.notes.items():
            state = _seen(present[front]) if front in present else None
            if state not in note.possible:
                self.record.lost(f"{front}: {state}, not {note.possible} after {note.answers}")
            elif not note.certain:
                fate = {note.possible[0]: "not done", note.possible[-1]: "done"}.get(state, "done in part")
                self.record.count(self.record.uncertain, ("anki", fate))
            note.possible, note.id = [state], present[front]["noteId"] if state else None
        self.notes = {front: note for front, note in self.notes.items() if note.state}
        self.record.count(self.record.checks, "lists of an owner's notes")


def _either(some: list[State], more: list[State]) -> list[State]:
    return list(dict.fromkeys([*some, *more]))


def _update(note: Note) -> dict[str, Any]:
    """The update that leads from the first possible state to the last."""
    (_, tags, _), (back, wanted, deck) = note.possible[0], note.possible[-1]
    changes = {"fields": {"Back": back}, "addTags": sorted(wanted - tags), "removeTags": sorted(tags - wanted)}
    return {"noteId": note.id, **changes, "deckName": deck}


def _seen(info: dict[str, Any]) -> State:
    return info["fields"]["Back"], frozenset(info["tags"]), info["deckName"]
