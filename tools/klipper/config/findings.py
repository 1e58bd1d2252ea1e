"""What a check finds."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from tools.core import suggest

ERROR, WARNING, HINT = "error", "warning", "hint"
LEVELS = (ERROR, WARNING, HINT)
MOST_FINDINGS = 1000
"""A check ends after so many: nobody reads a tenth of them."""

CLOSE = 0.6
"""How alike a name is that may have been meant, from 0 to 1 (difflib)."""


class Finding(NamedTuple):
    """Something to look at: where, how bad, what, and the names of which the nearest may have been meant."""

    line: int
    file: str
    section: str
    option: str
    level: str
    message: str
    names: Collection[str] = ()
    nearest: str = ""


@dataclass
class Findings:
    """What was found, by level."""

    kept: dict[str, list[Finding]] = field(default_factory=lambda: {level: [] for level in LEVELS})

    def add(self, finding: Finding) -> None:
        """Keep it."""
        self.kept[finding.level].append(finding)

    @property
    def full(self) -> bool:
        """Whether there are so many that a check ends."""
        return sum(map(len, self.kept.values())) >= MOST_FINDINGS

    def count(self, level: str) -> int:
        """The number of a level."""
        return len(self.kept[level])

    def worst_first(self) -> list[Finding]:
        """All of them, errors first, each level in the order of files and lines."""
        return [
            finding
            for level in LEVELS
            for finding in sorted(self.kept[level], key=lambda finding: (finding.file, finding.line))
        ]


def nearest(finding: Finding) -> str:
    """What may have been meant: the successor of what is gone, or the name most like this one."""
    if finding.nearest or not finding.names:
        return finding.nearest
    name = finding.option or finding.section
    word, _, rest = name.partition(" ")
    near = suggest.nearest(word, finding.names, CLOSE)
    return " ".join(filter(None, [near, rest])) if near else ""
