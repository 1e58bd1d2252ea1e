"""Every setting: one field of a frozen dataclass with its variable, default and meaning.

`Settings` are the server's own; each toolset has a section of its own in `tools/<toolset>/settings.py`. Values come
from `~/.config/pi-mcp/env` (lines `NAME=value`) and from the environment, which wins. An empty value means the default.
"""

import importlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, overload

from tools.core import caller, env_file
from tools.core import setting_types as types
from tools.core.caller import Caller
from tools.core.env_file import SettingsError
from tools.core.suggest import did_you_mean
from tools.core.toolsets import TOOLS, toolsets

PROJECT = TOOLS.parent
URL = re.compile(r"://(\S*@)?([^?\s]*)(\?\S+)?")
"""An address in a text: its user with password (which may hold `/` and `@`), its host and path, its query."""
PREFIXES = ("MCP_", "KLIPPER_", "ONEPERCENT_", "ANKI_", "IMAGE_", "SEARCH_")
"""What the names of our variables begin with."""
PLACES = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
"""Variables that defaults depend on. XDG_RUNTIME_DIR only says where the service listens: its sessions know."""
MISSPELT = 0.85
"""How like one of ours another variable has to be for it to be a misspelling; clients have some `MCP_…` of their own."""


class Variable(NamedTuple):
    """The environment variable that a field of a section is read from.

    `parse` raises ValueError. `writes` gives the folder that the server writes to for a value, if it does. `of_caller`
    gives the value for a remote caller.
    """

    name: str
    default: object
    meaning: str
    parse: Callable[[str], object]
    secret: bool
    writes: Callable[[Any], Path | None] | None
    of_caller: Callable[[Caller], object] | None

    def usual(self, environ: Mapping[str, str]) -> object:
        """The default; one that depends on the environment is a function of it."""
        return self.default(environ) if callable(self.default) else self.default


def setting(
    name: str,
    default: object,
    meaning: str,
    parse: Callable[[str], object] = types.text,
    *,
    secret: bool = False,
    writes: Callable[[Any], Path | None] | None = None,
    of_caller: Callable[[Caller], object] | None = None,
) -> Any:
    """A field of a section, by what `Variable` says."""
    variable = Variable(name, default, meaning, parse, secret, writes, of_caller)
    return field(default=default, metadata={"variable": variable})


def _toolsets(value: str) -> tuple[str, ...]:
    names = tuple(value.replace(",", " ").split())
    if unknown := [name for name in names if name not in toolsets()]:
        raise ValueError(f"there is no toolset {unknown[0]!r}, there are {', '.join(toolsets())}")
    return names


def _folder(path: Path) -> Path:
    return path


@dataclass(frozen=True)
class Section:
    """Some settings of one session."""

    def shown(self) -> list[tuple[str, str]]:
        """(variable, value) of every setting, secrets hidden."""
        return [(variable.name, self._shown(name)) for name, variable in self.variables().items()]

    def _shown(self, name: str) -> str:
        value = getattr(self, name)
        return "set" if self.variables()[name].secret and value else masked(str(value))

    @classmethod
    def variables(cls) -> dict[str, Variable]:
        """The variable of each field."""
        return {field.name: field.metadata["variable"] for field in fields(cls)}


@dataclass(frozen=True)
class Settings(Section):
    """The server's own settings."""

    toolsets: tuple[str, ...] = setting("MCP_TOOLSETS", (), "list only these systems, e.g. `klipper,anki`", _toolsets)
    read_only: bool = setting("MCP_READ_ONLY", False, "1 lists no tool that changes anything", types.flag)
    language: str = setting(
        "MCP_LANGUAGE", "ru", "`ru` or `en`: the texts meant for the person", types.one_of("ru", "en")
    )
    tool_names: str = setting(
        "MCP_TOOL_NAMES", "underscore", "`dotted` lists `anki.add_notes` instead of `anki_add_notes`",
        types.one_of("underscore", "dotted"),
    )  # fmt: skip
    state_dir: Path = setting(
        "MCP_STATE_DIR",
        lambda environ: Path(env_file.folder(environ, "XDG_STATE_HOME", ".local/state")),
        "where OnePercent's database (goals, habits, diary), locks and stamps are kept",
        types.path,
        writes=_folder,
    )
    socket: Path = setting(
        "MCP_SOCKET",
        lambda environ: Path(env_file.sockets(environ)[0]),
        "where the resident service listens",
        types.path,
    )
    idle_exit_s: int = setting(
        "MCP_IDLE_EXIT",
        0,
        "seconds without a session after which a service that systemd started ends; 0: never",
        types.count,
    )
    max_sessions: int = setting("MCP_MAX_SESSIONS", 16, "the most sessions of the service at a time", types.positive)
    http_listen: str = setting(
        "MCP_HTTP_LISTEN", "127.0.0.1:8422", "where `--http` listens: `host:port`, or the path of a unix socket"
    )
    http_url: str = setting(
        "MCP_HTTP_URL",
        "http://127.0.0.1:8422/mcp",
        "the public address of `--http`; tokens hold for it alone",
        types.url,
    )
    http_key_file: Path = setting(
        "MCP_HTTP_KEY_FILE",
        Path("http-keys"),
        "the keys that tokens are signed with; a relative path lies in MCP_STATE_DIR",
        types.path,
    )
    http_rate: int = setting(
        "MCP_HTTP_RATE", 120, "requests a minute that a token allows, half of them at once", types.positive
    )


