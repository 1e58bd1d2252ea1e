"""Results of tools, as MCP has them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .errors import ToolError
from .json_types import Answer, JsonObject, compact_json
from .settings import current

if TYPE_CHECKING:
    from .tool import Tool

# The name of a tool's question to the person in the 2026 era, where it is sent as the answer of a call.
CONSENT = "consent"
# The form of a question that is only accepted or declined.
NO_FIELDS = {"type": "object", "properties": {}}


def describe(name: str, tool: "Tool") -> JsonObject:
    """A tool as `tools/list` shows it."""
    annotations = {"readOnlyHint": not tool.write}
    if tool.write:
        annotations |= {"destructiveHint": tool.destructive, "idempotentHint": tool.idempotent}
    annotations["openWorldHint"] = tool.open_world
    description: JsonObject = {
        "name": name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.schema,
        "annotations": annotations,
    }
    # A tool that only pages call names no page, or hosts would open one for it.
    if tool.app_only:
        description["_meta"] = {"ui": {"visibility": ["app"]}}
    elif tool.page and current().pages != "off":
        description["_meta"] = {"ui": {"resourceUri": tool.page.uri}}
    return description


def question(text: str, state: str) -> JsonObject:
    """A tool's question as the answer of its call."""
    form = {"mode": "form", "message": text, "requestedSchema": NO_FIELDS}
    return {
        "resultType": "input_required",
        "inputRequests": {CONSENT: {"method": "elicitation/create", "params": form}},
        "requestState": state,
    }


def as_result(
    answer: object, private: JsonObject | None = None, lines: Iterable[str] = ()
) -> JsonObject:
    """An answer as one text block, compact JSON unless it is text itself, and as structuredContent, which
    some clients take only if it is an object; `lines` follow it; `private` is for its page alone.

    A picture's base64 is not in the text again: a model reads that as a hundred thousand characters. Nor is
    there structuredContent beside it, unless a page needs that: Codex would show it in place of the content.
    """
    content = answer.content if isinstance(answer, Answer) else ()
    images = [part["data"] for part in content if isinstance(part, dict)]
    if images and isinstance(answer, dict):
        answer = {name: value for name, value in answer.items() if value not in images}
    text = answer if isinstance(answer, str) else compact_json(answer)
    result: JsonObject = {
        "content": [_block(part) for part in (text, *content, *lines)],
        "isError": isinstance(answer, dict) and answer.get("success") is False,
    }
    if not images or private is not None:
        result["structuredContent"] = answer if isinstance(answer, dict) else {"result": answer}
    if private:
        result["_meta"] = private
    return result


def busy(most: int) -> JsonObject:
    """The result of a call that found none of `most` turns free."""
    error = ToolError(
        f"{most} calls are running or waiting for a person's answer",
        "Nothing was changed. Answer or cancel one of them, then try again.",
        "BUSY",
    )
    return as_result(error.answer())


def _block(part: JsonObject | str) -> JsonObject:
    return {"type": "text", "text": part} if isinstance(part, str) else part
