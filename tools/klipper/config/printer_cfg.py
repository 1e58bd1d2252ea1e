"""The text of a printer.cfg, read as Klipper reads it (klippy/configfile.py, Python's configparser)."""

import fnmatch
import glob
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from tools.core.errors import ToolError
from tools.klipper.printer_data import content

SAVED = "#*#"
"""Begins each line of what SAVE_CONFIG wrote."""
SAVED_HEADER = (
    "#*# <---------------------- SAVE_CONFIG ---------------------->",
    "#*# DO NOT EDIT THIS BLOCK",
)
INCLUDE = "include "
PROFILES = ("bed_mesh ", "skew_correction ")
"""Begin the names of sections that only calibrations write, wherever a person has moved them."""
# What ends a line: `#`, or a `;` that begins it or follows a blank.
COMMENT = re.compile(r"#|(?<!\S);")
MAGIC = frozenset("*?[")
"""A pattern with one of these may fit no file."""
DEEPEST = 100
"""Files that include each other, one in the other."""
MOST_LINES = 50_000
"""Lines and includes that are read, those of included files counted, too: no printer has a tenth of it."""
BOM = "\ufeff"
LONGEST = 4_000_000
"""Characters of a configuration; its includes together may have as many."""
ERROR, WARNING, HINT = LEVELS = ("error", "warning", "hint")


class Setting(NamedTuple):
    """An option as it stands in the file: `name` in lower case, its lines joined by line ends."""

    name: str
    value: str
    line: int
    file: str
    saved: bool


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


def read(text: str, include: Mapping[str, str] | None = None) -> PrinterConfig:
    """The configuration in `text`, with the texts of `include` in the place of `[include name]`."""
    given = {name.removeprefix("./"): text for name, text in (include or {}).items()}

    def find(near: str, pattern: str) -> dict[str, str] | None:
        names = fnmatch.filter(given, near) or fnmatch.filter(given, pattern.removeprefix("./"))
        return {name: given[name] for name in sorted(names)} or None

    reader = _Reader(find)
    reader.read(text, "")
    return reader.config


def read_files(path: Path, inside: Path | None = None) -> PrinterConfig:
    """A configuration with the files that it includes; of these none that lies outside the folder `inside`.

    Raises ToolError: not there, not a file, too long, outside.
    """
    data = {"": content(path, inside, LONGEST)}

    def find(near: str, _: str) -> dict[str, str] | None:
        names = sorted(glob.glob(near, root_dir=path.parent))
        for name in names:
            if name not in data:
                with suppress(ToolError):
                    data[name] = content(path.parent / name, inside, LONGEST - sum(map(len, data.values())))
        files = {name: data[name].decode("utf-8", "replace") for name in names if name in data}
        return files if files or not names else None

    reader = _Reader(find)
    reader.read(data[""].decode("utf-8", "replace"), "")
    for name, text in data.items():
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as error:
            line = text.count(b"\n", 0, error.start) + 1
            message = (
                f"Unable to open config file: a byte in line {line} is not UTF-8, and Klipper does not start"
            )
            reader.config.problems.append(Finding(line, name, "", "", ERROR, message))
    return reader.config


