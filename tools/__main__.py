"""The tools from a shell: run it in the project's folder, or anywhere as
`python3 -I -S /path/to/tools`.

python3 -m tools list                     the tools, a line each
python3 -m tools call search_docs '{"query": "bltouch"}'
python3 -m tools schema search_docs       its argument schema as JSON
python3 -m tools settings [file]          every setting as a Markdown table, or as
                                          the settings file with all of them unset
python3 -m tools token new …              tokens for callers over HTTP (--help)
python3 -m tools invite …                 let somebody sign in from claude.ai,
                                          ChatGPT or a phone
python3 -m tools notify [--now]           send the notice of the day to the phone
                                          (NOTIFY_URL); --now also prints it
python3 -m tools bundle FILE.mcpb         what a click installs in Claude Desktop
python3 -m tools TOOLSET COMMAND …        a toolset's own commands
                                          (python3 -m tools TOOLSET lists them)

`call` and most commands print the answer as JSON and exit 1 if it is an error
(75 if an upstream cannot be reached, so that a timer need not count it as a failure).
`-` in place of the JSON reads it from stdin.
"""

import inspect
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from textwrap import fill, indent

if not __package__:  # run as a folder, whose parent is not on the path
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from tools import listing
from tools.core import calls, leaving, registry, settings, toolsets
from tools.core.tool import Tool, description, enveloped, toolset_of
from tools.starting import refuse, settings_or_refuse
from tools.toolkit import TextOutput, ToolError, compact_json

YES_WORDS = ("y", "yes", "д", "да")
HELP = ("-h", "--help", "help")
TABLE_HEAD = "| variable | default | meaning |\n| --- | --- | --- |"
ENV_FILE_HEAD = """# The settings of pi-mcp. To set one, write its value and take the # away in
# front of its name."""


def main(arguments: list[str]) -> int:
    """Run one command. Exit status: 0 done, 1 the answer is an error, 2 wrong usage or setting."""
    try:
        # Before all toolsets are loaded: a timer starts it on a small machine.
        if arguments[:1] == ["notify"]:
            os.environ.setdefault("ANKI_CONNECT_TIMEOUT", "3")
            from tools.onepercent import notices

            return notices.main(arguments[1:], _cards_due)
        settings_or_refuse()
        return _print(_output(arguments, registry.listed_tools()))
    except settings.SettingsError as error:
        refuse(error)
    except ToolError as error:
        return _print(error.answer())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader has enough: `… | head -1`
            return 0
        print(f"pi-mcp: {error}", file=sys.stderr)  # a full disk, say
        return 1
    except KeyboardInterrupt:
        return 130


def _output(arguments: list[str], tools: dict[str, Tool]) -> object:
    """The output of a command: text for people, or an answer. Raises ToolError."""
    # A command may change a tool's description: the saved listings are no longer valid then.
    toolsets.LISTENERS.append(listing.forget)
    is_help = bool(arguments) and arguments[-1] in HELP
    match arguments:
        # Commands about tools and settings.
        case ["list"]:
            width = max(map(len, tools))
            lines = [f"{name:<{width}}  {tool.title}" for name, tool in tools.items()]
            return TextOutput("\n".join(lines))
        case ["settings"] | ["settings", "file"]:
            return TextOutput(settings_table(arguments[1:] == ["file"]))
        case ["schema", name]:
            return registry.tool_named(name, tools.values()).schema
        case ["call", name, *texts] if name not in HELP and len(texts) < 2:
            tool = registry.tool_named(name, tools.values())
            usage = f"{tool.description}\n\n{tool.parameters.usage}"
            return TextOutput(usage) if is_help else _call(tool, *texts)
        # Commands that print by themselves and give an exit status.
        case ["token", *options] | ["invite", *options]:
            from tools.http import token_command

            is_invite = arguments[0] == "invite"
            return TextOutput("", token_command.main(arguments if is_invite else options))
        case ["bundle", file] if not is_help:
            from tools import connect

            return TextOutput("", connect.bundle_command(file))
        # A toolset's own command, if the arguments fit its parameters.
        case [toolset, name, *values] if command := registry.COMMANDS.get((toolset, name)):
            try:
                inspect.signature(command).bind(*values)
            except TypeError:
                return TextOutput(_commands(toolset), 2)
            output = command(*values)
            return output if isinstance(output, TextOutput) else enveloped(output)
    # Help of a toolset or of all; for any other words it is an error.
    commands = _commands(arguments[0]) if arguments else ""
    is_wanted = is_help or (commands and len(arguments) == 1)
    return TextOutput(commands or __doc__.strip(), 0 if is_wanted else 2)


