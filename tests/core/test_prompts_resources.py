"""Prompts, resources and completion, as the handlers of the server answer them."""

import json
import re
from urllib.parse import quote

import pytest

from tests.support.client import cases, json_lines
from tools.core import mcp_apps, prompts, registry, resources, toolsets
from tools.core.errors import ToolError
from tools.onepercent.actions import ACTIONS

PAGES = {
    "Bed_Mesh.md": "# Bed Mesh\n\nThe mesh.\n",
    "deep/Ein Übel.md": "# Übel\n",
    "BLTouch.md": "# BL-Touch\n",
}
ARGUMENTS = {
    "klipper_question": {"question": "How {wide}?"},
    "klipper_check": {"config": "[fan]\npin: {PB1}\n"},
    "free_request": {"request": "хочу {учить} Python"},
    "anki_cards": {"text": "Die Sonne {ist} heiß."},
    "anki_review": {"deck": 'Geo {"x"}'},
}
NAMES = """klipper_question klipper_check morning_plan evening_review weekly_review free_request anki_cards
anki_review""".split()
TOOL = r"\b(?:get|preview|apply|cancel|undo|anki|search|read|list|sync)_[a-z_]+"
registry.load()


def listed_resources():
    return resources.list_resources({})


def names_of_prompts():
    return [prompt.name for prompt in prompts.offered_prompts()]


def text_of(uri):
    [content] = resources.read_resource({"uri": uri})["contents"]
    assert (content["uri"], content["mimeType"]) == (uri, "text/markdown")
    return content["text"]


def prompted(prompt, **arguments):
    return prompt.function(**prompt.parameters.parse(ARGUMENTS.get(prompt.name, {}) | arguments))


def completed(value, argument="path"):
    ref = {"type": "ref/resource", "uri": "klipper://docs/{path}"}
    params = {"ref": ref, "argument": {"name": argument, "value": value}}
    return resources.complete(params)["completion"]


def test_every_prompt_is_listed_with_what_it_takes():
    listed = {prompt["name"]: prompt for prompt in prompts.list_prompts(None)["prompts"]}
    assert set(listed) == {*NAMES}
    assert all(prompt["description"] and prompt["title"] for prompt in listed.values())
    arguments = listed["klipper_question"]["arguments"]
    assert [argument["name"] for argument in arguments if argument["required"]] == ["question"]


def test_a_prompt_is_russian_unless_it_is_to_be_english_and_names_only_tools_that_exist():
    tools = {tool.listed_name for tool in registry.listed_tools().values()} | {"search_docs"}
    for prompt in prompts.PROMPTS.values():
        values = ARGUMENTS.get(prompt.name, {}).values()
        russian = prompted(prompt)
        english = prompted(prompt, language="en")
        assert prompted(prompt, language="ru") == russian
        assert len(re.findall("[а-яё]", russian.replace(" ".join(values), ""))) > 200
        assert len(re.findall("[а-яё]", english.replace(" ".join(values), ""))) < 60
        assert all(value in russian and value in english for value in values)
        named = {*re.findall(TOOL, english)}
        assert named and named <= tools, prompt.name


IMPOSSIBLE = """
klipper_question | {} | Field required
klipper_question | {"question": "x", "language": "de"} | 'ru' or 'en'
klipper_question | {"questoin": "x"} | Did you mean question?
no_such | {} | There are:
"""


@pytest.mark.parametrize("name, arguments, words", cases(IMPOSSIBLE))
def test_a_prompt_that_cannot_be_is_an_error_that_says_why(name, arguments, words):
    with pytest.raises(ToolError) as caught:
        prompts.get_prompt({"name": name, "arguments": json.loads(arguments)})
    assert words in f"{caught.value.message} {caught.value.hint}"


def test_prompts_and_resources_follow_the_toolsets_and_read_only(env, monkeypatch):
    for name, value in (("MCP_TOOLSETS", "klipper"), ("MCP_READ_ONLY", "1")):
        env(**{name: value})
        assert names_of_prompts() == ["klipper_question", "klipper_check"]
        monkeypatch.delenv(name)
    env(MCP_TOOLSETS="anki")
    assert listed_resources() == {"resources": []}
    assert resources.list_templates(None) == {"resourceTemplates": []}


def test_prompts_are_listed_in_one_order_whichever_toolset_was_imported_first(monkeypatch):
    names = names_of_prompts()
    backwards = sorted(prompts.PROMPTS.items(), key=lambda item: item[1].toolset, reverse=True)
    monkeypatch.setattr(prompts, "PROMPTS", dict(backwards))
    assert names_of_prompts() == names


ANNOUNCED = json_lines("""
{"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
{"experimental": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
{"extensions": {"io.modelcontextprotocol/ui": {}}}
""")
NOT_ANNOUNCED = json_lines("""
{}
{"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/plain"]}}}
{"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": 5}}}
{"extensions": null}
{"other": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
""")


