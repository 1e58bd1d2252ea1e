"""Data as JSON: its types, its compact text, and answers with more than JSON."""

import json
from typing import Any

# An object as `json` reads and writes it; its members are checked where it comes in
# (`tools/core/parameters.py`).
JsonObject = dict[str, Any]


def compact_json(value: object) -> str:
    """JSON without blanks; text stays readable (no \\u escapes). Half a surrogate pair, which only foreign
    data brings, becomes `?`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()


def filled(**members: object) -> JsonObject:
    """The members that are not empty, 0 or false."""
    return {name: value for name, value in members.items() if value}


class Answer(JsonObject):
    """A tool's answer and what follows it in the result: lines of text, and pictures as MCP has them."""

    def __init__(self, answer: JsonObject, *content: JsonObject | str):
        super().__init__(answer)
        self.content = content
