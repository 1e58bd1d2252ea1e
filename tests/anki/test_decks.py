"""Renaming and deleting decks: cards, ids and scheduling survive, also a failure half-way."""

import pytest

from tests.anki.anki_helpers import add_notes, both_versions, snapshot

FAULTS = ("cut_before", "cut_after", "http_500", "refused", "entry:0:out of luck", "entry:2:out of luck")


@pytest.fixture
def tree(anki):
    """Three decks with two cards each, one of them reviewed, and a preset of their own."""
    for name in ("Old", "Old::Sub", "Old::Sub::Leaf", "Other"):
        add_notes(anki.collection, name, f"{name} 1", f"{name} 2")
    decks = anki.collection.decks
    preset = decks.add_config_returning_id("Mine")
    deck = decks.by_name("Old::Sub")
    decks.set_config_id_for_deck_dict(deck, preset)
    card = anki.collection.get_card(anki.collection.find_cards('"deck:Old::Sub"')[0])
    card.type, card.queue, card.ivl, card.due, card.reps, card.factor = 2, 2, 30, 400, 7, 2300
    anki.collection.update_card(card)
    return anki


def moved(decks, old, new):
    """A snapshot as it is to be after a rename."""
    return {
        new + name.removeprefix(old) if name == old or name.startswith(old + "::") else name: found
        for name, found in decks.items()
    }


def test_list_decks_answers_a_bare_list_of_ids_and_names(anki, call):
    deck_id = anki.collection.decks.id("Custom::Deck")

    assert call("anki.list_decks") == [
        {"id": anki.collection.decks.id("Custom"), "name": "Custom"},
        {"id": deck_id, "name": "Custom::Deck"},
        {"id": 1, "name": "Default"},
    ]


@both_versions
def test_rename_deck_keeps_cards_ids_scheduling_subdecks_and_presets(tree, call):
    before = snapshot(tree.collection)

    assert call("anki.rename_deck", oldName="Old", newName="New::Home") is None

    after = snapshot(tree.collection)
    assert after.pop("New") == ([], "Default")
    assert after == moved(before, "Old", "New::Home")


def test_rename_deck_goes_under_a_parent_however_that_is_written(tree, call):
    assert call("anki.rename_deck", oldName="Old", newName="OTHER::x::Old") is None

    assert "Other::x::Old::Sub::Leaf" in tree.collection.decks.all_names()
    assert len(tree.collection.find_cards("deck:Other")) == 8


@both_versions
def test_rename_deck_changes_only_the_case_of_a_name(tree, call):
    before = snapshot(tree.collection)

    assert call("anki.rename_deck", oldName="Old::Sub", newName="old::SUB") is None
    assert call("anki.rename_deck", oldName="Old", newName="oLD") is None

    assert snapshot(tree.collection) == moved(moved(before, "Old::Sub", "Old::SUB"), "Old", "oLD")


def test_rename_deck_leaves_a_longer_name_and_wildcards_alone(anki, call):
    for name in ("A_b", "Axb", "A_b*", 'A"q', "A\\n", "A_bc"):
        add_notes(anki.collection, name, name)
    before = snapshot(anki.collection)

    for old in ("A_b", 'A"q', "A\\n", "A_b*"):
        assert call("anki.rename_deck", oldName=old, newName=old + " new") is None
        before = moved(before, old, old + " new")

    assert snapshot(anki.collection) == before


@both_versions
def test_rename_deck_leaves_borrowed_cards_in_their_filtered_deck_and_gives_them_the_new_home(tree, call):
    cards = tree.collection.find_cards("deck:Old::Sub")
    borrowed = tree.collection.find_cards('"Front:Old::Sub 1"')[0]
    filtered = borrow(tree.collection, "Cram", '"Front:Old::Sub 1"')

    assert call("anki.rename_deck", oldName="Old", newName="New") is None

    assert tree.collection.get_card(borrowed).did == filtered
    assert sorted(tree.collection.find_cards("deck:New::Sub")) == sorted(cards)
    tree.collection.sched.empty_filtered_deck(filtered)
    assert tree.collection.get_card(borrowed).did == tree.collection.decks.id("New::Sub")


def test_rename_deck_takes_borrowed_cards_along_where_their_home_cannot_be_set(tree, call):
    borrowed = tree.collection.find_cards('"Old 1"')[0]
    borrow(tree.collection, "Cram", '"Old 1"')
    tree.addon.ABSENT = ("setSpecificValueOfCard",)

    assert call("anki.rename_deck", oldName="Old", newName="New") is None

    assert tree.collection.get_card(borrowed).did == tree.collection.decks.id("New")


