"""The settings file and the places, read without anything that is slow to import: a session is handed over first."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # typing's own takes longer to import than all else here
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SYSTEM_SOCKET = "/run/pi-mcp/socket"
"""Where the units that setup.sh installs listen."""


class SettingsError(Exception):
    """A setting has a value that cannot be; the message names the variable."""


def folder(environ: Mapping[str, str], variable: str, default: str) -> str:
    """pi-mcp's own folder below `variable`, or below `default` in the home folder."""
    return os.path.join(environ.get(variable) or os.path.join(os.path.expanduser("~"), default), "pi-mcp")


def path(environ: Mapping[str, str]) -> str:
    """Where the settings file lies."""
    return os.path.join(folder(environ, "XDG_CONFIG_HOME", ".config"), "env")


def sockets(environ: Mapping[str, str]) -> list[str]:
    """Where the resident service may listen, best first.

    Raises SettingsError.
    """
    if named := environ.get("MCP_SOCKET") or read(path(environ)).get("MCP_SOCKET"):
        return [os.path.expanduser(named)]
    own = environ.get("XDG_RUNTIME_DIR")
    return [os.path.join(own, "pi-mcp", "socket"), SYSTEM_SOCKET] if own else [SYSTEM_SOCKET]


def read(path: str) -> dict[str, str]:
    """The lines `NAME=value` of a settings file; none if there is no file. A byte order mark is skipped.

    Raises SettingsError.
    """
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise SettingsError(f"{path} is not a file")
        with open(path, encoding="utf-8-sig") as lines:
            return dict(_pairs(path, lines))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from None


def _pairs(path: str, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, 1):
        line = line.strip().removeprefix("export ").strip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise SettingsError(f"{path}, line {number}: expected NAME=value")
        value = value.strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        yield name.strip(), value
