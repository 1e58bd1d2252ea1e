"""The page of a preview, in a real browser, against the real server and its database."""

import json
import re

import pytest

from tests.onepercent.person import act, complete, mark, new_entry, new_goal, new_habit, new_step

pytestmark = pytest.mark.slow

GOAL = "Пробежать полумарафон"
HOSTILE = (
    "<img src=x onerror=\"parent.seen.push('run')\"><script>parent.seen.push('run')</script> שלום "
    + "ы" * 400
)


def create(title=GOAL):
    return new_goal(title, category="health_sport")


def head(tab):
    return tab.text("#head")


def ends(tab, words):
    tab.wait(f"document.getElementById('head').textContent.includes({json.dumps(words)})")


def press(tab, label, words):
    """Press a button, after which the heading has these words."""
    tab.press(label)
    ends(tab, words)


def offered(person, **how):
    """The person, and the tab with the preview of a goal."""
    return person, person.offer(create(), **how)


def goals(person):
    return [title for (title,) in person.rows("SELECT title FROM goals WHERE deleted_at IS NULL")]


def stays_text(tab):
    """HOSTILE is shown, within 320 pixels, and none of it has run."""
    assert "<img src=x onerror=" in tab.text()
    assert tab.run("document.querySelectorAll('img, main script').length") == 0
    assert "run" not in tab.run("seen", host=True)
    assert tab.run("document.documentElement.scrollWidth") <= 320


def test_a_press_applies_what_the_page_shows_and_the_audit_tells_it_from_a_word_of_the_model(sit):
    person, tab = offered(sit())
    assert head(tab) == "1 изменение"
    assert GOAL in tab.text() and "доровье и спорт" in tab.text()
    assert goals(person) == []
    press(tab, "Применить", "Применено")
    assert goals(person) == [GOAL]
    assert tab.run("calls", host=True) == ["apply_by_press"]
    assert "is applied" in tab.run("model", host=True)[0]
    person.do(new_goal("Другая"))
    rows = person.rows("SELECT tool, request FROM audit ORDER BY id")[1:]
    assert [tool for tool, _ in rows] == ["apply_by_press", "preview_actions", "apply_actions"]
    assert "press_key" not in rows[0][1]


def test_a_press_counts_as_the_yes_that_the_setting_asks_for(sit):
    person, tab = offered(sit(ONEPERCENT_CONFIRM="elicit"), locale="en-GB")
    press(tab, "Apply", "Applied")
    assert goals(person) == [GOAL]
    assert "elicitation" not in str(person.client.notifications)


def test_all_of_it_works_by_keyboard_alone(sit):
    person, tab = offered(sit(), locale="en-GB")
    tab.key("Tab")
    tab.wait("document.activeElement.textContent === 'Apply'")
    tab.key("Enter")
    ends(tab, "Applied")
    assert tab.run("document.activeElement.id") == "head"
    tab.key("Tab")
    tab.key(" ")
    ends(tab, "Put it back as it was?")
    assert "Delete: goal" in tab.text()
    tab.key("Tab")
    tab.key("Enter")
    ends(tab, "Put back")
    assert goals(person) == []


def test_cancel_changes_nothing_and_can_be_thought_over(sit):
    person, tab = offered(sit(), locale="en-GB")
    press(tab, "Cancel", "Cancelled")
    assert "Nothing was changed." in tab.text("#state")
    assert person.rows("SELECT status FROM previews") == [("cancelled",)]
    press(tab, "Show again", "1 change")
    press(tab, "Apply", "Applied")
    assert goals(person) == [GOAL]


def test_an_expired_preview_says_so_and_is_shown_again(sit):
    person, tab = offered(sit(ONEPERCENT_PREVIEW_TTL="1"), locale="en-GB")
    ends(tab, "Time is up")
    assert "out of date" in tab.text("#state")
    assert goals(person) == []
    press(tab, "Show again", "1 change")
    assert GOAL in tab.text()


def test_a_stale_preview_says_what_changed_and_is_shown_again(sit):
    person = sit(new_goal("Старое"))
    tab = person.offer(act("goal.update", 1, title="Новое"), locale="en-GB")
    person.do(act("goal.update", 1, title="Третье"))
    tab.press("Apply")
    tab.wait("/Something changed meanwhile/.test(document.body.innerText)")
    ends(tab, "1 change")
    assert goals(person) == ["Третье"]
    assert "“Третье” → “Новое”" in tab.text()
    press(tab, "Apply", "Applied")
    assert goals(person) == ["Новое"]


def test_what_the_model_applied_meanwhile_is_not_offered_again(sit):
    person, tab = offered(sit(), locale="en-GB")
    person.apply(tab.run("preview.preview_id"))
    press(tab, "Apply", "Applied")
    assert "already been applied" in tab.text("#state")
    assert goals(person) == [GOAL]
    assert tab.run("document.querySelectorAll('button').length") == 0


