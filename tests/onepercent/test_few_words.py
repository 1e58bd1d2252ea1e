"""Plans and answers in few words: short ids, one key, each change told once; and what must not be told too
late."""

import ast
import json
import re

from tests.onepercent.person import act, apply, call, do, first_goal, items, preview, propose
from tests.support.client import PROJECT
from tools.core.resources import RESOURCES
from tools.onepercent.base import texts


def goal(title="Цель", **more):
    return {"action": "goal.create", "params": {"title": title}} | more


def step(goal_id, title="Шаг", **more):
    return {"action": "step.create", "params": {"goal_id": goal_id, "title": title}} | more


def test_an_action_without_an_id_has_its_place_and_others_refer_to_it():
    previewed = preview(goal("Первая"), goal("Вторая"), step("$ref:1"), step(None))
    answer = apply(previewed)
    assert [result["client_action_id"] for result in answer["results"]] == ["1", "2", "3", "4"]
    assert not any("client_action_id" in entry for entry in previewed["diff"]["creates"])
    counts = {goal["title"]: goal["steps_count"] for goal in items("goals")}
    assert counts == {"Первая": 1, "Вторая": 1}


def test_an_id_is_any_short_text_and_comes_before_a_place():
    previewed = preview(
        goal("Первая", client_action_id="3"),
        goal("Вторая", client_action_id="книги"),
        step("$ref:книги"),
    )
    assert [entry["goal_title"] for entry in previewed["diff"]["creates"][2:]] == ["Вторая"]
    made = preview(goal("Третья", client_action_id="2"), step("$ref:2"))["diff"]["creates"]
    assert [entry["client_action_id"] for entry in made] == ["2", "2'"]
    assert made[1]["goal_title"] == "Третья"
    twice = propose(goal(client_action_id="x"), goal(client_action_id="x"))
    assert twice["diff"]["errors"][0]["error"] == "client_action_id is used twice: x"


def test_a_place_keeps_its_meaning_when_an_action_before_it_is_refused():
    answer = propose(goal(""), goal("Вторая"), step("$ref:2"))
    assert [entry.get("goal_title") for entry in answer["diff"]["creates"]] == [None, "Вторая"]
    assert apply(answer)["success"] and first_goal()["steps_count"] == 1


def test_a_preview_is_its_own_key():
    previewed = preview(goal())
    arguments = {"preview_id": previewed["preview_id"], "user_confirmation": "да"}
    answer = call("apply_actions", **arguments)
    assert answer["success"]
    assert json.dumps(call("apply_actions", **arguments)) == json.dumps(answer)
    assert apply(previewed)["code"] == "PREVIEW_APPLIED"
    assert len(items("goals")) == 1


def test_what_is_refused_beside_a_deletion_stops_the_preview_unless_it_is_wanted_partial():
    do(goal("Пустая"), step(None, "Спасти"))
    actions = [act("step.update", 1, goal_id=777), act("goal.delete", 1)]
    for beside in (actions, [goal("Другая"), *actions]):
        answer = propose(*beside)
        assert (answer["code"], "preview_id" in answer) == ("REFUSED_BESIDE_DELETION", False)
        assert [error["code"] for error in answer["errors"]] == ["GOAL_NOT_FOUND"]
        assert "partial" in answer["hint"]
    answer = propose(*actions, partial=True)
    refusal, deletion = answer["message"].splitlines()[1:3]
    assert refusal == "✗ Шаг «Спасти»: такой цели нет (777)"
    assert deletion == "• Удалить: цель «Пустая» и 1 шаг"
    assert apply(answer)["success"] and items("goals") == []


def test_many_changes_are_told_by_their_sums_once_they_are_done():
    answer = apply(preview(goal(), *[step(None, f"Шаг {number}") for number in range(20)]))
    assert answer["message"] == "✓ Создано: 1 цель, 20 шагов."
    assert [result["created_id"] for result in answer["results"][1:]] == list(range(1, 21))


def codes_in(*rooms):
    """The codes of the errors that the sources of OnePercent, or of its rooms, raise."""
    files = (PROJECT / "tools" / "onepercent").rglob("*.py")
    chosen = [file for file in files if not rooms or file.parent.name in rooms]
    sources = "".join(file.read_text("utf-8") for file in chosen)
    raised = {
        ast.literal_eval(call.args[2])
        for call in ast.walk(ast.parse(sources))
        if isinstance(call, ast.Call) and len(call.args) == 3
        if ast.unparse(call.func) in ("ToolError", "Damaged")
        if isinstance(call.args[2], ast.Constant)
    }
    return raised | set(re.findall('"(INVALID_[A-Z]+)"', sources))


def test_the_person_reads_every_refusal_of_a_change_in_words():
    # A preview's own, which no person reads as one of its lines.
    told_otherwise = {"INVALID_UUID", "PREVIEW_STALE"}
    known = texts.in_language("ru").keys()
    assert {f"error.{code}" for code in codes_in("actions", "base") - told_otherwise} <= known


def test_every_error_code_stands_on_the_page_with_what_to_do():
    page = (PROJECT / "docs" / "onepercent.md").read_text("utf-8")
    rows = "".join(re.findall(r"^\| (`[A-Z].*?) \|", page, re.M))
    listed = set(re.findall("`([A-Z_]+)`", rows))
    raised = codes_in()
    raised |= {f"{entity.upper()}_NOT_FOUND" for entity in ("goal", "step", "habit", "diary")}
    # Of the status of a preview.
    raised |= {"PREVIEW_APPLIED", "PREVIEW_CANCELLED"}
    assert raised - listed == set()
    assert listed - raised <= {"CANNOT_ASK", "INTERNAL_ERROR", "NOT_PRESSED"}
    assert RESOURCES["onepercent://errors"].text("onepercent://errors") == page


def test_answers_have_the_keys_that_the_page_names():
    page = (PROJECT / "docs" / "onepercent.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (`[a-z_]+`.*?) \| (`.*?) \|$", page, re.M))
    named = {
        tool: set(re.findall("`([a-z_]+)`", keys))
        for names, keys in rows.items()
        for tool in re.findall("`(.*?)`", names)
    }
    previewed = propose(goal(), step(9))
    answers = {
        "preview_actions": previewed,
        "apply_actions": apply(previewed),
        "cancel_preview": call("cancel_preview", preview_id=preview(goal())["preview_id"]),
        "undo_last": call("undo_last"),
        "get_user_snapshot": call("get_user_snapshot"),
    }
    for tool, answer in answers.items():
        assert answer.keys() - {"success"} <= named[tool], tool
        assert named[tool] - answer.keys() <= {"found", "find"}, tool
