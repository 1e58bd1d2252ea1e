"""The notes of one owner in Anki: which must be there, which may be, and calls that are checked against
that."""

import uuid
from dataclasses import dataclass

from tests.lab.soak.anki_process import DECKS
from tests.lab.soak.record import expect

MOST = 40


@dataclass
class Note:
    """`state` is "there", or of a note whose last call was not answered "maybe" (being added) or
    "leaving"."""

    front: str
    deck: str
    key: str
    state: str = "maybe"
    id: int | None = None

    def input(self, owner):
        note = {"fields": {"Front": self.front, "Back": f"back of {self.front}"}, "tags": [owner]}
        return note | ({"dedup_key": self.key} if self.key else {})


class Notes:
    """Notes that nobody else touches; a flow calls tools by `ask`."""

    def __init__(self, owner, chance):
        self.owner = owner
        self.chance = chance
        self.notes = {}
        self.made = 0

    def flow(self, ask):
        unsure = self._in("maybe")
        if len(self._in("there")) > MOST:
            self.delete(ask, 10)
        elif unsure and self.chance.random() < 0.5:
            self.send(ask, [note for note in unsure if note.deck == unsure[0].deck][:4])
        else:
            self.chance.choice((self.add, self.add, self.delete, self.find, self.find))(ask)

    def _in(self, state):
        return [note for note in self.notes.values() if note.state == state]

    def add(self, ask):
        """Add new notes."""
        deck = self.chance.choice(DECKS)
        new = []
        for _ in range(self.chance.randint(1, 4)):
            self.made += 1
            key = self.chance.choice(("", str(uuid.UUID(int=self.chance.getrandbits(128)))))
            new.append(Note(f"{self.owner} {self.made}", deck, key))
        self.send(ask, new)

    def send(self, ask, notes):
        """Send notes that are new, or may be there already; afterwards each is there once."""
        repeated = {note.front for note in notes} & self.notes.keys()
        self.notes |= {note.front: note for note in notes}
        inputs = [note.input(self.owner) for note in notes]
        answer = ask("anki_add_notes", notes=inputs, deck=notes[0].deck)
        details = answer.value.get("details", [{"status": "not_sent"}] * len(notes))
        for note, detail in zip(notes, details, strict=True):
            status = detail["status"]
            again = note.front in repeated
            if status == "ok" or (status == "duplicate" and again):
                note.state = "there"
                note.id = detail.get("noteId")
            elif status == "not_sent" and answer.code:
                if not again:
                    del self.notes[note.front]
            else:
                expect(status == "unknown" and answer.code, f"a note got {detail}")

    def delete(self, ask, most=2):
        present = [note for note in self._in("there") if note.id]
        chosen = self.chance.sample(present, min(len(present), self.chance.randint(1, most)))
        if not chosen:
            return
        for note in chosen:
            note.state = "leaving"
        answer = ask("anki_delete_notes", noteIds=[note.id for note in chosen])
        if answer.code == "ANKI_UNREACHABLE":  # nothing was sent
            for note in chosen:
                note.state = "there"
        elif not answer.code:
            expected = {"deleted": len(chosen), "missing": 0}
            expect(answer.value == expected, f"{answer.value}, not {expected}")
            for note in chosen:
                del self.notes[note.front]

    def find(self, ask):
        """Find every note of the owner, each once and whole, and settle by that what was open."""
        answer = ask("anki_find_notes", query=f"tag:{self.owner}", limit=1000)
        if answer.code:
            return
        present = {note_data["fields"]["Front"]: note_data for note_data in answer.value["notes"]}
        is_whole = len(present) == answer.value["total"]
        expect(is_whole, f"a note is there twice, or left out: {sorted(present)}")
        never_sent = present.keys() - self.notes.keys()
        expect(not never_sent, f"notes never sent: {never_sent}")
        lost = {note.front for note in self._in("there")} - present.keys()
        self.notes = {front: note for front, note in self.notes.items() if front in present}
        for front, note_data in present.items():
            note = self.notes[front]
            content = (note_data["fields"]["Back"], note_data["deckName"])
            expect(content == (f"back of {front}", note.deck), f"{front} is {content}")
            note.state = "there"
            note.id = note_data["noteId"]
        expect(not lost, f"lost writes: {lost}")
