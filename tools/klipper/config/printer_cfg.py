"""The text of a printer.cfg, read as Klipper reads it (klippy/configfile.py, Python's configparser)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import NamedTuple

SAVED = "#*#"
"""Begins each line of what SAVE_CONFIG wrote."""

SAVED_HEADER = "#*# <---------------------- SAVE_CONFIG ---------------------->"
INCLUDE = "include "
MOST_INCLUDES = 200
MOST_LINES = 50_000
"""Lines that are read, those of included files counted, too: no printer has a tenth of it."""

MOST_PROBLEMS = 100
BOM = "\ufeff"


class Setting(NamedTuple):
    """An option as it stands in the file: `name` in lower case, its lines joined by line ends."""

    name: str
    value: str
    line: int
    file: str
    saved: bool


class Problem(NamedTuple):
    """A line that Klipper cannot read."""

    line: int
    file: str
    section: str
    message: str


@dataclass
class Section:
    """A section with the settings of all places where it stands. `saved`: it stands only in what SAVE_CONFIG wrote."""

    name: str
    line: int
    file: str
    saved: bool
    settings: list[Setting] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """The first word of the name."""
        return self.name.partition(" ")[0]

    def values(self) -> dict[str, Setting]:
        """The setting of each option that holds: the last one, but one saved only where there is no other."""
        values: dict[str, Setting] = {}
        for setting in self.settings:
            if not setting.saved or setting.name not in values or values[setting.name].saved:
                values[setting.name] = setting
        return values


@dataclass
class PrinterConfig:
    """What stands in a printer.cfg and what it includes.

    `missing` are the includes that were not given, `unused` the given ones that nothing includes.
    """

    sections: dict[str, Section] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    lines: int = 0
    """The number of lines read that are not empty."""

    def problem(self, line: int, file: str, section: str, message: str) -> None:
        """Note a line that cannot be read, unless there are very many already."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(line, file, section, message))

    @property
    def cut(self) -> bool:
        """Whether it was too long to be read to its end."""
        return self.lines >= MOST_LINES

    @property
    def options(self) -> int:
        """The number of settings."""
        return sum(len(section.settings) for section in self.sections.values())


def read(text: str, include: Mapping[str, str] | None = None) -> PrinterConfig:
    """The configuration in `text`, with the texts of `include` in the place of `[include name]`."""
    config = PrinterConfig()
    reader = _Reader(config, include or {})
    reader.file(text, "")
    config.unused = sorted(set(include or {}) - reader.taken)
    return config


class _Reader:
    """Reads a file line by line. An option goes on over the lines below it that are indented more than it is."""

    def __init__(self, config: PrinterConfig, include: Mapping[str, str]):
        self.config = config
        self.include = include
        self.taken: set[str] = set()
        self.open: list[str] = []
        self.count = 0

    def file(self, text: str, name: str) -> None:
        """Read a file, and what it includes at its place."""
        self.open.append(name)
        if text.startswith(BOM):
            message = "Byte order mark at the beginning of the file: Klipper cannot read it; save as UTF-8 without BOM"
            self.config.problem(1, name, "", message)
        part = _Part(self.config, name)
        for number, line, saved in _lines(text.removeprefix(BOM)):
            self.config.lines += 1
            if self.config.cut:
                break
            if line.startswith("[" + INCLUDE) and "]" in line:
                part.finish()
                self._include(line[len(INCLUDE) + 1 : line.rindex("]")].strip(), number, name)
                part = _Part(self.config, name)
            else:
                part.line(number, line, saved)
        part.finish()
        self.open.pop()

    def _include(self, pattern: str, line: int, name: str) -> None:
        """Read the files that an include means; Klipper takes those of a pattern in the order of their names."""
        files = sorted(file for file in self.include if _means(pattern, file))
        if not files:
            self.config.missing.append(pattern)
        for file in files:
            self.taken.add(file)
            self.count += 1
            if file in self.open:
                self.config.problem(line, name, "", f"Recursive include of config file '{file[:80]}'")
            elif self.count <= MOST_INCLUDES:
                self.file(self.include[file], file)


class _Part:
    """Reads the lines between two includes: each part begins without a section, as for Klipper."""

    def __init__(self, config: PrinterConfig, file: str):
        self.config = config
        self.file = file
        self.section: Section | None = None
        self.lines: list[str] = []
        self.name = ""
        self.start = 0
        self.indent = 0
        self.saved = False
        self.lost = False

    def line(self, number: int, line: str, saved: bool) -> None:
        """Take the next line, without its comment."""
        if saved and not self.saved:
            self.finish()
            self.saved, self.lost = True, False
        content = line.lstrip()
        stripped = content.rstrip()
        if not stripped:
            return
        indent = len(line) - len(content)
        if self.name and indent > self.indent:
            self.lines.append(stripped)
            return
        self.finish()
        self.indent = indent
        if stripped.startswith("[") and "]" in stripped[2:]:
            self._begin(stripped[1 : stripped.rindex("]")], number)
        elif self.section is None:
            self._lose(number, stripped)
        else:
            self._option(number, stripped)

    def _begin(self, name: str, number: int) -> None:
        sections = self.config.sections
        self.section = sections.setdefault(name, Section(name, number, self.file, self.saved))

    def _lose(self, number: int, line: str) -> None:
        """Note the first line that stands in no section."""
        if not self.lost:
            message = f"File contains no section headers: '{line[:60]}' stands in no section"
            self.config.problem(number, self.file, "", message)
        self.lost = True

    def _option(self, number: int, line: str) -> None:
        ends = [at for mark in ":=" if (at := line.find(mark)) >= 0]
        name = line[: min(ends)].rstrip().lower() if ends else ""
        if name:
            self.name, self.start = name, number
            self.lines = [line[min(ends) + 1 :].strip()]
        elif self.section:
            message = f"Unable to parse the line: '{line[:60]}' is neither 'option: value' nor a section"
            self.config.problem(number, self.file, self.section.name, message)

    def finish(self) -> None:
        """The option read last is whole."""
        if self.name and self.section:
            value = "\n".join(self.lines).strip()
            self.section.settings.append(Setting(self.name, value, self.start, self.file, self.saved))
            self.section.saved = self.section.saved and self.saved
        self.name, self.lines = "", []


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each line with its number, without comments and without the marks of what SAVE_CONFIG wrote."""
    saved = False
    for number, line in enumerate(text.split("\n"), 1):
        if not line:
            continue
        if line.startswith(SAVED):
            saved = saved or line.startswith(SAVED_HEADER)
            if not saved or line.startswith(SAVED_HEADER):
                continue
            line = line[4:]
            if line.startswith("DO NOT EDIT THIS BLOCK"):
                continue
        yield number, _uncommented(line) if "#" in line or ";" in line else line, saved


def _uncommented(line: str) -> str:
    """A line up to `#`, or to a `;` that begins it or follows a blank."""
    line = line.partition("#")[0]
    at = line.find(";")
    while at > 0 and not line[at - 1].isspace():
        at = line.find(";", at + 1)
    return line[:at] if at >= 0 else line


def _means(pattern: str, name: str) -> bool:
    """Whether an include means a file given by that name: `./macros/*.cfg` means `macros/start.cfg`."""
    pattern, name = pattern.removeprefix("./"), name.removeprefix("./")
    return pattern == name or fnmatchcase(name, pattern)