def test_hostile_titles_stay_text(sit):
    person = sit()
    tab = person.offer(create(HOSTILE[:500]), locale="en-GB", width=320)
    stays_text(tab)
    press(tab, "Apply", "Applied")
    assert goals(person) == [HOSTILE[:500]]


def test_a_script_cannot_press(sit):
    person, tab = offered(sit(), locale="en-GB")
    tab.run("document.querySelectorAll('button').forEach(button => button.click())")
    tab.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert tab.run("calls", host=True) == []
    assert goals(person) == []


def test_a_refused_action_stands_beside_the_others_and_says_which(sit):
    person = sit(new_habit("Бег"))
    actions = [create(), complete(77), act("habit.unmark", 1)]
    tab = person.offer(*actions, locale="en-GB")
    assert "there is no such step" in tab.text()
    assert "“Бег”: there is no mark on that day" in tab.text()
    alone = person.offer(*actions[1:], locale="en-GB")
    assert head(alone) == "Nothing to apply"
    assert "there is no such step" in alone.text()
    assert alone.run("document.querySelectorAll('button').length") == 0
    russian = person.offer(*actions)
    assert "такого шага нет" in russian.text()
    assert "Привычка «Бег»: за этот день отметки нет" in russian.text()


MANY = [
    new_goal(
        "Научиться готовить", category="hobby", why_important="Кормить друзей по воскресеньям"
    ),
    new_step("Купить нож", dt="2031-11-25", time_duration="one", priority="important"),
    new_step("Борщ", dt="2031-11-29"),
    *(new_habit(f"Готовить дома, неделя {week}", xp_reward=15) for week in range(8)),
    new_entry(what_done="Пробежал 15 км, дописал бота", reflection="Темп ровный"),
    act("step.update", 1, dt="2031-11-26", priority="critical"),
    act("goal.update", 1, title="Сдать IELTS на 7.5"),
    act("ssp.rate", category="health_sport", score=9),
    mark(1),
    act("goal.delete", 2),
]


def lively(sit, **settings):
    """Somebody whose preview of MANY changes a bit of everything."""
    person = sit(
        new_goal("Сдать IELTS на 7.0"),
        new_step("Прочитать главу 3", dt="2031-11-22"),
        new_goal("Чаще бывать с семьёй"),
        new_step("Поездка на озеро"),
        new_habit("Разбор недели", xp_reward=30, frequency_type="weekly"),
        act("ssp.rate", category="health_sport", score=8),
        **settings,
    )
    return person


def test_seventeen_changes_weigh_at_a_glance(sit):
    tab = lively(sit).see(
        "preview_actions", arguments={"actions": MANY, "partial": True}, width=390, locale="ru-RU"
    )
    assert head(tab) == "18 изменений · +40 XP"
    assert "2 удаления · 12 новых · 3 правки · 1 отметка. Пока" in tab.text("#state")
    red = tab.run("getComputedStyle(document.querySelector('#state b')).color")
    assert red == "rgb(163, 45, 45)"
    # What is deleted stands first, with what goes with it.
    assert "Поездка на озеро" in tab.text("li")
    struck = tab.run("[...document.querySelectorAll('s')].map(line => line.textContent)")
    assert "22.11.2031" in struck
    assert tab.run("document.documentElement.scrollHeight") <= 1320
    press(tab, "Применить 18", "Применено · +40 XP")
    assert tab.run("document.querySelector('details').open") is False
    assert tab.run("document.querySelector('button').getBoundingClientRect().top") < 200


def test_a_line_can_be_left_out(sit):
    person = lively(sit)
    tab = person.offer(*MANY, locale="en-GB")
    press(tab, "IELTS", "17 changes")
    tab.click("label.creates")
    tab.press("Apply 16")
    tab.wait("/needs what you left out/.test(document.body.innerText)")
    assert goals(person) == ["Сдать IELTS на 7.0", "Чаще бывать с семьёй"]
    tab.click("label.creates")
    press(tab, "Apply 17", "Applied")
    assert goals(person) == ["Сдать IELTS на 7.0", "Научиться готовить"]
    assert "without" in tab.run("model", host=True)[-1]
    assert "18 changes" in tab.text()


@pytest.mark.parametrize("fault", ["deny", "lose"])
def test_a_refusal_or_a_lost_reply_is_no_answer_and_nothing_is_applied_twice(sit, fault):
    person, tab = offered(sit())
    tab.run(f"given.{fault} = 'yes'", host=True)
    if fault == "deny":
        tab.press("Отмена")
        tab.wait("/Неизвестно, отменено ли/.test(document.body.innerText)")
    press(tab, "Применить", "Ответа нет")
    assert "Неизвестно, применено ли" in tab.text() and "дважды не применится" in tab.text()
    assert not re.search("не изменен[ыо]", tab.text())
    assert tab.run("model", host=True) == []
    assert len(goals(person)) == (fault == "lose"), "it was applied before its reply was lost"
    tab.run(f"given.{fault} = ''", host=True)
    press(tab, "Проверить", "Применено")
    assert goals(person) == [GOAL]


