"""Advice that leads somewhere: each command of the project, tool, setting and page that a message names is
there."""

import ast
import re

import pytest

from tests.support.client import PROJECT, finished
from tests.test_house import TREES
from tools import __main__ as shell
from tools import starting
from tools.core import registry, settings

SETUP = PROJECT / "setup.sh"
SHELL_TEXT = re.compile(r'\b(?:say|warn|fail|echo) "((?:[^"\\]|\\.|\\\n)*)"')
COMMAND = re.compile(
    r"(?:\./setup\.sh|server\.py|python3 -m tools)(?: (?:--?)?[A-Za-z_…][\w.-]*\b)*"
)
SETTING = re.compile(
    rf"\b(?:{'|'.join({name.partition('_')[0] for name in settings.variable_names()})})_[A-Z_]*[A-Z]\b"
)
PAGE = re.compile(r"\bdocs/\w+\.md")
TOOL = re.compile(
    r"\b(?:anki\.[a-z_]+|(?:get|preview|apply|cancel|undo|search|read|list|sync|check)_[a-z_]+)\b"
)

# The commands of the shell, by its help.
WORDS = re.findall("^python3 -m tools ([a-zA-Z]+)", shell.__doc__, re.M)

OTHERS_SETTINGS = {"MCP_CONNECTION_NONBLOCKING"}  # Claude Code's


def texts_in(tree):
    """Every text in a source but documentation, with … in place of what is filled in."""
    apart = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            apart.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            apart |= {*node.values}
            yield "".join(
                part.value if isinstance(part, ast.Constant) else "…" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in apart:
            yield node.value


def texts():
    """(file, text) of every text that is more than a word."""
    for path, tree in TREES.items():
        for text in texts_in(tree):
            if " " in text:
                yield path.relative_to(PROJECT), text
    for text in SHELL_TEXT.findall(SETUP.read_text("utf-8")):
        yield SETUP.name, re.sub(r"\$(\w+|[*@]|\{\w+\})", "…", text)


TEXTS = list(texts())


def matches_of(pattern):
    return sorted(
        {(match[0].strip(), str(path)) for path, text in TEXTS for match in pattern.finditer(text)}
    )


@pytest.mark.slow
def test_each_command_of_the_project_is_one_that_there_is():
    registry.load()
    setup_help = finished([PROJECT / "setup.sh", "--help"]).stdout
    commands = {command.replace("python3 -m tools", "tools") for command, _ in matches_of(COMMAND)}
    assert not [command for command in commands if not is_there(command, setup_help)]


def is_there(command, setup_help):
    """True if a command of the project can be called like this; `setup_help` is the help of setup.sh."""
    program, *words = command.split()
    options = [word for word in words if word.startswith("--")]
    if program == "./setup.sh":
        return all(f" {word}" in setup_help for word in options)
    if program == "server.py":
        return not options or starting.start_mode(options)
    if words[:1] == ["call"] and len(words) > 1 and re.match("[a-z]", words[1]):
        return any(words[1] in tool.names for tool in registry.listed_tools().values())
    # The name of a toolset alone lists its commands.
    toolsets = [[toolset] for toolset, _ in registry.COMMANDS]
    is_command = words in toolsets or tuple(words[:2]) in registry.COMMANDS
    return not words or options or words[0] in (*WORDS, "…") or is_command


def test_each_setting_tool_and_page_in_a_message_is_there():
    tools = {name for tool in registry.listed_tools().values() for name in tool.names}
    pages = {str(path.relative_to(PROJECT)) for path in PROJECT.glob("docs/*.md")}
    for pattern, known in (
        (SETTING, settings.variable_names() | OTHERS_SETTINGS),
        (TOOL, tools | {"preview_id", "read_only"}),
        (PAGE, pages),
    ):
        assert not [name for name in matches_of(pattern) if name[0] not in known]
