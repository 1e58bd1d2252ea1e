"""A word for a day in a date's place, an error of sqlite in words, XP that was spent before it was taken back."""

import sqlite3
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.onepercent.person import act, do, snapshot
from tools.onepercent import days
from tools.onepercent.database import faults
from tools.onepercent.snapshot import search


@pytest.mark.parametrize(
    ("word", "ahead"),
    [
        ("позавчера", -2), ("вчера", -1), ("сегодня", 0), ("завтра", 1), ("послезавтра", 2), ("yesterday", -1),
        ("today", 0), ("tomorrow", 1), ("среда", 7), ("четверг", 1), ("вторник", 6), ("wednesday", 7), ("thursday", 1),
    ],
)  # fmt: skip
def test_each_word_for_a_day_means_that_day(word: str, ahead: int):
    assert days.date_hint(word).endswith(f" {date(2026, 3, 18) + timedelta(days=ahead)}.")


@pytest.mark.parametrize(
    ("words", "message"),
    [("database is locked", "Another session"), ("database or disk is full", "The disk is full")],
)
def test_an_error_of_sqlite_is_known_by_its_words_where_python_gives_no_code(words: str, message: str):
    error = sqlite3.OperationalError(words)
    assert not hasattr(error, "sqlite_errorcode")
    assert faults.translated(error, Path("x")).message.startswith(message)


def test_a_goal_completed_again_brings_only_what_its_reopening_took():
    goal, habit = do(act("goal.create", title="Цель"), act("habit.create", name="Бег", xp_reward=50, xp_penalty=100))
    do(act("goal.complete", goal_id=goal))
    do(act("habit.mark_missed", habit_id=habit))
    assert snapshot("xp")["xp"]["balance"] == 50
    do(act("goal.reopen", goal_id=goal))
    assert snapshot("xp")["xp"]["balance"] == 0
    do(act("goal.complete", goal_id=goal))
    assert snapshot("xp")["xp"]["balance"] == 50


def test_a_quote_of_the_diary_says_where_it_was_cut_and_nowhere_else():
    whole = "бег" + "x" * (search.QUOTED - 3)
    assert search._around(whole, "бег") == whole
    assert search._around(whole + "y", "бег") == whole + "…"
    assert search._around("я " * search.QUOTED + "бег", "бег").startswith("…")
