"""The commands of the shell, which people read."""

from tests.onepercent.person import (
    act,
    complete,
    do,
    history,
    mark,
    new_goal,
    new_habit,
    new_step,
    run,
)


def test_the_commands_are_for_people():
    do(new_goal("Цель"), new_step("Читать", dt="2026-03-18", time_duration=90))
    do(new_habit("Бег"), complete(1))
    today = run("today").text
    past = run("history").text
    assert "✓ Читать (Цель, 1 ч 30 мин)\n· Бег (серия 0 дней)\n25 XP, уровень 1\n✓ сделано" in today
    assert "когда           XP   привычки  закрыто\n2026-03-18      +25            Читать\n" in past
    assert (
        "\n7 дней до того  +0   0/0       0 шагов; 0 целей\n\nпривычка  отметки  %  серия\nБег "
        in past
    )
    for number in ("0", "99999", "x"):
        assert run("history", number) == ("Сколько дней показать: от 1 до 36525", 2)
    assert run("find", "zzz") == ("zzz: ничего не нашлось", 1)
    for words in (["читать"], ["читать", "книгу"]):
        assert run("find", *words).text == "✓ шаг 1  Читать"
    assert run("find").status == 1 and "find" in run("find").text


def test_today_shows_amounts_and_weeks_and_what_was_only_begun_is_not_kept(clock):
    do(new_habit("Вода", target="2 л"), new_habit("Бег", times=3))
    do(mark(1, amount=0.5), mark(2))
    text = run("today").text
    assert "· Вода 0,5 из 2 л (серия 0 дней)\n✓ Бег 1/3 (серия 0 недель)\n" in text
    clock.set("2026-03-19T12:00:00+00:00")
    assert history()["habits"][0]["rate"] == 0


def test_today_shows_goals_that_are_a_sum():
    do(new_goal("Книги", target=12), new_goal("Дом", due="2026-03-18"))
    do(act("goal.add", 1, amount=5), new_goal("Машина", target=9, due="2026-03-18"))
    text = run("today").text
    assert text.count("Машина") == text.count("Дом") == 1 and "\n· Книги 5 из 12 ×\n" in text
    do(act("goal.complete", 1))
    assert "Книги" not in run("today").text
