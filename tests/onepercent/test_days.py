"""Days: zones, daylight saving, midnight between preview and apply, words for a day."""

from operator import itemgetter

import pytest

from tests.onepercent.person import (
    act,
    apply,
    do,
    first_habit,
    items,
    mark,
    miss,
    new_entry,
    new_habit,
    preview,
    snapshot,
    use,
)
from tests.support.client import cases
from tools.core import settings
from tools.onepercent.base import days
from tools.onepercent.database import store
from tools.onepercent.settings import OnePercentSettings

# Berlin springs forward on 29 March 2026; in Santiago midnight itself is skipped or comes twice.
LOCAL_DATES = """
Europe/Berlin | 2026-03-28T22:59:59+00:00 | 2026-03-28
Europe/Berlin | 2026-03-28T23:00:00+00:00 | 2026-03-29
America/Santiago | 2026-09-06T03:59:59+00:00 | 2026-09-05
America/Santiago | 2026-09-06T04:00:00+00:00 | 2026-09-06
Asia/Kathmandu | 2026-03-18T18:15:00+00:00 | 2026-03-19
"""


@pytest.mark.parametrize("zone, moment, day", cases(LOCAL_DATES))
def test_today_is_the_persons_local_date(file, clock, zone, moment, day):
    use(file, ONEPERCENT_TZ=zone)
    clock.set(moment)
    do(new_entry(plans="план"))
    assert items("diary")[0]["date"] == day


def test_the_persons_own_zone_and_hour_decide_which_day_it_is(clock):
    clock.set("2026-03-18T18:00:00+00:00")
    assert f"{store.persons_today()}" == "2026-03-18"
    do(act("person.update", time_zone="Asia/Tokyo"))
    assert f"{store.persons_today()}" == "2026-03-19"
    do(act("person.update", day_start_hour=4))
    assert f"{store.persons_today()}" == "2026-03-18"


def test_a_zone_that_is_none_is_an_error_that_names_the_variable():
    for name in ("Mars/Olympus", "../../etc/passwd"):
        with pytest.raises(settings.SettingsError, match="ONEPERCENT_TZ"):
            OnePercentSettings({"ONEPERCENT_TZ": name})


def test_midnight_between_preview_and_apply_changes_no_date(clock):
    do(new_habit("Бег"))
    clock.set("2026-03-18T23:58:00+00:00")
    previewed = preview(mark(1), mark(1, date="2026-03-11"), new_entry(plans="план"))
    assert previewed["diff"]["completions"][0]["date"] == "2026-03-18"
    clock.set("2026-03-19T00:01:00+00:00")
    assert apply(previewed)["success"]
    data = snapshot("habits", "diary", date_from="2026-03-01", date_to="2026-03-31")
    assert data["diary"]["items"][0]["date"] == "2026-03-18"
    assert data["habits"]["items"][0]["today_status"] == "pending"
    assert data["habits"]["items"][0]["current_streak"] == 1


def test_a_clock_that_was_ahead_does_not_spoil_streaks(clock):
    def marked(*dates):
        do(mark(1, dates=list(dates)))
        return itemgetter("current_streak", "best_streak", "today_status")(first_habit())

    do(new_habit("Бег"))
    marked("2026-03-17", "2026-03-18")
    clock.set("2031-01-01T12:00:00+00:00")
    marked("2031-01-01")
    clock.set("2026-03-18T13:00:00+00:00")
    assert marked("2026-03-16") == (3, 3, "completed")


def test_the_weekly_rate_leaves_out_what_was_not_due():
    do(new_habit("Бег"))
    for marked, rate in (
        (mark(1), 100),
        (mark(1, date="2026-03-15"), 50),
        (miss(1, date="2026-03-16", excuse_reason="болезнь"), 67),
    ):
        do(marked)
        assert snapshot("habits")["habits"]["weekly_completion_rate"] == rate


WORDS = """
позавчера | 2026-03-16
вчера | 2026-03-17
сегодня | 2026-03-18
завтра | 2026-03-19
послезавтра | 2026-03-20
yesterday | 2026-03-17
today | 2026-03-18
tomorrow | 2026-03-19
среда | 2026-03-25
четверг | 2026-03-19
tuesday | 2026-03-24
"""


def test_each_word_for_a_day_means_that_day():
    for word, day in cases(WORDS):
        assert days.date_hint(word).endswith(f" {day}.")
