"""What the person reads before the yes: the future, in words, with all that is meant and what may not be."""

import pytest

from tests.onepercent.person import (
    act,
    apply,
    call,
    complete,
    do,
    mark,
    miss,
    new_entry,
    new_goal,
    new_habit,
    new_step,
    preview,
    propose,
    said,
    use,
)
from tools.onepercent.base.words import changed_part
from tools.onepercent.page import person_pages


@pytest.fixture
def life():
    do(
        new_goal("Английский"),
        new_step("Пройти тест", dt="2026-03-21"),
        new_habit("Бег", frequency_type="weekdays", xp_penalty=5),
        new_entry(what_done="Раз"),
    )


def on_the_page(previewed):
    return person_pages.PREVIEW.private(previewed)["pi-mcp/preview"]


@pytest.mark.parametrize(
    "action, line",
    [
        (act("step.update", 1, dt="2026-03-23"), "Шаг «Пройти тест»: 21.03 → 23.03"),
        (act("step.update", 1, time_duration="two"), "Шаг «Пройти тест»: длительность: — → 2 ч"),
        (act("goal.update", 1, due="2027-01-24"), "Цель «Английский»: срок: — → 24.01.2027"),
        (complete(1), "Шаг «Пройти тест»: сделан (+25 XP)"),
        (new_step("Слова", 1, time_duration=90), "Шаг «Слова»: новый; к цели «Английский»; 1 ч 30 мин"),
        (new_goal("Марафон", due="2026-10-01", steps=[{"title": "Раз", "dt": "2026-03-20"}, {"title": "Два", "time_duration": "one"}]),
         "Цель «Марафон»: новая; работа; срок 01.10; 2 шага: «Раз» (20.03), «Два» (1 ч)"),
        (new_habit("Сон", schedule_days=[1, 3]), "Привычка «Сон»: новая; пн, ср; +10/−10 XP"),
        (new_habit("Сон", month_days=[31, 1]), "Привычка «Сон»: новая; 1-го и последнего числа; +10/−10 XP"),
        (new_habit("Сон", target="1,5 л"), "Привычка «Сон»: новая; каждый день; 1,5 л; +10/−10 XP"),
        (mark(1), "«Бег», 18.03: сделано (+10 XP)"),
        (miss(1, excuse_reason="болел"), "«Бег», 18.03: пропуск; уважительная причина: «болел»"),
        (new_entry(what_done="Два", date="2026-03-17"),
         "Дневник за 17.03: новая запись; сделано: «Два» (+10 XP)"),
        (new_entry(reflection="star", date="2026-03-17"),
         "Дневник за 17.03: новая запись; мысли: «star» (+10 XP)"),
        (act("habit.update", 1, frequency_type="times_per_week", times=3),
         "Привычка «Бег»: частота: по будням → 3 раза в неделю"),
        (act("habit.archive", 1), "Привычка «Бег»: в архив; прошлое остаётся в истории, новых дней не будет"),
        (act("ssp.rate", category="family", score=7), "Сфера «Семья»: 7"),
        (act("step.update", 1, order=1_000_000),
         "Шаг «Пройти тест»: порядок: — → 1\N{NO-BREAK SPACE}000\N{NO-BREAK SPACE}000"),
    ],
)  # fmt: skip
def test_a_preview_says_what_is_going_to_happen(action, line, life):
    assert f"• {line}\n" in said(action)


@pytest.mark.parametrize(
    "action, warning",
    [
        (act("goal.complete", 1), "Вместе с целью «Английский» из расписания уходит 1 несделанный шаг"),
        (miss(1, date="2026-03-15"), "«Бег»: 15.03 (воскресенье) не по расписанию, но XP изменятся"),
        (miss(1, dates=["2026-03-13", "2026-03-15"]), "«Бег»: 15.03 (воскресенье) не по расписанию, но XP изменятся"),
        (mark(1, date="2026-03-02"), "«Бег»: 02.03 — больше недели назад"),
        (new_goal("английский"), "«Английский» уже есть"),
        (new_step("пройти Тест", 1), "«Пройти тест» уже есть"),
        (new_habit("БЕГ"), "«Бег» уже есть"),
        (new_habit("Курс", until="2026-03-01"), "«Курс»: 01.03 уже прошло"),
        (new_entry(plans="x"), "За 18.03 запись в дневнике уже есть"),
        (new_entry(plans="x", date="2026-03-20"), "20.03 ещё не наступило"),
        (act("step.update", 1, dt="2026-03-01"), "«Пройти тест»: 01.03 уже прошло"),
        (act("step.update", 1, time_duration=2), "«Пройти тест»: 2 мин; 2 часа — это 120 минут"),
    ],
)  # fmt: skip
def test_what_may_not_be_meant_is_a_warning(action, warning, life):
    lines = said(action).splitlines()
    assert [line for line in lines if line[0] == "!"] == [f"! {warning}"]
    assert lines[-1] == "Применить?"


def test_a_title_that_was_deleted_is_free_again(life):
    do(act("goal.delete", 1), act("habit.delete", 1))
    message = said(new_goal("Английский"), new_step("Пройти тест"), new_habit("Бег"))
    assert "уже есть" not in message