def borrow(collection, name, query):
    """A filtered deck that has the cards of a query."""
    deck = collection.sched.get_or_create_filtered_deck(0)
    deck.name = name
    del deck.config.search_terms[1:]
    deck.config.search_terms[0].search = query
    deck.config.search_terms[0].limit = 100
    return collection.sched.add_or_update_filtered_deck(deck).id


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("Nope", "New", "DECK_NOT_FOUND"),
        ("old", "New", "DECK_NOT_FOUND"),
        ("Default", "Default", "DECK_EXISTS"),
        ("Old", "Other", "DECK_EXISTS"),
        ("Old", "other", "DECK_EXISTS"),
        ("Old", "Old", "DECK_EXISTS"),
        ("Default", "DEFAULT", "DECK_EXISTS"),
        ("old", "OLD", "DECK_NOT_FOUND"),
        ("Old", "Old::Below", "DECK_EXISTS"),
        ("Old", "  ", "INVALID_DECK_NAME"),
        ("Old", "A::", "INVALID_DECK_NAME"),
        ("Old", "::", "INVALID_DECK_NAME"),
        ("Old", "A\nB", "INVALID_DECK_NAME"),
    ],
)
def test_rename_deck_refuses_before_anything_moves(tree, call, old, new, code):
    before = snapshot(tree.collection)

    answer = call("anki.rename_deck", oldName=old, newName=new)

    assert answer["code"] == code
    assert answer["hint"]
    assert snapshot(tree.collection) == before


def test_rename_deck_refuses_a_filtered_subdeck(tree, call):
    borrow(tree.collection, "Old::Cram", "deck:Other")
    before = snapshot(tree.collection)

    assert call("anki.rename_deck", oldName="Old", newName="New")["code"] == "FILTERED_DECK"
    assert snapshot(tree.collection) == before


@both_versions
@pytest.mark.parametrize("default", ["Default", "По умолчанию"])
def test_rename_deck_of_the_default_deck_moves_its_cards_and_subdecks(tree, call, default):
    collection = tree.collection
    add_notes(collection, "Default", "d")
    add_notes(collection, "Default::Sub", "s")
    collection.decks.rename(collection.decks.get(1), default)
    before = snapshot(collection)

    assert call("anki.rename_deck", oldName="Default", newName="Inbox") is None

    after = snapshot(collection)
    assert after.pop(default) == ([], "Default")
    assert after == moved(before, default, "Inbox")
    assert call("anki.rename_deck", oldName="Default", newName="Inbox")["code"] == "DECK_EXISTS"


def test_the_default_deck_is_known_by_its_id_whatever_it_is_called(tree, call):
    collection = tree.collection
    default = collection.decks.get(1)
    collection.decks.rename(default, "По умолчанию")

    assert call("anki.delete_decks", decks=["По умолчанию"], cardsToo=True)["code"] == "DEFAULT_DECK"
    assert call("anki.delete_decks", decks=["Other"]) is None
    assert len(collection.find_cards("did:1")) == 2
    assert "Default" not in collection.decks.all_names()


def test_delete_decks_moves_the_cards_to_default_unless_told_otherwise(tree, call):
    cards = sorted(tree.collection.find_cards("deck:Old"))

    assert call("anki.delete_decks", decks=["Old"]) is None

    assert sorted(tree.collection.find_cards("did:1")) == cards
    assert tree.collection.decks.all_names() == ["Default", "Other"]


def test_delete_decks_deletes_the_cards_when_told_so(tree, call):
    assert call("anki.delete_decks", decks=["Old::Sub", "Other"], cardsToo=True) is None

    assert set(snapshot(tree.collection)) == {"Default", "Old"}
    assert tree.collection.card_count() == 2
    assert [one["params"]["cardsToo"] for one in sent(tree, "deleteDecks")] == [True]


def sent(anki, action):
    entries = [one for request in anki.requests for one in request.get("params", {}).get("actions", [request])]
    return [one for one in entries if one["action"] == action]


def test_delete_decks_sends_borrowed_cards_home_and_keeps_them(tree, call):
    borrow(tree.collection, "Old::Cram", "deck:Other or deck:Old::Sub::Leaf")
    cards = tree.collection.card_count()

    assert call("anki.delete_decks", decks=["Old"]) is None

    assert tree.collection.card_count() == cards
    assert len(tree.collection.find_cards("deck:Other")) == 2
    assert len(tree.collection.find_cards("did:1")) == 6


def test_delete_decks_keeps_cards_that_another_filtered_deck_has_borrowed(tree, call):
    borrow(tree.collection, "Cram", "deck:Old")

    assert call("anki.delete_decks", decks=["Old"]) is None

    assert len(tree.collection.find_cards("did:1")) == 6


