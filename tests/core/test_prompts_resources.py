"""Prompts, resources and completion as a client meets them."""

import re
from urllib.parse import quote

import pytest

from tests.support.client import ENVELOPE, Client
from tools.core import prompts, registry, resources, settings
from tools.onepercent.actions import ACTIONS
from tools.onepercent.actions.goals import CATEGORIES
from tools.onepercent.actions.steps import PRIORITIES
from tools.onepercent.prompts.intents import WORDS

PAGES = {"Bed_Mesh.md": "# Bed Mesh\n\nThe mesh.\n", "deep/Ein Übel.md": "# Übel\n", "BLTouch.md": "# BL-Touch\n"}
GIVEN = {
    "klipper_question": {"question": "How {wide}?"},
    "klipper_check": {"config": "[fan]\npin: {PB1}\n"},
    "free_request": {"request": "хочу {учить} Python"},
    "anki_cards": {"text": "Die Sonne {ist} heiß."},
    "anki_review": {"deck": 'Geo {"x"}'},
}


@pytest.fixture
def client(small_docs):
    small_docs(PAGES)
    with Client() as one:
        one.initialize()
        yield one


def names(environment):
    registry.load()
    return [one["name"] for one in prompts.list_prompts(settings.load(environment), None)["prompts"]]


def every_prompt():
    registry.load()
    return list(prompts.PROMPTS.values())


def test_what_the_issue_names_is_listed(client):
    listed = {one["name"]: one for one in client.request("prompts/list")["result"]["prompts"]}
    assert set(listed) == {
        "klipper_question", "klipper_check", "morning_plan", "evening_review", "weekly_review", "free_request", "anki_cards", "anki_review",
    }  # fmt: skip
    assert all(one["description"] and one["title"] for one in listed.values())
    assert [one["name"] for one in listed["klipper_question"]["arguments"] if one["required"]] == ["question"]
    templates = client.request("resources/templates/list")["result"]["resourceTemplates"]
    assert [one["uriTemplate"] for one in templates] == ["klipper://docs/{path}"]


@pytest.mark.parametrize("prompt", every_prompt(), ids=lambda one: one.name)
def test_a_prompt_speaks_russian_unless_told_otherwise(prompt):
    given = GIVEN.get(prompt.name, {})
    russian, english = (prompt.text({**given, **more}) for more in ({}, {"language": "en"}))
    assert prompt.text({**given, "language": "ru"}) == russian
    own = " ".join(given.values())
    assert len(re.findall("[а-яё]", russian.replace(own, ""))) > 400
    assert len(re.findall("[а-яё]", english.replace(own, ""))) < 60
    assert all(value in russian and value in english for value in given.values())


@pytest.mark.parametrize("prompt", every_prompt(), ids=lambda one: one.name)
def test_a_prompt_names_only_tools_that_there_are(prompt):
    tools = {tool.listed_name for tool in registry.listed(settings.load({})).values()} | {"search_docs"}
    text = prompt.text({**GIVEN.get(prompt.name, {}), "language": "en"})
    suspects = set(re.findall(r"\b(?:get|preview|apply|cancel|undo|anki|search|read|list|sync)_[a-z_]+", text))
    assert suspects
    assert suspects <= tools


@pytest.mark.parametrize("language", ["ru", "en"])
def test_the_words_lead_to_every_action_category_and_priority(language):
    registry.load()
    published = [one.name for one in ACTIONS.values() if one.published]
    assert [one for one in [*published, *CATEGORIES, *PRIORITIES] if one not in WORDS[language]] == []


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("klipper_question", {}, "Field required"),
        ("klipper_question", {"question": "x", "language": "de"}, "'ru' or 'en'"),
        ("klipper_question", {"questoin": "x"}, "Did you mean question?"),
        ("no_such", {}, "There are: "),
    ],
)
def test_a_prompt_that_cannot_be_is_an_error_that_says_why(client, name, arguments, says):
    error = client.request("prompts/get", name=name, arguments=arguments)["error"]
    assert error["code"] == -32602
    assert says in error["message"]
    assert client.request("ping")["result"] == {}


