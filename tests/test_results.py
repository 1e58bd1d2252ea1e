"""Results of MCP, made of the answers of tools."""

import json

from tools.core import results
from tools.core.json_types import Answer

ENCODED = "iVBORw0K" * 10_000
PICTURE = {"type": "image", "data": ENCODED, "mimeType": "image/png"}


def test_a_picture_is_sent_once_and_nothing_that_clients_prefer_to_it():
    """Codex shows no content beside structuredContent; the others pay for each copy of the base64."""
    answer = Answer({"name": "a.png", "dataBase64": ENCODED, "tags": []}, PICTURE, "a line")
    result = results.as_result(answer)
    text, image, line = result["content"]
    assert json.loads(text["text"]) == {"name": "a.png", "tags": []}
    assert (image, line["text"]) == (PICTURE, "a line")
    assert "structuredContent" not in result
    assert json.dumps(result).count(ENCODED) == 1
    for_a_page = results.as_result(Answer({"a": 1}, PICTURE), {})
    assert for_a_page["structuredContent"] == {"a": 1}


def test_lines_of_text_alone_leave_the_object():
    assert results.as_result(Answer({"a": 1}, "a line"))["structuredContent"] == {"a": 1}
