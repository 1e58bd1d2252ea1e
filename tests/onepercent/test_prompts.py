"""The prompts of a day and a week: the snapshots that they ask for are ones that the tool gives."""

import re

import pytest

from tests.onepercent.person import call, do, new_entry, new_goal
from tools.onepercent import prompts
from tools.onepercent.prompts import evening_review, morning_plan, weekly_review

SNAPSHOT = r"include ([a-z, ]+)[;,] date_from ([\d-]+)[;,] (?:date_to )?([\d-]+)"


@pytest.mark.parametrize("language", ["ru", "en"])
@pytest.mark.parametrize(
    "prompt, first, sections",
    [
        (morning_plan, "2026-03-17", {"goals", "habits", "schedule", "diary", "history"}),
        (evening_review, "2026-03-18", {"goals", "habits", "schedule", "diary", "history"}),
        (weekly_review, "2026-03-12", {"history"}),
    ],
)
def test_a_review_is_short_and_looks_back_with_the_history(prompt, first, sections, language):
    text = prompt(language=language)
    # In tokens: a quarter of the Latin characters, two fifths of the Cyrillic ones.
    cyrillic = len(re.findall("[а-яё]", text, re.I))
    assert (len(text) - cyrillic) / 4 + cyrillic / 2.5 <= 330
    text = re.sub("date_from (и|and) date_to", "date_from 2026-03-18; date_to", text)
    match = re.search(SNAPSHOT, text)
    assert match, text
    include = match[1].split(", ")
    assert (set(include), match[2], match[3]) == (sections, first, "2026-03-18")
    plans_ahead = prompt is weekly_review
    assert ("schedule, date_to 2026-03-25" in text) is plans_ahead
    do(new_goal("Цель"), new_entry(plans="x"))
    answer = call("get_user_snapshot", include=include, date_from=match[2], date_to=match[3])
    assert answer["data"]["history"]["total"]["diary"] == 1


def test_both_languages_of_a_prompt_have_the_same_steps():
    for texts in (prompts.MORNING_PLAN, prompts.EVENING_REVIEW, prompts.WEEKLY_REVIEW):
        russian, english = (re.findall(r"(?m)^\d\.", texts[language]) for language in ("ru", "en"))
        assert russian == english == ["1.", "2.", "3.", "4."]
