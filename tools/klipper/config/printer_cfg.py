"""The text of a printer.cfg, read as Klipper reads it (klippy/configfile.py, Python's configparser)."""

import fnmatch
import glob
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from tools.core.errors import ToolError
from tools.klipper.printer_data import content

SAVED = "#*# "
"""Begins each line of what SAVE_CONFIG wrote."""
SAVED_HEADER = "#*# <---------------------- SAVE_CONFIG ---------------------->"
NOTICE = "#*# DO NOT EDIT THIS BLOCK"
INCLUDE = "[include "
PROFILES = ("bed_mesh ", "skew_correction ")
"""Begin the names of sections that only calibrations write, wherever a person has moved them."""
# What ends a line: `#`, or a `;` that begins it or follows a blank.
COMMENT = re.compile(r"#|(?<!\S);")
OPTION = re.compile(r"([^:=]*)[:=](.*)")
MAGIC = frozenset("*?[")
"""A pattern with one of these may fit no file."""
MOST_LINES = 50_000
"""Lines and includes that are read, those of included files counted, too: no printer has a tenth of it."""
UNOPENED = "Unable to open config file"
LONGEST_NAME = 100
"""Characters of a section's or an option's name; none that Klipper has is half as long."""
LONGEST = 4_000_000
"""Characters of a configuration, and bytes of each file."""
ERROR, WARNING, HINT = LEVELS = ("error", "warning", "hint")


@dataclass
class Setting:
    """An option as it stands in the file: `name` in lower case, and the lines of its value."""

    name: str
    lines: list[str]
    line: int
    file: str
    saved: bool

    @cached_property
    def value(self) -> str:
        """Its lines joined by line ends. For after reading."""
        return "\n".join(self.lines).strip()


@dataclass
class Section:
    """A section with the settings of all places where it stands. `saved`: it stands only in what SAVE_CONFIG
    wrote."""

    name: str
    line: int
    file: str
    saved: bool
    settings: list[Setting] = field(default_factory=list)

    @cached_property
    def kind(self) -> str:
        """The first word of the name."""
        return self.name.partition(" ")[0]

    @cached_property
    def values(self) -> dict[str, Setting]:
        """The setting of each option that holds: the last one, but a saved one only if there is no other. For
        after reading."""
        ordered = sorted(self.settings, key=lambda setting: not setting.saved)
        return {setting.name: setting for setting in ordered}

    def value(self, option: str) -> str:
        """The value of an option; "" if it is not there."""
        return self.values[option].value if option in self.values else ""

    def words(self, option: str) -> list[str]:
        """The words of a list with commas."""
        words = map(str.strip, self.value(option).split(","))
        return list(filter(None, words))

    def numbers(self, option: str) -> list[float]:
        """The numbers of a list with commas; none if something else stands there."""
        try:
            return [float(word) for word in self.words(option)]
        except ValueError:
            return []

    def number(self, option: str, default: float | None = None) -> float | None:
        """The number of an option; the default if it is not there, None if something else stands there."""
        if not self.value(option):
            return default
        numbers = self.numbers(option)
        return numbers[0] if len(numbers) == 1 else None


class Finding(NamedTuple):
    """Something to look at: where, how bad, what, and a name that may have been meant. `also`: lines with the
    same."""

    line: int
    file: str
    section: str
    option: str
    level: str
    message: str
    nearest: str = ""
    also: tuple[int, ...] = ()


@dataclass
class PrinterConfig:
    """The contents of a printer.cfg and of the files it includes.

    `problems` are lines that Klipper cannot read, `missing` are the includes that were not given.
    """

    sections: dict[str, Section] = field(default_factory=dict)
    problems: list[Finding] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def settings(self) -> list[Setting]:
        """The settings of all sections."""
        return list(chain.from_iterable(section.settings for section in self.sections.values()))


def read(text: str, include: Mapping[str, str] | None = None) -> PrinterConfig:
    """The configuration in `text`, with the texts of `include` in the place of `[include name]`."""
    given = {name.removeprefix("./"): _encoded(text) for name, text in (include or {}).items()}

    def find(near: str, pattern: str) -> dict[str, bytes | None]:
        names = fnmatch.filter(given, near) or fnmatch.filter(given, pattern.removeprefix("./"))
        return {name: given[name] for name in sorted(names)} or {pattern: None}

    reader = _Reader(find)
    reader.read(_encoded(text), "")
    return reader.config


def read_files(path: Path, inside: Path | None = None) -> PrinterConfig:
    """A configuration with the files that it includes; of these none that lies outside the folder `inside`.

    Raises ToolError: not there, not a file, too long, outside.
    """

    def find(near: str, _: str) -> dict[str, bytes | None]:
        files: dict[str, bytes | None] = {}
        for name in sorted(glob.glob(near, root_dir=path.parent)):
            files[name] = None
            with suppress(ToolError):
                files[name] = content(path.parent / name, inside, LONGEST)
        return files

    reader = _Reader(find)
    reader.read(content(path, inside, LONGEST), "")
    return reader.config


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


