"""Results of MCP, as both eras of the protocol have them; what an era does not know, the SDK leaves out."""

from tools.core import answers, calls
from tools.core.files import encodable
from tools.core.json_types import JsonObject
from tools.core.tool import Tool

COMPLETE = {"resultType": "complete"}
"""What the 2026 era's results say that are not a question."""
CONSENT = "consent"
"""The name of a tool's question to the person in the 2026 era, where it goes out as the answer of a call."""
NO_FIELDS = {"type": "object", "properties": {}}
"""The form of a question that is only accepted or declined."""


def describe(name: str, tool: Tool, with_page: bool = False) -> JsonObject:
    """A tool as `tools/list` shows it."""
    writing = {"destructiveHint": tool.destructive, "idempotentHint": tool.idempotent} if tool.write else {}
    return {
        "name": name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.schema,
        "annotations": {"readOnlyHint": not tool.write, **writing, "openWorldHint": tool.open_world},
        **({"_meta": {"ui": tool.page_settings}} if with_page and tool.page_settings else {}),
    }


def question(text: str) -> JsonObject:
    """A tool's question as the answer of its call."""
    form = {"mode": "form", "message": text, "requestedSchema": NO_FIELDS}
    return {
        "resultType": "input_required",
        "inputRequests": {CONSENT: {"method": "elicitation/create", "params": form}},
        "requestState": calls.digest(text),
    }


def of(answer: object, private: JsonObject | None = None) -> JsonObject:
    """An answer as one text block, compact JSON unless it is text itself, and as structuredContent, which some clients
    take only if it is an object; `private` is for its page alone."""
    more = answers.blocks(answer)
    answer, text = encodable(answer)
    return {
        **COMPLETE,
        "content": [{"type": "text", "text": answer if isinstance(answer, str) else text}, *more],
        "structuredContent": answer if isinstance(answer, dict) else {"result": answer},
        "isError": isinstance(answer, dict) and answer.get("success") is False,
        **({"_meta": private} if private else {}),
    }
