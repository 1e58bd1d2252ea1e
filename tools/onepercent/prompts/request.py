"""The prompt that turns a request in one's own words into actions."""

from typing import Annotated

from tools.core.prompts import Language, Prompt
from tools.onepercent.prompts import intents

TEXT = {
    "ru": """\
Сделай в моих целях, привычках и дневнике то, о чём я прошу:

{request}

Разбери просьбу на действия по таблице ниже, по порядку; в одной просьбе их может быть несколько. Чего не хватает для обязательных параметров, о том спроси, а не придумывай.""",
    "en": """\
Do in my goals, habits and diary what I ask for:

{request}

Take the request apart into actions by the table below, in order; there may be several in one request. What the required parameters lack, ask for it; do not invent it.""",
}


@Prompt("free_request", "Просьба своими словами · Free request", write=True)
def free_request(request: Annotated[str, "what to do, in your own words"], language: Language = "ru") -> str:
    """Turn a request in one's own words into actions on goals, habits and diary.

    Source: the OnePercent tools, which it leads to.
    """
    return intents.prompt(TEXT, language, request=request)