AnySection = TypeVar("AnySection", bound=Section)


@cache
def sections() -> tuple[type[Section], ...]:
    """The sections of the server and of every toolset."""
    return (Settings, *(section for name in toolsets() for section in _sections_of(name)))


@cache
def names() -> frozenset[str]:
    """The variables of all settings."""
    return frozenset(variable.name for section in sections() for variable in section.variables().values())


def _sections_of(toolset: str) -> Iterator[type[Section]]:
    if (TOOLS / toolset / "settings.py").exists():
        module = importlib.import_module(f"tools.{toolset}.settings")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Section) and value.__module__ == module.__name__:
                yield value


def load(environ: Mapping[str, str], section: type[AnySection] = Settings, file: Path | None = None) -> AnySection:  # type: ignore[assignment]
    """The settings of a section that `environ` and the settings file give.

    Raises SettingsError that names the variable.
    """
    in_file = env_file.read(str(file or env_file.path(environ)))
    values = in_file | {name: value for name, value in environ.items() if value}
    return section(**{name: _parsed(variable, values, environ) for name, variable in section.variables().items()})


def _parsed(variable: Variable, values: Mapping[str, str], environ: Mapping[str, str]) -> object:
    value = values.get(variable.name, "").strip()
    if not value:
        return variable.usual(environ)
    try:
        return variable.parse(value)
    except ValueError as error:
        shown = "" if variable.secret else f" (it is {masked(value)!r})"
        raise SettingsError(f"{variable.name}: {error}{shown}") from None


@overload
def current() -> Settings: ...
@overload
def current(section: type[AnySection]) -> AnySection: ...
def current(section: type[Section] = Settings) -> Section:
    """The settings of this process, in them what is the caller's own."""
    settings = of_process(section)
    person = caller.current()
    return _of_caller(settings, person) if person else settings


def of_process(section: type[AnySection]) -> AnySection:
    """The settings that the environment gives.

    Raises SettingsError.
    """
    settings = _read.get(section)
    if not isinstance(settings, section):
        _sources()
        settings = _read[section] = load(os.environ, section)
    return settings


_read: dict[type[Section], Section] = {}
"""The sections as they were read last."""


def _of_caller(settings: AnySection, person: Caller) -> AnySection:
    own = {name: variable.of_caller(person) for name, variable in settings.variables().items() if variable.of_caller}
    return replace(settings, **own) if own else settings


@cache
def check() -> list[str]:
    """Read every section of this process; gives back a line for each name that looks misspelt.

    Raises SettingsError.
    """
    for section in sections():
        of_process(section)
    return misspelt(os.environ)


def misspelt(environ: Mapping[str, str]) -> list[str]:
    """A line for each name in the settings file that is not a setting, and for each variable that is nearly one."""
    known = names()
    in_file = env_file.read(env_file.path(environ))
    suspects = sorted({*in_file, *filter(lambda name: name.startswith(PREFIXES), environ)} - known)
    hints = {name: did_you_mean(name, known, MISSPELT) for name in suspects}
    return [f"{name} is not a setting. {hint}".strip() for name, hint in hints.items() if hint or name in in_file]


@cache
def written_folders() -> list[Path]:
    """The folders that the server writes to.

    Raises SettingsError.
    """
    folders = (
        variable.writes(getattr(of_process(section), name))
        for section in sections()
        for name, variable in section.variables().items()
        if variable.writes
    )
    return [folder.absolute() for folder in folders if folder]


@cache
def _sources() -> tuple[dict[str, str], tuple[int, ...]]:
    """What the settings are read from, as it was when the first of them was read."""
    return _sources_now()


def _sources_now() -> tuple[dict[str, str], tuple[int, ...]]:
    variables = {name: value for name, value in os.environ.items() if name.startswith(PREFIXES) or name in PLACES}
    try:
        status = os.stat(env_file.path(os.environ))
    except OSError:
        return variables, ()
    return variables, (status.st_ino, status.st_size, status.st_mtime_ns)


def forget() -> None:
    """Have the settings read anew."""
    _read.clear()
    for function in (check, written_folders, _sources):
        function.cache_clear()


def refresh() -> None:
    """Have the settings read anew if what they are read from has changed."""
    if _sources() != _sources_now():
        forget()


def state_path(name: str) -> Path:
    """A file in the state folder."""
    return current().state_dir / name


def masked(text: str) -> str:
    """`text` without what addresses in it may keep secret: a user with password, a query."""
    return URL.sub(lambda match: f"://{'…@' if match[1] else ''}{match[2]}{'?…' if match[3] else ''}", text)
