"""Skills: the prompts as a model loads them by itself, in both eras of the protocol."""

import hashlib
import json
import re

import pytest

from tools.core import prompts, registry, resources
from tools.core.errors import ToolError

registry.load()


def listed():
    return prompts.list_skills(None)["skills"]


def content(uri):
    return resources.read_resource({"uri": uri})["contents"][0]["text"]


def test_every_prompt_is_a_skill_that_says_when_to_use_it_and_its_file_is_as_listed():
    """A host checks the file before it loads a skill."""
    assert len(listed()) == len(prompts.PROMPTS) == 8
    for skill in listed():
        front, uri = skill["frontmatter"], skill["uri"]
        assert re.fullmatch("[a-z]+(-[a-z]+)*", front["name"])
        assert "Use when the person " in front["description"]
        assert uri == f"skill://{front['name']}/SKILL.md"
        text = content(uri)
        lines = [
            f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in front.items()
        ]
        assert text.startswith("\n".join(["---", *lines, "---", ""]))
        digest = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
        assert skill["resources"] == [{"uri": uri, "digest": digest, "size": len(text.encode())}]
        assert prompts.get_skill({"uri": uri})["skill"] == skill


@pytest.mark.parametrize("language", ["ru", "en"])
def test_a_skill_speaks_the_persons_language_names_what_is_missing_and_is_the_same_tomorrow(
    env, language
):
    env(MCP_LANGUAGE=language)
    assert "<question>" in content("skill://klipper-question/SKILL.md")
    plan = content("skill://morning-plan/SKILL.md")
    assert "<today>" in plan
    assert not re.search(r"20\d\d-\d\d-\d\d", plan)
    russian = re.findall("[а-я]{5}", content("skill://weekly-review/SKILL.md"))
    assert (len(russian) > 2) == (language == "ru")


def test_what_is_not_offered_is_no_skill(env):
    env(MCP_READ_ONLY=1)
    names = {skill["frontmatter"]["name"] for skill in listed()}
    assert names == {"klipper-question", "klipper-check"}
    for uri in ("skill://morning-plan/SKILL.md", "skill://x", "skill://klipper-question/other.md"):
        for read in (resources.read_resource, prompts.get_skill):
            with pytest.raises(ToolError):
                read({"uri": uri})