def test_a_mark_that_ends_a_streak_says_so_and_a_deletion_names_what_goes_with_it(life):
    do(new_habit("Сон"))
    do(mark(2, dates=["2026-03-11..2026-03-18"]))
    message = said(miss(2))
    assert "\n! «Сон»: серия 8 дней → 0\nПрименить?" in message
    assert "«Сон», 18.03: пропуск; было: сделано (−20 XP)" in message
    assert "Удалить: привычка «Сон»: 8 отметок, лучшая серия 8 дней" in said(act("habit.delete", 2))


def test_marks_of_several_days_say_which_ones_they_replace(life):
    do(mark(1, dates=["2026-03-16", "2026-03-18"]))
    assert "«Бег», 16.03–18.03: пропуск; было: 16.03 сделано, 18.03 сделано (−" in said(
        miss(1, dates=["2026-03-16..2026-03-18"])
    )


def test_a_mark_again_names_the_days_that_have_it_already(life):
    days = ["2026-03-13", "2026-03-16..2026-03-17"]
    do(mark(1, dates=days))
    assert "\n! «Бег»: уже отмечено: 13.03, 16.03–17.03\n" in said(
        mark(1, dates=[*days, "2026-03-18"])
    )


def test_an_undo_of_a_replaced_mark_is_said_in_words(life):
    do(mark(1))
    do(miss(1))
    assert "• «Бег», 18.03: пропуск → сделано\n+15 XP\n" in call("undo_last")["message"]


def test_an_undo_names_the_time_zone_that_comes_back(life):
    do(act("person.update", time_zone="Asia/Tokyo"))
    assert "часовой пояс: Asia/Tokyo → Asia/Seoul" in said(
        act("person.update", time_zone="Asia/Seoul")
    )
    assert "• Ваш день: часовой пояс: Asia/Tokyo → UTC\n" in call("undo_last")["message"]


def test_a_long_text_is_shown_by_its_beginning_and_length_and_a_title_whole(life):
    title = "Ц" * 500
    [creation] = preview(new_goal(title, why_important="п" * 480))["diff"]["creates"]
    assert creation["title"] == title and creation["why_important"] == "п" * 120 + "… (480)"


def test_every_text_stands_once_in_the_answer_of_apply(life):
    answer = apply(preview(new_goal("Другая цель")))
    assert str(answer).count("Другая цель") == 1


def test_the_language_of_the_person_is_a_setting(life, file):
    use(file, MCP_LANGUAGE="en")
    previewed = preview(act("step.update", 1, dt="2026-03-23"), new_goal("Английский"))
    assert "• Step “Пройти тест”: 21 Mar → 23 Mar\n" in previewed["message"]
    assert "! “Английский” already exists" in previewed["message"]
    assert "✓ Goal “Английский”: new" in apply(previewed)["message"]
    assert call("get_user_snapshot")["today"]["weekday"] == "Wednesday"


def test_a_page_gets_the_parts_of_each_sentence_in_both_languages(life):
    previewed = preview(
        new_goal("английский", steps=[{"title": "Раз", "priority": "critical", "dt": "2026-03-20"}]),
        {"action": "step.update", "client_action_id": "x", "params": {"step_id": 1, "dt": "2026-03-23"}},
        act("goal.delete", 1),
    )  # fmt: skip
    texts = on_the_page(previewed)
    deletion, creation, update = texts["ru"]["changes"]
    assert deletion | {"id": ""} == {
        "id": "", "sign": "deletes", "title": "Английский", "what": "Удалить: цель и 1 шаг",
        "details": [], "rows": ["Пройти тест"], "xp": 0, "warnings": [], "count": 2,
    }  # fmt: skip
    assert (creation["what"], creation["details"]) == ("Цель: новая", ["работа", "1 шаг"])
    assert creation["rows"] == ["«Раз» (20.03, срочный)"]
    assert creation["warnings"] == ["«Английский» уже есть"]
    assert (update["id"], update["what"]) == ("x", "Шаг")
    assert update["details"] == [["", "21.03", "23.03"]]
    assert texts["en"]["changes"][1]["warnings"] == ["“Английский” already exists"]
    line = "• Цель «английский»: новая; работа; 1 шаг: «Раз» (20.03, срочный)"
    assert line in previewed["message"]


def test_a_page_gets_the_refusals_of_a_preview_without_changes_in_both_languages(life):
    texts = on_the_page(propose(act("step.complete", 99)))
    assert [texts[language]["errors"] for language in ("ru", "en")] == [
        ["Шаг: такого шага нет (99)"],
        ["Step: there is no such step (99)"],
    ]


def test_a_page_says_that_an_entry_of_the_diary_changes_and_how(life):
    previewed = preview(act("diary.update_entry", 1, what_done="Два"))
    (change,) = on_the_page(previewed)["ru"]["changes"]
    assert (change["what"], change["details"]) == ("Дневник", [["сделано", "«Раз»", "«Два»"]])


def test_a_page_shows_a_goal_that_the_same_preview_makes_and_deletes():
    previewed = preview(new_goal("Дом", steps=["Раз"]), act("goal.delete", goal_id=None))
    changes = on_the_page(previewed)["ru"]["changes"]
    assert [change["rows"] for change in changes] == [["Раз"], ["«Раз»"]]


def test_of_a_changed_text_only_the_part_between_what_stays_is_marked():
    part = changed_part("Встал в семь утра", "Встал в шесть утра")
    assert part == "Встал в [− сем][+ шест]ь утра"
