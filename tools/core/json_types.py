"""JSON: its types, its compact text, and answers that hold more than JSON."""

import json
from typing import Any

# An object as `json` reads and writes it; its members are checked where it comes in
# (`tools/core/parameters.py`).
JsonObject = dict[str, Any]


def compact_json(value: object) -> str:
    """JSON without blanks or \\u escapes. Half a surrogate pair, which only foreign data has, becomes `?`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()


def filled(**members: object) -> JsonObject:
    """An object of those `members` that are not empty, 0 or false."""
    return {name: value for name, value in members.items() if value}


class Answer(JsonObject):
    """A tool's answer, and the `content` after it in the result: lines of text, and images as MCP has
    them."""

    def __init__(self, answer: JsonObject, *content: JsonObject | str):
        super().__init__(answer)
        self.content = content
