"""The tool that says hello."""

from typing import Annotated

from tools.core import settings
from tools.toolkit import Limits, Tool


@Tool("greet")
def greet(name: Annotated[str, Limits(min_length=1, max_length=200, strip=True)]) -> str:
    """Say hello, to test the connection.

    Source: nothing but the name.
    """
    greetings = {
        "ru": f"Привет, {name}! Я твой MCP-сервер.",
        "en": f"Hello, {name}! I am your MCP server.",
    }
    return greetings[settings.current().language]