def test_a_prompt_is_one_message_of_the_person(client):
    found = client.request("prompts/get", name="klipper_question", arguments={"question": "BLTouch?"})["result"]
    [message] = found["messages"]
    assert message["role"] == "user"
    assert "BLTouch?" in message["content"]["text"]


def test_prompts_and_resources_follow_the_toolsets_and_read_only():
    assert names({"MCP_TOOLSETS": "klipper"}) == ["klipper_question", "klipper_check"]
    assert names({"MCP_READ_ONLY": "1"}) == ["klipper_question", "klipper_check"]
    only_anki = settings.load({"MCP_TOOLSETS": "anki"})
    assert resources.list_resources(only_anki, None) == {"resources": []}
    assert resources.list_templates(only_anki, None) == {"resourceTemplates": []}


def test_every_page_is_a_resource_that_reads_as_it_is(client):
    listed = {one["uri"]: one for one in client.request("resources/list")["result"]["resources"]}
    assert "onepercent://actions" in listed
    pages = {one["name"]: uri for uri, one in listed.items() if uri.startswith("klipper:")}
    assert set(pages) == set(PAGES)
    assert listed[pages["Bed_Mesh.md"]]["title"] == "Bed Mesh"
    for name, uri in pages.items():
        [content] = client.request("resources/read", uri=uri)["result"]["contents"]
        assert content == {"uri": uri, "mimeType": "text/markdown", "text": PAGES[name]}


def test_a_path_may_be_encoded_whole(client):
    uri = "klipper://docs/" + quote("deep/Ein Übel.md", safe="")
    assert client.request("resources/read", uri=uri)["result"]["contents"][0]["text"] == "# Übel\n"


@pytest.mark.parametrize(
    "uri", ["klipper://docs/No.md", "klipper://docs/", "klipper://docs/..%2F..%2Fetc%2Fpasswd", "x://y", "", "\0"]
)
def test_what_is_no_resource_is_an_error_with_a_hint(client, uri):
    error = client.request("resources/read", uri=uri)["error"]
    assert error["code"] == -32602
    assert error["data"]["hint"]
    assert "Traceback" not in str(error)


def test_thousands_of_resources_come_in_pages(small_docs):
    small_docs({f"Page_{number:04}.md": f"# {number}\n" for number in range(2500)})
    with Client() as one:
        one.initialize()
        found, cursor, answers = [], None, 0
        while answers == 0 or cursor:
            answer = one.request("resources/list", **({"cursor": cursor} if cursor else {}))["result"]
            found += [resource["uri"] for resource in answer["resources"]]
            cursor, answers = answer.get("nextCursor"), answers + 1
    assert len(found) == len(set(found)) == 2502
    assert answers == 26


def test_a_page_that_goes_between_two_answers_hides_none(small_docs):
    docs = small_docs({f"Page_{number:03}.md": "# x\n" for number in range(150)})
    now = settings.current()
    first = resources.list_resources(now, None)
    for one in first["resources"]:
        (docs / one["name"]).unlink()
    assert len(resources.list_resources(now, Asked(first["nextCursor"]))["resources"]) == 52


class Asked:
    def __init__(self, cursor):
        self.cursor = cursor


def test_without_the_docs_a_page_says_how_to_get_them():
    with Client() as one:
        one.initialize()
        error = one.request("resources/read", uri="klipper://docs/Bed_Mesh.md")["error"]
    assert error["data"]["code"] == "DOCS_MISSING"


def test_a_made_up_cursor_is_an_error(client):
    assert client.request("resources/list", cursor="7")["error"]["data"]["code"] == "INVALID_CURSOR"


def complete(client, ref, name, value):
    answer = client.request("completion/complete", ref=ref, argument={"name": name, "value": value})
    return answer["result"]["completion"]["values"]


