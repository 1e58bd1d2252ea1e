"""The repositories whose documentation is searched and read together."""

from dataclasses import dataclass
from pathlib import Path

from tools import settings


@dataclass(frozen=True)
class Source:
    """One git checkout: its pages lie in the folder `docs` of `checkout`.

    `name` stands before the paths of its pages (`moonraker/…`); it is empty for Klipper's own.
    """

    name: str
    url: str
    branch: str
    checkout: Path
    docs: str

    @property
    def root(self) -> Path:
        """The folder of the pages."""
        return self.checkout / self.docs

    @property
    def label(self) -> str:
        """How people are told of it."""
        return self.name or "klipper"

    @property
    def prefix(self) -> str:
        """What stands before the paths of its pages."""
        return f"{self.name}/" if self.name else ""


def sources() -> list[Source]:
    """Klipper's own documentation first, then those of KLIPPER_DOCS_EXTRA, whose checkouts lie beside it."""
    now = settings.current()
    checkout = now.klipper_docs_dir.absolute()
    own = Source("", now.klipper_docs_url, now.klipper_docs_branch, checkout, "docs")
    beside = checkout.parent
    return [own, *(Source(r.name, r.url, r.branch, beside / r.name, r.docs) for r in now.klipper_docs_extra)]
