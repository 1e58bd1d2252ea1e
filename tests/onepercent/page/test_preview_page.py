"""The page of a preview, in a real browser, against the real server and its database."""

import json
import uuid

import pytest

from tests.onepercent.page.browser import Tab

GOAL = "Пробежать полумарафон"
HOSTILE = (
    "<img src=x onerror=\"parent.seen.push('run')\"><script>parent.seen.push('run')</script> \u202e\u200fRTL "
    + "ы" * 400
)


def act(action, **params):
    return {"action": action, "client_action_id": str(uuid.uuid4()), "params": params}


def create(title=GOAL):
    return {"actions": [act("goal.create", title=title, category="health_sport")]}


def head(tab: Tab) -> str:
    return tab.text("#head")


def ends(tab: Tab, words: str) -> None:
    tab.wait(f"document.getElementById('head').textContent.includes({json.dumps(words)})")


def goals(person):
    return [title for (title,) in person.rows("SELECT title FROM goals WHERE deleted_at IS NULL")]


def do(person, *actions):
    """Preview and apply as the model does; the answer."""
    preview = person.ask("preview_actions", actions=list(actions))
    keys = {"preview_id": preview["preview_id"], "idempotency_key": str(uuid.uuid4())}
    return person.ask("apply_actions", **keys, user_confirmation="да")


def test_a_press_applies_what_the_page_shows(sit):
    person = sit()
    tab = person.see("preview_actions", arguments=create(), locale="ru-RU")
    assert head(tab) == "Применить эти изменения?"
    assert GOAL in tab.text() and "здоровье и спорт" in tab.text()
    assert goals(person) == []
    tab.press("Применить")
    ends(tab, "Применено")
    assert goals(person) == [GOAL]
    assert tab.run("calls", host=True) == ["apply_by_press"]
    assert "is applied" in tab.run("model", host=True)[0]


def test_the_audit_tells_a_press_from_a_word_of_the_model(sit):
    person = sit()
    tab = person.see("preview_actions", arguments=create())
    tab.press("Apply")
    ends(tab, "Applied")
    do(person, act("goal.create", title="Другая"))
    assert [tool for (tool,) in person.rows("SELECT tool FROM audit ORDER BY id")][1:] == [
        "apply_by_press", "preview_actions", "apply_actions",
    ]  # fmt: skip
    (request,) = person.rows("SELECT request FROM audit WHERE tool = 'apply_by_press'")[0]
    assert "press_key" not in request


def test_a_press_counts_as_the_yes_that_the_setting_asks_for(sit):
    person = sit(ONEPERCENT_CONFIRM="elicit")
    tab = person.see("preview_actions", arguments=create())
    tab.press("Apply")
    ends(tab, "Applied")
    assert goals(person) == [GOAL]
    assert person.client.notifications == []


def test_all_of_it_works_by_keyboard_alone(sit):
    person = sit()
    tab = person.see("preview_actions", arguments=create())
    tab.key("Tab")
    tab.wait("document.activeElement.textContent === 'Apply'")
    tab.key("Enter")
    ends(tab, "Applied")
    assert tab.run("document.activeElement.id") == "head"
    tab.key("Tab")
    tab.key(" ")
    ends(tab, "Apply these")
    assert "Goes away" in tab.text()
    tab.key("Tab")
    tab.key("Enter")
    ends(tab, "Applied")
    assert goals(person) == []


def test_cancel_changes_nothing_and_can_be_thought_over(sit):
    person = sit()
    tab = person.see("preview_actions", arguments=create())
    tab.press("Cancel")
    ends(tab, "Cancelled")
    assert "Nothing was changed." in tab.text("#state")
    assert person.rows("SELECT status FROM previews") == [("cancelled",)]
    tab.press("Show again")
    ends(tab, "Apply these")
    tab.press("Apply")
    ends(tab, "Applied")
    assert goals(person) == [GOAL]


def test_an_expired_preview_says_so_and_is_shown_again(sit):
    person = sit(ONEPERCENT_PREVIEW_TTL="1")
    tab = person.see("preview_actions", arguments=create())
    ends(tab, "Time is up")
    assert "no longer holds" in tab.text("#state")
    assert goals(person) == []
    tab.press("Show again")
    ends(tab, "Apply these")
    assert GOAL in tab.text()


def test_a_stale_preview_says_what_changed_and_is_shown_again(sit):
    person = sit()
    do(person, act("goal.create", title="Старое"))
    rename = {"actions": [act("goal.update", goal_id=1, title="Новое")]}
    tab = person.see("preview_actions", arguments=rename)
    do(person, act("goal.update", goal_id=1, title="Третье"))
    tab.press("Apply")
    ends(tab, "Something changed meanwhile")
    assert goals(person) == ["Третье"]
    tab.press("Show again")
    ends(tab, "Apply these")
    assert "Третье → Новое" in tab.text()
    tab.press("Apply")
    ends(tab, "Applied")
    assert goals(person) == ["Новое"]


