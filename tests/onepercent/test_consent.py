"""The person's own yes: asked through the client before anything is applied."""

import uuid

import pytest

from tests.onepercent.person import act, new_goal, use
from tests.support.client import ENVELOPE
from tests.support.session import Session
from tools.onepercent.database import store


def asking():
    """A session of a server that asks the person."""
    use(store.path(), ONEPERCENT_CONFIRM="elicit")
    return Session()


@pytest.fixture
def client():
    with asking() as session:
        session.initialize(elicitation={})
        yield session


def result(client, name, arguments, **more):
    return client.request("tools/call", name=name, arguments=arguments, **more)["result"]


def preview(client, **more):
    """What applies a preview, in the words of a model that does not ask."""
    actions = [new_goal("Выучить Python"), act("goal.update", goal_id=None, title="Выучить Rust")]
    answer = result(client, "preview_actions", {"actions": actions}, **more)["structuredContent"]
    return {"preview_id": answer["preview_id"], "user_confirmation": "the model says: yes"}


def goals(client, **more):
    answer = result(client, "get_user_snapshot", {"include": ["goals"]}, **more)
    return [goal["title"] for goal in answer["structuredContent"]["data"]["goals"]["items"]]


def asked(client, arguments):
    """Apply; the question that comes back."""
    call = {"name": "apply_actions", "arguments": arguments}
    client.send(id=900, method="tools/call", params=call)
    question = client.receive()
    assert question["method"] == "elicitation/create"
    return question


def apply(client, arguments, action):
    """Apply, answering the question with `action`; the question and the result."""
    question = asked(client, arguments)
    client.send(id=question["id"], result={"action": action})
    return question["params"]["message"], client.answer(900)["result"]


def test_an_accepted_question_applies_and_shows_the_changes_in_words(client):
    question, answer = apply(client, preview(client), "accept")
    assert answer["structuredContent"]["success"] is True
    assert question.startswith("Применить? Изменить: 1 цель. Создать: 1 цель. XP не изменятся\n")
    assert "Цель «Выучить Python»: новая" in question
    assert "название: «Выучить Python» → «Выучить Rust»" in question
    assert goals(client) == ["Выучить Rust"]


def test_a_declined_question_cancels_the_preview(client):
    arguments = preview(client)
    _, answer = apply(client, arguments, "decline")
    assert answer["isError"] is True and answer["structuredContent"]["code"] == "DECLINED"
    again = client.call("apply_actions", **arguments)
    assert again["structuredContent"]["code"] == "PREVIEW_CANCELLED"
    assert goals(client) == []


def test_a_question_that_is_closed_changes_nothing_and_can_be_asked_again(client):
    arguments = preview(client)
    assert apply(client, arguments, "cancel")[1]["structuredContent"]["code"] == "NOT_CONFIRMED"
    assert goals(client) == []
    assert apply(client, arguments, "accept")[1]["isError"] is False


def test_others_are_served_while_the_person_thinks_and_what_is_applied_is_not_asked_about_again(
    client,
):
    arguments = preview(client)
    question = asked(client, arguments)
    assert goals(client) == []
    preview(client)
    client.send(id=question["id"], result={"action": "accept"})
    first = client.answer(900)["result"]
    assert first["isError"] is False and client.call("apply_actions", **arguments) == first


def test_a_wrong_preview_is_told_without_a_question(client):
    arguments = preview(client) | {"preview_id": str(uuid.uuid4())}
    answer = client.call("apply_actions", **arguments)
    assert answer["structuredContent"]["code"] == "PREVIEW_NOT_FOUND"


@pytest.mark.parametrize(
    "capabilities", [{}, {"elicitation": {"url": {}}}, None], ids=["none", "only by url", "2026"]
)
def test_a_client_that_cannot_ask_gets_a_clear_error(capabilities):
    with asking() as session:
        meta = {"_meta": ENVELOPE} if capabilities is None else {}
        if not meta:
            session.initialize(**capabilities)
        arguments = preview(session, **meta)
        answer = result(session, "apply_actions", arguments, **meta)["structuredContent"]
        assert answer["code"] == "CANNOT_ASK" and answer["hint"]
        assert goals(session, **meta) == []


def test_in_the_2026_era_a_yes_counts_for_the_question_that_was_asked_and_its_preview_alone():
    meta = {**ENVELOPE, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
    yes = {"inputResponses": {"consent": {"action": "accept"}}, "_meta": meta}
    with asking() as session:
        first, second = (preview(session, _meta=meta) for _ in "ab")
        question = result(session, "apply_actions", first, _meta=meta)
        asked_state = question["requestState"]
        # Forged; the same words, but another preview.
        for arguments, state in ((first, "x"), (second, asked_state)):
            again = result(session, "apply_actions", arguments, requestState=state, **yes)
            assert again["resultType"] == question["resultType"] == "input_required"
        assert goals(session, _meta=meta) == []
        applied = result(session, "apply_actions", first, requestState=asked_state, **yes)
        assert applied["structuredContent"]["success"] is True


def test_the_default_asks_nothing():
    with Session() as session:
        session.initialize()
        assert session.call("apply_actions", **preview(session))["isError"] is False


def test_a_withdrawn_call_does_not_wait_for_the_person(client):
    asked(client, preview(client))
    client.send(method="notifications/cancelled", params={"requestId": 900})
    assert goals(client) == []
    client.end()


def test_a_client_that_claims_what_it_cannot_do_gets_a_clear_error(client):
    question = asked(client, preview(client))
    client.send(id=question["id"], error={"code": -32601, "message": "Method not found"})
    assert client.answer(900)["result"]["structuredContent"]["code"] == "CANNOT_ASK"
    assert goals(client) == []