# What Klipper does, and the reader with it:
# - A line that is indented more than its option goes on with its value, also if it looks like an option.
# - Sections of one name are one section, in whichever files they stand; of an option the last value holds.
# - An include is read where it stands; what follows it has no section until the next `[…]`.
# - The lines after SAVE_CONFIG's header begin with `#*#`; they count where the file itself has nothing.
# A line that Klipper cannot read is a problem, and the reader goes on behind it.
class _Reader:
    """Reads files line by line. An option goes on over the lines below it that are indented more than it is.

    `find` gives the texts of the files that an include means, by their names, first if it is beside the file
    that has it; none if there is no such file, None if those that there are cannot be read.
    """

    def __init__(self, find: Callable[[str, str], dict[str, str] | None]):
        self.config = PrinterConfig()
        self.find = find
        self.files: list[str] = []
        self.lines = 0
        self.begin()

    def begin(self) -> None:
        """Begin a file, or what follows an include. As for Klipper it has no section yet."""
        self.section: Section | None = None
        self.name, self.start, self.indent = "", 0, 0
        self.value: list[str] = []
        self.saved = self.lost = self.skipping = False

    def read(self, text: str, name: str) -> None:
        """Read a file, and what it includes at its place."""
        self.files.append(name)
        if text.startswith(BOM):
            self.problem(
                1, "Byte order mark at the beginning: Klipper cannot read the file; save as UTF-8 without BOM"
            )
        for number, line, saved in _lines(text.removeprefix(BOM)):
            self.lines += 1
            if self.lines >= MOST_LINES:
                break
            if line.startswith("[" + INCLUDE) and "]" in line:
                self.finish()
                self.included(line[len(INCLUDE) + 1 : line.rindex("]")].strip(), number)
                self.begin()
            else:
                self.line(number, line, saved)
        self.finish()
        self.files.pop()
        self.begin()

    def included(self, pattern: str, line: int) -> None:
        """Read the files that an include means; Klipper takes those of a pattern in the order of their
        names."""
        folder, slash, _ = self.files[-1].rpartition("/")
        files = self.find(folder + slash + pattern, pattern)  # Klipper looks beside the file
        if files is None:
            self.config.missing.append(pattern)
        elif not files and not MAGIC & set(pattern):
            self.problem(line, f"Include file '{pattern[:80]}' does not exist")
        for file, text in (files or {}).items():
            self.lines += 1  # files that include all others come in every order
            if self.lines >= MOST_LINES:
                break
            if file in self.files or len(self.files) > DEEPEST:
                self.problem(line, f"Recursive include of config file '{file[:80]}'")
            else:
                self.begin()
                self.read(text, file)

    def line(self, number: int, line: str, saved: bool) -> None:
        """Take the next line, without its comment."""
        if saved and not self.saved:
            self.finish()
            self.saved, self.lost = True, False
        content = line.strip()
        indent = len(line) - len(line.lstrip())
        if self.name and content and indent > self.indent:
            self.value.append(content)
        elif content:
            self.finish()
            self.indent = indent
            if content.startswith("[") and "]" in content[2:]:
                name = content[1 : content.rindex("]")]
                is_saved = self.saved or name.startswith(PROFILES)
                section = Section(name, number, self.files[-1], is_saved)
                self.section = self.config.sections.setdefault(name, section)
                self.skipping = False
            elif self.section is None:
                if not self.lost:  # the first such line stands for all
                    self.problem(
                        number, f"File contains no section headers: '{content[:60]}' stands in no section"
                    )
                self.lost = True
            elif not self.skipping:
                self.option(number, content, self.section)

    def option(self, number: int, line: str, section: Section) -> None:
        """Begin an option, unless its line looks like G-Code that is not indented."""
        mark = min((mark for mark in ":=" if mark in line), key=line.find, default="")
        name, _, value = line.partition(mark) if mark else ("", "", "")
        name = name.rstrip().lower()
        before = section.settings[-1].name if section.settings else ""
        if before.endswith("gcode") and (not name or " " in name or line.startswith("{")):
            self.skipping = True
            message = f"'{line[:60]}' is at the beginning of its line; the rest is skipped"
            self.problem(number, f"G-Code of a macro must be indented: {message}", section.name)
        elif name:
            self.name, self.start, self.value = name, number, [value.strip()]
        else:
            message = f"Unable to parse the line: '{line[:60]}' is neither 'option: value' nor a section"
            self.problem(number, message, section.name)

    def finish(self) -> None:
        """The option read last is whole."""
        if self.name and self.section:
            value = "\n".join(self.value).strip()
            is_saved = self.saved or self.section.name.startswith(PROFILES)
            self.section.settings.append(Setting(self.name, value, self.start, self.files[-1], is_saved))
            self.section.saved = self.section.saved and is_saved
        self.name = ""

    def problem(self, line: int, message: str, section: str = "") -> None:
        """Note what Klipper cannot read in the file."""
        self.config.problems.append(Finding(line, self.files[-1], section, "", ERROR, message))


def _lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each line with its number, without comments and without the marks of what SAVE_CONFIG wrote."""
    saved = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(SAVED):
            has_option = saved and not line.startswith(SAVED_HEADER)
            saved = saved or line.startswith(SAVED_HEADER[0])
            line = line[4:] if has_option else ""
        if line:
            yield number, COMMENT.split(line, 1)[0], saved
