"""Skills: the prompts as a model loads them by itself, in both eras of the protocol."""

import hashlib
import json
import re

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import Request, RequestParams, Result

from tests.support.client import SERVER
from tools.core import prompts, registry, resources
from tools.core.errors import ToolError

registry.load()


def listed():
    return prompts.list_skills(None)["skills"]


def content(uri):
    return resources.read_resource({"uri": uri})["contents"][0]["text"]


def is_as_listed(skill, text):
    """What a host checks before it loads a skill."""
    [file] = skill["resources"]
    front, _, body = text.removeprefix("---\n").partition("\n---\n")
    lines = dict(line.split(": ", 1) for line in front.splitlines())
    return (
        {name: json.loads(value) for name, value in lines.items()} == skill["frontmatter"]
        and skill["uri"] == file["uri"] == f"skill://{skill['frontmatter']['name']}/SKILL.md"
        and file["digest"] == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
        and file["size"] == len(text.encode())
        and len(body) > 200
    )


def test_every_prompt_is_a_skill_that_says_when_to_use_it_and_its_file_is_as_listed():
    assert len(listed()) == len(prompts.PROMPTS) == 8
    for skill in listed():
        assert re.fullmatch("[a-z]+(-[a-z]+)*", skill["frontmatter"]["name"])
        assert "Use when the person " in skill["frontmatter"]["description"]
        assert is_as_listed(skill, content(skill["uri"]))
        assert prompts.get_skill({"uri": skill["uri"]})["skill"] == skill


@pytest.mark.parametrize("language", ["ru", "en"])
def test_a_skill_speaks_the_persons_language_names_what_is_missing_and_is_the_same_tomorrow(
    env, language
):
    env(MCP_LANGUAGE=language)
    assert "<question>" in content("skill://klipper-question/SKILL.md")
    plan = content("skill://morning-plan/SKILL.md")
    assert "<today>" in plan
    assert not re.search(r"20\d\d-\d\d-\d\d", plan)
    assert bool(
        re.search("[а-я]{5}.*[а-я]{5}.*[а-я]{5}", content("skill://weekly-review/SKILL.md"))
    ) == (language == "ru")


def test_what_is_not_offered_is_no_skill(env):
    env(MCP_READ_ONLY=1)
    assert {skill["frontmatter"]["name"] for skill in listed()} == {
        "klipper-question",
        "klipper-check",
    }
    for uri in ("skill://morning-plan/SKILL.md", "skill://x", "skill://klipper-question/other.md"):
        with pytest.raises(ToolError):
            content(uri)
        with pytest.raises(ToolError):
            prompts.get_skill({"uri": uri})


class Asked(Request[RequestParams | None, str]):
    method: str
    params: RequestParams | None = None


class Answered(Result, extra="allow"):
    pass


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_sdks_client_lists_and_reads_them(mode):
    async def session():
        parameters = StdioServerParameters(command=SERVER[0], args=SERVER[1:])
        async with Client(stdio_client(parameters), mode=mode) as client:
            answer = await client.session.send_request(
                Asked(method="skills/list", params=RequestParams()), Answered
            )
            for skill in answer.model_dump()["skills"]:
                text = (await client.read_resource(skill["uri"])).contents[0].text
                assert is_as_listed(skill, text)
            return len(answer.model_dump()["skills"]), client.server_capabilities

    count, capabilities = anyio.run(session)
    assert count == 8
    assert mode == "legacy" or "io.modelcontextprotocol/skills" in capabilities.extensions
