"""An answer with more content than its own JSON: pictures, lines of text."""

import base64

from tools.core.json_types import JsonObject

PICTURES = {b"\x89PNG": "image/png", b"\xff\xd8": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp"}
"""What the bytes of a picture begin with, and its MIME type."""


class Answer(JsonObject):
    """A tool's answer and what follows it in the result: pictures (bytes) and lines of text."""

    def __init__(self, answer: JsonObject, *content: bytes | str):
        super().__init__(answer)
        self.content = content


def blocks(answer: object) -> list[JsonObject]:
    """What follows an answer, as content blocks of MCP."""
    return [_block(content) for content in answer.content] if isinstance(answer, Answer) else []


def _block(content: bytes | str) -> JsonObject:
    if isinstance(content, str):
        return {"type": "text", "text": content}
    mime = next((mime for start, mime in PICTURES.items() if content.startswith(start)), "image/png")
    return {"type": "image", "data": base64.b64encode(content).decode(), "mimeType": mime}