# What Klipper does, and the reader with it:
# - A line that is indented more than its option goes on with its value, also if it looks like an option.
# - Sections of one name are one section, in whichever files they stand; of an option the last value holds.
# - An include is read where it stands; what follows it has no section until the next `[…]`.
# - The lines after SAVE_CONFIG's header begin with `#*#`; they count where the file itself has nothing.
# A line that Klipper cannot read is a problem, and the reader goes on behind it.
class _Reader:
    """Reads files line by line.

    `find` gives the contents of the files that an include means, by their names, first if it is beside the
    file that has it; None for a file that cannot be read.
    """

    def __init__(self, find: Callable[[str, str], dict[str, bytes | None]]):
        self.config = PrinterConfig()
        self.find = find
        self.files: list[str] = []
        self.lines = 0

    def begin(self) -> None:
        """Begin a file, or what follows an include. As for Klipper it has no section yet."""
        self.section: Section | None = None
        self.setting: Setting | None = None
        self.indent = 0
        self.saved = self.skipping = False

    def read(self, data: bytes, name: str) -> None:
        """Read a file, and what it includes at its place."""
        self.files.append(name)
        self.begin()
        if data.startswith(BOM_UTF8):
            self.problem(1, f"{UNOPENED}: it begins with a byte order mark; save as UTF-8 without BOM")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            bad = data.count(b"\n", 0, error.start) + 1
            self.problem(bad, f"{UNOPENED}: a byte in line {bad} is not UTF-8, and Klipper does not start")
            text = data.decode("utf-8-sig", "replace")
        for number, line, saved in _lines(text):
            self.lines += 1
            if self.lines >= MOST_LINES:
                break
            if line.startswith(INCLUDE) and "]" in line:
                self.include(line[len(INCLUDE) : line.rindex("]")].strip(), number)
                self.begin()
            else:
                self.line(number, line, saved)
        self.files.pop()

    def include(self, pattern: str, line: int) -> None:
        """Read the files that an include means; Klipper takes those of a pattern in the order of their
        names."""
        folder, slash, _ = self.files[-1].rpartition("/")
        files = self.find(folder + slash + pattern, pattern)  # Klipper looks beside the file
        if not files and not MAGIC & set(pattern):
            self.problem(line, f"Include file '{pattern[:80]}' does not exist")
        for file, data in files.items():
            self.lines += 1  # files that include all others come in every order
            if self.lines >= MOST_LINES:
                break
            if data is None:
                self.config.missing.append(file)
            elif file in self.files:
                self.problem(line, f"Recursive include of config file '{file[:80]}'")
            else:
                self.read(data, file)

    def line(self, number: int, line: str, saved: bool) -> None:
        """Take the next line, which has no comment and is not blank."""
        content = line.strip()
        indent = len(line) - len(line.lstrip())
        if self.setting and indent > self.indent:
            self.setting.lines.append(content)
            return
        self.setting, self.indent = None, indent
        if content.startswith("[") and "]" in content[2:]:
            name = content[1 : content.rindex("]")][:LONGEST_NAME]
            self.saved = saved or name.startswith(PROFILES)
            section = Section(name, number, self.files[-1], self.saved)
            self.section = self.config.sections.setdefault(name, section)
            self.skipping = False
        elif self.skipping:
            pass
        elif self.section:
            self.option(number, content, self.section)
        else:  # the first such line stands for all
            self.skipping = True
            message = f"File contains no section headers: '{content[:60]}' stands in no section"
            self.problem(number, message)

    def option(self, number: int, line: str, section: Section) -> None:
        """Begin an option, unless its line looks like G-Code that is not indented."""
        match = OPTION.match(line)
        name = match[1].rstrip().lower()[:LONGEST_NAME] if match else ""
        before = section.settings[-1].name if section.settings else ""
        if before.endswith("gcode") and (not name or " " in name or line.startswith("{")):
            self.skipping = True
            message = f"'{line[:60]}' is at the beginning of its line; the rest is skipped"
            self.problem(number, f"G-Code of a macro must be indented: {message}", section.name)
        elif match and name:
            self.setting = Setting(name, [match[2].strip()], number, self.files[-1], self.saved)
            section.settings.append(self.setting)
            section.saved = section.saved and self.saved
        else:
            message = f"Unable to parse the line: '{line[:60]}' is neither 'option: value' nor a section"
            self.problem(number, message, section.name)

    def problem(self, line: int, message: str, section: str = "") -> None:
        """Note what Klipper cannot read in the file."""
        self.config.problems.append(Finding(line, self.files[-1], section, "", ERROR, message))


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each line with its number, without comments and without the marks of what SAVE_CONFIG wrote."""
    saved = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(SAVED_HEADER):
            saved = True
        elif saved and not line.startswith(NOTICE):
            line = line.removeprefix(SAVED)
        line = COMMENT.split(line, 1)[0]
        if line.strip():
            yield number, line, saved
