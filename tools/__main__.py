"""The tools from a shell, without `mcp` installed.

From the project's folder; from anywhere, and isolated from the user's own packages, `python3 -I -S /path/to/tools` does
the same.

    python3 -m tools list                          the tools, a line each
    python3 -m tools call search_docs '{"query": "bltouch"}'
    python3 -m tools schema search_docs            its argument schema as JSON
    python3 -m tools settings                      every setting with its default, as a Markdown table
    python3 -m tools SYSTEM COMMAND …              a system's own commands (python3 -m tools SYSTEM lists them)

`call` and the commands print the answer as JSON and exit 1 when it is an error. `-` in place of the JSON reads it from
stdin.
"""

import inspect
import json
import sys
from pathlib import Path

if not __package__:  # run as a folder, whose parent is not on the path
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from tools import calls, registry, settings, validation, wrappers
from tools.errors import ToolError

YES = ("y", "yes", "д", "да")


def main(words: list[str]) -> int:
    """Run one command. Exit status: 0 done, 1 the answer is an error, 2 wrong usage or setting."""
    try:
        tools = registry.listed(settings.current())
    except (settings.SettingsError, ToolError) as error:
        return _refuse(str(error))
    match words:
        case ["list"]:
            width = max(map(len, tools))
            print("\n".join(f"{name:<{width}}  {tool.description.splitlines()[0]}" for name, tool in tools.items()))
            return 0
        case ["settings"]:
            print(settings.table())
            return 0
        case ["schema", name]:
            return _answered(lambda: registry.find(name, tools.values()).schema)
        case ["call", name]:
            return _answered(lambda: _call(tools, name, "{}"))
        case ["call", name, text]:
            return _answered(lambda: _call(tools, name, sys.stdin.read() if text == "-" else text))
        case [system, name, *rest] if (system, name) in registry.COMMANDS:
            return _run(registry.COMMANDS[system, name], rest)
        case [system, *_] if help := _commands(system):
            return _refuse(help)
        case _:
            return _refuse(__doc__)


def _run(command: registry.Function, words: list[str]) -> int:
    try:
        inspect.signature(command).bind(*words)
    except TypeError:
        return _refuse(_commands(command.__module__.split(".")[1]))
    return _answered(lambda: wrappers.answer(command(*words)))


def _commands(system: str) -> str:
    return "\n".join(
        f"python3 -m tools {system} {name} {' '.join(map(str.upper, inspect.signature(function).parameters))}"
        f"  {inspect.getdoc(function).splitlines()[0]}"
        for (owner, name), function in registry.COMMANDS.items()
        if owner == system
    )


def _call(tools: dict[str, registry.Tool], name: str, text: str) -> object:
    tool = registry.find(name, tools.values())
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolError(
            f"The arguments are no JSON: {error}", 'Like this: \'{"query": "bltouch"}\'', code="INVALID_JSON"
        ) from None
    if not isinstance(given, dict):
        raise ToolError("The arguments are no JSON object", 'Like this: \'{"query": "bltouch"}\'', code="INVALID_JSON")
    with calls.calling(_progress, lambda: False, _ask if sys.stdin.isatty() else calls.nobody):
        return tool.call(given, validation.validate)


def _progress(done: float, total: float | None, message: str) -> None:
    print(f"{message or 'working'} {done:g}{f'/{total:g}' if total else ''}", file=sys.stderr)


def _ask(question: str) -> str:
    print(f"{question}\n[y/N] ", end="", file=sys.stderr, flush=True)
    return "accept" if sys.stdin.readline().strip().lower() in YES else "decline"


def _answered(produce) -> int:
    try:
        answer = produce()
    except ToolError as error:
        answer = error.answer()
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    print(text.encode("utf-8", "replace").decode())
    return 1 if isinstance(answer, dict) and answer.get("success") is False else 0


def _refuse(text: str) -> int:
    print(text.strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
