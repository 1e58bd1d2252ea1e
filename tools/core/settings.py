"""Every setting: one field of a frozen dataclass with its variable, default and meaning.

`Settings` are the server's own; each toolset has a section of its own in `tools/<toolset>/settings.py`. Values come
from `~/.config/pi-mcp/env` (lines `NAME=value`) and from the environment, which wins. An empty value means the default.
"""

import importlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

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
MISSPELT = 0.85
"""How like one of ours another variable has to be for it to be a misspelling; clients have some `MCP_…` of their own."""


def setting(
    name: str,
    default: Any,
    meaning: str,
    parse: Callable[[str], Any] = types.text,
    *,
    secret: bool = False,
    writes: Callable[[Any], Path | None] | None = None,
    of_caller: Callable[[Caller], Any] | None = None,
) -> Any:
    """A field of a section: its environment variable, default, meaning and parser (which raises ValueError).

    A default that depends on the environment is a function of it. `writes` gives the folder that the server writes to
    for a value, if it does. `of_caller` gives the value for a remote caller.
    """
    metadata = {"name": name, "meaning": meaning, "parse": parse, "secret": secret, "writes": writes}
    return field(default=default, metadata={**metadata, "of_caller": of_caller})


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
        return [(one.metadata["name"], self._shown(one)) for one in fields(self)]

    def _shown(self, one: Field) -> str:
        value = getattr(self, one.name)
        return "set" if one.metadata["secret"] and value else masked(str(value))


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


def sections() -> list[type[Section]]:
    """The sections of the server and of every toolset."""
    return [Settings, *(section for name in toolsets() for section in _sections_of(name))]


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
    values = _values(environ, file)
    return section(**{one.name: _parsed(one, values, environ) for one in fields(section)})


def _values(environ: Mapping[str, str], file: Path | None = None) -> dict[str, str]:
    return {
        **env_file.read(str(file or env_file.path(environ))),
        **{name: value for name, value in environ.items() if value},
    }


def _parsed(one: Field, values: Mapping[str, str], environ: Mapping[str, str]) -> Any:
    name, value = one.metadata["name"], values.get(one.metadata["name"], "").strip()
    if not value:
        return one.default(environ) if callable(one.default) else one.default
    try:
        return one.metadata["parse"](value)
    except ValueError as error:
        shown = "" if one.metadata["secret"] else f" (it is {masked(value)!r})"
        raise SettingsError(f"{name}: {error}{shown}") from None


def current(section: type[AnySection] = Settings) -> AnySection:  # type: ignore[assignment]
    """The settings of this process, in them what is the caller's own. `current.cache_clear()` after the environment
    changed."""
    settings = of_process(section)
    person = caller.current()
    return _of_caller(settings, person) if person else settings


@cache
def of_process(section: type[AnySection]) -> AnySection:
    """The settings that the environment gives."""
    return load(os.environ, section)


def _of_caller(settings: AnySection, person: Caller) -> AnySection:
    own = {one.name: one.metadata["of_caller"](person) for one in fields(settings) if one.metadata["of_caller"]}
    return replace(settings, **own) if own else settings


current.cache_clear = of_process.cache_clear  # type: ignore[attr-defined]


def check(environ: Mapping[str, str]) -> None:
    """Read every section.

    Raises SettingsError.
    """
    for section in sections():
        load(environ, section)


def misspelt(environ: Mapping[str, str]) -> list[str]:
    """A line for each name in the settings file that is not a setting, and for each variable that is nearly one."""
    known = {one.metadata["name"] for section in sections() for one in fields(section)}
    in_file = env_file.read(env_file.path(environ))
    suspects = sorted({*in_file, *filter(lambda name: name.startswith(PREFIXES), environ)} - known)
    hints = {name: did_you_mean(name, known, MISSPELT) for name in suspects}
    return [f"{name} is not a setting. {hint}".strip() for name, hint in hints.items() if hint or name in in_file]


def written_folders() -> list[Path]:
    """The folders that the server writes to."""
    folders = (
        one.metadata["writes"](getattr(current(section), one.name))
        for section in sections()
        for one in fields(section)
        if one.metadata["writes"]
    )
    return [folder.absolute() for folder in folders if folder]


def state_path(name: str) -> Path:
    """A file in the state folder."""
    return current().state_dir / name


def table() -> str:
    """Every setting as a Markdown table, for the README: variable, default, meaning."""
    rows = [
        (f"`{one.metadata['name']}`", _default(one.default), one.metadata["meaning"])
        for section in sections()
        for one in fields(section)
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in [("variable", "default", "meaning"), ("---",) * 3, *rows])


def _default(default: Any) -> str:
    value = default({}) if callable(default) else default
    if isinstance(value, bool):
        value = int(value)
    text = str(value).replace(f"{PROJECT}/", "").replace(str(Path.home()), "~") if value not in ("", ()) else ""
    return f"`{text}`" if text else ""


def masked(text: str) -> str:
    """`text` without what addresses in it may keep secret: a user with password, a query."""
    return URL.sub(lambda found: f"://{'…@' if found[1] else ''}{found[2]}{'?…' if found[3] else ''}", text)
