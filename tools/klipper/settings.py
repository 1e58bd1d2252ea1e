"""The settings of the Klipper documentation."""

import re
from pathlib import Path
from typing import NamedTuple

from tools.core import settings
from tools.core.settings import PROJECT, Section, setting

STATE = ".pi-mcp"
"""The folder in a checkout that shows that sync_docs made it: the generations of pages, the lock."""


class Repository(NamedTuple):
    """One more repository of documentation: `name=url#branch:docs-path`; branch and docs-path may be left out."""

    name: str
    url: str
    branch: str
    docs: str


def _repositories(value: str) -> tuple[Repository, ...]:
    repositories = tuple(_repository(word) for word in value.split())
    if len({repository.name.lower() for repository in repositories}) < len(repositories):
        raise ValueError("two repositories have one name")
    return repositories


def _repository(word: str) -> Repository:
    name, _, rest = word.partition("=")
    url, _, tail = rest.partition("#")
    branch, _, docs = tail.partition(":")
    parts = (docs or "docs").strip("/").split("/")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name) or name.lower() == "klipper":
        raise ValueError(f"expected name=url#branch:docs-path with a plain name, got {settings.masked(word)!r}")
    if not url or url.startswith("-") or branch.startswith("-") or {"", ".", ".."} & set(parts):
        raise ValueError(f"expected name=url#branch:docs-path, got {settings.masked(word)!r}")
    return Repository(name, url, branch, "/".join(parts))


def is_foreign(checkout: Path) -> bool:
    """True if somebody else made what is there: it is only read."""
    if (checkout / STATE).is_dir():
        return False
    return checkout.exists() and (not checkout.is_dir() or any(checkout.iterdir()))


class KlipperSettings(Section):
    """The documentation that is kept: whose, where, and how often it is compared."""

    klipper_docs_url: str = setting(
        "KLIPPER_DOCS_URL", "https://github.com/Klipper3d/klipper.git", "repository of the Klipper documentation"
    )
    klipper_docs_branch: str = setting("KLIPPER_DOCS_BRANCH", "", "its branch; empty: the repository's default")
    klipper_docs_dir: Path = setting(
        "KLIPPER_DOCS_DIR",
        PROJECT / "docs_repo" / "klipper",
        "its checkout, or one of your own, which is only read; the pages lie in its `docs/`",
        settings.path,
        writes=lambda checkout: None if is_foreign(checkout) else checkout,
    )
    klipper_docs_extra: tuple[Repository, ...] = setting(
        "KLIPPER_DOCS_EXTRA", (), "more repositories: `name=url#branch:docs-path`, separated by spaces", _repositories
    )
    klipper_printer_data: Path = setting(
        "KLIPPER_PRINTER_DATA",
        Path("~/printer_data"),
        "the printer's own files (config, log, socket), which are only read; `off`: none",
        Path,
    )
    klipper_docs_check_interval_s: int = setting(
        "KLIPPER_DOCS_CHECK_INTERVAL",
        3600,
        "seconds between two looks at the upstream; 0: at every start",
        settings.count,
    )


def current() -> KlipperSettings:
    """The settings of this process."""
    return settings.current(KlipperSettings)
