"""The greeting."""

from tests.klipper.asking import call


def test_it_says_hello_in_the_requirements_words_or_the_persons_language_and_needs_a_name(env):
    for name in ("Алиса", "  Алиса "):
        assert call("greet", name=name) == "Привет, Алиса! Я твой MCP-сервер."
    for arguments in ({}, {"name": ""}, {"name": 7}, {"name": "x" * 201}):
        assert call("greet", **arguments)["code"] == "INVALID_ARGUMENTS"
    env(MCP_LANGUAGE="en")
    assert call("greet", name="Ann") == "Hello, Ann! I am your MCP server."
