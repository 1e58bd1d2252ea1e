"""A word for a day in a date's place, an error of sqlite in words, a quote of the diary."""

import sqlite3
from datetime import date, timedelta
from pathlib import Path

import pytest

from tools.onepercent import days
from tools.onepercent.database import store
from tools.onepercent.snapshot import word_search


def test_each_word_for_a_day_means_that_day():
    for word, ahead in (("позавчера", -2), ("сегодня", 0), ("завтра", 1), ("среда", 7), ("четверг", 1), ("tuesday", 6)):
        assert days.date_hint(word).endswith(f" {date(2026, 3, 18) + timedelta(days=ahead)}.")


@pytest.mark.parametrize(
    ("words", "message"), [("database is locked", "Another session"), ("database or disk is full", "The disk is full")]
)
def test_an_error_of_sqlite_is_known_by_its_words_where_python_gives_no_code(words: str, message: str):
    error = sqlite3.OperationalError(words)
    assert not hasattr(error, "sqlite_errorcode")
    assert store.translated(error, Path("x")).message.startswith(message)


def test_a_quote_of_the_diary_says_where_it_was_cut_and_nowhere_else():
    whole = "бег" + "x" * (word_search.QUOTED - 3)
    assert word_search._around(whole, ["бег"]) == whole
    assert word_search._around(whole + "y", ["бег"]) == whole + "…"
    assert word_search._around("я " * word_search.QUOTED + "бег", ["бег"]).startswith("…")
