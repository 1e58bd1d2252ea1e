"""Plans in few words: steps with their goal, shifted, done yesterday, errands; goals with an end and an archive."""

import tests.onepercent.person as person
from tests.onepercent.person import Clock, act, apply, call, do, items, preview, refused, snapshot

STEPS = [
    {"title": "Раз", "dt": "2026-03-20"},
    {"title": "Два", "dt": "2026-03-16", "time_duration": "one"},
    {"title": "Три"},
]


def test_a_goal_brings_its_steps():
    previewed = preview(act("goal.create", title="Марафон", due="2026-10-01", steps=STEPS))
    line = "Создать цель «Марафон», категория «Работа»: срок 01.10; 3 шага: «Раз» (20.03), «Два» (16.03, 1 ч), «Три»"
    assert f"• {line}" in previewed["message"]
    (result,) = apply(previewed)["results"]
    assert (result["created_id"], result["step_ids"]) == (1, [1, 2, 3])
    do(act("step.create", goal_id=1, steps=[{"title": "Четыре"}]))
    assert [step["title"] for step in items("goals")[0]["steps"]] == ["Два", "Раз", "Три", "Четыре"]


def test_a_plan_that_does_not_fit_names_what_does_not():
    for params, code, field in (
        ({"steps": []}, "FIELD_INVALID", "steps"), ({"steps": [{"dt": "2026-03-20"}]}, "FIELD_REQUIRED", "steps[0].title"),
        ({"steps": [{"title": "Раз", "when": "завтра"}]}, "FIELD_UNKNOWN", "when"),
        ({"steps": [{"title": "Раз", "dt": "завтра"}]}, "INVALID_DATE", "steps[0].dt"),
        ({"steps": [{"title": "Раз"}] * 51}, "FIELD_INVALID", "steps"), ({"due": "скоро"}, "INVALID_DATE", "due"),
    ):  # fmt: skip
        error = refused(act("goal.create", title="x", **params))
        assert (error["code"], error["field"]) == (code, field)


def test_steps_are_shifted_by_goal_by_list_or_if_they_are_overdue():
    do(act("goal.create", title="Первая", steps=STEPS), act("goal.create", title="Вторая", steps=STEPS))
    previewed = preview(act("step.shift", overdue=True, days=3))
    assert "• Перенести 2 шага на 3 дня вперёд: 16.03 → 19.03; «Два», «Два»" in previewed["message"]
    apply(previewed)
    do(act("step.shift", goal_id=1, days=-1, **{"from": "2026-03-20"}), act("step.shift", step_ids=[4], days=10))
    dates = {step["id"]: step.get("dt") for goal in items("goals") for step in goal["steps"]}
    assert dates == {1: "2026-03-19", 2: "2026-03-19", 3: None, 4: "2026-03-30", 5: "2026-03-19", 6: None}
    assert apply(call("undo_last"))["success"] and apply(call("undo_last"))["success"]
    assert {step["id"]: step.get("dt") for goal in items("goals") for step in goal["steps"]}[5] == "2026-03-16"


def test_a_shift_that_means_nothing_is_a_clear_error():
    do(act("goal.create", title="Цель", steps=STEPS))
    for params, code in (
        ({"days": 0, "goal_id": 1}, "NOTHING_TO_UPDATE"), ({"days": 9999, "goal_id": 1}, "FIELD_INVALID"),
        ({"days": 7}, "FIELD_REQUIRED"), ({"days": 7, "goal_id": 1, "overdue": True}, "FIELD_INVALID"),
        ({"days": 7, "step_ids": [99]}, "STEP_NOT_FOUND"), ({"days": 7, "goal_id": 1, "from": "2027-01-01"}, "STEP_NOT_FOUND"),
    ):  # fmt: skip
        assert refused(act("step.shift", **params))["code"] == code
    do(act("goal.create", title="Когда-нибудь", steps=[{"title": "Поздно", "dt": "9999-12-30"}]))
    assert refused(act("step.shift", goal_id=2, days=7))["code"] == "INVALID_DATE"


def test_a_step_done_yesterday_counts_yesterday():
    do(act("goal.create", title="Цель", steps=STEPS))
    do(act("step.complete", step_ids=[1, 2], date="2026-03-17"))
    days = snapshot("history")["history"]["days"]
    assert [(day["date"], day["xp"], day["steps"]) for day in days] == [("2026-03-17", 50, ["Раз", "Два"])]
    do(act("step.reopen", step_id=1))
    assert snapshot("history")["history"]["days"][0]["xp"] == 25
    for day in ("2026-03-19", "2026-03-10", "вчера"):
        assert refused(act("step.complete", step_id=3, date=day))["code"] == "INVALID_DATE"
    assert "Step already completed: Два" in refused(act("step.complete", step_ids=[3, 2]))["error"]