def test_a_path_is_completed_by_what_it_contains(client):
    ref = {"type": "ref/resource", "uri": "klipper://docs/{path}"}
    assert complete(client, ref, "path", "b") == ["BLTouch.md", "Bed_Mesh.md", "deep/Ein Übel.md"]
    assert complete(client, ref, "path", "bed-m") == ["Bed_Mesh.md"]
    assert complete(client, ref, "other", "") == []


def test_a_language_is_completed(client):
    assert complete(client, {"type": "ref/prompt", "name": "morning_plan"}, "language", "") == ["ru", "en"]
    assert complete(client, {"type": "ref/prompt", "name": "morning_plan"}, "language", "e") == ["en"]
    assert complete(client, {"type": "ref/prompt", "name": "morning_plan"}, "wishes", "e") == []


def test_a_completion_holds_at_most_a_hundred_values(small_docs):
    small_docs({f"Page_{number:03}.md": "# x\n" for number in range(150)})
    with Client() as one:
        one.initialize()
        ref = {"type": "ref/resource", "uri": "klipper://docs/{path}"}
        answer = one.request("completion/complete", ref=ref, argument={"name": "path", "value": "page"})
    found = answer["result"]["completion"]
    assert (len(found["values"]), found["total"], found["hasMore"]) == (100, 150, True)


def test_the_action_reference_tells_every_action_with_its_parameters():
    text = resources.RESOURCES["onepercent://actions"].text("onepercent://actions")
    sections = dict(re.findall(r"^## (\S+)\n\n((?:- .*\n)*)", text, re.MULTILINE))
    published = {one.name: one for one in ACTIONS.values() if one.published}
    assert set(sections) == set(published)
    for name, one in published.items():
        assert re.findall(r"^- \**(\w+)", sections[name], re.MULTILINE) == list(one.fields)
        assert re.findall(r"\*\*(\w+)\*\* \(required\)", sections[name]) == list(one.required)


def test_the_status_page_tells_systems_and_settings_and_no_secret(small_docs, env):
    small_docs(PAGES)
    with Client(SEARCH_API_KEY="s3cret-key", SEARCH_API_URL="http://127.0.0.1:9/?token=s3cret") as one:
        one.initialize()
        text = one.request("resources/read", uri="pi-mcp://status")["result"]["contents"][0]["text"]
    assert "| klipper | " in text
    assert "| `SEARCH_API_KEY` | set |" in text
    assert "s3cret" not in text


def test_the_2026_era_has_prompts_resources_and_completion_too(small_docs):
    small_docs(PAGES)
    with Client() as one:
        assert one.request("prompts/list", _meta=ENVELOPE)["result"]["prompts"]
        read = one.request("resources/read", uri="klipper://docs/Bed_Mesh.md", _meta=ENVELOPE)["result"]
        assert read["contents"][0]["text"] == PAGES["Bed_Mesh.md"]
        ref = {"type": "ref/resource", "uri": "klipper://docs/{path}"}
        argument = {"name": "path", "value": "mesh"}
        found = one.request("completion/complete", ref=ref, argument=argument, _meta=ENVELOPE)["result"]
        assert found["completion"]["values"] == ["Bed_Mesh.md"]


@pytest.mark.parametrize(
    ("environment", "named", "unnamed"),
    [
        ({}, ["search_docs", "preview_actions", "anki_model_info", "sync_docs"], []),
        ({"MCP_TOOLSETS": "klipper"}, ["search_docs", "sync_docs"], ["preview_actions", "anki"]),
        ({"MCP_READ_ONLY": "1"}, ["search_docs", "get_user_snapshot"], ["preview_actions", "sync_docs", "anki"]),
    ],
)
def test_the_instructions_tell_what_is_on_offer(environment, named, unnamed):
    with Client(**environment) as one:
        text = one.initialize()["instructions"]
    assert all(word in text for word in named)
    assert not [word for word in unnamed if word in text]
    assert len(text) < 900
