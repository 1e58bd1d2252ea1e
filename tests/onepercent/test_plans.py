"""Plans in few words: steps with their goal, shifted, done yesterday, errands; goals with an end and an
archive."""

import pytest

from tests.onepercent.person import (
    accepted,
    act,
    balance,
    call,
    complete,
    do,
    errand,
    first_goal,
    history,
    items,
    mark,
    new_entry,
    new_goal,
    new_habit,
    preview,
    refused,
    said,
    schedule,
    snapshot,
    use,
)

STEPS = [
    {"title": "Раз", "dt": "2026-03-20"},
    {"title": "Два", "dt": "2026-03-16", "time_duration": "one"},
    "Три",
]


@pytest.mark.parametrize(
    "action, code, field",
    [
        (new_goal("x", steps=[{"dt": "2026-03-20"}]), "FIELD_REQUIRED", "steps[0].title"),
        (new_goal("x", steps=[{"title": "Раз", "when": "завтра"}]), "FIELD_UNKNOWN", "when"),
        (new_goal("x", steps=[{"title": "Раз", "dt": "завтра"}]), "INVALID_DATE", "steps[0].dt"),
        (new_goal("x", steps=["Раз"] * 51), "FIELD_INVALID", "steps"),
        (act("goal.update", 1, append={"why_important": "я" * 2_001}), "FIELD_TOO_LONG", "append.why_important"),
        (act("goal.update", 1, append={"why_important": " "}), "NOTHING_TO_UPDATE", None),
        (act("goal.update", 1, before=1), "FIELD_INVALID", "before"),
        (act("step.create", goal_id=1, title="x", steps=["y"]), "FIELD_INVALID", "steps"),
        (act("step.shift", days=0, goal_id=1), "NOTHING_TO_UPDATE", None),
        (act("step.shift", days=7), "FIELD_REQUIRED", "goal_id"),
        (act("step.shift", days=7, goal_id=1, overdue=True), "FIELD_INVALID", "goal_id"),
        (act("step.shift", days=7, step_ids=[99]), "STEP_NOT_FOUND", None),
        (act("step.shift", days=7, step_ids=[]), "FIELD_INVALID", "step_ids"),
        (act("step.shift", days=7, goal_id=2), "INVALID_DATE", None),
        (complete(3, date="2026-03-19"), "INVALID_DATE", "date"),
        (complete(3, date="2026-03-10"), "INVALID_DATE", "date"),
        (act("person.update"), "NOTHING_TO_UPDATE", None),
    ],
)  # fmt: skip
def test_a_plan_that_does_not_fit_names_what_does_not(action, code, field):
    late = new_goal("Когда-нибудь", steps=[{"title": "Поздно", "dt": "9999-12-30"}])
    do(new_goal("Цель", steps=STEPS), late)
    error = refused(action)
    assert (error["code"], error.get("field")) == (code, field)


def test_an_empty_list_of_steps_means_none():
    do(new_goal("Дом", steps=[]))
    assert snapshot("goals")["goals"]["items"][0]["done"] == "0/0"
    assert refused(act("step.create", goal_id=1, steps=[]))["error"] == "title is required"


def test_steps_are_shifted_by_goal_by_list_or_if_they_are_overdue():
    do(new_goal("Первая", steps=STEPS), new_goal("Вторая", steps=STEPS))
    assert "• 2 шага: на 3 дня вперёд; 16.03 → 19.03: «Два», «Два»" in accepted(
        act("step.shift", overdue=True, days=3)
    )
    do(
        act("step.shift", goal_id=1, days=-1, **{"from": "2026-03-20"}),
        act("step.shift", step_ids=[4], days=10),
        act("step.shift", goal_id=2, days=-1, to="2026-03-19"),
    )
    dates = {step["id"]: step.get("dt") for goal in items("goals") for step in goal["steps"]}
    second = {4: "2026-03-30", 5: "2026-03-18", 6: None}
    assert dates == {1: "2026-03-19", 2: "2026-03-19", 3: None, **second}