def test_an_errand_needs_no_goal_of_its_own():
    previewed = preview(
        act("step.create", inbox=True, title="Купить билет"), act("step.create", inbox=True, title="Ещё")
    )
    assert "• Создать цель «Входящие»" in previewed["message"]
    apply(previewed)
    do(act("step.create", inbox=True, title="Позвонить"))
    (inbox,) = items("goals")
    assert (inbox["title"], len(inbox["steps"])) == ("Входящие", 3)


def test_a_text_is_appended_to_and_its_changed_place_is_shown():
    do(act("goal.create", title="Цель", why_important="Потому что важно. " * 20))
    previewed = preview(act("goal.update", goal_id=1, append={"why_important": "И радостно.", "why_give_me": "Силы"}))
    changes = previewed["diff"]["updates"][0]["changes"]
    assert changes["why_important"]["place"].endswith("[+ И радостно.]") and changes["why_give_me"]["to"] == "Силы"
    apply(previewed)
    text = "x" * 9_999
    do(act("diary.create_entry", plans=text))
    assert refused(act("diary.update_entry", diary_id=1, append={"plans": "больше"}))["code"] == "FIELD_TOO_LONG"
    assert refused(act("diary.update_entry", diary_id=1, plans="а", append={"plans": "б"}))["code"] == "FIELD_INVALID"
    shorter = preview(act("diary.update_entry", diary_id=1, plans=text[:5_000]))["message"]
    assert "4999 знаков]" in shorter


def test_an_archived_goal_is_out_of_sight_with_its_steps():
    do(act("goal.create", title="Испанский", steps=STEPS))
    do(act("goal.archive", goal_id=1))
    assert (
        items("goals") == [] == items("goals", goals_status="all") and snapshot("schedule")["schedule"]["overdue"] == []
    )
    assert items("goals", goals_status="archived")[0]["archived"] is True
    assert refused(act("step.shift", overdue=True, days=1))["code"] == "STEP_NOT_FOUND"
    do(act("goal.unarchive", goal_id=1))
    assert len(items("goals")[0]["steps"]) == 3 and snapshot("xp")["xp"]["balance"] == 0


def test_the_day_is_the_persons_wherever_they_are_and_whenever_it_ends(clock: Clock):
    do(act("habit.create", name="Сон"), act("diary.create_entry", plans="дома"))
    clock.set("2026-03-18T23:30:00+00:00")
    previewed = preview(act("person.update", time_zone="Asia/Vladivostok", day_start_hour=3))
    assert "часовой пояс: — → «Asia/Vladivostok»; час начала дня: 0 → 3" in previewed["message"]
    apply(previewed)
    assert call("get_user_snapshot")["today"] == {"date": "2026-03-19", "weekday": "четверг", "tz": "Asia/Vladivostok"}
    do(act("habit.mark_completed", habit_id=1, date="2026-03-19"))
    clock.set("2026-03-19T16:59:00+00:00")
    assert call("get_user_snapshot")["today"]["date"] == "2026-03-19"  # 02:59 there
    clock.set("2026-03-19T17:00:00+00:00")
    assert call("get_user_snapshot")["today"]["date"] == "2026-03-20"
    assert [day["date"] for day in snapshot("history")["history"]["days"]] == ["2026-03-18", "2026-03-19"]
    assert refused(act("person.update", time_zone="Mars/Olympus"))["code"] == "FIELD_INVALID"
    assert refused(act("person.update", day_start_hour=13))["code"] == "FIELD_INVALID"
    assert refused(act("person.update"))["code"] == "NOTHING_TO_UPDATE"


def test_each_person_has_a_day_and_things_of_their_own(file, clock: Clock):
    do(
        act("person.update", time_zone="Pacific/Kiritimati"),
        act("habit.create", name="Бег"),
        act("goal.create", title="Ц"),
    )
    do(act("habit.pause", habit_id=1), act("goal.archive", goal_id=1))
    person.use(file, ONEPERCENT_USER="other")
    assert call("get_user_snapshot")["today"]["tz"] == "UTC"
    for action, key in (("habit.pause", "habit_id"), ("habit.resume", "habit_id"), ("habit.archive", "habit_id"),
                        ("goal.archive", "goal_id"), ("goal.unarchive", "goal_id")):  # fmt: skip
        assert refused(act(action, **{key: 1}))["code"] == f"{key.removesuffix('_id').upper()}_NOT_FOUND"
    assert refused(act("step.shift", goal_id=1, days=1))["code"] == "GOAL_NOT_FOUND"
    assert refused(act("habit.mark_completed", habit_ids=[1]))["code"] == "HABIT_NOT_FOUND"