def settings_table(as_file: bool = False) -> str:
    """Every setting with its default, as a Markdown table for docs/manual.md, or as a settings file with
    nothing set."""
    lines = [ENV_FILE_HEAD if as_file else TABLE_HEAD]
    for section in settings.sections():
        if not as_file:
            lines.append(f"| **{toolset_of(section).replace('core', 'server')}** | | |")
        for variable in section.variables().values():
            default = variable.value({})
            if isinstance(default, bool):
                default = int(default)
            text = "" if default in ((), {}) else str(default)
            text = text.replace(f"{settings.PROJECT}/", "").replace(str(Path.home()), "~")
            if as_file:
                meaning = fill(f"# {variable.meaning}", 78, subsequent_indent="# ")
                lines += ["", meaning, f"#{variable.name}={text}"]
            else:
                lines.append(
                    f"| `{variable.name}` | {f'`{text}`' if text else ''} | {variable.meaning} |"
                )
    return "\n".join(lines)


def _commands(toolset: str) -> str:
    """The usage of each of a toolset's own commands, with a sentence below it."""
    lines = []
    for (owner, name), command in registry.COMMANDS.items():
        if owner == toolset:
            parameters = inspect.signature(command).parameters.values()
            usage = " ".join([name, *map(_placeholder, parameters)])
            summary = description(command).partition("\n\n")[0]
            command_line = f"python3 -m tools {toolset} {usage}"
            lines += [command_line, indent(fill(summary, 74), "    ")]
    return "\n".join(lines)


def _placeholder(parameter: inspect.Parameter) -> str:
    """A parameter in a line of usage: FILE, [FILE] if it is optional, [PERIOD …] for any number of values."""
    name = parameter.name.upper()
    if parameter.kind is parameter.VAR_POSITIONAL:
        return f"[{name} …]"
    return name if parameter.default is parameter.empty else f"[{name}]"


def _call(tool: Tool, json_text: str = "{}") -> object:
    """The answer of a tool to arguments as JSON, on behalf of the person at this terminal. Raises
    ToolError."""
    try:
        arguments = json.loads(sys.stdin.read() if json_text == "-" else json_text)
        if not isinstance(arguments, dict):
            raise ValueError(f"{json_text} is not an object")
    except (ValueError, RecursionError) as error:
        raise ToolError(
            f"The arguments are not a JSON object: {error}",
            'Like this: \'{"query": "bltouch"}\'',
            "INVALID_JSON",
        ) from None
    ask = _ask if sys.stdin.isatty() else calls.refuse_to_ask
    with calls.calling(calls.RunningCall(_progress, ask=ask, by_person=True)) as lines:
        answer = tool.call(arguments)
        for line in lines:
            print(line, file=sys.stderr)
        return answer


def _cards_due() -> int:
    """The number of cards to review in Anki; 0 if Anki is not there."""
    from tools.anki import client

    with suppress(ToolError):
        return len(client.call("findCards", query="is:due -is:suspended -is:buried"))
    return 0


def _progress(done: float, total: float, message: str) -> None:
    print(f"{message} {done:g}/{total:g}", file=sys.stderr)


def _ask(question: str, key: str) -> str:
    print(f"{question}\n[y/N] ", end="", file=sys.stderr, flush=True)
    return "accept" if sys.stdin.readline().strip().lower() in YES_WORDS else "decline"


def _print(answer: object) -> int:
    """Print text for people as it stands, wrong usage on stderr, everything else as JSON. Returns the exit
    status."""
    status = 0
    if isinstance(answer, TextOutput):
        text, status = answer
    else:
        text = compact_json(answer)
        if isinstance(answer, dict) and answer.get("success") is False:
            status = os.EX_TEMPFAIL if answer.get("code") == "UPSTREAM_UNREACHABLE" else 1
    if text:  # a command may have written to standard output itself
        stream = sys.stderr if status == 2 else sys.stdout
        print(text.encode("utf-8", "replace").decode(), file=stream, flush=True)
    return status


if __name__ == "__main__":
    status = main(sys.argv[1:])
    leaving.run_at_leaving()
    sys.exit(status)
