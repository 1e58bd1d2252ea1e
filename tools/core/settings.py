"""Settings: each is a field of a section, with its variable, default and meaning.

`Settings` are the server's own; each toolset has a section of its own in `tools/<toolset>/settings.py`.
Values come from `~/.config/pi-mcp/env` (lines `NAME=value`) and from the environment, which wins. An empty
value means the default.
"""

import os
import re
import sys
from binascii import crc32
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from . import places
from .errors import did_you_mean
from .places import SettingsError

TOOLS_FOLDER = Path(places.TOOLS)
PROJECT = TOOLS_FOLDER.parent
# The Python that runs the server may have no packages.
VENV_PACKAGES = PROJECT / f".venv/lib/python3.{sys.version_info.minor}/site-packages"

TRUE_WORDS = "1 true yes on".split()
# Settings that only the resident service reads, and which do not change the list of tools.
OF_SERVICE = ("socket", "idle_exit_s", "max_sessions")
# The similarity above which an unknown variable is a misspelling: clients define `MCP_…` variables, too.
MISSPELT_LIKENESS = 0.85


# Parsers: each turns the text of a variable into a value, or raises ValueError that says what is expected.


def path(value: str) -> Path:
    return Path(os.path.expandvars(value)).expanduser()  # as a shell writes it: $HOME/x or ~/x


def flag(value: str) -> bool:
    return one_of(*TRUE_WORDS, *"0 false no off".split())(value) in TRUE_WORDS


