"""The tools from a shell, without `mcp` installed.

From the project's folder; from anywhere, and isolated from the user's own packages, `python3 -I -S /path/to/tools` does
the same.

    python3 -m tools list                          the tools, a line each
    python3 -m tools call search_docs '{"query": "bltouch"}'
    python3 -m tools schema search_docs            its argument schema as JSON
    python3 -m tools settings                      every setting with its default, as a Markdown table
    python3 -m tools token new …                   tokens for callers over HTTP (python3 -m tools token --help)
    python3 -m tools bundle FILE.mcpb              what a click installs in Claude Desktop: the ssh line
    python3 -m tools TOOLSET COMMAND …             a toolset's own commands (python3 -m tools TOOLSET lists them)

`call` and most commands print the answer as JSON and exit 1 if it is an error (75 if an upstream cannot be reached, so
that a timer may take it for no failure). `-` in place of the JSON reads it from stdin.
"""

import inspect
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

if not __package__:  # run as a folder, whose parent is not on the path
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from tools.core import calls, leaving, registry, settings, wrappers
from tools.core.errors import ToolError
from tools.core.files import compact_json
from tools.core.registry import Printed
from tools.core.suggest import did_you_mean
from tools.core.tool import Tool
from tools.core.wrappers import Function

YES = ("y", "yes", "д", "да")
HELP = ("-h", "--help", "help")
WORDS = ("bundle", "list", "call", "schema", "settings")
EXAMPLE = 'Like this: \'{"query": "bltouch"}\''


def main(words: list[str]) -> int:
    """Run one command. Exit status: 0 done, 1 the answer is an error, 2 wrong usage or setting."""
    try:
        return _main(words)
    except BrokenPipeError:  # whoever reads has enough: `… | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _main(words: list[str]) -> int:
    try:
        remarks = settings.check()
        tools = registry.listed(settings.current())
    except (settings.SettingsError, ToolError) as error:
        return _refuse(str(error))
    for line in remarks:
        print(f"pi-mcp: {line}", file=sys.stderr)
    match words:
        case ["list"]:
            return _print(_list(tools))
        case ["settings"]:
            from tools.core import settings_table

            return _print(settings_table.markdown())
        case ["schema", name]:
            return _answered(lambda: registry.find(name, tools.values()).schema)
        case ["call", name, flag] if flag in HELP:
            return _answered(lambda: Printed(_help(registry.find(name, tools.values()))))
        case ["call", name, *rest] if name not in HELP and len(rest) < 2:
            return _answered(lambda: _call(registry.find(name, tools.values()), *rest))
        case ["token", *rest]:
            from tools.service import token_command

            return token_command.main(rest)
        case ["bundle", *rest]:
            from tools.service import bundle

            return bundle.main(rest)
        case [toolset, name, *rest] if (toolset, name) in registry.COMMANDS:
            return _run(registry.COMMANDS[toolset, name], rest)
        case [toolset] | [toolset, "-h" | "--help"] if commands := _commands(toolset):
            return _print(commands)
        case [*_, flag] if flag in HELP:
            return _print(__doc__.strip())
        case _:
            return _refuse(_unknown(words))


def _unknown(words: list[str]) -> str:
    if words and (
        hint := _commands(words[0]) or did_you_mean(words[0], [*WORDS, *(name for name, _ in registry.COMMANDS)])
    ):
        return hint
    return __doc__


def _list(tools: dict[str, Tool]) -> str:
    width = max(map(len, tools), default=0)
    return "\n".join(f"{name:<{width}}  {tool.description.splitlines()[0]}" for name, tool in tools.items())


def _help(tool: Tool) -> str:
    return f"{tool.description}\n\n{tool.parameters.usage}"


def _run(command: Function, words: list[str]) -> int:
    try:
        inspect.signature(command).bind(*words)
    except TypeError:
        return _refuse(_commands(command.__module__.split(".")[1]))
    return _answered(lambda: command(*words), wrappers.answer)


def _commands(toolset: str) -> str:
    return "\n".join(
        f"python3 -m tools {toolset} {name} {_arguments(function)}  {(inspect.getdoc(function) or '').splitlines()[0]}"
        for (owner, name), function in registry.COMMANDS.items()
        if owner == toolset
    )


def _arguments(command: Function) -> str:
    parameters = inspect.signature(command).parameters.values()
    return " ".join(
        parameter.name.upper() if parameter.default is parameter.empty else f"[{parameter.name.upper()}]"
        for parameter in parameters
    )


def _call(tool: Tool, text: str = "{}") -> object:
    try:
        arguments = json.loads(sys.stdin.read() if text == "-" else text)
    except (ValueError, RecursionError) as error:
        raise ToolError(f"The arguments are not JSON: {error}", EXAMPLE, code="INVALID_JSON") from None
    if not isinstance(arguments, dict):
        raise ToolError("The arguments are not a JSON object", EXAMPLE, code="INVALID_JSON")
    with calls.calling(_progress, lambda: False, _ask if sys.stdin.isatty() else calls.nobody):
        return tool.call(arguments)


def _progress(done: float, total: float | None, message: str) -> None:
    print(f"{message or 'working'} {done:g}{f'/{total:g}' if total else ''}", file=sys.stderr)


def _ask(question: str) -> str:
    print(f"{question}\n[y/N] ", end="", file=sys.stderr, flush=True)
    return "accept" if sys.stdin.readline().strip().lower() in YES else "decline"


def _answered(produce: Callable[[], object], shape: Callable[[object], object] = lambda answer: answer) -> int:
    """Print what `produce` gives: text for people as it stands, everything else as JSON."""
    try:
        answer = produce()
    except ToolError as error:
        answer = error.answer()
    if isinstance(answer, Printed):
        return _print(answer.text, answer.status)
    answer = shape(answer)
    return _print(compact_json(answer), _status(answer))


def _status(answer: object) -> int:
    if not isinstance(answer, dict) or answer.get("success") is not False:
        return 0
    return os.EX_TEMPFAIL if answer.get("code") == "UPSTREAM_UNREACHABLE" else 1


def _print(text: str, status: int = 0) -> int:
    print(text.encode("utf-8", "replace").decode(), flush=True)
    return status


def _refuse(text: str) -> int:
    print(text.strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    status = main(sys.argv[1:])
    leaving.run(status)
    sys.exit(status)