@pytest.mark.parametrize("language", ["ru", "en"])
def test_the_page_is_in_one_language(sit, language):
    """But for the person's own words and XP: in the host's; in the server's, if it is handed nothing but the
    message."""
    locales = {"ru": "ru-RU", "en": "en-GB"}
    (other,) = locales.keys() - {language}
    person = lively(sit, MCP_LANGUAGE=language)
    odd = [mark(1, date="2001-01-01"), complete(99)]
    same = [new_goal("Сдать IELTS на 7.0"), new_step("Борщ", 1, dt="2020-01-01")]
    actions = [*(action for action in MANY if "delete" not in action["action"]), *odd, *same]
    own = [
        text for action in actions for text in action["params"].values() if isinstance(text, str)
    ]
    own += ["Сдать IELTS на 7.0", "Прочитать главу 3", "Разбор недели", "XP"]
    for private, drawn in ((True, other), (False, language)):
        person.host.private = private
        text = person.offer(*actions, locale=locales[other]).text()
        for words in sorted(own, key=len, reverse=True):
            text = text.replace(words, "")
        assert re.findall(r"[а-яё]{2,}" if drawn == "en" else r"[a-z]{2,}", text, re.I) == []
    refused = person.offer(*odd[1:])
    assert head(refused) == "Nothing to apply" and "Step not found" in refused.text()


def test_undo_and_a_mark_taken_off_read_as_what_they_are(sit):
    person = lively(sit)
    person.do(mark(1))
    tab = person.see("undo_last", locale="ru-RU")
    assert head(tab) == "Вернуть как было?"
    assert re.search(r"\d\d\.\d\d · сделано", tab.text())
    person.do(act("ssp.rate", category="health_sport", score=9))
    tab = person.see("undo_last", locale="ru-RU")
    assert "здоровье и спорт 9" in tab.text() and "object" not in tab.text()
    press(tab, "Вернуть", "Возвращено")
    assert tab.run("document.querySelectorAll('#buttons button').length") == 0, "of older changes"
    assert person.rows("SELECT count(*) FROM ssp_evaluations") == [(1,)]


@pytest.mark.parametrize("silent", [True, False])
def test_a_client_that_hands_no_key_on_applies_as_the_model_does(sit, silent):
    """VS Code, and ext-apps' own host, show pages and do not say so."""
    person = sit(silent=silent)
    person.host.private = False
    tab = person.offer(create(), locale="en-GB")
    press(tab, "Применить", "Применено")
    assert tab.run("calls", host=True) == ["apply_actions"]
    assert goals(person) == [GOAL]
    assert GOAL in person.days("en-GB").text()


def test_a_client_whose_pages_may_not_call_tools_leaves_the_answer_to_the_chat(sit):
    tab = sit().offer(create(), locale="en-GB", mute="yes")
    assert "Please answer in the chat" in tab.text("#buttons")
    assert tab.run("document.querySelectorAll('button').length") == 0


@pytest.mark.parametrize("theme, width", [("light", 320), ("dark", 720)])
def test_it_follows_the_host_and_fits(sit, theme, width):
    look = {"width": width, "theme": theme, "variables": '{"--color-text-primary": "rgb(1, 2, 3)"}'}
    tab = sit().offer(create(), **look)
    assert tab.run("getComputedStyle(document.documentElement).colorScheme") == theme
    assert tab.run("getComputedStyle(document.body).color") == "rgb(1, 2, 3)"
    assert tab.run("document.documentElement.scrollWidth") <= width
    tab.run(
        "send({ method: 'ui/notifications/host-context-changed', params: { theme: 'dark' } })",
        host=True,
    )
    tab.wait("document.documentElement.style.colorScheme === 'dark'")


@pytest.mark.parametrize(
    "locale, is_read_as", [("en_US", "en-US"), ("ru-RU@calendar=x", "ru-RU"), ("en-", "en")]
)
def test_a_locale_in_any_spelling_leaves_the_page_readable(sit, locale, is_read_as):
    tab = sit().offer(create(), locale=locale)
    assert tab.run("document.documentElement.lang") == is_read_as
    assert head(tab) == ("1 изменение" if locale.startswith("ru") else "1 change")


def test_it_answers_what_a_host_may_ask(sit):
    tab = sit().offer(create(), locale="en-GB")
    tab.run(
        "['ping', 'ui/resource-teardown', 'other'].forEach((method, id) => send({ id, method, params: {} }))",
        host=True,
    )
    answers = "seen.filter(message => !message.method && message.id < 3)"
    tab.wait(f"{answers}.length === 3", host=True)
    pong, teardown, other = tab.run(answers, host=True)
    assert pong["result"] == teardown["result"] == {}
    assert other["error"]["code"] == -32601
