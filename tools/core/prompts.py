"""Prompts, and the same as skills, which a model can load by itself if its client shows no prompts.

Skills follow the extension io.modelcontextprotocol/skills (SEP-2640): each is one file, SKILL.md, with its
digest. The functions named after methods return MCP's results.
"""

import json
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

from . import places
from .errors import ToolError
from .json_types import JsonObject
from .parameters import Parameters
from .settings import current
from .tool import Declaration, description

Language = Literal["ru", "en"]

SKILL_SCHEME = "skill://"

PROMPTS: dict[str, "Prompt"] = {}
# False while a prompt's text must be the same every day, with `<today>` in place of the date.
IS_DATED = ContextVar("is_dated", default=True)


@dataclass(eq=False)
class Prompt(Declaration):
    """Declare a plain function as a prompt: it makes the text that the person sends from its arguments.

    `title` is for people; the docstring down to its `Source:` line is the description. `when` ends the
    sentence “Use when the person …” of its skill. `write`: it leads to changes.
    """

    name: str
    title: str
    when: str
    write: bool = False

    def register(self) -> None:
        self.parameters = Parameters(self.name, self.function)
        PROMPTS[self.name] = self

    def list_entry(self) -> JsonObject:
        """Its entry in prompts/list."""
        arguments = []
        for name, schema in self.parameters.schema["properties"].items():
            choices = " or ".join(schema.get("enum", ()))
            meaning = "; ".join(filter(None, [schema.get("description"), choices]))
            if "default" in schema:
                meaning += f" ({schema['default']})"
            required = name in self.parameters.required
            arguments.append({"name": name, "description": meaning, "required": required})
        return {
            "name": self.name,
            "title": self.title,
            "description": description(self.function),
            "arguments": arguments,
        }

    @property
    def front_matter(self) -> dict[str, str]:
        """The front matter of its skill."""
        return {
            "name": self.name.replace("_", "-"),
            "description": f"{description(self.function)} Use when the person {self.when}.",
        }

    @property
    def skill_uri(self) -> str:
        """The address of its skill's file."""
        return f"{SKILL_SCHEME}{self.front_matter['name']}/SKILL.md"

    def skill_text(self) -> str:
        """The file of its skill: its purpose, then the prompt with `<name>` for each required argument."""
        header = "\n".join(
            f"{name}: {json.dumps(value, ensure_ascii=False)}"
            for name, value in self.front_matter.items()
        )
        arguments = {name: f"<{name}>" for name in self.parameters.required} | {
            "language": current().language
        }
        token = IS_DATED.set(False)  # otherwise the digest would change every day
        try:
            return f"---\n{header}\n---\n\n{self.function(**arguments)}\n"
        finally:
            IS_DATED.reset(token)

    def skill(self) -> JsonObject:
        """The entry of its skill in skills/list."""
        import hashlib  # 3.5 MiB of OpenSSL, which few processes need

        content = self.skill_text().encode()
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        file = {"uri": self.skill_uri, "digest": digest, "size": len(content)}
        return {"uri": self.skill_uri, "frontmatter": self.front_matter, "resources": [file]}


def list_prompts(params: JsonObject) -> JsonObject:
    """The result of prompts/list."""
    return {"prompts": [prompt.list_entry() for prompt in offered_prompts()]}


def get_prompt(params: JsonObject) -> JsonObject:
    """The result of prompts/get. Raises ToolError."""
    prompt = prompt_named(params["name"])
    text = prompt.function(**prompt.parameters.parse(params.get("arguments") or {}))
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return {"description": description(prompt.function), "messages": [message]}


def offered_prompts() -> list[Prompt]:
    """The prompts that the settings offer, by toolset and in the order of their declarations."""
    places.import_each("prompts")
    prompts = sorted(PROMPTS.values(), key=lambda prompt: prompt.toolset)
    return [prompt for prompt in prompts if prompt.is_offered]


def prompt_named(name: str) -> Prompt:
    """The prompt of that name. Raises ToolError NOT_FOUND."""
    prompts = {prompt.name: prompt for prompt in offered_prompts()}
    if name not in prompts:
        raise ToolError(
            f"No such prompt: {name[:80]}", f"There are: {', '.join(prompts)}.", "NOT_FOUND"
        )
    return prompts[name]


def list_skills(params: JsonObject) -> JsonObject:
    """The result of skills/list."""
    return {"skills": [prompt.skill() for prompt in offered_prompts()]}


def get_skill(params: JsonObject) -> JsonObject:
    """The result of skills/get. Raises ToolError."""
    return {"skill": prompt_of_skill(params["uri"]).skill()}


def prompt_of_skill(uri: str) -> Prompt:
    """The prompt whose skill is at `uri`. Raises ToolError NOT_FOUND."""
    for prompt in offered_prompts():
        if uri == prompt.skill_uri:
            return prompt
    raise ToolError(f"No such skill: {uri[:200]}", "skills/list names them.", "NOT_FOUND")