def test_a_step_done_yesterday_counts_yesterday():
    do(new_goal("Цель", steps=STEPS))
    do(act("step.complete", step_ids=[1, 2], date="2026-03-17"))
    [day] = history()["days"]
    assert (day["date"], day["xp"], day["steps"]) == ("2026-03-17", 50, ["Раз", "Два"])
    do(act("step.reopen", 1))
    assert history()["days"][0]["xp"] == 25
    assert "Step already completed: Два" in refused(act("step.complete", step_ids=[3, 2]))["error"]


def test_an_errand_needs_no_goal_of_its_own():
    errands = [errand(title) for title in ("Купить билет", "Ещё", "Позвонить")]
    assert "• «Входящие»: новый список для мелких дел" in accepted(*errands[:2])
    do(errands[2])
    (inbox,) = items("goals")
    assert (inbox["title"], len(inbox["steps"])) == ("Входящие", 3)


def test_a_text_is_appended_to_and_its_changed_place_is_shown():
    do(new_goal("Цель", why_important="Потому что важно. " * 20))
    previewed = preview(
        act("goal.update", 1, append={"why_important": "И радостно.", "why_give_me": "Силы"})
    )
    changes = previewed["diff"]["updates"][0]["changes"]
    assert changes["why_important"]["place"].endswith("[+ И радостно.]")
    assert changes["why_give_me"]["to"] == "Силы"
    do(new_entry(plans="x" * 9_999))
    assert "4999 знаков]" in said(act("diary.update_entry", 1, plans="x" * 5_000))


def test_the_only_entry_of_a_day_is_updated_by_its_date():
    do(new_entry(what_done="Отнёс коробки", date="2026-03-17"))
    do(act("diary.update_entry", date="2026-03-17", append={"what_done": "Две вернул"}))
    assert items("diary", date_from="2026-03-17")[0]["what_done"] == "Отнёс коробки\nДве вернул"
    do(new_entry(plans="x", date="2026-03-17"))
    error = refused(act("diary.update_entry", date="2026-03-17", plans="y"))
    assert (error["code"], error["hint"]) == ("FIELD_INVALID", "Send diary_id: 1, 2.")
    none = act("diary.update_entry", date="2026-03-10", plans="y")
    assert refused(none)["code"] == "DIARY_NOT_FOUND"
    assert refused(act("diary.update_entry", plans="y"))["error"] == "diary_id is required"


def test_an_archived_goal_is_out_of_sight_with_its_steps():
    do(new_goal("Испанский", steps=STEPS))
    do(act("goal.archive", 1))
    assert items("goals") == items("goals", goals_status="all") == schedule()["overdue"] == []
    assert items("goals", goals_status="archived")[0]["archived"] is True
    assert refused(act("goal.archive", 1))["code"] == "NOTHING_TO_UPDATE"
    assert refused(act("step.shift", overdue=True, days=1))["code"] == "STEP_NOT_FOUND"
    do(act("goal.unarchive", 1))
    assert len(first_goal()["steps"]) == 3 and balance() == 0


def test_the_day_is_the_persons_wherever_they_are_and_whenever_it_ends(file, clock):
    do(new_habit("Сон"), new_entry(plans="дома"))
    clock.set("2026-03-18T23:30:00+00:00")
    assert "часовой пояс: UTC → Asia/Vladivostok; начало дня: 0:00 → 3:00" in accepted(
        act("person.update", time_zone="Asia/Vladivostok", day_start_hour=3)
    )
    there = {"date": "2026-03-19", "weekday": "четверг", "tz": "Asia/Vladivostok"}
    assert call("get_user_snapshot")["today"] == there
    do(mark(1, date="2026-03-19"))
    clock.set("2026-03-19T16:59:00+00:00")
    assert call("get_user_snapshot")["today"]["date"] == "2026-03-19"  # 02:59 there
    clock.set("2026-03-19T17:00:00+00:00")
    assert call("get_user_snapshot")["today"]["date"] == "2026-03-20"
    assert [day["date"] for day in history()["days"]] == ["2026-03-18", "2026-03-19"]
    use(file, ONEPERCENT_USER="other")
    assert call("get_user_snapshot")["today"]["tz"] == "UTC"
