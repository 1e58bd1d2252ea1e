"""Every setting: one field of one frozen dataclass with its variable, default and meaning.

Values come from `~/.config/pi-mcp/env` (lines `NAME=value`) and from the environment, which wins. An empty value
means the default.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tools import environment, handover
from tools.environment import SettingsError

PROJECT = Path(__file__).resolve().parent.parent
URL = re.compile(r"://([^/@\s]+@)?([^?\s]*)(\?\S+)?")


def _text(value: str) -> str:
    return value


def _path(value: str) -> Path:
    return Path(value).expanduser()


def _systems(value: str) -> tuple[str, ...]:
    names = tuple(value.replace(",", " ").split())
    there = {path.parent.name for path in PROJECT.glob("tools/*/__init__.py")}
    if unknown := [name for name in names if name not in there]:
        raise ValueError(f"no system {unknown[0]!r}, there are {', '.join(sorted(there))}")
    return names


def _flag(value: str) -> bool:
    word = value.lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("0", "false", "no", "off"):
        return False
    raise ValueError("expected 1 or 0")


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value.lower() not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return value.lower()

    return parse


class Repository(NamedTuple):
    """One more repository of documentation: `name=url#branch:docs-path`; branch and docs-path may be left out."""

    name: str
    url: str
    branch: str
    docs: str


def _repositories(value: str) -> tuple[Repository, ...]:
    found = tuple(_repository(word) for word in value.split())
    if len({one.name.lower() for one in found}) < len(found):
        raise ValueError("two repositories have one name")
    return found


def _repository(word: str) -> Repository:
    name, _, rest = word.partition("=")
    url, _, tail = rest.partition("#")
    branch, _, docs = tail.partition(":")
    parts = (docs or "docs").strip("/").split("/")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name) or name.lower() == "klipper":
        raise ValueError(f"expected name=url#branch:docs-path with a plain name, got {word!r}")
    if not url or url.startswith("-") or branch.startswith("-") or {"", ".", ".."} & set(parts):
        raise ValueError(f"expected name=url#branch:docs-path, got {word!r}")
    return Repository(name, url, branch, "/".join(parts))


def _count(value: str, least: int = 0) -> int:
    number = int(value) if value.isascii() and value.isdigit() else -1
    if number < least:
        raise ValueError(f"expected a whole number, {least} or more")
    return number


def _positive(value: str) -> int:
    return _count(value, 1)


def _zone(value: str) -> str:
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(value)
    except (ValueError, OSError, LookupError):
        raise ValueError("expected a time zone like Europe/Berlin that this machine knows") from None
    return value


def _url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError("expected an http(s) address such as http://127.0.0.1:8765")
    _ = parts.port  # raises ValueError where it is no number up to 65535
    return value


def _header(value: str) -> str:
    if not value.isascii() or not value.isprintable():
        raise ValueError("expected plain ASCII characters")
    return value


def setting(name: str, default: Any, meaning: str, parse: Callable[[str], Any] = _text, *, secret: bool = False) -> Any:
    """A field of Settings: its environment variable, default, meaning and parser (which raises ValueError).

    A default that depends on the environment is a function of it.
    """
    return field(default=default, metadata={"name": name, "meaning": meaning, "parse": parse, "secret": secret})


@dataclass(frozen=True)
class Settings:
    """The settings of one session."""

    toolsets: tuple[str, ...] = setting("MCP_TOOLSETS", (), "list only these systems, e.g. `klipper,anki`", _systems)
    read_only: bool = setting("MCP_READ_ONLY", False, "1 lists no tool that changes anything", _flag)
    tool_names: str = setting(
        "MCP_TOOL_NAMES", "underscore", "`dotted` lists `anki.add_notes` instead of `anki_add_notes`",
        _one_of("underscore", "dotted"),
    )  # fmt: skip
    state_dir: Path = setting(
        "MCP_STATE_DIR",
        lambda environ: Path(environment.folder(environ, "XDG_STATE_HOME", ".local/state")),
        "where locks and stamps are kept",
        _path,
    )
    socket: Path = setting(
        "MCP_SOCKET",
        lambda environ: Path(handover.places(environ)[0]),
        "where the resident service listens",
        _path,
    )
    idle_exit_s: int = setting(
        "MCP_IDLE_EXIT",
        0,
        "seconds without a session after which a service that systemd started ends; 0: never",
        _count,
    )
    max_sessions: int = setting("MCP_MAX_SESSIONS", 16, "the most sessions of the service at a time", _positive)
    klipper_docs_url: str = setting(
        "KLIPPER_DOCS_URL", "https://github.com/Klipper3d/klipper.git", "repository of the Klipper documentation"
    )
    klipper_docs_branch: str = setting("KLIPPER_DOCS_BRANCH", "", "its branch; empty: the repository's default")
    klipper_docs_dir: Path = setting(
        "KLIPPER_DOCS_DIR", PROJECT / "docs_repo" / "klipper", "its checkout; the pages lie in its `docs/`", _path
    )
    klipper_docs_extra: tuple[Repository, ...] = setting(
        "KLIPPER_DOCS_EXTRA", (), "more repositories: `name=url#branch:docs-path`, separated by spaces", _repositories
    )
    klipper_docs_check_interval_s: int = setting(
        "KLIPPER_DOCS_CHECK_INTERVAL", 3600, "seconds between two looks at the upstream; 0: at every start", _count
    )
    onepercent_db: Path = setting(
        "ONEPERCENT_DB",
        Path("onepercent.sqlite3"),
        "OnePercent's database; a relative path lies in MCP_STATE_DIR",
        _path,
    )
    onepercent_user: str = setting("ONEPERCENT_USER", "local", "whose goals, habits and diary these are")
    onepercent_tz: str = setting(
        "ONEPERCENT_TZ", "", "time zone that decides what today is, e.g. `Europe/Berlin`; empty: the machine's", _zone
    )
    onepercent_preview_ttl_s: int = setting(
        "ONEPERCENT_PREVIEW_TTL", 300, "seconds for which a preview can be applied", _positive
    )
    onepercent_rate_limit: bool = setting(
        "ONEPERCENT_RATE_LIMIT", True, "`off` lifts the limits on calls a minute", _flag
    )
    onepercent_confirm: str = setting(
        "ONEPERCENT_CONFIRM", "off", "`elicit` asks the person through the client before anything is applied",
        _one_of("off", "elicit"),
    )  # fmt: skip
    anki_connect_url: str = setting("ANKI_CONNECT_URL", "http://127.0.0.1:8765", "where AnkiConnect listens", _url)
    anki_connect_key: str = setting(
        "ANKI_CONNECT_KEY", "", "AnkiConnect's `apiKey`, where its config sets one", secret=True
    )
    anki_connect_timeout_s: int = setting(
        "ANKI_CONNECT_TIMEOUT", 30, "seconds to wait for an answer of AnkiConnect", _positive
    )
    anki_default_deck: str = setting("ANKI_DEFAULT_DECK", "Default", "the deck of notes added without one")
    anki_default_model: str = setting(
        "ANKI_DEFAULT_MODEL", "Поля для ChatGPT", "the note type of notes added without one"
    )
    image_max_bytes: int = setting("IMAGE_MAX_BYTES", 10 * 1024 * 1024, "the largest image taken, in bytes", _positive)
    image_allow_private: bool = setting(
        "IMAGE_ALLOW_PRIVATE", False, "1 lets images be downloaded from loopback and private addresses", _flag
    )

    search_api_url: str = setting(
        "SEARCH_API_URL", "", "the service that `search` asks, e.g. an n8n webhook; empty: no search", _url
    )
    search_api_key: str = setting(
        "SEARCH_API_KEY", "", "its key, sent as `Authorization: Bearer …`, or as it is with a scheme of its own", _header,
        secret=True,
    )  # fmt: skip
    search_api_method: str = setting(
        "SEARCH_API_METHOD", "post", "`get` sends query parameters instead of JSON", _one_of("post", "get")
    )
    search_api_timeout_s: int = setting("SEARCH_API_TIMEOUT", 30, "seconds to wait for its answer", _positive)

    def shown(self) -> list[tuple[str, str]]:
        """(variable, value) of every setting, secrets hidden."""
        return [
            (
                f.metadata["name"],
                "set" if f.metadata["secret"] and getattr(self, f.name) else masked(str(getattr(self, f.name))),
            )
            for f in fields(self)
        ]


def table() -> str:
    """Every setting as a Markdown table, for the README: variable, default, meaning."""
    rows = [(f"`{f.metadata['name']}`", _told(f.default), f.metadata["meaning"]) for f in fields(Settings)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [("variable", "default", "meaning"), ("---",) * 3, *rows])


def _told(default: Any) -> str:
    value = default({}) if callable(default) else default
    if isinstance(value, bool):
        value = int(value)
    text = str(value).replace(f"{PROJECT}/", "").replace(str(Path.home()), "~") if value not in ("", ()) else ""
    return f"`{text}`" if text else ""


def masked(text: str) -> str:
    """`text` without what addresses in it may keep secret: a user with password, a query."""
    return URL.sub(lambda found: f"://{'…@' if found[1] else ''}{found[2]}{'?…' if found[3] else ''}", text)


def load(environ: Mapping[str, str], file: Path | None = None) -> Settings:
    """The settings that `environ` and the settings file give.

    Raises SettingsError that names the variable.
    """
    values = {
        **environment.read(str(file or environment.file(environ))),
        **{name: value for name, value in environ.items() if value},
    }
    return Settings(**{one.name: _value(one, values, environ) for one in fields(Settings)})


def _value(one: Field, values: Mapping[str, str], environ: Mapping[str, str]) -> Any:
    name, value = one.metadata["name"], values.get(one.metadata["name"], "").strip()
    if not value:
        return one.default(environ) if callable(one.default) else one.default
    try:
        return one.metadata["parse"](value)
    except ValueError as error:
        shown = "" if one.metadata["secret"] else f" (it is {masked(value)!r})"
        raise SettingsError(f"{name}: {error}{shown}") from None


@cache
def current() -> Settings:
    """The settings of this process. `current.cache_clear()` after the environment changed."""
    return load(os.environ)