def test_a_client_shows_pages_if_it_announces_them_in_either_place(env):
    assert all(map(mcp_apps.shows_pages, ANNOUNCED))
    assert not any(map(mcp_apps.shows_pages, NOT_ANNOUNCED))
    env(MCP_PAGES="off")
    assert not mcp_apps.shows_pages(ANNOUNCED[0])
    env(MCP_PAGES="on")
    assert mcp_apps.shows_pages({})


TEXT = '"const a;\\n, const b; // and / so on"'
DECLARATIONS = """
let a = 1;
// a remark
let b = () => {
  let c = 2;
  say(c);
};
let d;
say(a);
let e = 3;
"""


@pytest.mark.parametrize(
    "script, minified",
    [
        (f"\n  // a remark\n  say( {TEXT} );\n", f"say({TEXT});"),
        (DECLARATIONS, "let a=1,b=()=>{let c=2;say(c)},d;say(a);let e=3;"),
    ],
    ids=["texts stay", "one let"],
)
def test_a_page_is_sent_without_comments_and_blanks(tmp_path, script, minified):
    file = tmp_path / "page.html"
    file.write_text(f"<script>{script}</script>")
    assert mcp_apps.document(file) == f"<script>{minified}</script>"


def test_every_page_is_a_resource_that_reads_as_it_is(small_docs):
    small_docs(PAGES)
    templates = resources.list_templates(None)["resourceTemplates"]
    assert [template["uriTemplate"] for template in templates] == ["klipper://docs/{path}"]
    listed = {resource["uri"]: resource for resource in listed_resources()["resources"]}
    assert "onepercent://actions" in listed
    pages = {
        resource["name"]: uri for uri, resource in listed.items() if uri.startswith("klipper:")
    }
    assert {name: text_of(uri) for name, uri in pages.items()} == PAGES
    assert listed[pages["Bed_Mesh.md"]]["title"] == "Bed Mesh"
    assert text_of("klipper://docs/" + quote("deep/Ein Übel.md", safe="")) == "# Übel\n"


def test_a_uri_that_names_no_resource_is_an_error_with_a_hint(small_docs):
    small_docs(PAGES)
    docs = "klipper://docs/"
    for uri in (docs, f"{docs}No.md", f"{docs}..%2F..%2Fetc%2Fpasswd", "x://y", "", "\0"):
        with pytest.raises(ToolError) as caught:
            text_of(uri)
        assert caught.value.hint


def test_a_path_is_completed_by_what_it_contains(small_docs):
    small_docs(PAGES)
    assert completed("b")["values"] == ["BLTouch.md", "Bed_Mesh.md", "deep/Ein Übel.md"]
    assert completed("bed-m")["values"] == ["Bed_Mesh.md"]
    assert not completed("", "other")["values"]
    small_docs({f"Page_{number:03}.md": "# x\n" for number in range(150)})
    answer = completed("page")
    assert (len(answer["values"]), answer["total"], answer["hasMore"]) == (100, 150, True)
    assert not completed("page_0")["hasMore"]  # they are a hundred


def test_the_action_reference_describes_every_action_with_its_parameters():
    sections = dict(
        re.findall(r"^## (\S+)\n\n((?:- .*\n)*)", text_of("onepercent://actions"), re.MULTILINE)
    )
    published = {action.name: action for action in ACTIONS.values() if action.published}
    assert set(sections) == set(published)
    for name, action in published.items():
        assert re.findall(r"^- \**(\w+)", sections[name], re.MULTILINE) == list(action.fields)
        assert re.findall(r"\*\*(\w+)\*\* \(required\)", sections[name]) == list(action.required)


def test_the_status_page_shows_systems_and_settings_and_no_secret(small_docs, env):
    small_docs(PAGES)
    env(SEARCH_API_KEY="s3cret-key", SEARCH_API_URL="http://127.0.0.1:9/?token=s3cret")
    text = text_of("pi-mcp://status")
    assert "| klipper | " in text
    assert "| `SEARCH_API_KEY` | set |" in text
    assert "s3cret" not in text


OFFERS = """
MCP_TOOLSETS |  | search_docs preview_actions anki_model_info sync_docs | no_such_word
MCP_TOOLSETS | klipper | search_docs sync_docs | preview_actions anki
MCP_READ_ONLY | 1 | search_docs get_user_snapshot | preview_actions sync_docs anki
"""


@pytest.mark.parametrize("setting, value, named, unnamed", cases(OFFERS))
def test_the_instructions_tell_what_is_on_offer(setting, value, named, unnamed, env):
    env(**{setting: value})
    text = toolsets.instructions()
    assert all(word in text for word in named.split())
    assert not any(word in text for word in unnamed.split())
    assert len(text) < 900