def one_of(*choices: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value.lower() not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return value.lower()

    return parse


def count(value: str, least: int = 0) -> int:
    number = int(value) if value.isascii() and value.isdigit() else -1
    if number < least:
        raise ValueError(f"expected a whole number, {least} or more")
    return number


positive = partial(count, least=1)


def url(value: str) -> str:
    from urllib.parse import urlsplit

    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError("expected an http(s) address such as http://127.0.0.1:8765")
    _ = parts.port  # raises ValueError if it is not a number up to 65535
    return value


def language_of(texts: Mapping[str, str]) -> str:
    """The person's language by the locale: Russian if it is Russian or names no language, else English."""
    language = re.split("[_.@]", texts.get("LANG", ""))[0]
    return "ru" if language in ("", "C", "POSIX", "ru") else "en"


def _known_toolsets(value: str) -> tuple[str, ...]:
    parse = one_of(*places.toolsets())
    return tuple(map(parse, value.replace(",", " ").split()))


class Variable(NamedTuple):
    """The environment variable of a field of a section.

    `default` may be a function of the texts of all variables. `writes` returns the folder to which the server
    writes because of a value, or None.
    """

    default: object
    meaning: str
    parse: Callable[[str], object] = str
    secret: bool = False
    writes: Callable[[Any], Path | None] = lambda value: None
    name: str = ""

    def value(self, texts: Mapping[str, str]) -> object:
        """The value by the texts of all variables, or the default. Raises SettingsError that names the
        variable."""
        text = texts.get(self.name, "").strip()
        if not text:
            return self.default(texts) if callable(self.default) else self.default
        try:
            return self.parse(text)
        # RuntimeError: the home folder of an unknown user
        except (ValueError, RuntimeError) as error:
            current_text = "" if self.secret else f" (it is {masked(text)!r})"
            raise SettingsError(f"{self.name}: {error}{current_text}") from None


# Declares a field; typed as Any, so that the type checker sees the field's own type.
setting: Any = Variable


AnySection = TypeVar("AnySection", bound="Section")

# The sections that were read, by their classes.
_sections: dict[type["Section"], Any] = {}


# Sections are not dataclasses, which compile six functions each: all are made at every start.
class Section:
    """A group of settings, read once from `environ` and the settings file. Raises SettingsError that names
    the variable.

    A field's variable is named by `prefix`, then the field in capitals without its unit `_s`: `preview_ttl_s`
    is PREVIEW_TTL.
    """

    prefix = ""

    def __init__(self, environ: Mapping[str, str]):
        texts = places.values_in_file(places.settings_file(environ))
        texts |= {name: text for name, text in environ.items() if text}
        for name, variable in self.variables().items():
            setattr(self, name, variable.value(texts))

    @classmethod
    @cache
    def variables(cls) -> dict[str, Variable]:
        """The variable of each field."""
        variables = {}
        for field, variable in vars(cls).items():
            if isinstance(variable, Variable):
                name = cls.prefix + field.removesuffix("_s").upper()
                variables[field] = variable._replace(name=name)
        return variables

    @classmethod
    def current(cls: type[AnySection]) -> AnySection:
        """The settings of this process. Raises SettingsError."""
        if cls not in _sections:
            _sections[cls] = cls(os.environ)
        section: AnySection = _sections[cls]
        return section


class Settings(Section):
    """The server's own settings."""

    prefix = "MCP_"
    toolsets: tuple[str, ...] = setting(
        (), "list only these toolsets, e.g. `klipper,anki`", _known_toolsets
    )
    read_only: bool = setting(False, "1 lists no tool that changes anything", flag)
    language: str = setting(
        language_of,
        "language of texts for the person, `ru` or `en`; "
        "unset: `ru` if `LANG` is Russian, C or unset, else `en`",
        one_of("ru", "en"),
    )
    tool_names: str = setting(
        "underscore",
        "`dotted` lists `anki.add_notes` instead of `anki_add_notes`",
        one_of("underscore", "dotted"),
    )
    pages: str = setting(
        "auto",
        "`on`: the client shows pages, whatever it announces; `off`: none",
        one_of("auto", "on", "off"),
    )
    state_dir: Path = setting(
        lambda texts: Path(places.xdg_folder(texts, "XDG_STATE_HOME", ".local/state")),
        "where OnePercent's database (goals, habits, diary), locks and stamps are kept",
        path,
        writes=lambda folder: folder,
    )
    # Declared only to be listed: `places.sockets` reads the variable, and if it is unset tries
    # XDG_RUNTIME_DIR first.
    socket: Path = setting(Path(places.SYSTEM_SOCKET), "where the resident service listens", path)
    idle_exit_s: int = setting(
        0,
        "seconds without a session after which a service started by systemd ends; 0: never",
        count,
    )
    max_sessions: int = setting(16, "most sessions of the service at a time", positive)
    http_listen: str = setting(
        "127.0.0.1:8422",
        "where `--http` listens: `host:port`, or the path of a unix socket",
    )
    http_url: str = setting(
        "http://127.0.0.1:8422/mcp",
        "the public address of `--http`; tokens are valid only for it",
        url,
    )
    http_key_file: Path = setting(
        Path("http-keys"),
        "the keys that tokens are signed with; a relative path is below MCP_STATE_DIR",
        path,
    )
    http_rate: int = setting(
        120,
        "requests per minute that a person may send, half of them at once",
        positive,
    )


current = Settings.current


@cache
def sections() -> list[type[Section]]:
    """The section of the server, then those of the toolsets."""
    places.import_each("settings")
    return sorted(
        Section.__subclasses__(), key=lambda section: (section is not Settings, section.__module__)
    )


def variable_names() -> set[str]:
    """The variables of all settings."""
    variables = [section.variables().values() for section in sections()]
    return {variable.name for variable in chain(*variables)}


def check_all() -> list[str]:
    """Read every section. Returns a remark on each name in the settings file that is not a setting, and on
    each environment variable that looks like a misspelt one. Raises SettingsError."""
    for section in sections():
        section.current()
    in_file = places.values_in_file(places.settings_file())
    families = {name.partition("_")[0] for name in variable_names()}
    in_environment = [name for name in os.environ if name.partition("_")[0] in families]
    remarks = []
    for name in sorted({*in_file, *in_environment} - variable_names()):
        hint = did_you_mean(name, variable_names(), MISSPELT_LIKENESS)
        if hint or name in in_file:
            remarks.append(f"{name} is not a setting. {hint}".strip())
    return remarks


def fingerprint() -> int:
    """A checksum of the values of all settings except OF_SERVICE."""
    values = []
    for section in sections():
        for name, value in vars(section.current()).items():
            if name not in OF_SERVICE:
                values.append(value)
    return crc32(repr(values).encode())


def written_folders() -> Iterator[Path]:
    """The folders that the server writes to. Raises SettingsError."""
    for section in sections():
        for name, variable in section.variables().items():
            folder = variable.writes(getattr(section.current(), name))
            if folder:
                yield folder.absolute()


def forget() -> None:
    """Forget the settings, so that they are read again. A session of the resident service begins with this,
    in its client's environment."""
    _sections.clear()


def state_path(name: str) -> Path:
    """A file in the state folder."""
    return current().state_dir / name


def masked(text: str) -> str:
    """A text whose addresses show neither user and password nor query."""
    text = re.sub(r"(?<=://)\S*@", "…@", text)  # user and password, which may hold `/` and `@`
    return re.sub(r"(://[^?\s]*\?)\S+", r"\1…", text)
