"""The settings of the Klipper documentation, and its sources: the repositories whose pages are read
together."""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tools.core import settings
from tools.core.errors import ToolError
from tools.core.settings import PROJECT, Section, setting

# The folder that sync_docs makes in its checkouts, and no other has: the generations of pages, the lock.
STATE_FOLDER = ".pi-mcp"
# The link in it to the current generation. A sync switches by replacing it.
CURRENT = "current"
# The parts of a Repository as it is written; no part of docs-path begins with a dot.
REPOSITORY = (
    r"(?a)([A-Za-z0-9][\w-]*)=([^-#][^#]*)(?:#((?!-)[^:]*)(?::/?([^/.][^/]*(?:/[^/.][^/]*)*)?/?)?)?"
)


class Repository(NamedTuple):
    """One more repository of documentation: `name=url#branch:docs-path`; branch and docs-path may be left
    out."""

    name: str
    url: str
    branch: str
    docs: str


def _parse_repositories(value: str) -> tuple[Repository, ...]:
    repositories = []
    for word in value.split():
        match = re.fullmatch(REPOSITORY, word)
        if not match:
            raise ValueError(f"expected name=url#branch:docs-path, got {settings.masked(word)!r}")
        name, url, branch, docs = match.groups("")
        repositories.append(Repository(name, url, branch, docs or "docs"))
    if len({"klipper", *(repository.name.lower() for repository in repositories)}) <= len(
        repositories
    ):
        raise ValueError("two repositories have the same name; the first is called klipper")
    return tuple(repositories)


def _parse_pairs(value: str) -> dict[str, str]:
    """Read a setting of words `name=value`. Raises ValueError."""
    pairs = dict(re.findall(r"(?a)(?<!\S)(?!here=)([\w-]+)=(\S+)", value))
    if len(pairs) < len(value.split()):
        raise ValueError(
            "expected name=value, each name once; the printer on this machine is called `here` already"
        )
    return pairs


def _parse_printers(value: str) -> dict[str, str]:
    return {
        name: settings.url(address).rstrip("/") for name, address in _parse_pairs(value).items()
    }


def is_foreign_checkout(checkout: Path) -> bool:
    """True for a folder that somebody else filled: it is only read."""
    return not (checkout / STATE_FOLDER).is_dir() and checkout.is_dir() and any(checkout.iterdir())


class KlipperSettings(Section):
    """Settings: which documentation, where, and how often it is compared."""

    klipper_docs_url: str = setting(
        "https://github.com/Klipper3d/klipper.git",
        "repository of the Klipper documentation",
    )
    klipper_docs_branch: str = setting("", "its branch; empty: the repository's default")
    klipper_docs_dir: Path = setting(
        PROJECT / "docs_repo" / "klipper",
        "its checkout, or one of your own, which is only read; the pages are in its `docs/`",
        settings.path,
        writes=lambda checkout: None if is_foreign_checkout(checkout) else checkout,
    )
    klipper_docs_extra: tuple[Repository, ...] = setting(
        (),
        "more repositories, `name=url#branch:docs-path`, separated by spaces",
        _parse_repositories,
    )
    klipper_printer_data: Path = setting(
        Path("~/printer_data"),
        "the printer's own files (config, log, socket), which are only read; `off`: none",
        Path,
    )
    printers: dict[str, str] = setting(
        {},
        "more printers by their Moonraker, only read: `k1=http://k1.local:7125 voron=http://192.168.1.20:7125`",
        _parse_printers,
    )
    printer_keys: dict[str, str] = setting(
        {},
        "API keys of those among them that want one: `k1=KEY`",
        _parse_pairs,
        secret=True,
    )
    klipper_docs_check_interval_s: int = setting(
        3600,
        "seconds between two checks of the upstream; 0: at every start",
        settings.count,
    )


current = KlipperSettings.current


class Source(NamedTuple):
    """One repository: its pages lie in the folder `docs` of a generation, or of the checkout if it has none.
    `name` begins the paths of its pages (`moonraker/…`); it is empty for Klipper's own."""

    name: str
    url: str
    branch: str
    docs: str
    checkout: Path
    generation: Path | None = None

    @property
    def root(self) -> Path:
        """Folder of the pages."""
        return (self.generation or self.checkout) / self.docs

    @property
    def head(self) -> str:
        """Commit of the current pages; empty if it is unknown or not to be compared."""
        if generation := generation_of(self.checkout):
            return generation.name.rpartition("_")[2]
        git_dir = self.checkout / ".git"
        with suppress(OSError, ValueError):
            # Read without git: this configuration may name programs. Only checkouts of the documentation are
            # sparse: a printer's own ~/klipper is not, and is never updated.
            if (git_dir / "info/sparse-checkout").is_file():
                branch = (git_dir / "HEAD").read_text("ascii").strip().removeprefix("ref: ")
                ref_file = git_dir / branch
                if ref_file.is_file():
                    return ref_file.read_text("ascii").strip()
                packed_refs = (git_dir / "packed-refs").read_text("utf-8")  # rows of `commit name`
                if row := re.search(rf"(?m)^(\w+) {re.escape(branch)}$", packed_refs):
                    return row[1]
        return ""

    @property
    def label(self) -> str:
        """Name that people read."""
        return self.name or "klipper"

    @property
    def prefix(self) -> str:
        """Beginning of the paths of its pages."""
        return f"{self.name}/" if self.name else ""


def sources() -> list[Source]:
    """List Klipper's own documentation and those of KLIPPER_DOCS_EXTRA, with their current generations."""
    values = current()
    checkout = values.klipper_docs_dir.absolute()
    # Further sources lie in a folder of their own, so that no other checkout is taken for one of them.
    extra = checkout.parent / f".{checkout.name}.extra"
    listed = [Source("", values.klipper_docs_url, values.klipper_docs_branch, "docs", checkout)]
    for repository in values.klipper_docs_extra:
        listed.append(Source(*repository, extra / repository.name))
    return [source._replace(generation=generation_of(source.checkout)) for source in listed]


def generation_of(checkout: Path) -> Path | None:
    """Find the current generation of a checkout; None if sync_docs has not made one there."""
    try:
        return checkout / STATE_FOLDER / os.readlink(checkout / STATE_FOLDER / CURRENT)
    except OSError:
        return None


def folders_to_write() -> list[Path]:
    """List the folders that sync_docs writes to with these settings, for setup.sh.

    Raises ToolError UNSAFE_FOLDER.
    """
    klipper, *extra = sources()
    check_folder(klipper.checkout)
    folders = [] if is_foreign_checkout(klipper.checkout) else [klipper.checkout]
    # The further sources lie in one folder.
    return folders + [source.checkout.parent for source in extra[:1]]


def check_folder(folder: Path) -> None:
    """Raise ToolError UNSAFE_FOLDER for a folder that cannot be meant for documentation."""
    real_path = folder.resolve()
    if any(own.resolve().is_relative_to(real_path) for own in (Path.home(), PROJECT)):
        raise ToolError(
            f"The documentation cannot be kept in {folder}: it is or contains the home folder or the project",
            "Set KLIPPER_DOCS_DIR to a folder of its own, for example ~/klipper-docs.",
            "UNSAFE_FOLDER",
        )
