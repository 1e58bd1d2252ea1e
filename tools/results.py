"""Results of MCP, as both eras of the protocol have them; what an era does not know, the SDK leaves out."""

import base64
from collections.abc import Iterable

from tools.core.json_types import Answer, JsonObject, encodable
from tools.core.tool import Tool

# The mark of the 2026 era's results that are not a question.
COMPLETE = {"resultType": "complete"}
# The name of a tool's question to the person in the 2026 era, where it goes out as the answer of a call.
CONSENT = "consent"
# The form of a question that is only accepted or declined.
NO_FIELDS = {"type": "object", "properties": {}}

# The first bytes of pictures, and their MIME types.
PICTURES = {b"\x89PNG": "image/png", b"\xff\xd8": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}


def describe(name: str, tool: Tool) -> JsonObject:
    """A tool as `tools/list` shows it."""
    writing = {"destructiveHint": tool.destructive, "idempotentHint": tool.idempotent} if tool.write else {}
    return {
        "name": name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.schema,
        "annotations": {"readOnlyHint": not tool.write, **writing, "openWorldHint": tool.open_world},
        **({"_meta": {"ui": tool.page_settings}} if tool.page_settings else {}),
    }


def question(text: str, state: str) -> JsonObject:
    """A tool's question as the answer of its call."""
    form = {"mode": "form", "message": text, "requestedSchema": NO_FIELDS}
    return {
        "resultType": "input_required",
        "inputRequests": {CONSENT: {"method": "elicitation/create", "params": form}},
        "requestState": state,
    }


def as_result(answer: object, private: JsonObject | None = None, lines: Iterable[str] = ()) -> JsonObject:
    """An answer as one text block, compact JSON unless it is text itself, and as structuredContent, which
    some clients take only if it is an object; `lines` follow it; `private` is for its page alone.

    A picture's base64 is not in the text again: a model reads that as a hundred thousand characters. Nor is
    there structuredContent beside it, unless a page needs that: Codex would show it in place of the content.
    """
    more = [_block(content) for content in (*(answer.content if isinstance(answer, Answer) else ()), *lines)]
    images = [block["data"] for block in more if block["type"] == "image"]
    if images and isinstance(answer, dict):
        answer = {name: value for name, value in answer.items() if value not in images}
    answer, text = encodable(answer)
    structured = answer if isinstance(answer, dict) else {"result": answer}
    return {
        **COMPLETE,
        "content": [{"type": "text", "text": answer if isinstance(answer, str) else text}, *more],
        **({} if images and private is None else {"structuredContent": structured}),
        "isError": isinstance(answer, dict) and answer.get("success") is False,
        **({"_meta": private} if private else {}),
    }


def _block(content: bytes | str) -> JsonObject:
    if isinstance(content, str):
        return {"type": "text", "text": content}
    mime = next((mime for start, mime in PICTURES.items() if content.startswith(start)), "image/png")
    return {"type": "image", "data": base64.b64encode(content).decode(), "mimeType": mime}
