"""The places of toolsets, the settings file and sockets. This imports nothing slow, because handing a session
over needs it."""

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


def toolsets() -> list[str]:
    """The names of the toolsets, the packages under `tools/`, in alphabetical order. Imports none of them."""
    names = sorted(set(os.listdir(TOOLS)) - NOT_TOOLSETS)
    return [name for name in names if os.path.exists(f"{TOOLS}/{name}/__init__.py")]


def import_each(stem: str) -> None:
    """Import the module named `stem`, such as `prompts`, of each toolset that has one."""
    import importlib

    for name in toolsets():
        if os.path.exists(f"{TOOLS}/{name}/{stem}.py"):
            importlib.import_module(f"tools.{name}.{stem}")


def xdg_folder(environ: Mapping[str, str], variable: str, default: str) -> str:
    """pi-mcp's folder below the folder in `variable`, or below `default` in the home folder."""
    parent = environ.get(variable) or os.path.expanduser(f"~/{default}")
    return f"{parent}/pi-mcp"


def settings_file(environ: Mapping[str, str] = os.environ) -> str:
    """The path of the settings file, which may not exist."""
    return xdg_folder(environ, "XDG_CONFIG_HOME", ".config") + "/env"


def sockets(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The sockets on which the resident service may listen, the preferred one first. Raises SettingsError."""
    path = environ.get("MCP_SOCKET") or values_in_file(settings_file(environ)).get("MCP_SOCKET")
    if path:
        return [os.path.expanduser(os.path.expandvars(path))]
    runtime_folder = environ.get("XDG_RUNTIME_DIR")
    of_user = [f"{runtime_folder}/pi-mcp/socket"] if runtime_folder else []
    return [*of_user, SYSTEM_SOCKET]


def values_in_file(path: str) -> dict[str, str]:
    """The values in a settings file of lines `NAME=value`, by name; none if there is no file. Raises
    SettingsError."""
    values = {}
    try:
        with open(path, encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                parts = line.strip().removeprefix("export ").partition("=")
                name, equals, value = map(str.strip, parts)
                if name.startswith("#") or not name + equals:
                    continue
                if not equals:
                    raise SettingsError(f"{path}, line {number}: expected NAME=value")
                is_quoted = len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'"
                values[name] = value[1:-1] if is_quoted else value
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None
    return values
