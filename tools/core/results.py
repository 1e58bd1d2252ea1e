"""Tools and their answers in the form of MCP."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .errors import ToolError
from .json_types import Answer, JsonObject, compact_json
from .settings import current

if TYPE_CHECKING:
    from .tool import Tool

# The name of a tool's question in the 2026 era, where it is sent as the result of a call.
CONSENT = "consent"
# The form of a question that is only accepted or declined.
NO_FIELDS = {"type": "object", "properties": {}}


def describe(name: str, tool: "Tool") -> JsonObject:
    """A tool as `tools/list` shows it."""
    annotations = {"readOnlyHint": not tool.write}
    if tool.write:
        annotations |= {"destructiveHint": tool.destructive, "idempotentHint": tool.idempotent}
    annotations["openWorldHint"] = tool.open_world
    description = {
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
    """The result of a call that asks the person a question."""
    form = {"mode": "form", "message": text, "requestedSchema": NO_FIELDS}
    return {
        "resultType": "input_required",
        "inputRequests": {CONSENT: {"method": "elicitation/create", "params": form}},
        "requestState": state,
    }


def as_result(
    answer: object, private: JsonObject | None = None, lines: Iterable[str] = ()
) -> JsonObject:
    """The result with an answer: one block of text, compact JSON unless the answer is a text, and
    structuredContent, which some clients take only as an object. `lines` follow; only the page gets
    `private`.

    The base64 of an image is not in the text again: a model would read it as a hundred thousand characters.
    Nor is there structuredContent beside an image, unless a page needs it: Codex would show it in place of
    the content.
    """
    content = answer.content if isinstance(answer, Answer) else ()
    images = [block["data"] for block in content if isinstance(block, dict)]
    if images and isinstance(answer, dict):
        answer = {name: value for name, value in answer.items() if value not in images}
    text = answer if isinstance(answer, str) else compact_json(answer)
    result = {
        "content": [_as_block(block) for block in (text, *content, *lines)],
        "isError": isinstance(answer, dict) and answer.get("success") is False,
    }
    if not images or private is not None:
        result["structuredContent"] = answer if isinstance(answer, dict) else {"result": answer}
    if private:
        result["_meta"] = private
    return result


def busy(most: int) -> JsonObject:
    """The result of a call for which none of `most` turns was free."""
    error = ToolError(
        f"{most} calls are running or waiting for a person's answer",
        "Nothing was changed. Answer or cancel one of them, then try again.",
        "BUSY",
    )
    return as_result(error.answer())


def _as_block(block: JsonObject | str) -> JsonObject:
    return {"type": "text", "text": block} if isinstance(block, str) else block
