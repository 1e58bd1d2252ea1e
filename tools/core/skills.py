"""Skills: the prompts once more, for a model to load by itself where a client shows no prompts.

They follow the extension io.modelcontextprotocol/skills (SEP-2640): each is one file, SKILL.md, with its digest.
"""

import hashlib
import json
from typing import Any

from tools.core import prompts
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.prompts import Prompt
from tools.core.settings import Settings
from tools.core.tool import description

EXTENSION = "io.modelcontextprotocol/skills"
SCHEME, MIME_TYPE = "skill://", "text/markdown"
FRESH = {"ttlMs": 0, "cacheScope": "private"}


def list_skills(settings: Settings, params: Any) -> JsonObject:
    """skills/list."""
    return {"skills": [_entry(settings, prompt) for prompt in prompts.offered(settings).values()], **FRESH}


def get_skill(settings: Settings, params: Any) -> JsonObject:
    """skills/get. Raises ToolError."""
    return {"skill": _entry(settings, _find(settings, params.uri)), **FRESH}


def read(settings: Settings, uri: str) -> str:
    """The file of a skill: what it is for, then the prompt with `<name>` for what it must be given. Raises ToolError."""
    prompt = _find(settings, uri)
    front = "\n".join(f"{name}: {json.dumps(text, ensure_ascii=False)}" for name, text in _front(prompt).items())
    arguments = {name: f"<{name}>" for name in prompt.parameters.required} | {"language": settings.language}
    dated = prompts.IS_DATED.set(False)  # a text of another day would have another digest
    try:
        return f"---\n{front}\n---\n\n{prompt.function(**arguments)}\n"
    finally:
        prompts.IS_DATED.reset(dated)


def _find(settings: Settings, uri: str) -> Prompt:
    for prompt in prompts.offered(settings).values():
        if uri == _uri(prompt):
            return prompt
    raise ToolError(f"No such skill: {uri[:200]}", "skills/list names them.", code="NOT_FOUND")


def _entry(settings: Settings, prompt: Prompt) -> JsonObject:
    content = read(settings, _uri(prompt)).encode()
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    file = {"uri": _uri(prompt), "digest": digest, "size": len(content)}
    return {"uri": _uri(prompt), "frontmatter": _front(prompt), "resources": [file]}


def _uri(prompt: Prompt) -> str:
    return f"{SCHEME}{_front(prompt)['name']}/SKILL.md"


def _front(prompt: Prompt) -> dict[str, str]:
    about = f"{description(prompt.function)} Use when the person {prompt.when}."
    return {"name": prompt.name.replace("_", "-"), "description": about}
