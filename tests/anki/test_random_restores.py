"""Random changes of a random collection, each put back: it is what it was."""

import os
from random import Random

import pytest

from tests.anki.anki_helpers import (
    answer_each,
    both_versions,
    call,
    content,
    entries,
    random_collection,
    restore,
)
from tests.support.client import json_lines

LIVES = int(os.environ.get("RANDOM_LIVES", "2"))
QUERIES = ["deck:Geo", "deck:Other", "is:due", "tag:t", "is:suspended", "is:buried", "deck:*"]
CHANGES = json_lines("""
["anki.change_cards", {"suspend": true}]
["anki.change_cards", {"unsuspend": true}]
["anki.change_cards", {"flag": 0}]
["anki.change_cards", {"flag": 3}]
["anki.change_cards", {"deck": "oTHER"}]
["anki.change_cards", {"forget": true}]
["anki.change_cards", {"due": "3-7"}]
["anki.change_cards", {"due": "4!"}]
["anki.change_cards", {"addTags": ["x", "t"]}]
["anki.change_cards", {"removeTags": ["Ё"]}]
["anki.change_cards", {"renameTag": ["t", "renamed"]}]
["anki.change_cards", {"forget": true, "suspend": true, "flag": 4, "deck": "New"}]
["anki.update_notes", {"replace": {"*": ["answer", "Antwort"]}}]
["anki.delete_decks", {"decks": ["Geo"], "cardsToo": true}]
["anki.delete_decks", {"decks": ["Other"], "cardsToo": false}]
""")


@both_versions
@pytest.mark.parametrize("seed", range(LIVES))
def test_what_was_changed_is_put_back(anki, collection, seed):
    random = Random(seed)
    # Every third one has a filtered deck, whose cards' schedule is out of reach.
    random_collection(collection, 3 * seed + 1)
    collection.set_config("fsrs", seed % 2 == 1)
    new = collection.find_cards("is:new -is:suspended")
    answer_each([(card, random.randint(1, 4)) for card in new[::4]])
    collection.tags.bulk_add(collection.find_notes("")[::2], "t Ё")
    collection.sched.bury_cards(collection.find_cards("")[::7])
    collection.set_user_flag_for_cards(2, collection.find_cards("")[::3])
    earlier_entries = entries()
    for tool, change in random.sample(CHANGES, len(CHANGES)):
        before = content(collection)
        more = change if "decks" in change else {"query": random.choice(QUERIES), **change}
        dry = call(tool, **more, dryRun=True)
        call(tool, **more, dryRun=False, expected=dry.get("count", dry.get("cards")))
        newest_entries = entries()
        if newest_entries != earlier_entries:
            assert "failed" not in restore(newest_entries[0][0])
        earlier_entries = newest_entries
        assert content(collection) == before, more
