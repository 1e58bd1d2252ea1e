"""Random changes of a random collection, each put back: it is what it was."""

import os
from random import Random

import pytest

from tests.anki.anki_helpers import add_note, both_versions, call, content

LIVES = int(os.environ.get("RANDOM_LIVES", "2"))
DECKS = ["Geo", "Geo::Sub", "Verbs", "Ещё одна"]
MODELS = ["Basic", "Basic (and reversed card)", "Cloze"]
TEXTS = [
    "Paris",
    "а < б",
    "<b>x</b> y",
    "{{c1::Рим}} в {{c1::Италии}}",
    "a &amp; b",
    "שלום",
    "tabs\tand lines",
]
TAGS = ["t", "geo::eu", "leech", "Ё"]


class Person:
    def __init__(self, random, collection):
        self.random, self.collection = random, collection
        self.pick = random.choice
        collection.decks.rename(collection.decks.get(1), self.pick(["Default", "По умолчанию"]))
        for number in range(25):
            fields = f"{self.pick(TEXTS)} {number} {{{{c1::z}}}}", self.pick(TEXTS)
            note = add_note(collection, self.pick(DECKS), self.pick(MODELS), *fields)
            tags = random.sample(TAGS, random.randint(0, 2))
            collection.tags.bulk_add([note], " ".join(tags))
        for card in collection.find_cards(""):
            change = self.pick([
                self.study,
                lambda cards: collection.set_deck(cards, self.deck()),
                lambda cards: collection.sched.set_due_date(cards, self.pick(["0", "3!", "5"])),
                collection.sched.suspend_cards,
                collection.sched.bury_cards,
                lambda cards: collection.set_user_flag_for_cards(random.randint(1, 7), cards),
                len,
            ])  # fmt: skip
            change([card])

    def study(self, cards):
        card = self.collection.get_card(*cards)
        card.start_timer()
        self.collection.sched.answerCard(card, self.random.randint(1, 4))

    def deck(self):
        return self.collection.decks.id(self.pick(DECKS))

    def notes(self):
        there = list(self.collection.find_notes(""))
        return self.random.sample(there, min(len(there), self.random.randint(1, 5)))

    def dry_then_wet(self, tool, count, **arguments):
        counted = call(tool, **arguments, dryRun=True)
        return call(tool, **arguments, dryRun=False, expected=counted.get(count, 0))

    def update(self):
        changes = []
        for note in self.notes():
            name = self.pick(self.collection.get_note(note).keys())
            fields = {"fields": {name: f"new {self.pick(TEXTS)} {{{{c1::q}}}}"}}
            tags = {"addTags": [self.pick(TAGS), "new"], "removeTags": [self.pick(TAGS)]}
            changes.append(
                {
                    "noteId": note,
                    **self.pick([fields, tags, {**fields, **tags}, {"deckName": "New::Deck"}]),
                }
            )
        call("anki.update_notes", notes=changes)

    def replace(self):
        pair = self.pick([["a", "ä"], ["Paris", "Lyon"], [" ", "  "]])
        self.dry_then_wet("anki.update_notes", "count", query="deck:*", replace={"*": pair})

    def change(self):
        change = self.pick([
            {"suspend": True}, {"unsuspend": True}, {"flag": 0}, {"flag": 3}, {"deck": self.pick(DECKS)}, {"forget": True},
            {"due": "3-7"}, {"due": "4!"}, {"addTags": ["x", "t"]}, {"removeTags": [self.pick(TAGS)]},
            {"renameTag": [self.pick(TAGS), "renamed"]}, {"suspend": True, "flag": 2, "deck": "Verbs"},
        ])  # fmt: skip
        query = self.pick(["deck:Geo", "is:due", "tag:t", "is:suspended", "flag:1", "is:buried"])
        self.dry_then_wet(
            "anki.change_cards",
            "count",
            **self.pick([{"noteIds": self.notes()}, {"query": query}]),
            **change,
        )

    def delete(self):
        call("anki.delete_notes", noteIds=self.notes())

    def delete_deck(self):
        cards_too = self.pick([True, False])
        self.dry_then_wet(
            "anki.delete_decks", "cards", decks=[self.pick(DECKS)], cardsToo=cards_too
        )


@both_versions
@pytest.mark.parametrize("seed", range(LIVES))
def test_what_was_changed_is_put_back(anki, collection, seed):
    anna = Person(Random(seed), collection)
    entries = call("anki.restore")["entries"]
    for _ in range(12):
        before = content(collection)
        anna.pick(
            [anna.update, anna.replace, anna.change, anna.change, anna.delete, anna.delete_deck]
        )()
        former, entries = entries, call("anki.restore")["entries"]
        if entries != former:
            back = call("anki.restore", entry=entries[0][0])
            assert "failed" not in back
        assert content(collection) == before, entries[:1]