@pytest.mark.parametrize("cards_too", [True, False])
def test_delete_decks_with_an_unknown_name_deletes_nothing(tree, call, cards_too):
    before = snapshot(tree.collection)

    answer = call("anki.delete_decks", decks=["Other", "old", "Nope"], cardsToo=cards_too)

    assert answer["code"] == "DECK_NOT_FOUND"
    assert "'Nope'" in answer["error"]
    assert "'Old'" in answer["hint"]
    assert snapshot(tree.collection) == before


def finish(anki, call, name, arguments, number, fault):
    """Make the call with one request failing, then again; returns the first answer and whether the fault came."""
    start = len(anki.requests)
    anki.faults = {start + number: fault}
    first = call(name, **arguments)
    reached = len(anki.requests) > start + number
    anki.faults = {}
    if first is not None:
        assert call(name, **arguments) is None, first
    return first, reached


CALLS = [
    ("anki.rename_deck", {"oldName": "Default", "newName": "Inbox"}),
    ("anki.rename_deck", {"oldName": "Old", "newName": "New"}),
    ("anki.rename_deck", {"oldName": "Old", "newName": "OLD"}),
    ("anki.delete_decks", {"decks": ["Old", "Other"]}),
    ("anki.delete_decks", {"decks": ["Old", "Other"], "cardsToo": True}),
]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_a_second_run_finishes_whichever_request_failed(collection_in, env, call, tmp_path, name, arguments, fault):
    wanted, requests = run_on_a_tree(collection_in(tmp_path / "right"), env, call, name, arguments, 99, fault)
    for number in range(requests):
        collection = collection_in(tmp_path / str(number))
        got, _ = run_on_a_tree(collection, env, call, name, arguments, number, fault)

        assert got == wanted, f"after {fault} of request {number}"


def run_on_a_tree(collection, env, call, name, arguments, number, fault):
    from tests.anki.anki_standin import StandIn

    for deck in ("Old", "Old::Sub", "Other", "Default", "Default::Sub"):
        add_notes(collection, deck, f"{deck} 1", f"{deck} 2")
    anki = StandIn(collection)
    env(ANKI_CONNECT_URL=anki.url)
    try:
        first, reached = finish(anki, call, name, arguments, number, fault)
        if reached and not fault.startswith("entry"):
            assert first["success"] is False
            assert first["hint"]
        return {deck: [card["front"] for card in cards] for deck, (cards, _) in snapshot(collection).items()}, len(
            anki.requests
        )
    finally:
        anki.close()


@pytest.mark.parametrize(("name", "arguments"), CALLS[1:4])
def test_no_deck_is_deleted_before_its_cards_are_seen_elsewhere(tree, call, name, arguments):
    before = snapshot(tree.collection)
    tree.addon.changeDeck = lambda cards, deck: None

    answer = call(name, **arguments)

    assert answer["code"] == "DECK_NOT_EMPTY"
    assert "deleteDecks" not in tree.actions()
    assert {name: cards for name, cards in snapshot(tree.collection).items() if cards[0]} == {
        name: cards for name, cards in before.items() if cards[0]
    }


def test_a_deck_made_by_another_hand_since_a_failed_rename_is_not_merged_into(tree, call):
    tree.faults = {2: "cut_before"}
    broken = call("anki.rename_deck", oldName="Old", newName="New")
    add_notes(tree.collection, "New", "not ours")
    before = snapshot(tree.collection)

    answer = call("anki.rename_deck", oldName="Old", newName="New")

    assert "No card was moved" in broken["error"]
    assert answer["code"] == "DECK_EXISTS"
    assert snapshot(tree.collection) == before


def test_a_rename_finished_by_hand_can_be_done_again_later(tree, call):
    tree.faults = {2: "cut_after"}
    call("anki.rename_deck", oldName="Old", newName="New")
    call("anki.delete_decks", decks=["New"], cardsToo=True)

    assert call("anki.rename_deck", oldName="Old", newName="New") is None
    assert len(tree.collection.find_cards("deck:New")) == 6


def test_a_parent_is_no_near_miss_for_a_deletion(tree, call):
    answer = call("anki.delete_decks", decks=["Other::Temp"], cardsToo=True)

    assert answer["code"] == "DECK_NOT_FOUND"
    assert "'Other'" not in answer["hint"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("anki.delete_decks", {"decks": ["Old"], "cardsToo": True}),
        ("anki.rename_deck", {"oldName": "Old", "newName": "New"}),
    ],
)
def test_the_window_is_drawn_anew_after_decks_were_deleted(tree, call, name, arguments):
    assert call(name, **arguments) is None

    actions = tree.actions()
    assert actions[actions.index("deleteDecks") + 1] == "addTags"
    assert sent(tree, "addTags")[-1]["params"] == {"notes": [], "tags": ""}