def test_what_the_model_applied_meanwhile_is_not_offered_again(sit):
    person = sit()
    tab = person.see("preview_actions", arguments=create())
    preview_id = tab.run("preview.preview_id")
    person.ask("apply_actions", preview_id=preview_id, idempotency_key=str(uuid.uuid4()), user_confirmation="да")
    tab.press("Apply")
    ends(tab, "Applied")
    assert "before" in tab.text("#state")
    assert goals(person) == [GOAL]
    assert tab.run("document.querySelectorAll('button').length") == 0


def test_hostile_titles_stay_text(sit):
    person = sit()
    tab = person.see("preview_actions", arguments=create(HOSTILE[:500]), width=320)
    assert "<img src=x onerror=" in tab.text()
    assert tab.run("document.querySelectorAll('img, main script').length") == 0
    assert "run" not in tab.run("seen", host=True)
    assert tab.run("document.documentElement.scrollWidth") <= 320
    tab.press("Apply")
    ends(tab, "Applied")
    assert goals(person) == [HOSTILE[:500]]


def test_a_script_cannot_press(sit):
    person = sit()
    tab = person.see("preview_actions", arguments=create())
    tab.run("document.querySelectorAll('button').forEach(one => one.click())")
    tab.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert tab.run("calls", host=True) == []
    assert goals(person) == []


def test_a_refused_action_stands_beside_the_others(sit):
    person = sit()
    actions = [*create()["actions"], act("step.complete", step_id=77)]
    tab = person.see("preview_actions", arguments={"actions": actions})
    assert tab.text().index("New") < tab.text().index("Refused") < tab.text().index("Step not found")
    alone = person.see("preview_actions", arguments={"actions": actions[1:]})
    assert head(alone) == "Nothing to apply"
    assert "Step not found" in alone.text()
    assert alone.run("document.querySelectorAll('button').length") == 0
    alone = person.see("preview_actions", arguments={"actions": actions[1:]}, locale="ru-RU")
    assert "шаг не найдено" in alone.text()


def test_a_client_that_hands_no_key_on_applies_as_the_model_does(sit):
    person = sit()
    person.host.private = False
    tab = person.see("preview_actions", arguments=create())
    tab.press("Apply")
    ends(tab, "Applied")
    assert tab.run("calls", host=True) == ["apply_actions"]
    assert goals(person) == [GOAL]


def test_a_client_whose_pages_may_not_call_tools_leaves_the_answer_to_the_chat(sit):
    tab = sit().see("preview_actions", arguments=create(), mute="yes")
    assert "Please answer in the chat." in tab.text("#buttons")
    assert tab.run("document.querySelectorAll('button').length") == 0


def test_undo_last_has_the_same_page(sit):
    person = sit()
    do(person, act("goal.create", title="Лишнее"))
    tab = person.see("undo_last")
    assert "Лишнее" in tab.text()
    tab.press("Apply")
    ends(tab, "Applied")
    assert goals(person) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 720])
def test_it_follows_the_host_and_fits(sit, theme, width):
    tab = sit().see(
        "preview_actions",
        arguments=create(),
        width=width,
        theme=theme,
        variables='{"--color-text-primary": "rgb(1, 2, 3)"}',
    )
    assert tab.run("getComputedStyle(document.documentElement).colorScheme") == theme
    assert tab.run("getComputedStyle(document.body).color") == "rgb(1, 2, 3)"
    assert tab.run("document.documentElement.scrollWidth") <= width
    assert tab.run("document.documentElement.lang") == "en-GB"
    tab.run("send({ method: 'ui/notifications/host-context-changed', params: { theme: 'dark' } })", host=True)
    tab.wait("document.documentElement.style.colorScheme === 'dark'")


def test_it_fits_at_a_zoom_of_two(sit):
    tab = sit().see("preview_actions", arguments=create("Очень" * 30), width=360)
    tab.resize(360 // 2, 2)
    tab.wait("innerWidth === 180")
    assert tab.run("document.documentElement.scrollWidth") <= 180


def test_it_answers_what_a_host_may_ask(sit):
    tab = sit().see("preview_actions", arguments=create())
    tab.run(
        "['ping', 'ui/resource-teardown', 'other'].forEach((method, id) => send({ id, method, params: {} }))", host=True
    )
    tab.wait("seen.filter(one => !one.method && one.id < 3).length === 3", host=True)
    results = tab.run("seen.filter(one => !one.method && one.id < 3)", host=True)
    assert [one.get("result", one.get("error", {}).get("code")) for one in results] == [{}, {}, -32601]
