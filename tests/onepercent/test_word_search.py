"""Search by words: the stems that are found, and the order of the matches."""

import json

import pytest

from tests.onepercent.person import act, call, do, new_entry, new_goal, new_habit, new_step


@pytest.mark.parametrize(
    "query, titles",
    [
        ("бег", ["Бегать по утрам", "Купить билеты: бег на 5 км"]),
        ("БЕГОМ", ["Бегать по утрам", "Купить билеты: бег на 5 км"]),
        ("елка", ["Нарядить ёлку"]),
        ("books", ["Read a book"]),
        ("купить бег", ["Купить билеты: бег на 5 км"]),
        # Nothing has all of these words; a preposition counts only alone.
        ("катался на ёлках", ["Нарядить ёлку"]),
        ("на", ["Купить билеты: бег на 5 км", "Нарядить ёлку"]),
        ("наряды из книг, Аня", ["День рождения: Аня", "Нарядить ёлку"]),
        ("собака !", []),
        ("!", []),
        ("егать", []),
        ("звонить маме", ["Позвонить маме"]),
        ("Anya", ["День рождения: Аня"]),
        ("Иван", ["Ask Ivan"]),
        ("'; DROP", []),
    ],
)
def test_things_are_found_by_the_stems_of_words(query, titles):
    steps = [
        "Купить билеты: бег на 5 км",
        "Нарядить ёлку",
        "Read a book",
        "Позвонить маме",
        "День рождения: Аня",
        "Ask Ivan",
    ]
    do(new_goal("Разное", steps=steps), new_habit("Бегать по утрам"))
    answer = call("get_user_snapshot", find=query)
    assert "data" not in answer
    matches = answer["found"]["items"]
    assert sorted(match.get("title") or match.get("name") for match in matches) == titles
    for match in matches:
        assert len(json.dumps(match, ensure_ascii=False)) < 240


def test_what_is_open_is_found_first_newest_entries_next_and_beyond_twenty_a_count():
    steps = [new_step(f"Бег {number}") for number in range(1, 18)]
    do(new_goal("Цель"), *steps)
    entries = [new_entry(plans=text) for text in ("бег " + "я " * 999, "я " * 999 + "бег")]
    do(act("step.complete", step_ids=[1, 2, 3]), *entries)
    matches = call("get_user_snapshot", find="бег")["found"]
    ids = [match["id"] for match in matches["items"]]
    assert ids == [*range(4, 18), 2, 1, 1, 2, 3] and "more" not in matches
    end, beginning = map(str, matches["items"][14:16])
    assert "'…" in end and "…'" in beginning
    do(new_goal("Ещё"), *steps)
    matches = call("get_user_snapshot", find="бег")["found"]
    assert (len(matches["items"]), matches["more"]) == (20, 16)
