"""Places: toolsets, the settings file, sockets. It imports nothing slow, because handing a session over needs
it."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # typing's own takes longer to import than all else here
if TYPE_CHECKING:
    from collections.abc import Mapping

TOOLS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
NOT_TOOLSETS = {"core", "http", "resident"}
# The socket of the units that setup.sh installs.
SYSTEM_SOCKET = "/run/pi-mcp/socket"


class SettingsError(Exception):
    """A setting has an invalid value; the message names the variable."""


def toolsets() -> tuple[str, ...]:
    """The names of the toolsets, which are packages under `tools/`, in alphabetical order. Nothing is
    imported."""
    names = sorted(set(os.listdir(TOOLS)) - NOT_TOOLSETS)
    return tuple(name for name in names if os.path.exists(f"{TOOLS}/{name}/__init__.py"))


def import_each(stem: str) -> None:
    """Import the file of this name of each toolset that has one, such as `prompts`."""
    import importlib

    for name in toolsets():
        if os.path.exists(f"{TOOLS}/{name}/{stem}.py"):
            importlib.import_module(f"tools.{name}.{stem}")


def xdg_folder(environ: Mapping[str, str], variable: str, default: str) -> str:
    """pi-mcp's own folder below `variable`, or below `default` in the home folder."""
    parent = environ.get(variable) or os.path.expanduser(f"~/{default}")
    return f"{parent}/pi-mcp"


def settings_file(environ: Mapping[str, str] = os.environ) -> str:
    return xdg_folder(environ, "XDG_CONFIG_HOME", ".config") + "/env"


def sockets(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The sockets that the resident service may listen on, best first. Raises SettingsError."""
    path = environ.get("MCP_SOCKET") or values_in_file(settings_file(environ)).get("MCP_SOCKET")
    if path:
        return [os.path.expanduser(os.path.expandvars(path))]
    runtime_folder = environ.get("XDG_RUNTIME_DIR")
    own = [f"{runtime_folder}/pi-mcp/socket"] if runtime_folder else []
    return [*own, SYSTEM_SOCKET]


def values_in_file(path: str) -> dict[str, str]:
    """The lines `NAME=value` of a settings file; none if there is no file. A byte order mark is skipped.
    Raises SettingsError."""
    values: dict[str, str] = {}
    try:
        with open(path, encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                parts = line.strip().removeprefix("export ").partition("=")
                name, equals, value = map(str.strip, parts)
                if name.startswith("#") or not name + equals:
                    continue
                if not equals:
                    raise SettingsError(f"{path}, line {number}: expected NAME=value")
                quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'"
                values[name] = value[1:-1] if quoted else value
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    return values
