"""Results of MCP, made of the answers of tools."""

import base64
import json

import pytest

from tools import results
from tools.core.json_types import Answer

PICTURE = b"\x89PNG" + bytes(range(256)) * 300
ENCODED = base64.b64encode(PICTURE).decode()


@pytest.mark.parametrize("answer", [{"a": 1}, {"success": False, "error": "x"}, [1], None, "text", 7])
def test_an_answer_is_one_text_and_the_same_as_an_object(answer):
    result = results.as_result(answer)
    [block] = result["content"]
    assert block["text"] == "text" if answer == "text" else json.loads(block["text"]) == answer
    assert result["structuredContent"] == (answer if isinstance(answer, dict) else {"result": answer})
    assert result["isError"] is (answer == {"success": False, "error": "x"})


def test_a_picture_is_sent_once_and_nothing_that_clients_prefer_to_it():
    """Codex shows no content beside structuredContent; the others pay for each copy of the base64."""
    result = results.as_result(Answer({"name": "a.png", "dataBase64": ENCODED, "tags": []}, PICTURE, "a line"))
    text, image, line = result["content"]
    assert json.loads(text["text"]) == {"name": "a.png", "tags": []}
    assert (image["data"], image["mimeType"], line["text"]) == (ENCODED, "image/png", "a line")
    assert "structuredContent" not in result
    assert json.dumps(result).count(ENCODED) == 1
    assert results.as_result(Answer({"a": 1}, PICTURE), {})["structuredContent"] == {"a": 1}  # for the page beside it


def test_lines_of_text_alone_leave_the_object():
    assert results.as_result(Answer({"a": 1}, "a line"))["structuredContent"] == {"a": 1}
