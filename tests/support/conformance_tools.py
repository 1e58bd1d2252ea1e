"""What the official conformance suite calls by name, as far as the declarations of this project can say it."""

import time
import zlib
from struct import pack
from typing import Literal

from server import ToolServer
from tools.core import calls
from tools.core.answers import Answer
from tools.core.errors import ToolError
from tools.core.prompts import Prompt
from tools.core.resources import Resource
from tools.core.tool import Tool


def chunk(kind: bytes, data: bytes) -> bytes:
    return pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data))


PIXEL = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
PIXEL += chunk(b"IDAT", zlib.compress(b"\0\xff")) + chunk(b"IEND", b"")


@Tool("test.simple_text", raw=True)
def simple_text() -> str:
    """Answer with text.

    Source: the conformance suite.
    """
    return "This is a simple text response for testing."


@Tool("test.image_content", raw=True)
def image_content() -> dict:
    """Answer with a picture.

    Source: the conformance suite.
    """
    return Answer({}, PIXEL)


@Tool("test.error_handling")
def error_handling() -> dict:
    """Fail.

    Source: the conformance suite.
    """
    raise ToolError("This tool intentionally returns an error for testing", "There is nothing to do.", code="TEST")


@Tool("test.tool_with_progress")
def tool_with_progress() -> dict:
    """Report progress.

    Source: the conformance suite.
    """
    for done in (0, 50, 100):
        calls.report(done, 100, f"Completed step {done} of 100")
        time.sleep(ToolServer.PROGRESS_S)
    return {}


@Tool("test.elicitation")
def elicitation(message: str) -> dict:
    """Ask the person.

    Source: the conformance suite.
    """
    return {"action": calls.ask(message)}


@Prompt("test_simple_prompt", "A simple prompt")
def simple_prompt() -> str:
    """A prompt without arguments.

    Source: the conformance suite.
    """
    return "This is a simple prompt for testing."


@Prompt("test_prompt_with_arguments", "A prompt with arguments")
def prompt_with_arguments(arg1: Literal["test", "testing", "paris"] | str, arg2: str) -> str:
    """A prompt with two arguments.

    Source: the conformance suite.
    """
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@Resource("test://static-text", "A text", mime_type="text/plain")
def static_text() -> str:
    """A text.

    Source: the conformance suite.
    """
    return "This is the content of the static text resource."


@Tool("test.input_required_result_elicitation")
def input_required_result_elicitation() -> dict:
    """Ask the person, in the 2026 era.

    Source: the conformance suite.
    """
    return {"action": calls.ask("What is your name?")}
