"""The greeting."""

import pytest

from tools.core import registry, settings


def greet(**arguments):
    return registry.find("greet", registry.listed(settings.current()).values()).call(arguments)


@pytest.mark.parametrize("name", ["Алиса", "  Алиса "])
def test_it_says_hello_in_the_requirements_words(name):
    assert greet(name=name) == "Привет, Алиса! Я твой MCP-сервер."


def test_it_speaks_the_persons_language(env):
    env(MCP_LANGUAGE="en")
    assert greet(name="Ann") == "Hello, Ann! I am your MCP server."


@pytest.mark.parametrize("arguments", [{}, {"name": ""}, {"name": 7}, {"name": "x" * 201}])
def test_a_name_is_needed(arguments):
    assert greet(**arguments)["code"] == "INVALID_ARGUMENTS"
